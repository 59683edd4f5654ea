"""FedLin with two local steps: the theorem as remembered, and the method.

Every client takes ``local_steps`` steps of length ``step_size / local_steps`` along its gradient, corrected by the
server's gradient. The exact factor for two steps is ``(1 - step_size mu / 2)^4``, about twice the contraction of the
theorem. The text of the paper was not available.
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
    "one round of Theorem 1",
    left=LeftSide("squared distance", "|w_+ - w*|^2", after="round"),
    assumes=(Smooth(), StronglyConvex(), SHORT),
)
def round_distance(distance2, *, mu, L, step_size, local_steps):
    """Bound on the squared distance after a round; it does not depend on the number of local steps."""
    return {"contracted": (1 - step_size * mu) * distance2}


def method(mu: Any, step_size: Any, L: Any = 1, distance2: Any = 1, local_steps: int = 2) -> Problem:
    p = Problem()
    clients = p.clients(2, mu, L)
    # A linear function that is added to F_k does not change the method, so that the clients may share a minimizer.
    best, w = clients.minimizer(objective_gap=0), p.point("w")
    p.at_most((w - best).square, distance2, "distance2")
    start, y = clients.gradient(w), w
    for _ in range(local_steps):
        y = y - step_size / local_steps * (clients.gradient(y) - start + clients.mean(start))
    p.maximize((clients.mean(y) - best).square)
    return p


def domain(mu: Any, step_size: Any) -> list[Any]:
    return [0 < mu, mu < 1, 0 < step_size, step_size <= Fraction(1, 6)]
