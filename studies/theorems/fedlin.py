"""FedLin with two local steps: its theorem as remembered.

A client takes ``local_steps`` steps of length ``step_size / local_steps`` along its corrected gradient.
For short steps the exact factor is about ``1 - 2 step_size mu``, twice the contraction that the theorem states.
"""

from fractions import Fraction
from typing import Any

from fedtheory.bounds.fedlin import PAPER, problem
from fedtheory.theorem import Hypothesis, LeftSide, Smooth, StronglyConvex, states
from fedtheory.worst_case import Problem

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
    return problem(mu=mu, L=L, step_size=step_size / local_steps, local_steps=local_steps)


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
