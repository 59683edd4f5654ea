"""Validation of the arguments of worst cases and conversion to exact numbers."""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from fedtheory._support import validate
from fedtheory._support.wording import format_number, suggest, truncate
from fedtheory.worst_case._vectors import fraction

__all__: list[str] = []

P = ParamSpec("P")
T = TypeVar("T")

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


def spelled(function: Callable[P, T]) -> Callable[P, T]:
    """Make a function name the closest parameter when it is called with an unknown one."""
    names = [name for name in inspect.signature(function).parameters if name != "self"]

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> T:
        for name in kwargs:
            if name not in names:
                message = f"{function.__name__} takes no {name}{suggest(name, names)}, it takes {', '.join(names)}"
                raise TypeError(message)
        return function(*args, **kwargs)

    return called


def listed(name: str, items: Any, what: str) -> list[Any]:
    """Return the entries of a collection that is not text."""
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        message = f"{name} must be {what}, got {truncate(items)}"
        raise TypeError(message)
    return list(items)


def rational(name: str, value: Any, check: Any = validate.nonnegative) -> Fraction:
    """Return an argument as a rational that passes a check."""
    number = fraction(name, value)
    check(name, number)
    return number


def step_sizes(value: Any, num_steps: int) -> tuple[Fraction, ...]:
    """Return one step size per step, from one number or a sequence of them."""
    validate.count("the number of all local steps", num_steps, high=_MOST_STEPS)
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray):
        return (rational("step_size", value, validate.positive),) * num_steps
    sizes = tuple(rational("step_size", size, validate.positive) for size in validate.sequence("step_size", value))
    if len(sizes) != num_steps:
        message = f"step_size must be one number or {num_steps}, one per step, got {len(sizes)}"
        raise ValueError(message)
    return sizes


def constants(num_steps: int, step_size: Any, *, mu: Any, L: Any, objective_gap: Any, distance2: Any) -> Constants:
    """Validate the constants of a class of federations."""
    low, high = rational("mu", mu, validate.positive), rational("L", L, validate.positive)
    if low >= high:
        got = f"mu={format_number(mu)} and L={format_number(L)} (with mu = L every client is a parabola)"
        message = f"mu must be below L, got {got}"
        raise ValueError(message)
    gap, start = rational("objective_gap", objective_gap), rational("distance2", distance2, validate.positive)
    return Constants(low, high, step_sizes(step_size, num_steps), gap, start)


def check_block(size: int) -> None:
    """Raise ValueError if the largest block of a program is too large; the time grows with its sixth power."""
    if size > _LARGEST_BLOCK:
        message = f"the largest block must have at most {_LARGEST_BLOCK} rows, got {size}"
        raise ValueError(message)
