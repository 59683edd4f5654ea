"""Sampling with replacement, proportional to the weights (pi_rand of Power-of-Choice)."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (selection/rules.py states the arguments of compiled rules)

from dataclasses import dataclass
from typing import final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.jit import compiled
from fedtheory._support.validate import Array
from fedtheory.selection._draw import alias_table, draw_present
from fedtheory.selection.laws import Moments
from fedtheory.selection.rules import Rules, pack
from fedtheory.theorem.scheme import Scheme

__all__ = ["Proportional"]


@final
@dataclass(frozen=True)
class Proportional:
    """Sampling of ``num_selected`` clients with replacement, proportional to the weights p_k; plain mean.

    Copies of one client act as different clients (their gradient noise is independent). The update is unbiased.

    Source: Cho, Wang, Joshi (2020), section 2.
    """

    num_selected: int

    def __post_init__(self) -> None:
        validate.count("num_selected", self.num_selected)

    @property
    def scheme(self) -> Scheme:
        """Multinomial selection, plain mean."""
        return Scheme("multinomial", "mean")

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Return the compiled rules."""
        table = pack(self.num_selected, alias_table(weights))
        return Rules(select=_draw_with_replacement, max_selected=self.num_selected, table=table)

    def inclusion_probabilities(self, weights: Array, losses: Array | None = None) -> Array:
        """Return the expected number of copies of each client, ``m p_k``, shape (K,)."""
        return self.num_selected * validate.probability_vector("weights", weights)

    def law(self, weights: Array) -> Moments:
        """Return the moments of ``(copies of k) / m``."""
        p, m = np.asarray(weights, dtype=np.float64), self.num_selected
        return Moments(mean=p, alpha=1 - 1 / m, delta=p / m, noise=p / m)


@compiled
def _draw_with_replacement(round_index, table, memory, weights, candidates, losses, rng, chosen):
    num_selected, alias = int(table[0]), table[1:]
    return num_selected if draw_present(alias, weights, rng, chosen[:num_selected]) else 0
