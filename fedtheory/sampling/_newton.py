"""Compiled saturate-and-repeat iteration for ``sum_i min(1, t_i / x) = m``, shared by the optimal and approximate laws.

The threshold x starts at ``sum(t) / m``. Clients with ``t_i >= x`` are saturated (probability 1, one unit of budget
each), and the rest share what is left: with s the sum of their norms and r the budget left, the next threshold is
``s / r``. This is Newton's method for the concave function ``c -> sum_i min(1, c t_i)`` with ``c = 1 / x``: thresholds
decrease and stop at the solution. No sort, no copy, no branch inside a loop over clients.
"""

import numpy as np

from fedtheory._compile import compiled
from fedtheory._validate import Array

__all__ = [
    "LANES",
    "NO_LIMIT",
    "SMALLEST_SUM",
    "fill_approximate",
    "fill_optimal",
    "saturate",
    "start",
    "survey",
    "write",
    "write_approximate",
    "write_optimal",
]

LANES = 16
_ROWS = 8
NO_LIMIT = 2**62
SMALLEST_SUM = 2.0**-900

# Sums over clients run in LANES independent lanes, _ROWS rows at a time: such loops become SIMD without any licence to
# reorder, so that the bits do not depend on the machine. Counts are integers, which comparisons add to at no cost.


@compiled
def survey(norms: Array, work: Array) -> tuple[float, int, int]:
    """Sum of the norms, how many are positive, and how many are at least 0 (NaN is not)."""
    sums, positive, legal = work[0], work[1].view(np.int64), work[2].view(np.int64)
    sums[:], positive[:], legal[:] = 0.0, 0, 0
    whole = norms.size - norms.size % (_ROWS * LANES)
    for first in range(0, whole, _ROWS * LANES):
        for j in range(LANES):
            total, above, at_least = 0.0, 0, 0
            for row in range(_ROWS):
                t = norms[first + row * LANES + j]
                total += t
                above += t > 0.0
                at_least += t >= 0.0
            sums[j] += total
            positive[j] += above
            legal[j] += at_least
    for first in range(whole, norms.size, LANES):
        rest = norms[first : first + LANES]
        for j in range(rest.size):
            sums[j] += rest[j]
            positive[j] += rest[j] > 0.0
            legal[j] += rest[j] >= 0.0
    return sums.sum(), positive.sum(), legal.sum()


@compiled
def _below(norms: Array, x: float, work: Array) -> tuple[float, int]:
    # Sum and number of the norms below x.
    sums, counts = work[0], work[1].view(np.int64)
    sums[:], counts[:] = 0.0, 0
    whole = norms.size - norms.size % (_ROWS * LANES)
    for first in range(0, whole, _ROWS * LANES):
        for j in range(LANES):
            total, count = 0.0, 0
            for row in range(_ROWS):
                t = norms[first + row * LANES + j]
                total += t if t < x else 0.0
                count += t < x
            sums[j] += total
            counts[j] += count
    for first in range(whole, norms.size, LANES):
        rest = norms[first : first + LANES]
        for j in range(rest.size):
            sums[j] += rest[j] if rest[j] < x else 0.0
            counts[j] += rest[j] < x
    return sums.sum(), counts.sum()


@compiled
def saturate(
    norms: Array, budget: float, first: tuple[float, float], max_rescalings: int, work: Array
) -> tuple[float, float, int]:
    """Repeat from first = (sum of the rest, budget left); returns the last such pair and the rescalings made.

    A step is refused, and the iteration over, when nobody is left, no budget is left or the threshold would not
    decrease. In exact arithmetic the first two cannot happen before the solution; in floats a client that sits on
    the threshold may fall on the wrong side of it, which always shows as a threshold that does not decrease.
    """
    rest, room = first
    x = rest / room
    num_rescalings = 0
    while num_rescalings < max_rescalings:
        below, count = _below(norms, x, work)
        left = budget - (norms.size - count)
        if not (below > 0.0 and left > 0.0 and below / left < x):
            break
        rest, room, x = below, left, below / left
        num_rescalings += 1
    return rest, room, num_rescalings


@compiled
def start(norms: Array, budget: float, total: float, max_rescalings: int, work: Array) -> tuple[float, float, int]:
    """Iterate from the threshold ``total / budget``; returns as ``saturate``."""
    if total == 0.0 or not total < np.inf:
        return total, budget, 0
    return saturate(norms, budget, (total, budget), max_rescalings, work)


@compiled
def write(norms: Array, rest: float, room: float, probabilities: Array) -> None:
    """Write ``min(1, room t_i / rest)``, exactly 1 at and above the threshold."""
    if rest == 0.0:
        probabilities[:] = 0.0
        return
    x = rest / room
    for i in range(norms.size):
        probabilities[i] = min(1.0, room * (norms[i] / rest) + 1.0 * (norms[i] >= x))


@compiled
def fill_optimal(norms: Array, budget: float, probabilities: Array) -> int:
    """Write the optimal probabilities and return how many norms are positive.

    The answer is -1 if somebody has to look closer: a norm is negative or not finite, or the norms leave the range
    where the arithmetic is accurate.
    """
    rest, positive, legal = write_optimal(norms, budget, np.empty((3, LANES)), probabilities)
    is_safe = legal == norms.size and rest < np.inf and (rest > SMALLEST_SUM or positive <= budget)
    return positive if is_safe else -1


@compiled
def write_optimal(norms: Array, budget: float, work: Array, probabilities: Array) -> tuple[float, int, int]:
    """Write the optimal probabilities; returns (sum of the rest, how many norms are positive, how many are >= 0).

    The first value is not finite if a norm is not, and infinite or tiny if the arithmetic was not accurate; ``work``
    has shape (3, LANES).
    """
    total, positive, legal = survey(norms, work)
    if positive <= budget:
        for i in range(norms.size):
            probabilities[i] = 1.0 * (norms[i] > 0.0)
        return total, positive, legal
    rest, room, _ = start(norms, budget, total, NO_LIMIT, work)
    write(norms, rest, room, probabilities)
    return rest, positive, legal


@compiled
def fill_approximate(norms: Array, budget: float, max_rescalings: int, probabilities: Array) -> tuple[float, int, int]:
    """Write the law after some rescalings; returns (sum of the rest, rescalings made, how many norms are >= 0)."""
    return write_approximate(norms, budget, max_rescalings, np.empty((3, LANES)), probabilities)


@compiled
def write_approximate(
    norms: Array, budget: float, max_rescalings: int, work: Array, probabilities: Array
) -> tuple[float, int, int]:
    """Do as ``fill_approximate`` without allocating; ``work`` has shape (3, LANES)."""
    total, _, legal = survey(norms, work)
    rest, room, num_rescalings = start(norms, budget, total, max_rescalings, work)
    write(norms, rest, room, probabilities)
    return rest, num_rescalings, legal
