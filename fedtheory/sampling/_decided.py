"""The approximate law where rounding could tell wrongly who has reached probability 1: whole numbers decide.

A client exactly at probability 1 is not rescaled any more, and where one reaches 1 the next step jumps: a rounding
error there is not small in the probabilities after a given number of steps. Doubles are whole multiples of 2^-1074,
so that sums and comparisons of whole numbers are exact, however far apart the norms are. Only the decisions are made
here; the probabilities come from the same sums in the same order as elsewhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fedtheory._support.validate import Array
from fedtheory.sampling import _newton
from fedtheory.sampling.optimal import SATURATED, near_top

__all__ = ["write_decided"]

_SMALLEST_EXPONENT = 1074


class _Decided(NamedTuple):
    """The end of the iteration: how many of the largest are fixed at 1, and how many are at 1; steps; is one left."""

    taken: int
    at_one: int
    num_rescalings: int
    moves: bool


def write_decided(norms: Array, budget: float, max_rescalings: int, probabilities: Array) -> tuple[int, bool]:
    """Write the law after some rescalings; returns how many changed something and whether another one would."""
    largest = np.sort(norms)[::-1]
    end = _decide([_whole(t) for t in largest.tolist()], budget, max_rescalings)
    saturated = norms >= (largest[end.taken - 1] if end.taken else np.inf)
    scaled = near_top(norms, saturated)
    rest, _ = _newton.below(scaled, SATURATED, probabilities)
    _newton.write(scaled, rest, budget - end.taken, probabilities)
    if end.at_one:
        probabilities[norms >= largest[end.at_one - 1]] = 1.0
    return end.num_rescalings, end.moves


def _whole(t: float) -> int:
    # In units of the smallest double.
    numerator, denominator = t.as_integer_ratio()
    return numerator << (_SMALLEST_EXPONENT + 1 - denominator.bit_length())


def _decide(largest: list[int], budget: float, max_rescalings: int) -> _Decided:
    # Rescale c = room / rest, in units of 1 / whole, while a client is strictly above 1 and another one is below.
    spent, whole = budget.as_integer_ratio()
    rest, taken, made = sum(largest), 0, 0
    while True:
        room, at_one = spent - taken * whole, taken
        while at_one < len(largest) and largest[at_one] * room >= rest * whole:
            at_one += 1
        remaining = rest - sum(largest[taken:at_one])
        moves = remaining > 0 and largest[taken] * room > rest * whole
        if not moves or made == max_rescalings:
            return _Decided(taken, at_one, made, moves)
        rest, taken, made = remaining, at_one, made + 1
