"""Validation of arguments of public functions: each function returns the value, or raises an error of one sentence.

A number may be a float, which represents an exact rational; entries of vectors must be integers or fractions.
"""

from fractions import Fraction
from typing import Any

from fedtheory._support import validate
from fedtheory._support.wording import truncate
from fedtheory.instances.vectors import EXACT, Vector


def positive(name: str, value: Any) -> Fraction:
    """Return a positive number as a fraction."""
    return Fraction(validate.one(name, validate.positive(name, value)))


def vector(name: str, value: Any, size: int | None = None) -> Vector:
    """Return a vector of at least one entry, or of ``size``."""
    if not _is_row(value, size) or not (type(value) is Vector or EXACT.issuperset(map(type, value))):
        message = f"{name} must be a vector of {size or 'one or more'} rationals, got {truncate(value)}"
        raise ValueError(message)
    return value if type(value) is Vector else Vector(value)


def vectors(name: str, value: Any, count: int | None = None, size: int | None = None) -> tuple[Vector, ...]:
    """Return at least one vector, or ``count``, of equal sizes."""
    if not _is_row(value, count):
        message = f"{name} must contain {count or 'one or more'} vectors of rationals, got {truncate(value)}"
        raise ValueError(message)
    made: list[Vector] = []
    for row in value:
        made.append(vector(f"each of {name}", row, size))
        size = len(made[0])
    return tuple(made)


def _is_row(value: Any, size: int | None) -> bool:
    """Whether a value is a nonempty tuple or list of the given size."""
    return isinstance(value, tuple | list) and (len(value) > 0 if size is None else len(value) == size)
