"""Training of a federation through all outcomes of its selections, as an independent check of worst cases."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

Array = Any
Law = Callable[[Array], Sequence[tuple[float, Array]]]
"""From the clients' losses at a round's start to probabilities and coefficients of the updates."""
TIED = 1e-4
"""Losses that differ by less than this share of them are tied, as they often are in a worst case."""


class Federation(NamedTuple):
    """Clients with weights in the objective, of which the minimizer is the origin."""

    clients: Sequence[Any]
    weights: Array
    start: Array
    step_sizes: Sequence[float]
    num_rounds: int
    law: Law
    objective: str = "distance"

    def run(self) -> float:
        """Return the expected error after the last round."""
        per_round = len(self.step_sizes) // self.num_rounds

        def expected(w: Array, number: int) -> float:
            if number == self.num_rounds:
                return float(w @ w) if self.objective == "distance" else self.loss(w) - self.loss(0 * w)
            updates = np.array([self.trained(client, w, number * per_round, per_round) - w for client in self.clients])
            outcomes = self.law(np.array([client.loss(w) for client in self.clients]))
            return sum(chance * expected(w + shares @ updates, number + 1) for chance, shares in outcomes)

        return expected(self.start, 0)

    def trained(self, client: Any, w: Array, first: int, number: int) -> Array:
        for eta in self.step_sizes[first : first + number]:
            w = w - eta * client.gradient(w)
        return w

    def loss(self, w: Array) -> float:
        return float(sum(p * client.loss(w) for p, client in zip(self.weights, self.clients, strict=True)))

    def objective_gap(self) -> float:
        least = sum(p * client.minimum for p, client in zip(self.weights, self.clients, strict=True))
        return self.loss(0 * self.start) - float(least)


def ranked(losses: Array) -> list[int]:
    """Return clients by their losses, the largest first; tied ones keep their order."""
    coarse = np.round(losses / max(TIED * float(np.abs(losses).max()), 1e-300))
    return sorted(range(len(losses)), key=lambda k: -coarse[k])
