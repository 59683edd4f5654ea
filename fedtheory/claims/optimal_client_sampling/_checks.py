"""What claims about optimal probabilities share, and those about a round of DSGD or of FedAvg."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.rational._sampled_rounds import SampledRound
from fedtheory.rational.draws import draw_budget, draw_norms, norms_in_words
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import Vector, combination, difference, norm2

__all__ = ["distance2_after", "draw_problem", "round_constants", "squared_weight"]


def draw_problem(rng: np.random.Generator) -> tuple[Vector, Fraction, dict[str, Any]]:
    """Draw norms and a budget; return them, and what they are in words."""
    norms = draw_norms(rng)
    budget = draw_budget(rng, len(norms))
    return norms, budget, norms_in_words(norms, budget)


def squared_weight(weights: Vector, gradients: tuple[Vector, ...]) -> Fraction:
    """``sum_i w_i^2 |g_i|^2``."""
    return sum((w * w * norm2(g) for w, g in zip(weights, gradients, strict=True)), start=Fraction(0))


def distance2_after(drawn: SampledRound, fed: RationalQuadratics) -> Fraction:
    """``E |x+ - x*|^2``."""
    return Fraction(drawn.models.mean(lambda x: norm2(difference(x, fed.minimizer))))


def round_constants(drawn: SampledRound, fed: RationalQuadratics) -> dict[str, Any]:
    """Collect what the one-round bounds of Theorem 13 take."""
    return {
        "distance2": norm2(difference(drawn.model, fed.minimizer)),
        "gap": fed.gap(drawn.model),
        "step_size": drawn.step_size,
        # Only f needs to be strongly convex, and it may be more so than its clients.
        "mu": min(combination(fed.weights, fed.curvatures)),
        "L": fed.smoothness,
        "gamma": drawn.gamma,
        **drawn.constants,
    }
