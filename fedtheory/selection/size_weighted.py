"""Averaging by sample counts, for any strategy."""

from dataclasses import dataclass, replace
from typing import final

from fedtheory._support.validate import Array
from fedtheory.selection.greedy_shapley import weigh_by_size
from fedtheory.selection.rules import Rules, Strategy, checked_strategy, rules_of
from fedtheory.theorem.scheme import Scheme

__all__ = ["SizeWeighted"]


@final
@dataclass(frozen=True)
class SizeWeighted:
    """Selection by another strategy, with coefficients proportional to the objective weights p_k.

    Weights are proportional to sample counts by default, so that ``SizeWeighted(Uniform(m))`` is the FedAvg of McMahan
    et al. (2017).
    """

    strategy: Strategy

    def __post_init__(self) -> None:
        checked_strategy(self.strategy)

    @property
    def scheme(self) -> Scheme:
        """The strategy's selection, and the mean by size."""
        inner = getattr(self.strategy, "scheme", Scheme("unknown", "unknown", memoryless=False))
        return Scheme(inner.selection, "mean by size", inner.memoryless)

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Return the strategy's rules with other coefficients."""
        return replace(rules_of(self.strategy, weights, num_rounds), weigh=weigh_by_size)
