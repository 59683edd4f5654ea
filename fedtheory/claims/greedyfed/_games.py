"""Games of a round in rational arithmetic: parabolas as validation loss, clients' models, sizes."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.rational._words import in_words
from fedtheory.rational.draws import draw_model, whole
from fedtheory.rational.vectors import Vector, combination, difference
from fedtheory.theorem.paper import Paper
from fedtheory.theorem.symbols import SYMBOLS, Symbol

__all__ = ["GREEDYFED", "RoundGame", "draw_game", "draw_table"]

GREEDYFED = Paper(
    "greedyfed",
    "Greedy Shapley Client Selection for Communication-Efficient Federated Learning",
    "Singhal, Pandey, Popovski",
    2024,
    "https://arxiv.org/abs/2312.09108",
    symbols=(
        replace(SYMBOLS["num_clients"], letter="N"),
        replace(SYMBOLS["num_selected"], letter="M"),
        replace(SYMBOLS["weights"], letter="q_k"),
        replace(SYMBOLS["local_steps"], letter="E B"),
        Symbol("proximal_weight", "Weight of FedProx's term", letter=r"\mu"),
    ),
)


class RoundGame(NamedTuple):
    """A round: the model before, what clients return, their sizes, and a validation loss sum_j h_j/2 (w_j - c_j)^2."""

    before: Vector
    models: tuple[Vector, ...]
    sizes: tuple[int, ...]
    curvatures: Vector
    center: Vector

    def loss(self, w: Vector) -> Fraction:
        """Return the validation loss of a model."""
        apart = zip(self.curvatures, difference(w, self.center), strict=True)
        return sum((h * x * x / 2 for h, x in apart), start=Fraction(0))

    def mean(self, players: Sequence[int]) -> Vector:
        """Return the mean model of a coalition, weighted by size; for nobody the model before the round."""
        total = sum(self.sizes[k] for k in players)
        if not players:
            return self.before
        return combination([Fraction(self.sizes[k], total) for k in players], [self.models[k] for k in players])

    def utility(self, players: frozenset[int]) -> Fraction:
        """Return minus the validation loss of a coalition's model."""
        return -self.loss(self.mean(sorted(players)))

    def words(self) -> dict[str, Any]:
        """Name the numbers that define the game."""
        return {
            "before": in_words(self.before),
            "models": "; ".join(map(in_words, self.models)),
            "sizes": self.sizes,
            "curvatures": in_words(self.curvatures),
            "center": in_words(self.center),
        }


def draw_game(rng: np.random.Generator, most: int = 5) -> RoundGame:
    """Draw a round of one to five clients in one or two dimensions."""
    num_players, dim = whole(rng, 1, most), whole(rng, 1, 2)
    return RoundGame(
        before=draw_model(rng, dim),
        models=tuple(draw_model(rng, dim) for _ in range(num_players)),
        sizes=tuple(whole(rng, 1, 9) for _ in range(num_players)),
        curvatures=tuple(Fraction(2) ** whole(rng, -2, 2) for _ in range(dim)),
        center=draw_model(rng, dim),
    )


def draw_table(rng: np.random.Generator, num_players: int) -> list[Fraction]:
    """Draw utilities of all coalitions in eighths between -4 and 4, in bit order."""
    return [Fraction(whole(rng, -32, 32), 8) for _ in range(2**num_players)]
