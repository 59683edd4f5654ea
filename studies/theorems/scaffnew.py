"""Scaffnew, one step: the theorem of ProxSkip of Mishchenko et al. (2022), as a paper of the same group quotes it.

The potential contains the squared errors of the control variates, times ``(step_size/probability)^2``. The clients may
share a minimizer, since a linear function that is added to F_k and to its control variate does not change the method.
"""

from typing import Any

from fedtheory.arithmetic.functions import maximum
from fedtheory.bounds.proxskip import fixed_step_potential as quoted
from fedtheory.theorem import NONNEGATIVE, states
from fedtheory.worst_case import Problem


@states(
    quoted.statement.paper,
    quoted.statement.number,
    basis="quoted",
    left=quoted.left,
    assumes=quoted.hypotheses,
    domains={"potential": NONNEGATIVE},
)
def coin_step(potential, *, step_size, mu, L, probability):
    """Bound on the expected potential after a step."""
    return {"contracted": maximum(1 - step_size * mu, 1 - probability**2) * potential}


def method(mu: Any, probability: Any, step_size: Any = 1, L: Any = 1, potential: Any = 1) -> Problem:
    p = Problem()
    clients, weight = p.clients(2, mu, L), (step_size / probability) ** 2
    best, w, error = clients.minimizer(objective_gap=0), p.point("w"), clients.deviation(name="error")
    p.at_most((w - best).square + weight * error.square, potential, "potential")
    moved = w - step_size * (clients.gradient(w) - error)
    mean = clients.mean(moved)
    averaged = error - probability / step_size * (moved - mean)
    together = (mean - best).square + weight * averaged.square
    alone = (moved - best).square + weight * error.square
    p.maximize(probability * together + (1 - probability) * alone)
    return p


def domain(mu: Any, probability: Any) -> list[Any]:
    return [mu > 0, mu < 1, probability > 0, probability < 1]
