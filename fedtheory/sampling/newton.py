"""Compiled iteration for ``sum_i min(1, t_i / x) = m``, shared by the optimal and approximate probabilities.

The threshold x starts at ``sum(t) / m``. Clients with ``t_i >= x`` are saturated: they have probability 1 and use one
unit of the budget each. If s is the sum of the norms of the other clients and r is the remaining budget, the next
threshold is ``s / r``. This is Newton's method for the concave function ``c -> sum_i min(1, c t_i)`` with
``c = 1 / x``. Thresholds decrease and stop at the solution. Nothing is sorted or copied, and loops over clients have no
branches.

Sums over many clients have LANES independent lanes and process ROWS rows at a time; sums over the last few clients have
four lanes. The compiler can vectorize such loops without reordering, so results are bit-identical on all machines. The
lanes are stored in ``scratch``, which needs BLOCK numbers. The array of the result can be used, since it is written
last.
"""

import numpy as np
import numpy.typing as npt

from fedtheory._support.jit import compiled, jitable
from fedtheory._support.validate import Array

__all__ = [
    "FEW", "LARGEST_SUM", "NO_LIMIT", "SMALLEST_SUM", "compiled_below", "compiled_saturate", "compiled_write",
    "compiled_write_approximate", "compiled_write_optimal", "write", "write_approximate", "write_optimal",
]  # fmt: skip

LANES, ROWS = 16, 8
BLOCK = LANES * ROWS
FEW = 16  # number of clients up to which plain Python takes less than 0.1 ms, while compilation takes seconds
NO_LIMIT = 2**62
SMALLEST_SUM, LARGEST_SUM = 2.0**-900, 2.0**960
_SMALLEST_ROOM, _ROUNDING = 2.0**-60, 2.0**-53


@jitable
def _lanes(scratch: Array) -> tuple[Array, npt.NDArray[np.int64]]:
    """Lanes of a sum and of an integer count, all set to 0, at the beginning of ``scratch``."""
    sums, counts = scratch[:LANES], scratch[LANES : 2 * LANES].view(np.int64)
    for j in range(LANES):
        sums[j] = 0.0
        counts[j] = 0
    return sums, counts


@jitable
def below(norms: Array, x: float, scratch: Array) -> tuple[float, int]:
    """Return the sum of the norms below x and the number of the others."""
    total, count = _blocks_below(norms, x, scratch) if norms.size >= BLOCK else (0.0, 0)
    others = norms[norms.size - norms.size % BLOCK :]
    for i in range(others.size):
        count += others[i] >= x
    return total + _few_below(others, x), count


@jitable
def _blocks_below(norms: Array, x: float, scratch: Array) -> tuple[float, int]:
    sums, counts = _lanes(scratch)
    for first in range(0, norms.size - norms.size % BLOCK, BLOCK):
        for j in range(LANES):
            lane, count = 0.0, 0
            for row in range(ROWS):
                t = norms[first + row * LANES + j]
                lane += t if t < x else 0.0
                count += t >= x
            sums[j] += lane
            counts[j] += count
    return sums.sum(), counts.sum()


@jitable
def _few_below(norms: Array, x: float) -> float:
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = norms.size - norms.size % 4
    for i in range(0, whole, 4):
        a += norms[i] if norms[i] < x else 0.0
        b += norms[i + 1] if norms[i + 1] < x else 0.0
        c += norms[i + 2] if norms[i + 2] < x else 0.0
        d += norms[i + 3] if norms[i + 3] < x else 0.0
    for i in range(whole, norms.size):
        a += norms[i] if norms[i] < x else 0.0
    return (a + c) + (b + d)


@jitable
def saturate(
    norms: Array, budget: float, first: tuple[float, float], max_rescalings: int, scratch: Array
) -> tuple[float, float, int]:
    """Iterate from first = (sum of the rest, budget left); return the last such pair and the number of rescalings.

    The iteration ends if no client is left, no budget is left, or the threshold would not decrease. In exact
    arithmetic, the first two cases do not occur before the solution. With floats, a client at the threshold may be
    assigned to the wrong side. Then the next threshold does not decrease.
    """
    rest, room = first
    x = rest / room
    num_rescalings = 0
    while num_rescalings < max_rescalings:
        remaining, saturated = below(norms, x, scratch)
        left = budget - saturated
        if not (remaining > 0.0 and left > 0.0 and remaining / left < x):
            break
        rest, room, x = remaining, left, remaining / left
        num_rescalings += 1
    return rest, room, num_rescalings


@jitable
def start(norms: Array, budget: float, max_rescalings: int, scratch: Array) -> tuple[float, float, int]:
    """Iterate from the threshold ``sum(norms) / budget``; the result is that of ``saturate``."""
    total, _ = below(norms, np.inf, scratch)
    if total == 0.0 or not total < np.inf:
        return total, budget, 0
    return saturate(norms, budget, (total, budget), max_rescalings, scratch)


@jitable
def write(norms: Array, rest: float, room: float, probabilities: Array) -> int:
    """Write ``min(1, room t_i / rest)``, exactly 1 at and above the threshold.

    Return the number of norms that are finite and at least 0, which takes no additional time here.
    """
    if not (room > _SMALLEST_ROOM and SMALLEST_SUM < rest < LARGEST_SUM):
        return _write_far(norms, rest, room, probabilities)
    x, scale, num_legal = rest / room, room / rest, 0
    for i in range(norms.size):
        t = norms[i]
        # Below x the product exceeds 1 by at most a rounding error, so it rounds to 1.
        probabilities[i] = scale * t if t < x else 1.0
        num_legal += t < np.inf
        num_legal -= t < 0.0
    return num_legal


@jitable
def _write_far(norms: Array, rest: float, room: float, probabilities: Array) -> int:
    # Like ``write``, if the quotient room / rest would lose digits.
    x, num_legal = rest / room, 0
    for i in range(norms.size):
        t = norms[i]
        share = room * (t / rest) if rest > 0.0 else 0.0
        probabilities[i] = 1.0 if t >= x and t > 0.0 else min(1.0, share)
        num_legal += t < np.inf
        num_legal -= t < 0.0
    return num_legal


@jitable
def write_optimal(norms: Array, budget: float, probabilities: Array) -> bool:
    """Write the optimal probabilities.

    Return False if the general algorithm is needed, because a norm is negative or not finite, or norms are outside the
    range in which the arithmetic is accurate.
    """
    num_positive = 0
    for i in range(norms.size):
        num_positive += norms[i] > 0.0
    if num_positive <= budget:  # the threshold 0 saturates every positive norm
        return write(norms, 0.0, budget, probabilities) == norms.size
    rest, room, _ = start(norms, budget, NO_LIMIT, probabilities)
    num_legal = write(norms, rest, room, probabilities)
    return num_legal == norms.size and SMALLEST_SUM < rest < LARGEST_SUM


@jitable
def write_approximate(
    norms: Array, budget: float, max_rescalings: int, probabilities: Array
) -> tuple[float, int, bool, bool, int]:
    """Write the probabilities after some rescalings.

    Return the sum of the rest, the number of rescalings, whether another one would change a probability, whether a norm
    is so close to a threshold that its side is uncertain, and the number of valid norms.
    """
    rest, room, num_rescalings = start(norms, budget, 0, probabilities)
    moves, near = 0.0 < rest < np.inf, False
    while moves:
        near |= _is_near(norms, rest / room)
        following, left, made = saturate(norms, budget, (rest, room), 1, probabilities)
        moves = made > 0
        if not moves or num_rescalings == max_rescalings:
            break
        rest, room, num_rescalings = following, left, num_rescalings + 1
    num_legal = write(norms, rest, room, probabilities)
    return rest, num_rescalings, moves, near, num_legal


@jitable
def _is_near(norms: Array, x: float) -> bool:
    # Lanes add n / 128 + 64 numbers in sequence: the error of a threshold is below twice that many rounding errors.
    width, num_near = x * (norms.size / 64 + 128) * _ROUNDING, 0
    for i in range(norms.size):
        num_near += abs(norms[i] - x) <= width
    return num_near > 0


compiled_below, compiled_saturate, compiled_write = compiled(below), compiled(saturate), compiled(write)
compiled_write_optimal, compiled_write_approximate = compiled(write_optimal), compiled(write_approximate)
