"""Lemma 1 of Khaled, Mishchenko and Richtarik (2019): one step of local gradient descent with convex clients.

The step is along the mean of the clients' gradients at their own models. The mean of these models is w, and their mean
squared distance from w is ``drift2``. The progress in the loss stands on the left-hand side.
"""

from fractions import Fraction
from typing import Any

from fedtheory.theorem import NONNEGATIVE, Convex, LeftSide, Paper, Smooth, states
from fedtheory.worst_case import Problem

PAPER = Paper(
    "local-gradient-descent",
    "First Analysis of Local GD on Heterogeneous Data",
    "Khaled, Mishchenko, Richtarik",
    2019,
    "https://arxiv.org/abs/1909.04715",
)


@states(
    PAPER,
    "Lemma 1",
    left=LeftSide("potential", "|w_+ - w*|^2 + 2 eta (1 - 2 eta L) (F(w) - F*)", after="step"),
    assumes=(Smooth(), Convex()),
    domains={"drift2": NONNEGATIVE},
)
def local_step(distance2, *, drift2, L, step_size):
    """Bound on the squared distance after a step, plus the progress in the loss.

    Parameters
    ----------
    drift2
        Mean squared distance of the clients' models from their mean.
    """
    return {"before": distance2, "drift": step_size * L * (1 + 2 * step_size * L) * drift2}


def method(drift2: Any, step_size: Any, L: Any = 1, distance2: Any = 1) -> Problem:
    p = Problem()
    clients = p.clients(2, 0, L)
    best, w, drift = clients.minimizer(), p.point("w"), clients.deviation(name="drift")
    p.at_most((w - best).square, distance2, "distance2")
    p.at_most(drift.square, drift2, "drift2")
    after = w - step_size * clients.mean(clients.gradient(w + drift))
    progress = clients.value(w) - clients.value(best)
    p.maximize((after - best).square + 2 * step_size * (1 - 2 * step_size * L) * progress)
    return p


def domain(drift2: Any, step_size: Any) -> list[Any]:
    return [drift2 > 0, drift2 <= 1, step_size > 0, step_size <= Fraction(1, 4)]
