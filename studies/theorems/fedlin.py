"""FedLin with two local steps: its theorem as remembered.

A client takes ``local_steps`` steps of length ``step_size / local_steps`` along its corrected gradient.
For short steps the exact factor is about ``1 - 2 step_size mu``, twice the contraction that the theorem states.
"""

from fractions import Fraction
from typing import Any

from fedtheory.theorem import Hypothesis, LeftSide, Paper, Smooth, StronglyConvex, states
from fedtheory.worst_case import Problem

PAPER = Paper(
    "fedlin",
    "Linear Convergence in Federated Learning: Tackling Client Heterogeneity and Sparse Gradients",
    "Mitra, Jaafar, Pappas, Hassani",
    2021,
    "https://arxiv.org/abs/2102.07053",
    basis="remembered",
)
SHORT = Hypothesis("step_size <= 1/(6 L)", lambda step_size, L: (step_size, "<=", Fraction(1, 6) / L))


@states(
    PAPER,
    "Theorem 1",
    left=LeftSide("squared distance", "|w_+ - w*|^2", after="round"),
    assumes=(Smooth(), StronglyConvex(), SHORT),
)
def fedlin_round(distance2, *, mu, L, step_size, local_steps):
    """Bound on the squared distance after a round, for any number of local steps."""
    return {"contracted": (1 - step_size * mu) * distance2}


def one_round(mu: Any, L: Any, step_size: Any, local_steps: int) -> tuple[Problem, Any, Any]:
    """Return the problem, and the model less the minimizer before and after a round."""
    p = Problem()
    clients = p.clients(2, mu, L)
    # Linear functions added to the F_k do not change the method, so that the clients may share a minimizer.
    best, w = clients.minimizer(objective_gap=0), p.point("w")
    start, y = clients.gradient(w), w
    for _ in range(local_steps):
        y = y - step_size / local_steps * (clients.gradient(y) - start + clients.mean(start))
    return p, w - best, clients.mean(y) - best


def method(mu: Any, step_size: Any, L: Any = 1, distance2: Any = 1, local_steps: int = 2) -> Problem:
    p, before, after = one_round(mu, L, step_size, local_steps)
    p.at_most(before.square, distance2, "distance2")
    p.maximize(after.square)
    return p


def domain(mu: Any, step_size: Any) -> list[Any]:
    return [mu > 0, mu < 1, step_size > 0, step_size <= 1]


def state(mu: Any, step_size: Any, L: Any, distance2: Any, local_steps: int) -> tuple[Problem, dict[str, Any]]:
    p, before, after = one_round(mu, L, step_size, local_steps)
    return p, {"w": (before, after)}
