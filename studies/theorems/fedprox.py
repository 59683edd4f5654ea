"""FedProx with 200 draws of clients and exact answers: Theorem 4 of Li et al. (2020).

In the worst case all clients take part. A mean of all clients makes at least the progress of a mean of draws, since the
clients are convex. The ratio of the decreases is therefore at most the computed one.
"""

from fractions import Fraction
from typing import Any

from fedtheory.bounds import fedprox
from fedtheory.theorem import states
from fedtheory.worst_case import Problem

printed: Any = fedprox.loss_change.printed


@states(printed.statement.paper, "Theorem 4", basis="printed", left=printed.left, assumes=printed.hypotheses)
def proximal_decrease(
    gradient2, *, L, negative_curvature, proximal_weight, gradient_dissimilarity, inexactness, num_selected
):
    """Bound on the change of the loss in a round; negative."""
    return printed.__wrapped__(
        gradient2, L=L, negative_curvature=negative_curvature, proximal_weight=proximal_weight, inexactness=inexactness,
        gradient_dissimilarity=gradient_dissimilarity, num_selected=num_selected,
    )  # fmt: skip


def method(
    gradient_dissimilarity: Any, proximal_weight: Any, L: Any = Fraction(1, 10), gradient2: Any = 1,
    negative_curvature: Any = 0, inexactness: Any = 0, num_selected: int = 200,
) -> Problem:  # fmt: skip
    p = Problem()
    clients, w = p.clients(2, -negative_curvature, L), p.point("w")
    start = clients.gradient(w)
    mean = clients.mean(start).square
    p.equal_to(mean, gradient2, "gradient2")
    p.at_most(start.square - gradient_dissimilarity**2 * mean, 0)
    after = clients.mean(clients.proximal(w, 1 / proximal_weight))
    p.maximize(clients.value(after) - clients.value(w))
    return p


def domain(gradient_dissimilarity: Any, proximal_weight: Any) -> list[Any]:
    return [gradient_dissimilarity > 1, 2 * gradient_dissimilarity <= 3, 2 * proximal_weight >= 1, proximal_weight <= 2]
