"""Optimal Client Sampling of Chen, Horvath and Richtarik (2022): Theorem 13 on a step of distributed SGD, as remembered.

There are four clients with equal weights and exact gradients. For equal norms of the updates the optimal probabilities
are uniform. ``gamma`` is 1 for full participation and 1/4 for one client per step.
"""

from fractions import Fraction
from typing import Any

from fedtheory.bounds.optimal_client_sampling.paper import PAPER
from fedtheory.theorem import Hypothesis, LeftSide, Smooth, StronglyConvex, states
from fedtheory.worst_case import Problem

SHORT = Hypothesis("step_size <= gamma/L", lambda step_size, L, gamma: (step_size * L, "<=", gamma))
SHARE = Hypothesis("gamma <= 1", lambda gamma: (gamma, "<=", 1))


@states(
    PAPER,
    "Theorem 13",
    basis="remembered",
    left=LeftSide("squared distance", "E |w_+ - w*|^2", after="step", over=("selection",)),
    assumes=(Smooth(), StronglyConvex(), SHORT, SHARE),
)
def sampled_step(distance2, *, mu, L, gamma, step_size, objective_gap):
    """Bound on the squared distance after a step, for four clients with equal weights and exact gradients."""
    return {
        "contracted": (1 - mu * step_size) * distance2,
        "sampling": step_size**2 * 2 * L * objective_gap / 4 * (1 / gamma - 1),
    }


def method(
    mu: Any, gamma: Any, step_size: Any, L: Any = 1, distance2: Any = 1, objective_gap: Any = Fraction(1, 10)
) -> Problem:
    p = Problem()
    clients = p.clients(4, mu, L, minimum=0)
    best, w = clients.minimizer(objective_gap=objective_gap), p.point("w")
    p.at_most((w - best).square, distance2, "distance2")
    g = clients.gradient(w)
    variance = (1 / gamma - 1) * g.square / 4
    p.maximize((clients.mean(w - step_size * g) - best).square + step_size**2 * variance)
    return p


def domain(mu: Any, gamma: Any, step_size: Any) -> list[Any]:
    return [mu > 0, mu < 1, 4 * gamma >= 1, gamma <= 1, step_size > 0, step_size <= 1]
