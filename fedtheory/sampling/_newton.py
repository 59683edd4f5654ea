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
    "fill_approximate",
    "fill_optimal",
    "saturate",
    "start",
    "survey",
    "write",
    "write_approximate",
    "write_optimal",
]

LANES = 32
LARGEST = np.finfo(np.float64).max
NO_LIMIT = 2**62


@compiled
def survey(norms: Array, work: Array) -> tuple[float, float, float]:
    """Sum of the norms, how many are positive, and how many are legal (finite and at least 0)."""
    work[:] = 0.0
    sums, positive, legal = work[0], work[1], work[2]
    for first in range(0, norms.size, LANES):
        row = norms[first : first + LANES]
        for j in range(row.size):
            sums[j] += row[j]
            positive[j] += 1.0 * (row[j] > 0.0)
            legal[j] += (1.0 * (row[j] >= 0.0)) * (1.0 * (row[j] <= LARGEST))
    return sums.sum(), positive.sum(), legal.sum()


@compiled
def _below(norms: Array, x: float, work: Array) -> tuple[float, float]:
    # Sum and number of the norms below x. Independent lanes instead of one running sum: the loop becomes SIMD without
    # any licence to reorder, so the bits do not depend on the machine. Four rows at a time save loads and stores.
    work[:] = 0.0
    sums, counts = work[0], work[1]
    lanes = sums.size
    whole = norms.size - norms.size % (4 * lanes)
    for first in range(0, whole, 4 * lanes):
        row0 = norms[first : first + lanes]
        row1 = norms[first + lanes : first + 2 * lanes]
        row2 = norms[first + 2 * lanes : first + 3 * lanes]
        row3 = norms[first + 3 * lanes : first + 4 * lanes]
        for j in range(lanes):
            b0 = 1.0 * (row0[j] < x)
            b1 = 1.0 * (row1[j] < x)
            b2 = 1.0 * (row2[j] < x)
            b3 = 1.0 * (row3[j] < x)
            sums[j] += (row0[j] * b0 + row1[j] * b1) + (row2[j] * b2 + row3[j] * b3)
            counts[j] += (b0 + b1) + (b2 + b3)
    for first in range(whole, norms.size, lanes):
        row = norms[first : first + lanes]
        for j in range(row.size):
            b = 1.0 * (row[j] < x)
            sums[j] += row[j] * b
            counts[j] += b
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
    if total == 0.0:
        return 0.0, budget, 0
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
def fill_optimal(norms: Array, budget: float, probabilities: Array) -> tuple[float, float, float]:
    """Write the optimal probabilities; returns (sum of the rest, how many norms are positive, how many are legal).

    The first value is infinite, or tiny, when the norms leave the range where the arithmetic is accurate.
    """
    return write_optimal(norms, budget, np.empty((3, LANES)), probabilities)


@compiled
def write_optimal(norms: Array, budget: float, work: Array, probabilities: Array) -> tuple[float, float, float]:
    """Do as ``fill_optimal`` without allocating; ``work`` has shape (3, LANES)."""
    total, positive, legal = survey(norms, work)
    if positive <= budget:
        for i in range(norms.size):
            probabilities[i] = 1.0 * (norms[i] > 0.0)
        return 1.0, positive, legal
    rest, room, _ = start(norms, budget, total, NO_LIMIT, work)
    write(norms, rest, room, probabilities)
    return rest, positive, legal


@compiled
def fill_approximate(
    norms: Array, budget: float, max_rescalings: int, probabilities: Array
) -> tuple[float, int, float]:
    """Write the law after some rescalings; returns (sum of the rest, rescalings made, how many norms are legal)."""
    return write_approximate(norms, budget, max_rescalings, np.empty((3, LANES)), probabilities)


@compiled
def write_approximate(
    norms: Array, budget: float, max_rescalings: int, work: Array, probabilities: Array
) -> tuple[float, int, float]:
    """Do as ``fill_approximate`` without allocating; ``work`` has shape (3, LANES)."""
    total, _, legal = survey(norms, work)
    rest, room, num_rescalings = start(norms, budget, total, max_rescalings, work)
    write(norms, rest, room, probabilities)
    return rest, num_rescalings, legal
