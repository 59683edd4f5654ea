"""Validation that is shared by the functions that return a theorem's step sizes."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array


def curvatures(mu: Any, L: Any) -> tuple[float, float]:
    """Return mu and L as positive doubles with mu <= L."""
    exact = dict(zip(("mu", "L"), validate.curvatures(mu, L), strict=True))
    mu, L = (validate.positive(name, validate.double(name, value)) for name, value in exact.items())
    return mu, L


def for_each_step(num_steps: Any, size: Callable[[Any], Any]) -> Array:
    """Return the step sizes ``size(t)`` for t = 0, ..., T - 1, shape (T,); ValueError if one is no positive double."""
    with np.errstate(all="ignore"):
        sizes = size(np.arange(validate.size("num_steps", num_steps, low=0)))
    checked: Array = validate.positive("step sizes", sizes)
    return checked
