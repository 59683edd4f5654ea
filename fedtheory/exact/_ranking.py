"""The selection frequencies of Power-of-Choice as a function of what ranks the clients."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fedtheory import _validate
from fedtheory._validate import Array
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.sampling.inclusion import power_of_choice_inclusion
from fedtheory.selection.power_of_choice import HighestLoss, PowerOfChoice

__all__ = ["RankingLaw", "ranking_law"]


@final
@dataclass(frozen=True, eq=False)
class RankingLaw:
    r"""Frequencies ``q = pi / m`` of pow-d.

    Over all rankings these are the vertices of a convex set B, the base polytope of the submodular function
    ``f(U) = E min(m, candidates in U)``, divided by m; ranking by a vector maximizes its product with q over B.
    """

    weights: Array
    num_selected: int
    num_candidates: int

    def frequencies(self, values: Array) -> Array:
        """Frequencies when the clients are ranked by these values, largest first; shape (K,)."""
        inclusion = power_of_choice_inclusion(self.weights, values, self.num_selected, self.num_candidates)
        return inclusion / self.num_selected

    def largest(self, values: Array) -> float:
        """Largest product of the values with a point of B."""
        return float(self.frequencies(values) @ values)

    @property
    def is_constant(self) -> bool:
        """Whether the ranking does not matter."""
        return self.num_selected == self.num_candidates or np.size(self.weights) == 1


def ranking_law(fed: QuadraticFederation, strategy: Any) -> RankingLaw:
    """Law of a pow-d strategy among the clients of positive weight, the only ones that are drawn."""
    if isinstance(strategy, HighestLoss):
        d = fed.num_clients
    elif isinstance(strategy, PowerOfChoice) and isinstance(strategy.num_candidates, int | np.integer):
        d = int(strategy.num_candidates)
    else:
        message = f"strategy must be state-independent, or pow-d with a fixed number of candidates, got {strategy!r}"
        raise TypeError(message)
    weights = fed.weights[fed.weights > 0]
    d = _validate.count("num_candidates", d, 1, weights.size)
    return RankingLaw(weights, _validate.count("num_selected", strategy.num_selected, 1, d), d)
