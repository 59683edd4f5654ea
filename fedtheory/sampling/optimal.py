"""Inclusion probabilities with the smallest variance for independent sampling (Optimal Client Sampling)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numpy import empty

from fedtheory._support.jit import compiled
from fedtheory._support.validate import Array
from fedtheory.sampling import newton
from fedtheory.sampling.arguments import checked_budget, checked_norms, is_plain, refuse_norms
from fedtheory.sampling.newton import (
    BLOCK,
    FEW,
    LANES,
    LARGEST_SUM,
    ROWS,
    SMALLEST_SUM,
    below,
    compiled_write_optimal,
    lanes,
    start,
    write,
    write_optimal,
)

__all__ = ["optimal_probabilities"]

TOP = 900
SATURATED = 2.0**1000


def optimal_probabilities(norms: npt.ArrayLike, expected_size: float) -> Array:
    r"""Minimizer of ``sum_i t_i^2 / p_i`` over ``0 <= p_i <= 1``, ``sum_i p_i <= m``.

    It is ``p_i = min(1, t_i / x)`` with the threshold x for which the probabilities sum to m. If the norms are in
    increasing order, ``p_i = (m + l - n) t_i / (t_1 + ... + t_l)`` for the l smallest norms, and 1 for the others. Here
    l is the largest number with ``0 < m + l - n`` and ``(m + l - n) t_l <= t_1 + ... + t_l``. The probability of a
    client with norm 0 is 0, although every probability is optimal for it. A probability below 1e-308 may be 0.

    Source: Chen, Horvath and Richtarik (2022), eq. (7) and Lemma 20.

    Parameters
    ----------
    norms
        Norms of the weighted updates, ``t_i = w_i |U_i|``, shape (n,), finite and at least 0.
    expected_size
        Budget m: the expected number of sampled clients, any real number in (0, n].

    Notes
    -----
    The algorithm needs O(n) memory and does not sort. Clients at the threshold are saturated and the threshold is
    recomputed until nothing changes. There are at most ``ceil(m)`` passes, and two or three for typical norms. For
    32,768 clients or more, one pass usually suffices, since a sample of the norms gives a bracket of the threshold.
    Norms from 5e-324 to 1e308 are supported. Multiplying all norms by a power of two does not change the result.

    Examples
    --------
    With one client expected, probabilities are proportional to the norms; with two, client 3 reaches 1 exactly.

    >>> optimal_probabilities([1.0, 2.0, 5.0], 1)
    array([0.125, 0.25 , 0.625])
    >>> optimal_probabilities([1.0, 1.0, 4.0], 2)
    array([0.5, 0.5, 1. ])
    """
    t: Any = norms if is_plain(norms) else checked_norms(norms)
    budget = checked_budget(expected_size, t.size)
    probabilities = empty(t.size)
    if not _fill(t, budget, probabilities):
        refuse_norms(t)
        rescale(t, budget, probabilities)
    return probabilities


def _fill(norms: Array, budget: float, probabilities: Array) -> bool:
    """Use the implementation with the least compilation for this number of clients; all three are bit-identical."""
    if norms.size < FEW:
        with np.errstate(all="ignore"):
            return bool(write_optimal(norms, budget, probabilities))
    fill = compiled_write_optimal if norms.size < MANY else fill_optimal
    return bool(fill(norms, budget, probabilities))


def rescale(norms: Array, budget: float, probabilities: Array) -> None:
    """Write the probabilities for norms whose sums overflow or are subnormal; more norms than the budget are positive.

    The norms are multiplied by a power of two that brings the largest to about 2^900. Only norms of clients with a
    probability below 1e-308 underflow. If only such clients are left after saturation, they are scaled again.
    """
    saturated = np.zeros(norms.size, dtype=bool)
    while True:
        scaled = near_top(norms, saturated)
        total, _ = newton.compiled_below(scaled, np.inf, probabilities)
        first = (SATURATED, 1.0) if saturated.any() else (total, budget)
        rest, room, _ = newton.compiled_saturate(scaled, budget, first, newton.NO_LIMIT, probabilities)
        # Norms below 1 may have lost digits; which of them are saturated is decided after they are scaled again.
        now = scaled >= max(rest / room, 1.0)
        left = scaled[~now].max(initial=0.0)
        if not (left < 1.0 and budget > now.sum()):
            break
        saturated = now
    # the same sums in the same order as for norms that are not scaled
    same, share = narrowed(scaled, budget, probabilities)
    newton.compiled_write(scaled, *((same, share) if same > 0.0 else (rest, room)), probabilities)


def near_top(norms: Array, saturated: npt.NDArray[np.bool_]) -> Array:
    """Scale the norms so that the largest one that is not saturated is about 2^900; saturated norms become 2^1000."""
    _, exponent = np.frexp(norms[~saturated].max())
    scaled: Array = np.full(norms.shape, SATURATED)
    scaled[~saturated] = np.ldexp(norms[~saturated], TOP - exponent)
    return scaled


MANY = 2**15
_PART = 32
_DEVIATIONS = 2.0


@compiled
def fill_optimal(norms: Array, budget: float, probabilities: Array) -> bool:
    """Write the optimal probabilities; return False under the conditions of ``write_optimal``."""
    rest, room = narrowed(norms, budget, probabilities)
    if SMALLEST_SUM < rest < LARGEST_SUM:
        return write(norms, rest, room, probabilities) == norms.size
    return write_optimal(norms, budget, probabilities)


@compiled
def narrowed(norms: Array, budget: float, scratch: Array) -> tuple[float, float]:
    """Return the sum of the rest and the remaining budget at the solution, or (0, 1) if the bracket cannot be used.

    The bracket is not used for small n, a small budget, or if it fails. ``scratch`` has n entries.
    """
    if norms.size < MANY or budget < _PART:  # with less than one client in the sample there is no information
        return 0.0, 1.0
    low, high = _bracket(norms, budget, scratch)
    return _inside(norms, budget, low, high, scratch) if 0.0 < low < high else (0.0, 1.0)


@compiled
def _bracket(norms: Array, budget: float, sample: Array) -> tuple[float, float]:
    # Bounds that contain the threshold with high probability, from every 32nd row of norms.
    size, work = 0, np.empty(BLOCK)
    for first in range(0, norms.size - LANES + 1, _PART * LANES):
        for j in range(LANES):
            sample[size + j] = norms[first + j]
        size += LANES
    share = budget * (size / norms.size)
    rest, room, _ = start(sample[:size], share, _PART, work)
    # The standard deviation of the sum of min(1, t_i / x) over a sample is below sqrt(share); room is its slope in log
    # x.
    x, error = rest / room, _DEVIATIONS * np.sqrt(share) / room
    return x * (1.0 - error), x * (1.0 + error)


@compiled
def _inside(norms: Array, budget: float, low: float, high: float, scratch: Array) -> tuple[float, float]:
    # Iterate from the threshold high with only the norms between low and high; (0, 1) if a threshold leaves the
    # bracket.
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
    # Sum of the norms below low, number of norms from high on, and number of norms between, which are collected.
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
    more, _ = below(tail, low, between)  # shorter than a block: nothing is written to the scratch array
    _, others = below(tail, high, between)
    return sums.sum() + more, counts.sum() + others, _collect(tail, low, high, between, size)


@compiled
def _collect(norms: Array, low: float, high: float, between: Array, size: int) -> int:
    for i in range(norms.size):
        if norms[i] >= low:
            between[size] = norms[i]  # overwritten by the next norm unless it is below high
            size += norms[i] < high
    return size
