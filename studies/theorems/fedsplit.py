"""FedSplit of Pathak and Wainwright (2020): a round with exact proximal steps, as remembered.

The distance is that of the clients' variables z_k from their limits. A client's step is
``z_k + 2 (prox_k(2 w - z_k) - w)`` with w the mean of all z_k. The theorem takes ``step_size = 1/sqrt(mu L)``. Its
factor is then ``(1 - 2/(sqrt(kappa) + 1))^2``. This file has its form for shorter steps.
"""

from typing import Any

from fedtheory.bounds.fedsplit import PAPER, problem
from fedtheory.theorem import Hypothesis, LeftSide, Smooth, StronglyConvex, states
from fedtheory.worst_case import Problem

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
    found: Problem = problem(mu=mu, L=L, step_size=step_size, distance2=distance2)
    return found


def domain(mu: Any, step_size: Any) -> list[Any]:
    return [mu > 0, mu < 1, step_size > 0, step_size <= 1]
