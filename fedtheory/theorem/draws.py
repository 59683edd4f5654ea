"""Random constants of theorems, as integers and fractions, and their texts."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np


def whole(rng: np.random.Generator, low: int, high: int) -> int:
    """Draw an integer from ``low`` to ``high``, both included."""
    return int(rng.integers(low, high + 1))


def pick(rng: np.random.Generator, options: list[Any]) -> Any:
    """Draw one of the options."""
    return options[whole(rng, 0, len(options) - 1)]


def tenths(rng: np.random.Generator, low: int, high: int) -> Fraction:
    """Draw a multiple of 1/10 from ``low/10`` to ``high/10``."""
    return Fraction(whole(rng, low, high), 10)


def step_size(rng: np.random.Generator, longest: Fraction) -> Fraction:
    """Draw a step size; a third of the draws are the longest one."""
    share: Fraction = pick(rng, [Fraction(1), tenths(rng, 1, 9), tenths(rng, 1, 9)])
    return share * longest


def as_texts(given: Mapping[str, Any]) -> dict[str, str]:
    """Format constants without loss of digits."""
    return {name: str(value) for name, value in given.items()}
