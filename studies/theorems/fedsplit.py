"""FedSplit of Pathak and Wainwright (2020): a round with exact proximal steps, as remembered.

The distance is that of the clients' variables z_k from their limits. A client's step is
``z_k + 2 (prox_k(2 w - z_k) - w)`` with w the mean of all z_k. The theorem takes ``step_size = 1/sqrt(mu L)``. Its
factor is then ``(1 - 2/(sqrt(kappa) + 1))^2``. This file has its form for shorter steps.
"""

from typing import Any

from fedtheory.theorem import Hypothesis, LeftSide, Paper, Smooth, StronglyConvex, states
from fedtheory.worst_case import Problem

PAPER = Paper(
    "fedsplit",
    "FedSplit: an algorithmic framework for fast federated optimization",
    "Pathak, Wainwright",
    2020,
    "https://arxiv.org/abs/2005.05238",
    basis="remembered",
)
SHORT = Hypothesis("step_size^2 mu L <= 1", lambda step_size, mu, L: (step_size**2 * mu * L, "<=", 1))


@states(
    PAPER,
    "Theorem 1",
    left=LeftSide("squared distance", "mean |z_k+ - z_k*|^2", after="round"),
    assumes=(Smooth(), StronglyConvex(), SHORT),
)
def split_round(distance2, *, mu, L, step_size):
    """Bound on the mean squared distance of the clients' variables after a round."""
    return {"contracted": ((1 - step_size * mu) / (1 + step_size * mu)) ** 2 * distance2}


def method(mu: Any, step_size: Any, L: Any = 1, distance2: Any = 1) -> Problem:
    p = Problem()
    clients = p.clients(2, mu, L)
    # Linear functions that are added to the F_k move their z_k* only: the clients may share a minimizer.
    best, z = clients.minimizer(objective_gap=0), p.point("w") + clients.deviation(name="z")
    p.at_most((z - best).square, distance2, "distance2")
    w = clients.mean(z)
    after = z + 2 * (clients.proximal(2 * w - z, step_size) - w)
    p.maximize((after - best).square)
    return p


def domain(mu: Any, step_size: Any) -> list[Any]:
    return [mu > 0, mu < 1, step_size > 0, step_size <= 1]
