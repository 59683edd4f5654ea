"""Compiled draws that the rules share: weighted with or without replacement, uniform, and the largest of some values."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (compiled rules take what selection/_rules.py says)

import numpy as np

from fedtheory._compile import compiled
from fedtheory._validate import Array

__all__ = ["alias_table", "draw_by_weight", "draw_without_replacement", "keep_largest"]


def alias_table(weights: Array) -> Array:
    """Walker's alias table of a probability vector, shape (2 K,): K acceptance levels, then K aliases."""
    num_clients = weights.size
    level = weights / weights.sum() * num_clients
    alias = np.arange(num_clients)
    small = [k for k in range(num_clients) if level[k] < 1]
    large = [k for k in range(num_clients) if level[k] >= 1]
    while small and large:
        under, over = small.pop(), large[-1]
        alias[under] = over
        level[over] -= 1 - level[under]
        if level[over] < 1:
            small.append(large.pop())
    # What is left differs from 1 by rounding only, unless its weight is 0: then rounding must not give it a chance.
    for k in small + large:
        level[k] = 1.0 if weights[k] > 0 else 0.0
        alias[k] = k if weights[k] > 0 else int(np.argmax(weights))
    return np.concatenate([level, alias.astype(np.float64)])


@compiled
def draw_by_weight(table, start, num_clients, rng):
    """One client, from the alias table that begins at ``table[start]``; one uniform number gives column and level."""
    position = rng.random() * num_clients
    column = int(position)
    if position - column < table[start + column]:
        return column
    return int(table[start + num_clients + column])


@compiled
def draw_without_replacement(table, start, weights, size, stamp, taken, rng, drawn):
    """Draw ``size`` different clients one after the other, each proportional to weight among those left.

    ``taken[k] == stamp`` marks the clients drawn. Rejection from the alias table while at least a tenth of the mass is
    left, a scan of the rest afterwards.
    """
    num_clients = weights.size
    left = 1.0
    for j in range(size):
        if left > 0.1:
            k = draw_by_weight(table, start, num_clients, rng)
            while taken[k] == stamp:
                k = draw_by_weight(table, start, num_clients, rng)
        else:
            k = _scan(weights, stamp, taken, rng)
        taken[k] = stamp
        left -= weights[k]
        drawn[j] = k


@compiled
def _scan(weights, stamp, taken, rng):
    left = 0.0
    for k in range(weights.size):
        if taken[k] != stamp:
            left += weights[k]
    target = rng.random() * left
    last = -1
    for k in range(weights.size):
        if taken[k] != stamp and weights[k] > 0.0:
            last = k
            target -= weights[k]
            if target < 0.0:
                break
    return last


@compiled
def keep_largest(candidates, values, size, rng, kept):
    """Write the ``size`` candidates with the largest values into ``kept``, ties for the last places broken at random."""
    for j in range(size):
        i = j
        while i > 0 and values[kept[i - 1]] < values[j]:
            kept[i] = kept[i - 1]
            i -= 1
        kept[i] = j
    last = values[kept[size - 1]]
    for j in range(size, candidates.size):
        if values[j] > last:
            i = size - 1
            while i > 0 and values[kept[i - 1]] < values[j]:
                kept[i] = kept[i - 1]
                i -= 1
            kept[i] = j
            last = values[kept[size - 1]]
    _redraw_ties(values, last, size, rng, kept)
    for i in range(size):
        kept[i] = candidates[kept[i]]


@compiled
def _redraw_ties(values, last, size, rng, kept):
    # Positions first .. size-1 of kept hold tied values; a reservoir over all the tied makes every choice equally likely.
    tied = 0
    for j in range(values.size):
        tied += values[j] == last
    first = size
    while first > 0 and values[kept[first - 1]] == last:
        first -= 1
    if tied == size - first:
        return
    seen = 0
    for j in range(values.size):
        if values[j] == last:
            place = seen if seen < size - first else int(rng.random() * (seen + 1))
            if place < size - first:
                kept[first + place] = j
            seen += 1
