"""Full participation: all clients in every round."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (selection/rules.py states the arguments of compiled rules)

from dataclasses import dataclass
from typing import final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.jit import compiled
from fedtheory._support.validate import Array
from fedtheory.selection.laws import Moments
from fedtheory.selection.rules import Rules
from fedtheory.theorem.scheme import Scheme

__all__ = ["Full"]


@final
@dataclass(frozen=True)
class Full:
    """Full participation with the weights p_k."""

    @property
    def scheme(self) -> Scheme:
        """All clients, weighted by p."""
        return Scheme("all", "weighted")

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Return the compiled rules."""
        return Rules(select=choose_all, weigh=_weigh_by_weight, max_selected=weights.size)

    def inclusion_probabilities(self, weights: Array, losses: Array | None = None) -> Array:
        """Return 1 for every client, shape (K,)."""
        return np.ones(validate.probability_vector("weights", weights).size)

    def law(self, weights: Array) -> Moments:
        """Return the moments of the constants p_k."""
        p = np.asarray(weights, dtype=np.float64)
        return Moments(mean=p, alpha=1.0, delta=np.zeros_like(p), noise=p**2)


@compiled
def choose_all(round_index, table, memory, weights, candidates, losses, rng, chosen):
    """Select every available client."""
    size = 0
    for k in range(weights.size):
        chosen[size] = k
        size += weights[k] >= 0.0  # below 0 it is absent
    return size


@compiled
def _weigh_by_weight(round_index, table, memory, weights, chosen, updates, rng, coefficients):
    for i in range(chosen.size):
        coefficients[i] = weights[chosen[i]]
    return 0.0
