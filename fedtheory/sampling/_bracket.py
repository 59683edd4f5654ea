"""The compiled optimal law of many clients: a bracket of the threshold, so that one pass over the norms finds it.

The iteration of ``_newton`` reads all norms three or four times. A small part of them tells the threshold up to a few
percent. One pass then sums the norms below that bracket and collects the few inside it, and only these are read again.
The bracket is never trusted: it serves if the iteration over the collected norms ends inside it; if not, all norms are
read as often as usual.
"""

import numpy as np

from fedtheory._support.compiling import compiled
from fedtheory._support.validate import Array
from fedtheory.sampling._newton import (
    BLOCK,
    LANES,
    LARGEST_SUM,
    ROWS,
    SMALLEST_SUM,
    below,
    lanes,
    start,
    write,
    write_optimal,
)

__all__ = ["fill_optimal", "narrowed"]

_MANY = 2**15
_PART = 32
_DEVIATIONS = 2.0


@compiled
def fill_optimal(norms: Array, budget: float, probabilities: Array) -> bool:
    """Write the optimal probabilities; False as for ``write_optimal``."""
    rest, room = narrowed(norms, budget, probabilities)
    if SMALLEST_SUM < rest < LARGEST_SUM:
        return write(norms, rest, room, probabilities) == norms.size
    return write_optimal(norms, budget, probabilities)


@compiled
def narrowed(norms: Array, budget: float, scratch: Array) -> tuple[float, float]:
    """Sum of the rest and budget left at the solution, or (0, 1) if n or the budget is small or the bracket fails.

    ``scratch`` has room for n numbers.
    """
    if norms.size < _MANY or budget < _PART:  # less than one client of the sample tells nothing
        return 0.0, 1.0
    low, high = _bracket(norms, budget, scratch)
    return _inside(norms, budget, low, high, scratch) if 0.0 < low < high else (0.0, 1.0)


@compiled
def _bracket(norms: Array, budget: float, sample: Array) -> tuple[float, float]:
    # Bounds that hold the threshold in all likelihood, from every 32nd row of norms.
    size, work = 0, np.empty(BLOCK)
    for first in range(0, norms.size - LANES + 1, _PART * LANES):
        for j in range(LANES):
            sample[size + j] = norms[first + j]
        size += LANES
    share = budget * (size / norms.size)
    rest, room, _ = start(sample[:size], share, _PART, work)
    # The sum of min(1, t_i / x) over a sample deviates by less than sqrt(share), and room is its derivative by log x.
    x, error = rest / room, _DEVIATIONS * np.sqrt(share) / room
    return x * (1.0 - error), x * (1.0 + error)


@compiled
def _inside(norms: Array, budget: float, low: float, high: float, scratch: Array) -> tuple[float, float]:
    # The iteration from the threshold high, with the norms between low and high only; (0, 1) if it leaves the bracket.
    sum_low, num_high, size = _sift(norms, low, high, scratch)
    between, work = scratch[:size], np.empty(BLOCK)
    x, rest, room = high, 0.0, 1.0
    while low <= x <= high and sum_low > 0.0:
        more, saturated = below(between, x, work)
        left = budget - (num_high + saturated)
        if not left > 0.0:
            break
        if rest > 0.0 and not (sum_low + more) / left < x:
            return rest, room
        rest, room = sum_low + more, left
        x = rest / room
    return 0.0, 1.0


@compiled
def _sift(norms: Array, low: float, high: float, between: Array) -> tuple[float, int, int]:
    # Sum of the norms below low, number of those from high on, and number of those between, which are collected.
    sums, counts = lanes(np.empty(BLOCK))
    near = np.empty(LANES, dtype=np.int64)
    size = 0
    for first in range(0, norms.size - norms.size % BLOCK, BLOCK):
        for j in range(LANES):
            lane, from_low, from_high = 0.0, 0, 0
            for row in range(ROWS):
                t = norms[first + row * LANES + j]
                lane += t if t < low else 0.0
                from_low += t >= low
                from_high += t >= high
            sums[j] += lane
            counts[j] += from_high
            near[j] = from_low - from_high
        num_near = 0
        for j in range(LANES):
            num_near += near[j]
        if num_near > 0:
            size = _collect(norms[first : first + BLOCK], low, high, between, size)
    tail = norms[norms.size - norms.size % BLOCK :]
    more, _ = below(tail, low, between)  # shorter than a block: writes nothing to the scratch
    _, others = below(tail, high, between)
    return sums.sum() + more, counts.sum() + others, _collect(tail, low, high, between, size)


@compiled
def _collect(norms: Array, low: float, high: float, between: Array, size: int) -> int:
    for i in range(norms.size):
        if norms[i] >= low:
            between[size] = norms[i]  # overwritten by the next one unless it is below high
            size += norms[i] < high
    return size
