"""How FedALIGN's threshold changes over the rounds: a bias that is allowed early can be taken back later."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory._support.wording import short

__all__ = ["AnnealedThreshold"]


@final
@dataclass(frozen=True)
class AnnealedThreshold:
    """A threshold that falls linearly from ``initial`` to 0 at the fraction ``end`` of all rounds and stays there.

    >>> AnnealedThreshold(1.0, end=0.5).thresholds(8)
    array([1.  , 0.75, 0.5 , 0.25, 0.  , 0.  , 0.  , 0.  ])
    """

    initial: float
    end: float = 1.0

    def __post_init__(self) -> None:
        validate.double("initial", validate.nonnegative("initial", self.initial))
        validate.positive("end", validate.fraction("end", self.end))

    def thresholds(self, num_rounds: int) -> Array:
        """Return eps for each round, shape (num_rounds,)."""
        validate.size("num_rounds", num_rounds, 0)
        initial, end = float(self.initial), float(self.end)
        result: Array = initial * np.maximum(1.0 - np.arange(num_rounds) / (end * max(num_rounds, 1)), 0.0)
        return result


def thresholds(threshold: Any, num_rounds: int) -> Array:
    """Thresholds of all rounds, shape (num_rounds,), from a number, an array of that shape or a schedule.

    Infinity is allowed: it includes everybody.

    Parameters
    ----------
    threshold
        A number, shape (num_rounds,), or a schedule with a method ``thresholds(num_rounds)``.
    num_rounds
        T.

    Examples
    --------
    >>> thresholds(float("inf"), 2)
    array([inf, inf])
    """
    num_rounds = validate.size("num_rounds", num_rounds, 0)
    values = checked_threshold(threshold.thresholds(num_rounds) if is_schedule(threshold) else threshold)
    if values.shape not in ((), (num_rounds,)):
        message = f"threshold must be a number or have shape ({num_rounds},), got shape {values.shape}"
        raise ValueError(message)
    return np.broadcast_to(values, (num_rounds,)).copy()


def is_schedule(threshold: Any) -> bool:
    """Whether a threshold is a schedule."""
    return not isinstance(threshold, type) and callable(getattr(threshold, "thresholds", None))


def checked_threshold(threshold: Any) -> Array:
    """Return thresholds, numbers of at least 0, as an array."""
    raw = validate.unmasked("threshold", threshold)
    if raw.dtype.kind not in "iuf":
        message = f"threshold must be a real number, one per round, or a schedule, got {short(threshold)}"
        raise TypeError(message)
    values: Array = raw.astype(np.float64)
    bad = ~(values >= 0)
    if bad.any():
        message = f"threshold must be at least 0, got {values[bad].flat[0]}"
        raise ValueError(message)
    return values
