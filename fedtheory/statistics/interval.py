"""Intervals with the method that certifies each side."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, Self, TypeVar, final

import numpy as np

from fedtheory._support import validate

__all__ = ["Interval"]

Side = TypeVar("Side")
"""Floats, exact rationals, or arrays of equal shape (one interval per entry)."""


@final
@dataclass(frozen=True)
class Interval(Generic[Side]):
    """Interval that contains a value; unpacks as (lower, upper).

    Parameters
    ----------
    lower, upper
        Sides: floats, ``Fraction``, or arrays of equal shape; infinite if nothing is known.
    lower_by, upper_by
        How each side was obtained, in a few words; empty if the function that returns the interval documents it.

    Examples
    --------
    >>> lower, upper = Interval(0.5, 0.75, "subset enumeration", "search over models")
    >>> lower, upper
    (0.5, 0.75)
    """

    lower: Side
    upper: Side
    lower_by: str = ""
    upper_by: str = ""

    def __post_init__(self) -> None:
        for name in ("lower_by", "upper_by"):
            validate.text(name, getattr(self, name))
        lower, upper = _side("lower", self.lower), _side("upper", self.upper)
        if np.shape(lower) != np.shape(upper):
            message = f"lower and upper must have one shape, got {np.shape(lower)} and {np.shape(upper)}"
            raise ValueError(message)
        if not np.all(lower <= upper):
            sides = (f"{self.lower}{_by(self.lower_by)}", f"{self.upper}{_by(self.upper_by)}")
            message = f"lower must be at most upper, got {sides[0]} and {sides[1]}"
            raise ValueError(message)

    @classmethod
    def exact(cls, value: Side, by: str = "") -> Self:
        """Return the interval of a number that is known exactly."""
        return cls(value, value, by, by)

    def __iter__(self) -> Iterator[Side]:
        yield self.lower
        yield self.upper

    @property
    def width(self) -> Side:
        """Distance of the sides."""
        return self.upper - self.lower  # type: ignore[operator, no-any-return]


def _side(name: str, value: Any) -> Any:
    exact = isinstance(value, int | Fraction) and not isinstance(value, bool)
    # Python numbers of any size can be compared with each other, NumPy numbers only with doubles.
    return value if exact else _plain(validate.extended(name, value, gaps=True))


def _plain(side: Any) -> Any:
    return side.item() if side.ndim == 0 else side


def _by(words: str) -> str:
    return f" ({words})" if words else ""
