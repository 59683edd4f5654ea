"""Validation of the arguments of worst cases and conversion to exact numbers."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory._support.wording import format_number, truncate
from fedtheory.worst_case._vectors import fraction

__all__: list[str] = []

_MOST_STEPS = 10**6  # larger numbers would take too long to enclose
_LARGEST_BLOCK = 50
DISTANCE, GAP = "E |w - w*|^2", "E F(w) - F*"
ERRORS = {"distance": DISTANCE, "gap": GAP}
"""Errors of a model, as text, by the name of the objective."""


class Constants(NamedTuple):
    """Constants of a class of federations: curvatures, step sizes, squared initial distance, and Gamma."""

    mu: Fraction
    L: Fraction
    steps: tuple[Fraction, ...]
    objective_gap: Fraction
    distance2: Fraction


def listed(name: str, items: Any, what: str) -> list[Any]:
    """Return the entries of a collection that is not text."""
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        message = f"{name} must be {what}, got {truncate(items)}"
        raise TypeError(message)
    return list(items)


def positive_number(name: str, value: Any) -> Fraction:
    """Return an argument as a rational that is positive."""
    found: Fraction = validate.positive(name, fraction(name, value))
    return found


def nonnegative_number(name: str, value: Any) -> Fraction:
    """Return an argument as a rational that is not negative."""
    found: Fraction = validate.nonnegative(name, fraction(name, value))
    return found


def step_sizes(value: Any, num_steps: int) -> tuple[Fraction, ...]:
    """Return one step size per step, from one number or a sequence of them."""
    validate.count("the number of all local steps", num_steps, high=_MOST_STEPS)
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray):
        return (positive_number("step_size", value),) * num_steps
    sizes = tuple(positive_number("step_size", size) for size in validate.sequence("step_size", value))
    if len(sizes) != num_steps:
        message = f"step_size must be one number or {num_steps}, one per step, got {len(sizes)}"
        raise ValueError(message)
    return sizes


def constants(num_steps: int, step_size: Any, *, mu: Any, L: Any, objective_gap: Any, distance2: Any) -> Constants:
    """Validate the constants of a class of federations."""
    low, high = positive_number("mu", mu), positive_number("L", L)
    if low >= high:
        got = f"mu={format_number(mu)} and L={format_number(L)} (with mu = L every client is a parabola)"
        message = f"mu must be below L, got {got}"
        raise ValueError(message)
    gap, start = nonnegative_number("objective_gap", objective_gap), positive_number("distance2", distance2)
    return Constants(low, high, step_sizes(step_size, num_steps), gap, start)


def check_block(size: int) -> None:
    """Raise ValueError if the largest block of a program is too large; the time grows with its sixth power."""
    if size > _LARGEST_BLOCK:
        message = f"the largest block must have at most {_LARGEST_BLOCK} rows, got {size}"
        raise ValueError(message)
