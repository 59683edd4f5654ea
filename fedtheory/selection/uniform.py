"""Uniform sampling without replacement."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (selection/rules.py states the arguments of compiled rules)

from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.jit import compiled
from fedtheory._support.validate import Array
from fedtheory.selection.laws import Moments
from fedtheory.selection.rules import Rules
from fedtheory.theorem.scheme import Scheme

__all__ = ["Uniform"]


@final
@dataclass(frozen=True)
class Uniform:
    """Uniform sampling of ``num_selected`` clients without replacement.

    Parameters
    ----------
    num_selected
        Number m of clients per round.
    aggregation
        ``mean`` gives each update the coefficient 1/m; ``weighted`` gives ``q_k = p_k K / m`` (Power-of-Choice,
        Appendix E), which is unbiased but sums to one only if all p_k are equal.
    """

    num_selected: int
    aggregation: Literal["mean", "weighted"] = "mean"

    def __post_init__(self) -> None:
        validate.count("num_selected", self.num_selected)
        validate.choice("aggregation", self.aggregation, ("mean", "weighted"))

    @property
    def scheme(self) -> Scheme:
        """Uniform subsets, with the chosen aggregation."""
        return Scheme("uniform without replacement", self.aggregation)

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Return the compiled rules."""
        m, weighs = self._size(weights.size), self.aggregation == "weighted"
        return Rules(
            select=_draw_subset,
            weigh=_weigh_by_share if weighs else None,
            weigh_present=_weigh_by_share_of_present if weighs else None,
            max_selected=m,
            table=np.array([float(m)]),
            memory=np.arange(weights.size, dtype=np.float64),
        )

    def inclusion_probabilities(self, weights: Array, losses: Array | None = None) -> Array:
        """Return ``m / K`` for every client, shape (K,)."""
        num_clients = validate.probability_vector("weights", weights).size
        return np.full(num_clients, self._size(num_clients) / num_clients)

    def law(self, weights: Array) -> Moments:
        """Return the moments of the coefficients, which are correlated by sampling without replacement."""
        m, num_clients = self._size(len(weights)), len(weights)
        mean = (
            np.asarray(weights, dtype=np.float64)
            if self.aggregation == "weighted"
            else np.full(num_clients, 1 / num_clients)
        )
        alpha = 1.0 if num_clients == 1 else num_clients * (m - 1) / (m * (num_clients - 1))
        second = mean**2 * num_clients / m
        return Moments(mean=mean, alpha=alpha, delta=second - alpha * mean**2, noise=second)

    def _size(self, num_clients: int) -> int:
        return int(validate.count("num_selected", self.num_selected, 1, num_clients))


@compiled
def _draw_subset(round_index, table, memory, weights, candidates, losses, rng, chosen):
    # The memory is a permutation of the clients; a partial shuffle gives a uniform subset. Absent clients (of negative
    # weight) move to the end when they are drawn.
    filled, left = 0, memory.size
    while filled < chosen.size and filled < left:
        j = filled + int(rng.random() * (left - filled))
        k = int(memory[j])
        if weights[k] >= 0.0:
            memory[filled], memory[j] = memory[j], memory[filled]
            chosen[filled] = k
            filled += 1
        else:
            left -= 1
            memory[left], memory[j] = memory[j], memory[left]
    return filled


@compiled
def _weigh_by_share(round_index, table, memory, weights, chosen, updates, rng, coefficients):
    for i in range(chosen.size):
        coefficients[i] = weights[chosen[i]] * weights.size / chosen.size
    return 0.0


@compiled
def _weigh_by_share_of_present(round_index, table, memory, weights, chosen, updates, rng, coefficients):
    here = 0
    for k in range(weights.size):
        here += weights[k] >= 0.0
    for i in range(chosen.size):
        coefficients[i] = weights[chosen[i]] * here / chosen.size
    return 0.0
