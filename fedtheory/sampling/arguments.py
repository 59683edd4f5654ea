"""Validation of norms and budgets, the arguments of all functions of sampling probabilities."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy import ndarray

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory._support.wording import format_number

__all__ = ["Numbers", "checked_budget", "checked_norms", "is_plain", "numbers"]


Numbers = npt.ArrayLike | Sequence[Any]
"""A vector that may hold exact rationals."""

_FLOAT64 = np.dtype(np.float64)


def is_plain(norms: Any) -> bool:
    """Whether compiled code can read this value without a copy: a writable, contiguous, non-empty float64 vector.

    Read-only arrays are copied, since numba would compile all functions again for them, which takes seconds.
    """
    is_vector = type(norms) is ndarray and norms.dtype is _FLOAT64 and norms.ndim == 1
    return is_vector and norms.flags.carray and norms.size > 0


def checked_norms(norms: Any) -> Array:
    """Return update norms t_i = w_i |U_i| as a float64 vector; raise ValueError for negative, NaN or infinite norms."""
    clean = validate.array("norms", norms, ndim=1)
    if clean.size == 0:
        message = f"norms must have at least one entry, got shape {clean.shape}"
        raise ValueError(message)
    validate.nonnegative("norms", clean)
    return clean


def checked_budget(expected_size: Any, num_clients: int) -> float:
    """Return the expected number of sampled clients as a float in (0, num_clients]."""
    if type(expected_size) is float and 0.0 < expected_size <= num_clients:
        return expected_size
    budget = validate.one("expected_size", validate.positive("expected_size", expected_size))
    if budget > num_clients:
        got = format_number(budget)
        message = f"expected_size must be at most the number of clients, {num_clients}, got {got}"
        raise ValueError(message)
    if float(budget) == 0:
        message = f"expected_size must be positive in doubles, got {format_number(budget)}"
        raise ValueError(message)
    return float(budget)


def numbers(name: str, values: Any) -> Any:
    """Return a vector of nonnegative numbers: rationals stay exact, as objects; other numbers become float64."""
    raw = validate.unmasked(name, values)
    if raw.dtype == object and raw.ndim == 1 and all(isinstance(value, int | Fraction) for value in raw):
        exact = np.array([Fraction(value) for value in raw], dtype=object)
        if (exact < 0).any():
            message = f"{name} must be at least 0, got {min(exact)}"
            raise ValueError(message)
        return exact
    if raw.dtype == object and raw.ndim == 1:
        raw = np.array([validate.double(name, value) for value in raw])
    clean = validate.array(name, raw, ndim=1)
    validate.nonnegative(name, clean)
    return clean
