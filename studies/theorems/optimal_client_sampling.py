"""Optimal Client Sampling of Chen, Horvath and Richtarik (2022): Theorem 13 on a step, as remembered.

There are four clients with equal weights and exact gradients. If the norms of their updates are equal, as in the worst
case, the optimal probabilities are uniform. ``gamma`` is 1 for full participation and 1/4 for one client per step.
"""

from fractions import Fraction
from typing import Any

from fedtheory.bounds.optimal_client_sampling.paper import PAPER
from fedtheory.theorem import Hypothesis, LeftSide, Smooth, StronglyConvex, states
from fedtheory.theorem.worst_case_problem import WorstCaseProblem
from fedtheory.worst_case import Problem

SHORT = Hypothesis("step_size <= gamma/L", lambda step_size, L, gamma: (step_size * L, "<=", gamma))
SHARE = Hypothesis("gamma <= 1", lambda gamma: (gamma, "<=", 1))
CONSTANTS = {
    "mu": Fraction(1, 10),
    "L": Fraction(1),
    "distance2": Fraction(1),
    "objective_gap": Fraction(1, 10),
    "gamma": lambda c: Fraction(c.whole(1, 4), 4),
    "step_size": lambda c: c["gamma"],
}


def step(_: Any, given: Any) -> Any:
    p, eta, gamma = Problem(), given["step_size"], given["gamma"]
    clients = p.clients(4, given["mu"], given["L"], minimum=0)
    best, w = clients.minimizer(objective_gap=given["objective_gap"]), p.point("w")
    p.at_most((w - best).square, given["distance2"], "distance2")
    g = clients.gradient(w)
    p.maximize((clients.mean(w - eta * g) - best).square + eta**2 * (1 / gamma - 1) * g.square / 4)
    return p.solve()


@states(
    PAPER,
    "Theorem 13",
    basis="remembered",
    left=LeftSide("squared distance", "E |w_+ - w*|^2", after="step", over=("selection",)),
    assumes=(Smooth(), StronglyConvex(), SHORT, SHARE),
    worst_case=WorstCaseProblem(step, CONSTANTS),
)
def sampled_step(gamma, *, mu, L, step_size, distance2, objective_gap):
    """Bound on the squared distance after a step, for four clients with equal weights and exact gradients."""
    return {
        "contracted": (1 - mu * step_size) * distance2,
        "sampling": step_size**2 * 2 * L * objective_gap / 4 * (1 / gamma - 1),
    }
