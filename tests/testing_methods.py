"""Two federations with known exact results of several methods, and the records of such runs."""

from typing import Any

import numpy as np

import fedtheory as ft

# Curvatures 1 and 4, minimizers 0 and 5: the minimizer is 4, where the gradients are 4 and -4.
TWO = ft.QuadraticFederation([1.0, 4.0], [[0.0], [5.0]], [0.5, 0.5])
PLANE = ft.QuadraticFederation(
    np.array([[[1.0, 0.0], [0.0, 0.25]], [[0.5, 0.25], [0.25, 1.0]]]), [[0.0, 0.0], [1.0, 2.0]], [1 / 3, 2 / 3]
)


def states_of(run: Any) -> Any:
    """The clients' states, shape (R, n, K, s)."""
    return run.recorded("states")
