"""The door of the functions that return a theorem's step sizes."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fedtheory import _validate
from fedtheory._validate import Array

__all__ = ["for_each_step", "positive_double"]


def positive_double(name: str, value: Any) -> float:
    """Return one positive number that is positive in doubles, too."""
    return float(_validate.positive(name, _validate.double(name, value)))


def for_each_step(num_steps: Any, size: Callable[[Any], Any]) -> Array:
    """Return the step sizes ``size(t)`` for t = 0, ..., T - 1, shape (T,).

    Raises
    ------
    ValueError
        If T is no count, or a step size is beyond the range of doubles.
    """
    with np.errstate(all="ignore"):
        sizes = size(np.arange(_validate.horizon("num_steps", num_steps)))
    checked: Array = _validate.positive("step sizes", sizes)
    return checked
