"""Participation in a round of FedALIGN before losses are compared."""

from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory._support.values import to_tuples
from fedtheory._support.wording import truncate

__all__ = ["Everyone", "PriorityDraws", "UniformFraction"]


class Participation(Protocol):
    """Interface: the number of participating priority clients, and the participation of the others."""

    @property
    def selection(self) -> str:
        """The selection law in words, as in the schemes of bounds."""

    def sizes(self, num_priority: int, num_others: int) -> tuple[float, float, float]:
        """Return the mode (0 all, 1 draws, 2 subsets) and the numbers of participating priority and other clients."""

    def attendances(self, num_clients: int, num_rounds: int) -> Array:
        """Return the probabilities of attendance, shape (1, K) or (num_rounds, K)."""


@final
@dataclass(frozen=True)
class Everyone:
    """Participation of all priority clients, and of each other client with a given probability or in given rounds.

    Parameters
    ----------
    attendance
        Probability that a non-priority client participates in a round: one number, one per client, shape (K,), or one
        per round and client, shape (num_rounds, K). With zeros and ones it is a participation pattern (FedALIGN, eq.
        (55)). Entries of priority clients are ignored.
    """

    attendance: Any = 1.0

    def __post_init__(self) -> None:
        _shares(self.attendance)
        object.__setattr__(self, "attendance", to_tuples(self.attendance))

    @property
    def selection(self) -> str:
        """The law of Theorem 1."""
        return "loss matching"

    def sizes(self, num_priority: int, num_others: int) -> tuple[float, float, float]:
        """Return mode 0 with all clients."""
        return 0.0, float(num_priority), float(num_others)

    def attendances(self, num_clients: int, num_rounds: int) -> Array:
        """Return the probabilities of attendance, shape (1, K) or (num_rounds, K)."""
        return _attendances(self.attendance, num_clients, num_rounds)


@final
@dataclass(frozen=True)
class PriorityDraws:
    """Participation of ``num_draws`` priority clients drawn with replacement by their weights p_k (FedALIGN, (56)).

    Each draw has the weight ``1/num_draws`` in place of p_k; copies act as different clients.

    Parameters
    ----------
    num_draws
        Number K of draws in Theorem A.9.
    attendance
        As in ``Everyone``.
    """

    num_draws: int
    attendance: Any = 1.0

    def __post_init__(self) -> None:
        validate.count("num_draws", self.num_draws)
        _shares(self.attendance)
        object.__setattr__(self, "attendance", to_tuples(self.attendance))

    @property
    def selection(self) -> str:
        """The law of Theorem A.9."""
        return "loss matching, priority drawn with replacement"

    def sizes(self, num_priority: int, num_others: int) -> tuple[float, float, float]:
        """Return mode 1 with the number of draws."""
        return 1.0, float(self.num_draws), float(num_others)

    def attendances(self, num_clients: int, num_rounds: int) -> Array:
        """Return the probabilities of attendance, shape (1, K) or (num_rounds, K)."""
        return _attendances(self.attendance, num_clients, num_rounds)


@final
@dataclass(frozen=True)
class UniformFraction:
    """Participation of the same fraction of the priority clients and of the others, drawn uniformly (Appendix C.3).

    Sizes are rounded, with at least one priority client. The weights p_k are renormalized over the participating
    clients, which is unbiased only if all are equal; no theorem of the paper covers it.
    """

    fraction: float

    def __post_init__(self) -> None:
        validate.positive("fraction", validate.fraction("fraction", self.fraction))

    @property
    def selection(self) -> str:
        """Uniform subsets of both groups."""
        return "loss matching, uniform subsets"

    def sizes(self, num_priority: int, num_others: int) -> tuple[float, float, float]:
        """Return mode 2 with the sizes of both subsets."""
        return 2.0, float(max(1, round(self.fraction * num_priority))), float(round(self.fraction * num_others))

    def attendances(self, num_clients: int, num_rounds: int) -> Array:
        """Return ones: all clients of the subset attend."""
        return np.ones((1, num_clients))


def checked_participation(participation: Any) -> Any:
    """Return a value with methods ``sizes`` and ``attendances``."""
    if not (callable(getattr(participation, "sizes", None)) and callable(getattr(participation, "attendances", None))):
        message = f"participation must have methods sizes and attendances, got {truncate(participation)}"
        raise TypeError(message)
    return participation


def taking_part(participation: Participation, num_priority: int, num_others: int) -> tuple[int, int, int]:
    """Return the mode of a participation and its numbers of priority and other clients.

    Half of five priority clients, rounded to even, and half of six others:

    >>> taking_part(UniformFraction(0.5), num_priority=5, num_others=6)
    (2, 2, 3)
    """
    mode, first, others = participation.sizes(num_priority, num_others)
    most = first if mode == 1 else num_priority  # the number of draws with replacement is not limited
    whole = all(float(number).is_integer() for number in (mode, first, others))
    if not (whole and mode in (0, 1, 2) and 1 <= first <= most and 0 <= others <= num_others):
        message = (
            f"the sizes of {participation} must be a mode 0, 1 or 2, 1..{num_priority} priority clients (or "
            f"draws) and 0..{num_others} others, got {(mode, first, others)}"
        )
        raise ValueError(message)
    return int(mode), int(first), int(others)


def attending(participation: Participation, num_clients: int, num_rounds: int) -> Array:
    """Return the probabilities of a participation, shape (1, K) or (num_rounds, K); ValueError if they are invalid.

    >>> attending(PriorityDraws(3, attendance=[1.0, 0.5]), num_clients=2, num_rounds=7)
    array([[1. , 0.5]])
    """
    rows = np.asarray(participation.attendances(num_clients, num_rounds))
    return _attendances(rows[0] if rows.shape == (1, num_clients) else rows, num_clients, num_rounds)


def _shares(attendance: Any) -> Array:
    given = validate.array("attendance", attendance)
    if (given < 0).any() or (given > 1).any():
        message = f"attendance must be in [0, 1], got {given.min()} to {given.max()}"
        raise ValueError(message)
    return given


def _attendances(value: Any, num_clients: int, num_rounds: int) -> Array:
    given = _shares(value)
    if given.shape not in ((), (num_clients,), (num_rounds, num_clients)):
        shapes = f"(), ({num_clients},) or ({num_rounds}, {num_clients})"
        message = f"attendance must have shape {shapes}, got {given.shape}"
        raise ValueError(message)
    rows = num_rounds if given.ndim == 2 else 1
    return np.broadcast_to(given, (rows, num_clients)).copy()
