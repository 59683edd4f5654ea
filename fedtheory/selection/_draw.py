"""Compiled draws that the rules share: by weight, with or without replacement, and the largest of some values."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (compiled rules take what selection/_rules.py says)

import numpy as np

from fedtheory._compile import compiled, inlined
from fedtheory._validate import Array

__all__ = ["alias_table", "draw_by_weight", "draw_without_replacement", "keep_largest"]


def alias_table(weights: Array) -> Array:
    """Walker's alias table of a probability vector: K acceptance levels, then K distances to the aliases."""
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
    return np.concatenate([level, (alias - np.arange(num_clients)).astype(np.float64)])


@inlined
def draw_by_weight(table, start, num_clients, rng):
    """One client, from the alias table that begins at ``table[start]``; one uniform number gives column and level."""
    position = rng.random() * num_clients
    column = np.uint64(position)
    # Arithmetic instead of a branch: the comparison is a coin toss, which the processor would mispredict. Unsigned
    # indices spare the test for negative ones.
    aliased = position - column >= table[np.uint64(start) + column]
    return np.uint64(column + aliased * table[np.uint64(start + num_clients) + column])


@inlined
def draw_without_replacement(table, start, weights, size, stamp, taken, rng, drawn):
    """Draw ``size`` different clients one after the other, each proportional to weight among those left.

    ``taken[k] == stamp`` marks the clients drawn. Rejection from the alias table while it pays, a scan of the rest once
    rejections abound; either way the next client has its exact law given those drawn before.
    """
    filled, tries = 0, 0
    while filled < size and tries < 4 * size + 16:
        k = draw_by_weight(table, start, weights.size, rng)
        drawn[np.uint64(filled)] = k
        filled += taken[k] != stamp
        taken[k] = stamp
        tries += 1
    if filled < size:
        _scan_for_the_rest(weights, stamp, taken, rng, filled, size, drawn)


@compiled
def _scan_for_the_rest(weights, stamp, taken, rng, filled, size, drawn):
    for j in range(filled, size):
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
        taken[last] = stamp
        drawn[j] = last


@inlined
def keep_largest(candidates, values, size, rng, kept):
    """Write the ``size`` candidates with the largest values into ``kept``; ties for the last places go by chance."""
    for j in range(values.size):
        if j < size or values[j] > values[kept[size - 1]]:
            place = min(j, size - 1)
            while place > 0 and values[kept[place - 1]] < values[j]:
                kept[place] = kept[place - 1]
                place -= 1
            kept[place] = j
    last = values[kept[size - 1]]
    tied = 0
    for j in range(values.size):
        tied += values[j] == last
    if tied > 1:
        _share_last_places(values, last, size, rng, kept)
    for i in range(size):
        kept[i] = candidates[kept[i]]


@compiled
def _share_last_places(values, last, size, rng, kept):
    # The places that hold tied positions go to a reservoir over all the tied: every choice is equally likely.
    first = 0
    while values[kept[first]] > last:
        first += 1
    seen = 0
    for j in range(values.size):
        if values[j] == last:
            place = seen if seen < size - first else int(rng.random() * (seen + 1))
            if place < size - first:
                kept[first + place] = j
            seen += 1
