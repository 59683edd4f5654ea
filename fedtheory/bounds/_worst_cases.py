"""Shared parts of the worst-case problems of bounds: exact step sizes and checks."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fedtheory._support.validate import Array


def as_fractions(sizes: Array) -> list[Fraction]:
    """Convert floating-point step sizes to exact fractions."""
    return [*map(Fraction, sizes.tolist())]


def require_0(given: Mapping[str, Any], *names: str, of: str) -> None:
    """Raise unless these constants are 0, because the worst case is only known then."""
    numbers = [given.get(name, 0) for name in names]
    if any(numbers):
        message = f"{' and '.join(names)} must be 0 for the worst case of {of}, got {' and '.join(map(str, numbers))}"
        raise ValueError(message)
