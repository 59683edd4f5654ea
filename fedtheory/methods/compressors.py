"""Compressors of vectors: top-k and rand-k."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (methods/rules.py states the arguments of compiled rules)

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.jit import compiled
from fedtheory._support.validate import Array
from fedtheory._support.wording import truncate

__all__ = ["Compressor", "RandK", "TopK"]


class Compress(NamedTuple):
    """A compiled rule ``compress(table, rng, message) -> floats``, its table, and the contraction factor, if known.

    ``epsilon``: ``E|C(v) - v|^2 <= epsilon |v|^2`` for every v; below 1 the compressor is a contraction.
    """

    rule: Callable[..., Any]
    table: Array
    epsilon: float


class Compressor(Protocol):
    """A compressor: a frozen dataclass of parameters."""

    def compress(self, dim: int) -> Compress:
        """Return the rule for vectors with the given number of coordinates."""


@final
@dataclass(frozen=True)
class TopK:
    """Send the k coordinates of largest absolute value and their indices: 2k floats. Ties are broken by index.

    ``|C(v) - v|^2 <= (1 - k/d) |v|^2``.
    """

    k: int

    def __post_init__(self) -> None:
        validate.count("k", self.k)

    def compress(self, dim: int) -> Compress:
        """Return the rule; ValueError if k is above the dimension."""
        dim = _dimension(dim, self.k)
        return Compress(_top, np.array([float(self.k)]), 1 - self.k / dim)


@final
@dataclass(frozen=True)
class RandK:
    """Send k coordinates drawn uniformly without replacement: k floats, since both sides know the indices.

    Unscaled, ``E|C(v) - v|^2 = (1 - k/d) |v|^2``. If ``scaled`` by d/k, C(v) has the mean v and ``E|C(v) - v|^2 = (d/k
    - 1) |v|^2``, which is no contraction for k <= d/2.
    """

    k: int
    scaled: bool = False

    def __post_init__(self) -> None:
        validate.count("k", self.k)
        validate.boolean("scaled", self.scaled)

    def compress(self, dim: int) -> Compress:
        """Return the rule; ValueError if k is above the dimension."""
        dim = _dimension(dim, self.k)
        scale = dim / self.k if self.scaled else 1.0
        return Compress(_random, np.array([float(self.k), scale]), scale - 1 if self.scaled else 1 - self.k / dim)


def checked_compressor(compressor: Any) -> Any:
    """Return a value with a method ``compress``."""
    if isinstance(compressor, type) or not callable(getattr(compressor, "compress", None)):
        known = f"the class {compressor.__name__}" if isinstance(compressor, type) else truncate(compressor)
        message = f"compressor must be a value with a method compress(dim), as TopK(3), got {known}"
        raise TypeError(message)
    return compressor


def _dimension(dim: Any, k: int) -> int:
    """Return the number of coordinates, which must be at least k."""
    found = validate.size("dim", dim)
    if k > found:
        message = f"k must be at most {found}, the number of coordinates, got {k}"
        raise ValueError(message)
    return found


@compiled
def _top(table, rng, message):
    k = int(table[0])
    kept = np.argsort(-np.abs(message), kind="mergesort")[:k]
    values = message[kept]
    message[:] = 0.0
    message[kept] = values
    return 2.0 * k


@compiled
def _random(table, rng, message):
    # Selection sampling: a coordinate is kept with probability (coordinates to keep)/(coordinates left).
    wanted, left = int(table[0]), message.size
    for j in range(message.size):
        if rng.random() * left < wanted:
            message[j] *= table[1]
            wanted -= 1
        else:
            message[j] = 0.0
        left -= 1
    return table[0]
