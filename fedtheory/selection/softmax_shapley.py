"""S-FedAvg: clients drawn by the softmax of what their updates have been worth."""

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
    memory_of,
    read_memory,
    remember_values,
    weigh_by_size,
)
from fedtheory.selection.rules import Rules, pack
from fedtheory.theorem.scheme import Scheme
from fedtheory.valuation.methods import Valuation

__all__ = ["SoftmaxShapley"]


@final
@dataclass(frozen=True)
class SoftmaxShapley:
    r"""Draw ``num_selected`` different clients, one by one by ``exp(phi_k)`` among those left; average by size.

    phi starts at 1/K; that of a selected client becomes ``a phi_k + (1 - a) v_k``, v_k being its Shapley value in the
    round.

    Parameters
    ----------
    num_selected
        Clients per round M, at most 20.
    averaging
        a, in [0, 1).
    valuation
        A ``Valuation``, or its method: ``gtg``, ``exact`` or ``permutation``.

    Notes
    -----
    Nagalapatti, Narayanam (2021), "Game of Gradients", as GreedyFed compares with it, but for one thing: as it
    describes S-FedAvg, phi averages cumulative values, means over the rounds so far; here the values of the rounds.
    """

    num_selected: int
    averaging: float = 0.75
    valuation: str | Valuation = "gtg"

    def __post_init__(self) -> None:
        validate.count("num_selected", self.num_selected)
        checked_averaging(validate.double("averaging", self.averaging))
        checked_valuation(self.valuation)

    @property
    def scheme(self) -> Scheme:
        """Draws by values, which remember earlier rounds; mean by size."""
        return Scheme("softmax of Shapley values", "mean by size", memoryless=False)

    def law(self, weights: Array) -> None:
        """None: the draws depend on earlier rounds."""

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Return the compiled rules."""
        return Rules(
            select=_draw_by_softmax,
            weigh=weigh_by_size,
            value=remember_values,
            max_selected=validate.count("num_selected", self.num_selected, 1, weights.size),
            table=pack(checked_averaging(self.averaging)),
            memory=memory_of(weights.size, 1 / weights.size),
            valuation=checked_valuation(self.valuation),
        )


@compiled
def _draw_by_softmax(round_index, table, memory, weights, candidates, losses, rng, chosen):
    # The largest sums of phi and independent Gumbel variables come in the order of successive draws by exp(phi).
    known = read_memory(memory)
    here, keys, left = np.empty(weights.size, dtype=np.int64), np.empty(weights.size), 0
    for k in range(weights.size):
        if weights[k] >= 0.0:
            here[left] = k
            keys[left] = known.values[k] - np.log(-np.log1p(-rng.random()))
            left += 1
    size = min(chosen.size, left)
    keep_largest(here[:left], keys[:left], size, rng, chosen)
    return size
