"""What public doors of rational arithmetic are given: each check returns it, or raises one sentence.

A number may be a float, which is taken for the rational that it is; entries of vectors are whole numbers or fractions.
"""

from fractions import Fraction
from typing import Any

from fedtheory._support import validate
from fedtheory._support.wording import short

_EXACT = frozenset((int, Fraction))
_ROWS = (tuple, list)  # written as a union this would be made anew at each look


def rational(name: str, value: Any) -> Fraction:
    """Return a finite number as a fraction."""
    return Fraction(validate.one(name, validate.finite(name, value)))


def positive(name: str, value: Any) -> Fraction:
    """Return a positive number as a fraction."""
    return Fraction(validate.one(name, validate.positive(name, value)))


def probability(name: str, value: Any) -> Fraction:
    """Return a positive number of at most 1 as a fraction."""
    return Fraction(validate.fractions(name, positive(name, value)))


def vector(name: str, value: Any, size: int | None = None) -> Any:
    """Return a vector of at least one entry, or of ``size``; types are compared, since thousands of these are made."""
    if not _is_row(value, size) or not _EXACT.issuperset(map(type, value)):
        message = f"{name} must be a vector of {size or 'one or more'} rationals, got {short(value)}"
        raise ValueError(message)
    return value


def vectors(name: str, value: Any, count: int | None = None, size: int | None = None) -> Any:
    """Return at least one vector, or ``count``, of equal sizes."""
    if not _is_row(value, count):
        message = f"{name} must hold {count or 'one or more'} vectors of rationals, got {short(value)}"
        raise ValueError(message)
    each = f"each of {name}"
    for row in value:
        size = len(vector(each, row, size))
    return value


def _is_row(value: Any, size: int | None) -> bool:
    """Whether a value is a tuple or a list that is not empty, and of this size."""
    return isinstance(value, _ROWS) and (len(value) > 0 if size is None else len(value) == size)
