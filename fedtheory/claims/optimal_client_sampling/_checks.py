"""What the claims about one round of DSGD and of FedAvg share."""

from fractions import Fraction
from typing import Any

from fedtheory.rational._sampled_rounds import SampledRound
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import Vector, combination, difference, norm2

__all__ = ["landing", "squared_weight", "standing"]


def squared_weight(weights: Vector, gradients: tuple[Vector, ...]) -> Fraction:
    """``sum_i w_i^2 |g_i|^2``."""
    return sum((w * w * norm2(g) for w, g in zip(weights, gradients, strict=True)), start=Fraction(0))


def landing(drawn: SampledRound, fed: RationalQuadratics) -> Fraction:
    """``E |x+ - x*|^2``."""
    return Fraction(drawn.models.mean(lambda x: norm2(difference(x, fed.minimizer))))


def standing(drawn: SampledRound, fed: RationalQuadratics) -> dict[str, Any]:
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
