"""Theorem 1 of the field guide to federated optimization (2021), without noise: one round of local steps, as quoted.

The worst case assumes that the gradients are similar at the mean models only, while the theorem assumes it at all
models. For the class of the theorem the ratio is at least the computed one.
"""

from typing import Any

from fedtheory.theorem import NONNEGATIVE, Convex, Hypothesis, LeftSide, Paper, Smooth, states
from fedtheory.worst_case import Problem

PAPER = Paper(
    "field-guide",
    "A Field Guide to Federated Optimization",
    "Wang, Charles, Xu, Joshi, et al.",
    2021,
    "https://arxiv.org/abs/2107.06917",
    basis="quoted",
)
SHORT = Hypothesis("step_size <= 1/(4 L)", lambda step_size, L: (4 * step_size * L, "<=", 1))
SIMILAR = Hypothesis("|grad F_k(w) - grad F(w)|^2 <= dissimilarity2 for all clients and models")


@states(
    PAPER,
    "Theorem 1",
    left=LeftSide("gap", "mean_{0<t<=tau} F(w_bar_t) - F*", model="average", average="equal weights"),
    assumes=(Smooth(), Convex(), SHORT, SIMILAR),
    domains={"dissimilarity2": NONNEGATIVE},
)
def mean_gap(initial_distance2, *, dissimilarity2, L, step_size, local_steps):
    """Bound on the mean gap of the mean models after the local steps of a round.

    Parameters
    ----------
    dissimilarity2
        Bound on the squared difference of a client's gradient from the mean gradient.
    """
    return {
        "initial": initial_distance2 / (2 * step_size * local_steps),
        "dissimilarity": 18 * local_steps**2 * step_size**2 * L * dissimilarity2,
    }


def method(dissimilarity2: Any, step_size: Any, L: Any = 1, initial_distance2: Any = 1, local_steps: int = 2) -> Any:
    p = Problem()
    clients = p.clients(2, 0, L)
    best, y, gaps = clients.minimizer(), p.point("w"), []
    p.at_most((y - best).square, initial_distance2, "initial_distance2")
    for t in range(local_steps):
        apart = clients.gradient(clients.mean(y))
        p.at_most((apart - clients.mean(apart)).square, dissimilarity2, f"dissimilarity2 at {t}")
        y = y - step_size * clients.gradient(y)
        gaps.append(clients.value(clients.mean(y)) - clients.value(best))
    p.maximize(p.mean(gaps))
    return p


def domain(dissimilarity2: Any, step_size: Any) -> list[Any]:
    return [dissimilarity2 > 0, dissimilarity2 <= 1, step_size > 0, 4 * step_size <= 1]
