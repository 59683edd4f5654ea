"""What all worst cases are given: checked, exact, and in units in which L and the largest constant are 1."""

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ParamSpec, TypeVar, final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.wording import close_to, short, shown
from fedtheory.worst_case._gram import exact

__all__ = ["Setting", "check_block", "listed", "rational", "setting", "spelled", "step_sizes"]

P = ParamSpec("P")
T = TypeVar("T")

# Powers of the unit of length and of L in each constant.
_UNITS = {
    **dict.fromkeys(("distance2", "distance", "drift"), (1, 0)),
    **dict.fromkeys(("objective_gap", "client_gap", "threshold", "excess", "gap", "descent"), (1, 1)),
    **dict.fromkeys(("G2", "gradient_noise", "gradient"), (1, 2)),
}
# Constants that may be so large that they do not bind do not say what is large.
_UNBOUND = ("G2", "threshold")
_MOST_STEPS = 10**6  # far beyond what is enclosed in a lifetime


@final
@dataclass(frozen=True)
class Setting:
    """A problem class without units: ``L = 1``, so that step sizes are ``eta L`` and mu is ``mu/L``.

    Attributes
    ----------
    mu
        Inverse condition number.
    steps
        Step sizes times L.
    constants
        Bounds by name, in units.
    length2, L
        The unit of squared length, and L.
    """

    mu: Fraction
    steps: tuple[Fraction, ...]
    constants: Mapping[str, Fraction]
    length2: Fraction
    L: Fraction

    def unit(self, name: str) -> Fraction:
        """Return the unit of a constant, or of a ``distance`` or ``gap``."""
        lengths, curvatures = _UNITS[name]
        return self.length2**lengths * self.L**curvatures

    def __getitem__(self, name: str) -> Fraction:
        if name not in self.constants:
            message = f"{name} must be a number, got None"
            raise TypeError(message)
        return self.constants[name]


def spelled(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function answer an argument that it does not have with the nearest name.

    >>> @spelled
    ... def squared(length):
    ...     return length**2
    >>> squared(lenght=3)
    Traceback (most recent call last):
    TypeError: squared takes no lenght (close: length), it takes length
    """
    names = [name for name in inspect.signature(function).parameters if name != "self"]

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> T:
        for name in kwargs:
            if name not in names:
                message = f"{function.__name__} takes no {name}{close_to(name, names)}, it takes {', '.join(names)}"
                raise TypeError(message)
        return function(*args, **kwargs)

    return called


def listed(name: str, items: Any, what: str) -> list[Any]:
    """Return the entries of a collection, which is no text."""
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        message = f"{name} must be {what}, got {short(items)}"
        raise TypeError(message)
    return list(items)


def rational(name: str, value: Any, check: Any = validate.nonnegative) -> Fraction:
    """Return a rational that passes a check."""
    number = Fraction(exact(name, value))
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


def setting(num_steps: int, step_size: Any, *, mu: Any, L: Any, **constants: Any) -> Setting:
    """Check what a class is made of, and take the units out; constants that are None are left out."""
    low, high = rational("mu", mu, validate.positive), rational("L", L, validate.positive)
    if low >= high:
        message = f"mu must be below L, got mu={shown(mu)} and L={shown(L)} (with mu = L every client is a parabola)"
        raise ValueError(message)
    given = {
        name: rational(name, value, validate.positive if name == "distance2" else validate.nonnegative)
        for name, value in constants.items()
        if value is not None
    }
    lengths = [value / high ** _UNITS[name][1] for name, value in given.items() if name not in _UNBOUND]
    if not any(lengths):
        message = "objective_gap must be positive, got 0"
        raise ValueError(message)
    # A power of two as the unit keeps rationals as short as they are.
    length2 = Fraction(2) ** round(math.log2(max(lengths).numerator) - math.log2(max(lengths).denominator))
    scaled = {name: value / (length2 * high ** _UNITS[name][1]) for name, value in given.items()}
    sizes = tuple(size * high for size in step_sizes(step_size, num_steps))
    return Setting(low / high, sizes, scaled, length2, high)


def check_block(size: int, max_block: Any) -> None:
    """Refuse a program whose largest block is larger than allowed."""
    limit = validate.count("max_block", max_block)
    if size > limit:
        message = f"the largest block must have at most {limit} rows (max_block= raises it), got {size}"
        raise ValueError(message)
