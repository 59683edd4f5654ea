"""Compiled draws shared by the rules: by weight, with or without replacement, and the largest of some values."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (selection/rules.py states the arguments of compiled rules)

import numpy as np

from fedtheory._support.jit import compiled, jitable
from fedtheory._support.validate import Array

_FEW = 64  # values that are ranked by counting
_TRIES = 64  # consecutive draws of absent clients before the available ones are searched


def alias_table(weights: Array) -> Array:
    """Return Walker's alias table of a probability vector: each client's acceptance level and distance to its alias."""
    num_clients = weights.size
    table = np.zeros((num_clients, 2))
    table[:, 0] = weights / weights.sum() * num_clients
    _fill_up(table, np.empty(num_clients, dtype=np.int64))
    return table.ravel()


@compiled
def _fill_up(table, waiting):
    # Columns below 1 wait on a stack at the left end, the others on a stack at the right end. Those that remain become
    # their own aliases; their levels are 1 up to rounding, since they add up to their number, so that no client of
    # weight 0 is among them.
    under, over = 0, waiting.size
    for k in range(waiting.size):
        if table[k, 0] < 1.0:
            waiting[under] = k
            under += 1
        else:
            over -= 1
            waiting[over] = k
    while under > 0 and over < waiting.size:
        under -= 1
        low, high = waiting[under], waiting[over]
        table[low, 1] = high - low
        table[high, 0] -= 1.0 - table[low, 0]
        if table[high, 0] < 1.0:
            over += 1
            waiting[under] = high
            under += 1


@jitable
def draw_by_weight(alias, rng):
    """Draw one client from an alias table; a uniform number determines a column of the table and a level in it."""
    position = rng.random() * (alias.size // 2)
    column = np.int64(position)
    # Arithmetic instead of a branch, which the processor would mispredict half of the time. Unsigned indices need no
    # test for negative ones; signed integers convert faster to and from floats.
    aliased = position - column >= alias[np.uint64(2 * column)]
    return np.uint64(column + np.int64(aliased * alias[np.uint64(2 * column + 1)]))


@jitable
def draw_present(alias, weights, rng, drawn):
    """Fill ``drawn`` with available clients as ``draw_by_weight`` draws them; return whether any is available."""
    filled, missed = 0, 0
    while filled < drawn.size:
        k = draw_by_weight(alias, rng)
        drawn[np.uint64(filled)] = k
        here = int(weights[k] > 0.0)
        filled += here
        missed = (missed + 1) * (1 - here)
        if missed == _TRIES:
            drawn[filled] = _scan_present(weights, rng)
            if drawn[filled] < 0:
                break
            filled, missed = filled + 1, 0
    return filled == drawn.size


@jitable
def _scan_present(weights, rng):
    taken, drawn = np.zeros(weights.size), np.full(1, -1)
    scan_for_the_rest(weights, 1.0, taken, rng, 0, 1, drawn)
    return drawn[0]


@jitable
def scan_for_the_rest(weights, stamp, taken, rng, filled, size, drawn):
    """Draw clients ``filled .. size - 1`` by weight among those with ``taken[k] != stamp``; return how many exist."""
    for j in range(filled, size):
        left = 0.0
        for k in range(weights.size):
            if taken[k] != stamp and weights[k] > 0.0:
                left += weights[k]
        if left == 0.0:
            return j
        target = rng.random() * left
        last = -1
        for k in range(weights.size):
            if taken[k] != stamp and weights[k] > 0.0:
                last = k
                target -= weights[k]
                if target < 0.0:
                    break
        taken[last] = stamp
        drawn[j] = last
    return size


@jitable
def first_arrivals(weights, rng, size, drawn):
    """Draw clients by weight without replacement, in no particular order; return their number, at most ``size``.

    The clients whose exponential clocks of rate w_k ring first have the law of successive draws. One number per client
    is cheaper than rejection if most clients are drawn.
    """
    num_present, earliness = 0, np.empty(weights.size)
    for k in range(weights.size):
        earliness[k] = -np.inf
        if weights[k] > 0.0:
            earliness[k] = -rng.standard_exponential() / weights[k]
            num_present += 1
    size = min(size, num_present)
    if size == 0:
        return 0
    last, filled = _last_place(earliness, size), 0
    for k in range(weights.size):
        if earliness[k] >= last and filled < size:
            drawn[filled] = k
            filled += 1
    return filled


@jitable
def keep_largest(candidates, values, size, rng, kept):
    """Write the ``size`` candidates with the largest values into ``kept``, ties at random; overwrite ``candidates``."""
    filled = _keep_last_place(candidates, values, size)
    for i in range(size):
        kept[i] = candidates[i]
    if filled == size:
        return
    last = _last_place(values, size)
    tied, places = 0, size
    for j in range(values.size):
        tied += values[j] == last
        places -= values[j] > last
    i, filled = 0, 0
    for j in range(values.size):
        if values[j] >= last:
            stays = values[j] > last
            if not stays:
                # Each tied candidate stays with probability (places left)/(tied left): all choices are equally likely.
                stays = rng.random() * tied < places
                tied -= 1
                places -= stays
            if stays:
                kept[filled] = candidates[i]
                filled += 1
            i += 1


@jitable
def _keep_last_place(candidates, values, size):
    # Move the candidates that are above or tied with the last place to the front; return their number. NaN stays, so
    # that a model that diverges has a cohort.
    if values.size <= _FEW:
        return _keep_by_rank(candidates, values, size)
    last, filled = _last_place(values, size), 0
    for j in range(values.size):
        candidates[np.uint64(filled)] = candidates[j]
        filled += not values[j] < last
    return filled


@jitable
def _keep_by_rank(candidates, values, size):
    # Counting is quadratic but has no branches, which would be mispredicted. A separate function is vectorized.
    filled = 0
    for j in range(values.size):
        above = 0
        for i in range(values.size):
            above += values[i] > values[j]
        candidates[np.uint64(filled)] = candidates[j]
        filled += above < size
    return filled


@jitable
def _last_place(values, size):
    # Smallest of the ``size`` largest values, by Hoare's selection. ``np.partition`` is as fast, but has sixty
    # functions that are compiled into each rule.
    values, place = values.copy(), values.size - size
    low, high = 0, values.size - 1
    while low < high:
        pivot, i, j = values[(low + high) // 2], low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while pivot < values[j]:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i, j = i + 1, j - 1
        if j < place < i:
            break
        low, high = (low, j) if place <= j else (i, high)
    return values[place]
