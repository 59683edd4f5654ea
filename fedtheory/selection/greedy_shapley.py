"""GreedyFed: the clients whose updates have been worth most so far."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (compiled rules take what selection/rules.py says)

from dataclasses import dataclass
from typing import final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.compiling import compiled
from fedtheory._support.validate import Array
from fedtheory.selection._draw import keep_largest
from fedtheory.selection._valued import (
    checked_averaging,
    checked_valuation,
    first_turns,
    memory_of,
    read_memory,
    remember_values,
    weigh_by_size,
)
from fedtheory.selection.rules import Rules, pack
from fedtheory.theorem.scheme import Scheme
from fedtheory.valuation.methods import Valuation

__all__ = ["GreedyShapley", "UpperConfidenceShapley"]


@final
@dataclass(frozen=True)
class GreedyShapley:
    """Select the ``num_selected`` clients of largest cumulative Shapley value; average by size.

    First everybody has a turn, in random order, the last group being filled up from those who had theirs. Each round's
    values come from the game of that round and change the cumulative values of its clients only. Ties are broken at
    random.

    Parameters
    ----------
    num_selected
        Clients per round M, at most 20.
    averaging
        ``mean``: cumulative values are means over the rounds in which a client was selected. A number a in [0, 1): they
        become ``a v + (1 - a) v_round``, from 0.
    valuation
        A ``Valuation``, or its method: ``gtg``, ``exact`` or ``permutation``.

    Notes
    -----
    Singhal, Pandey, Popovski (2024), "Greedy Shapley Client Selection for Communication-Efficient Federated Learning",
    Algorithm 1, whose printed first turns ``{t, ..., t + M - 1}`` overlap; here they are consecutive groups of a random
    order.
    """

    num_selected: int
    averaging: str | float = "mean"
    valuation: str | Valuation = "gtg"

    def __post_init__(self) -> None:
        validate.count("num_selected", self.num_selected)
        checked_averaging(self.averaging)
        checked_valuation(self.valuation)

    @property
    def scheme(self) -> Scheme:
        """Largest values, which remember earlier rounds; mean by size."""
        return Scheme("largest cumulative Shapley value", "mean by size", memoryless=False)

    def law(self, weights: Array) -> None:
        """None: the choice depends on earlier rounds."""

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Return the compiled rules."""
        return _greedy_rules(weights, self.num_selected, checked_averaging(self.averaging), 0.0, self.valuation)


@final
@dataclass(frozen=True)
class UpperConfidenceShapley:
    r"""Select the ``num_selected`` clients of largest ``v_k + exploration sqrt(log(t + 1) / N_k)``; average by size.

    Here t rounds are done, of which client k was selected in N_k, with the mean value v_k. First turns are those of
    ``GreedyShapley``.

    Parameters
    ----------
    num_selected, valuation
        As of ``GreedyShapley``.
    exploration
        beta, at least 0.

    Notes
    -----
    Pandey et al. (2023), as GreedyFed compares with it.
    """

    num_selected: int
    exploration: float = 0.01
    valuation: str | Valuation = "gtg"

    def __post_init__(self) -> None:
        validate.count("num_selected", self.num_selected)
        validate.nonnegative("exploration", validate.one("exploration", self.exploration))
        checked_valuation(self.valuation)

    @property
    def scheme(self) -> Scheme:
        """Largest upper confidence limits of values, which remember earlier rounds; mean by size."""
        return Scheme("largest upper confidence limit of Shapley values", "mean by size", memoryless=False)

    def law(self, weights: Array) -> None:
        """None: the choice depends on earlier rounds."""

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Return the compiled rules."""
        return _greedy_rules(
            weights, self.num_selected, checked_averaging("mean"), float(self.exploration), self.valuation
        )


def _greedy_rules(
    weights: Array, num_selected: int, averaging: float, exploration: float, valuation: str | Valuation
) -> Rules:
    return Rules(
        select=_select_largest,
        weigh=weigh_by_size,
        value=remember_values,
        max_selected=validate.count("num_selected", num_selected, 1, weights.size),
        table=pack(averaging, exploration),
        memory=memory_of(weights.size),
        valuation=checked_valuation(valuation),
    )


@compiled
def _select_largest(round_index, table, memory, weights, candidates, losses, rng, chosen):
    filled = first_turns(memory, weights, rng, chosen)
    if filled > 0:
        return filled
    known, exploration = read_memory(memory), table[1]
    here, scores, left = np.empty(weights.size, dtype=np.int64), np.empty(weights.size), 0
    for k in range(weights.size):
        if weights[k] >= 0.0:
            here[left] = k
            scores[left] = known.values[k] + exploration * np.sqrt(np.log(round_index + 1.0) / known.counts[k])
            left += 1
    size = min(chosen.size, left)
    keep_largest(here[:left], scores[:left], size, rng, chosen)
    return size
