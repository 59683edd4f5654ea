"""What strategies share that remember how clients were valued: their memory, the first turns, weights by size."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (compiled rules take what selection/rules.py says)

from typing import NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory._support.compiling import compiled, inlined
from fedtheory._support.validate import Array
from fedtheory._support.wording import short
from fedtheory.selection.rules import pack
from fedtheory.valuation.methods import Valuation

__all__ = [
    "checked_averaging", "checked_valuation", "first_turns", "memory_of", "read_memory", "remember_values",
    "weigh_by_size",
]  # fmt: skip

RUNNING_MEAN = -1.0


class _Memory(NamedTuple):
    values: Array  # cumulative, shape (K,)
    counts: Array  # how often each client was valued, shape (K,)


def memory_of(num_clients: int, initial: float = 0.0) -> Array:
    """State before round 0."""
    return pack(np.full(num_clients, initial), np.zeros(num_clients))


@inlined
def read_memory(memory):
    """Return the values and counts that a state holds, as views."""
    half = memory.size // 2
    return _Memory(memory[:half], memory[half:])


def checked_averaging(averaging: str | float) -> float:
    """Return the share that old values keep, or ``RUNNING_MEAN``."""
    if isinstance(averaging, str):
        validate.choice("averaging", averaging, ("mean",))
        return RUNNING_MEAN
    share = validate.fraction("averaging", averaging)
    if share == 1:
        message = f"averaging must be 'mean' or a number in [0, 1), got {short(averaging)}"
        raise ValueError(message)
    return share


def checked_valuation(valuation: str | Valuation) -> Valuation:
    """Return a valuation, which may be given by its method alone."""
    return valuation if isinstance(valuation, Valuation) else Valuation(valuation)


@compiled
def remember_values(
    round_index, table, memory, weights, chosen, coefficients, values, updates, server_model, model, rng
):
    """Average the values of the chosen into those they had; ``table[0]`` is the share these keep."""
    known = read_memory(memory)
    for i in range(chosen.size):
        k = chosen[i]
        known.counts[k] += 1.0
        kept = table[0] if table[0] >= 0.0 else (known.counts[k] - 1.0) / known.counts[k]
        known.values[k] = kept * known.values[k] + (1.0 - kept) * values[i]


@compiled
def weigh_by_size(round_index, table, memory, weights, chosen, updates, rng, coefficients):
    """Coefficients proportional to the objective weights, of sum 1."""
    total = 0.0
    for i in range(chosen.size):
        total += weights[chosen[i]]
    for i in range(chosen.size):
        coefficients[i] = weights[chosen[i]] / total if total > 0.0 else 1.0 / chosen.size
    return 0.0


@compiled
def first_turns(memory, weights, rng, chosen):
    """Choose among those who were never valued, topped up from the others; return how many, 0 once all were valued.

    The never valued are drawn uniformly, which is a turn in a random order.
    """
    known = read_memory(memory)
    unseen, seen = 0, 0
    for k in range(weights.size):
        if weights[k] >= 0.0:
            unseen += known.counts[k] == 0.0
            seen += known.counts[k] > 0.0
    if unseen == 0:
        return 0
    filled = _draw(known.counts, weights, False, unseen, 0, min(unseen, chosen.size), rng, chosen)
    return _draw(known.counts, weights, True, seen, filled, min(filled + seen, chosen.size), rng, chosen)


@compiled
def _draw(counts, weights, wants_seen, left, filled, size, rng, chosen):
    """Fill ``chosen`` up to ``size`` with a uniform subset of the ``left`` present clients that were seen, or not."""
    for k in range(weights.size):
        if weights[k] >= 0.0 and (counts[k] > 0.0) == wants_seen and filled < size:
            if rng.random() * left < size - filled:
                chosen[filled] = k
                filled += 1
            left -= 1
    return filled
