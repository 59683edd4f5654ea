"""Parts of worst cases of bounds: exact step sizes, refusals, and random constants, often at the ends of ranges."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory._support.validate import Array

__all__: list[str] = []


def whole(rng: np.random.Generator, low: int, high: int) -> int:
    """Draw a whole number in low..high."""
    return int(rng.integers(low, high + 1))


def pick(rng: np.random.Generator, options: list[Any]) -> Any:
    """Draw one of the options."""
    return options[whole(rng, 0, len(options) - 1)]


def tenths(rng: np.random.Generator, low: int, high: int) -> Fraction:
    """Draw a whole number of tenths."""
    return Fraction(whole(rng, low, high), 10)


def curvatures(rng: np.random.Generator) -> dict[str, Any]:
    """Draw mu and L; L/mu is close to 1 in a quarter of the draws."""
    mu = tenths(rng, 1, 20)
    return {"mu": mu, "L": mu * pick(rng, [tenths(rng, 11, 13), *(tenths(rng, 12, 200) for _ in range(3))])}


def draw_class(rng: np.random.Generator) -> dict[str, Any]:
    """Draw the constants of a class."""
    return curvatures(rng) | {"distance2": tenths(rng, 1, 90), "objective_gap": tenths(rng, 1, 30)}


def step_size(rng: np.random.Generator, longest: Fraction) -> Fraction:
    """Draw a step size; in a third of the draws it is the longest."""
    share: Fraction = pick(rng, [Fraction(1), tenths(rng, 1, 9), tenths(rng, 1, 9)])
    return share * longest


def as_fractions(sizes: Array) -> list[Fraction]:
    """Return a statement's step sizes, which are floats, as the numbers that they are."""
    return [*map(Fraction, sizes.tolist())]


def require_0(given: Mapping[str, Any], *names: str, of: str) -> None:
    """Refuse constants of a bound with which its worst case is not known."""
    numbers = [given.get(name, 0) for name in names]
    if any(numbers):
        message = f"{' and '.join(names)} must be 0 for the worst case of {of}, got {' and '.join(map(str, numbers))}"
        raise ValueError(message)
