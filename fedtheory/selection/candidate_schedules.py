"""How the number of candidates of Power-of-Choice changes over the rounds (adapow-d and its kin)."""

from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.wording import short

__all__ = ["DecayingCandidates", "HalfTimeCandidates", "HalvingCandidates"]

Counts = npt.NDArray[np.int64]


class CandidateSchedule(Protocol):
    """Numbers of candidates for all rounds."""

    def counts(self, num_rounds: int, num_selected: int, num_clients: int) -> Counts:
        """Return d for each round, shape (num_rounds,), each in ``num_selected .. num_clients``."""


@final
@dataclass(frozen=True)
class HalvingCandidates:
    """adapow-d of the quadratic experiments: d starts at all clients and halves every ``every`` rounds, down to m.

    >>> HalvingCandidates(every=2).counts(num_rounds=7, num_selected=3, num_clients=10)
    array([10, 10,  5,  5,  3,  3,  3])
    """

    every: int = 5000

    def __post_init__(self) -> None:
        validate.count("every", self.every)

    def counts(self, num_rounds: int, num_selected: int, num_clients: int) -> Counts:
        """Return d for each round, shape (num_rounds,)."""
        _check(num_rounds, num_selected, num_clients)
        halvings = np.minimum(np.arange(num_rounds) // min(self.every, validate.LARGEST_SIZE), 62)
        sizes: Counts = np.maximum(num_clients // 2**halvings, num_selected)
        return sizes


@final
@dataclass(frozen=True)
class HalfTimeCandidates:
    """adapow-d of the synthetic experiments: all clients during the first half of the rounds, then d = m.

    >>> HalfTimeCandidates().counts(num_rounds=4, num_selected=3, num_clients=10)
    array([10, 10,  3,  3])
    """

    def counts(self, num_rounds: int, num_selected: int, num_clients: int) -> Counts:
        """Return d for each round, shape (num_rounds,)."""
        _check(num_rounds, num_selected, num_clients)
        return np.where(2 * np.arange(num_rounds) < num_rounds, num_clients, num_selected)


@final
@dataclass(frozen=True)
class DecayingCandidates:
    """GreedyFed's baseline: d starts at all clients and becomes ``max(ceil(factor d), m)`` every round.

    >>> DecayingCandidates(0.9).counts(num_rounds=5, num_selected=7, num_clients=10)
    array([10,  9,  9,  9,  9])
    """

    factor: float = 0.9

    def __post_init__(self) -> None:
        validate.fraction("factor", self.factor)

    def counts(self, num_rounds: int, num_selected: int, num_clients: int) -> Counts:
        """Return d for each round, shape (num_rounds,)."""
        _check(num_rounds, num_selected, num_clients)
        factor = float(self.factor)
        sizes = np.empty(num_rounds, dtype=np.int64)
        size = num_clients
        for i in range(num_rounds):
            sizes[i] = size
            # The nudge keeps ceil(0.9 * 10) at 9 although 0.9 is not a binary fraction.
            size = max(int(np.ceil(factor * size - 1e-9)), num_selected)
        return sizes


def _check(num_rounds: int, num_selected: int, num_clients: int) -> None:
    validate.size("num_rounds", num_rounds, 0)
    validate.count("num_selected", num_selected, high=validate.size("num_clients", num_clients))


def scheduled(schedule: CandidateSchedule, num_rounds: int, num_selected: int, num_clients: int) -> Counts:
    """Return the numbers of candidates of all rounds, from a schedule.

    >>> scheduled(HalfTimeCandidates(), num_rounds=3, num_selected=2, num_clients=5)
    array([5, 5, 2])
    """
    refuse_no_schedule(schedule)
    _check(num_rounds, num_selected, num_clients)
    counts = np.asarray(schedule.counts(num_rounds, num_selected, num_clients))
    if counts.shape != (num_rounds,):
        message = f"the counts of {short(schedule)} must have shape ({num_rounds},), got {counts.shape}"
        raise ValueError(message)
    checked: Counts = validate.counts(f"the counts of {short(schedule)}", counts, num_selected, num_clients)
    return checked


def refuse_no_schedule(schedule: Any) -> None:
    """Raise TypeError if it is no schedule."""
    if not callable(getattr(schedule, "counts", None)):
        message = (
            f"num_candidates must be a whole number, 'all' or a schedule with a method counts, got {short(schedule)}"
        )
        raise TypeError(message)
