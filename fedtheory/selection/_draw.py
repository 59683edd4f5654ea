"""Compiled draws that the rules share: by weight, with or without replacement, and the largest of some values."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (compiled rules take what selection/_rules.py says)

import numpy as np

from fedtheory._compile import compiled
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


@compiled
def draw_by_weight(table, start, num_clients, rng):
    """One client, from the alias table that begins at ``table[start]``; one uniform number gives column and level."""
    position = rng.random() * num_clients
    column = np.uint64(position)
    # Arithmetic instead of a branch: the comparison is a coin toss, which the processor would mispredict. Unsigned
    # indices spare the test for negative ones.
    aliased = position - column >= table[np.uint64(start) + column]
    return np.uint64(column + aliased * table[np.uint64(start + num_clients) + column])


@compiled
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
    while filled < size:
        k = _scan(weights, stamp, taken, rng)
        taken[k] = stamp
        drawn[filled] = k
        filled += 1


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
    """Write the ``size`` candidates with the largest values into ``kept``, ties for the last places broken at random.

    ``candidates`` and ``values`` are scratch: their order is lost.
    """
    last = _last_kept(values, size) if values.size <= 64 else np.partition(values, values.size - size)[-size]
    filled, tied = 0, 0
    for j in range(values.size):
        # No branch: which values are among the largest is just what the processor cannot predict.
        candidates[filled], values[filled] = candidates[j], values[j]
        tied += values[j] == last
        filled += values[j] >= last
    if filled > size:
        _drop_surplus(candidates, values, last, filled, tied, filled - size, rng)
    for i in range(size):
        kept[i] = candidates[i]


@compiled
def _last_kept(values, size):
    # The size-th largest value: the smallest one with fewer than ``size`` values above it.
    last = np.inf
    for j in range(values.size):
        above = 0
        for i in range(values.size):
            above += values[i] > values[j]
        last = min(last, values[j] if above < size else np.inf)
    return last


@compiled
def _drop_surplus(clients, values, last, size, tied, surplus, rng):
    # Of the tied among the first ``size`` clients drop ``surplus``, every choice equally likely.
    filled, keep = 0, tied - surplus
    for i in range(size):
        if values[i] == last:
            stays = rng.random() * tied < keep
            tied -= 1
            keep -= stays
        else:
            stays = True
        if stays:
            clients[filled] = clients[i]
            filled += 1
