"""A strategy's constants: parts with names where a rule reads them, one flat array where the loop hands them over."""

import numpy as np
import numpy.typing as npt

from fedtheory._support.validate import Array

__all__ = ["pack"]


def pack(*parts: npt.ArrayLike) -> Array:
    """Lay numbers and arrays one after the other; the strategy's own ``_read`` gives them their names back.

    >>> pack(2, [[3.0, 5.0]], True)
    array([2., 3., 5., 1.])
    """
    return np.concatenate([np.asarray(part, dtype=np.float64).ravel() for part in parts])
