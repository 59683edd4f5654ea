"""Theorem 1 of Khaled, Mishchenko and Richtarik (2019): the averaged model of local gradient descent, two rounds.

The clients are convex. Models are averaged after every ``local_steps`` steps. The mean model of all steps is returned.
"""

from typing import Any

from fedtheory.theorem import NONNEGATIVE, Convex, Hypothesis, LeftSide, Paper, Smooth, states
from fedtheory.worst_case import Problem

PAPER = Paper(
    "local-gradient-descent",
    "First Analysis of Local GD on Heterogeneous Data",
    "Khaled, Mishchenko, Richtarik",
    2019,
    "https://arxiv.org/abs/1909.04715",
)
SHORT = Hypothesis(
    "4 step_size L local_steps <= 1", lambda step_size, L, local_steps: (4 * step_size * L * local_steps, "<=", 1)
)


@states(
    PAPER,
    "Theorem 1",
    left=LeftSide("gap", "F(mean_t w_t) - F*"),
    assumes=(Smooth(), Convex(), SHORT),
    domains={"optimum_gradient2": NONNEGATIVE},
)
def averaged_gap(initial_distance2, *, optimum_gradient2, L, step_size, local_steps):
    """Bound on the gap of the averaged model after two rounds.

    Parameters
    ----------
    optimum_gradient2
        Mean squared norm of the clients' gradients at the minimizer.
    """
    return {
        "initial": 2 * initial_distance2 / (step_size * 2 * local_steps),
        "heterogeneity": 24 * step_size**2 * optimum_gradient2 * local_steps**2 * L,
    }


def method(optimum_gradient2: Any, step_size: Any, L: Any = 1, initial_distance2: Any = 1, local_steps: int = 2) -> Any:
    p = Problem()
    clients = p.clients(2, 0, L)
    best, w, visited = clients.minimizer(), p.point("w"), []
    p.at_most((w - best).square, initial_distance2, "initial_distance2")
    clients.heterogeneity(zeta2=optimum_gradient2, name="optimum_gradient2")
    for t in range(2 * local_steps):
        w = w if t % local_steps else clients.mean(w)
        visited.append(clients.mean(w))
        w = w - step_size * clients.gradient(w)
    p.maximize(clients.value(p.mean(visited)) - clients.value(best))
    return p


def domain(optimum_gradient2: Any, step_size: Any) -> list[Any]:
    return [optimum_gradient2 > 0, optimum_gradient2 <= 1, step_size > 0, 12 * step_size <= 1]
