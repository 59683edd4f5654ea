"""Largest error that a round with a fixed step size does not decrease."""

from typing import Any, Literal

from fedtheory._support import validate
from fedtheory.worst_case.arguments import ERRORS, Constants, check_block, constants, spelled
from fedtheory.worst_case.problem import Problem
from fedtheory.worst_case.skewed_selection import skewed_floor, skews
from fedtheory.worst_case.worst_cases import WorstCase, worst_of

__all__ = ["error_floor"]


@spelled
def error_floor(
    local_steps: int,
    step_size: Any,
    *,
    mu: Any,
    L: Any,
    objective_gap: Any,
    objective: Literal["distance", "gap"] = "distance",
    rho_diagonal: Any = None,
    rho_tilde: Any = None,
) -> WorstCase:
    r"""Largest error that rounds with a fixed step size need not decrease.

    Without skews, this is the largest ``|w - w*|^2``, or ``F(w) - F*``, of a model that a round of all clients does not
    change. With skews, it is the largest squared distance that a round of biased selection need not decrease.

    Raises AssumptionViolated if rho_diagonal is above rho_tilde or L/mu, or the step size is so large that there is no
    limit. Raises OracleError if no proof was found.

    Parameters
    ----------
    local_steps, step_size, mu, L, objective_gap
        As in ``fedavg``. With all clients, at least two local steps are required, since the floor of one step is 0.
    objective
        ``distance`` or, without skews, ``gap``.
    rho_diagonal, rho_tilde
        As in ``skew_class``; give both or neither.

    Examples
    --------
    For one local step and equal skews the floor shrinks with the step size:

    >>> from fractions import Fraction as Q
    >>> known = dict(mu=1, L=4, objective_gap=Q(1, 2), rho_diagonal=1, rho_tilde=1)
    >>> [round(error_floor(1, eta, **known).value, 3) for eta in (Q(1, 10), Q(1, 100))]
    [0.234, 0.02]
    """
    given = constants(validate.count("local_steps", local_steps), step_size, mu=mu, L=L, objective_gap=objective_gap)
    validate.choice("objective", objective, ("distance", "gap"))
    check_block(len(given.steps) + 3)
    if (rho_diagonal is None) != (rho_tilde is None) or (rho_tilde is not None and objective == "gap"):
        message = "rho_diagonal and rho_tilde must be given both, and for the distance, or neither"
        raise ValueError(message)
    if rho_tilde is not None:
        p = skewed_floor(given, skews(given, rho_diagonal, rho_tilde))
        return worst_of([p.case()], ERRORS[objective])
    validate.count("local_steps", local_steps, low=2)
    return worst_of([fixed_round(given, objective).case()], ERRORS[objective])


def fixed_round(given: Constants, objective: str) -> Problem:
    """Maximize the error of a model that a round of all clients does not change: the mean gradients sum to zero."""
    p = Problem()
    clients = p.clients(2, given.mu, given.L, minimum=0)
    w_star = clients.minimizer(p.origin, objective_gap=given.objective_gap)
    y = w = p.point("start")
    *steps, last = given.steps
    for eta in steps:
        y = clients.step(y, eta)
    clients.balance(y, (w - y) / last)
    p.maximize((w - w_star).square if objective == "distance" else clients.value(w) - clients.value(w_star))
    return p
