"""Step-size schedules: a step size for every local step of a run."""

from dataclasses import dataclass
from types import FunctionType
from typing import Any, Protocol, final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory._support.wording import truncate

__all__ = ["Halving", "InverseTime"]


class Schedule(Protocol):
    """Interface of step-size schedules."""

    def step_sizes(self, num_rounds: int, local_steps: int) -> Array:
        """Return all step sizes in order, shape (num_rounds * local_steps,)."""


@final
@dataclass(frozen=True)
class InverseTime:
    """``eta_t = numerator / (mu (t + gamma))``, t counting local steps from 0.

    Power-of-Choice takes numerator 1 and ``gamma = 4 L / mu``; Li et al. and FedALIGN take numerator 2.

    >>> InverseTime(mu=2.0, gamma=4.0).step_sizes(num_rounds=1, local_steps=2)
    array([0.125, 0.1  ])
    """

    mu: float
    gamma: float
    numerator: float = 1.0

    def __post_init__(self) -> None:
        for name in ("mu", "gamma", "numerator"):
            validate.one(name, validate.positive(name, getattr(self, name)))

    def step_sizes(self, num_rounds: int, local_steps: int) -> Array:
        """Return all step sizes in order, shape (num_rounds * local_steps,)."""
        mu, gamma = validate.positive("mu", self.mu), validate.positive("gamma", self.gamma)
        numerator = validate.positive("numerator", self.numerator)
        result: Array = numerator / (mu * (np.arange(_num_steps(num_rounds, local_steps)) + gamma))
        return result


@final
@dataclass(frozen=True)
class Halving:
    """Step size that halves at the start of each of the given rounds.

    >>> Halving(0.8, at_rounds=(1, 2)).step_sizes(num_rounds=3, local_steps=2)
    array([0.8, 0.8, 0.4, 0.4, 0.2, 0.2])
    """

    initial: float
    at_rounds: tuple[int, ...]

    def __post_init__(self) -> None:
        validate.one("initial", validate.positive("initial", self.initial))
        for number in validate.sequence("at_rounds", self.at_rounds):
            validate.horizon("at_rounds", number)

    def step_sizes(self, num_rounds: int, local_steps: int) -> Array:
        """Return all step sizes in order, shape (num_rounds * local_steps,)."""
        _num_steps(num_rounds, local_steps)
        at = np.sort(np.array([validate.horizon("at_rounds", number) for number in self.at_rounds], dtype=np.int64))
        halvings = np.searchsorted(at, np.arange(num_rounds), side="right")
        result: Array = np.repeat(validate.positive("initial", self.initial) * 0.5**halvings, local_steps)
        return result


def step_sizes(step_size: Any, num_rounds: int, local_steps: int) -> Array:
    """All step sizes, shape (num_rounds * local_steps,), from a number, an array of that shape or a schedule."""
    num_steps = _num_steps(num_rounds, local_steps)
    if step_size is None or isinstance(step_size, type | FunctionType | str):
        got = f"the class {step_size.__name__}" if isinstance(step_size, type) else truncate(step_size)
        message = f"step_size must be a number, an array with one number per local step, or a schedule, got {got}"
        raise TypeError(message)
    if callable(getattr(step_size, "step_sizes", None)):
        sizes = validate.array("step_size", step_size.step_sizes(num_rounds, local_steps))
    else:
        sizes = validate.positive("step_size", step_size)
    if np.ndim(sizes) == 0:
        return np.full(num_steps, validate.double("step_size", sizes))
    clean: Array = validate.positive("step_size", validate.array("step_size", sizes, shape=(num_steps,)))
    return clean


def _num_steps(num_rounds: int, local_steps: int) -> int:
    """Return the number of steps of a run, which is limited because the step sizes take memory."""
    rounds, steps = validate.size("num_rounds", num_rounds, 0), validate.size("local_steps", local_steps)
    return validate.size("num_rounds * local_steps", rounds * steps, 0)
