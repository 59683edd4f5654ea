"""Worst cases of the bounds on SCAFFOLD and Scaffnew, over all clients with any weights.

A linear function added to every F_k, and to its control variate, changes nothing: clients may share their minimizer,
and what stands for their heterogeneity is the error of the control variates.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fedtheory.bounds import proxskip, scaffold
from fedtheory.theorem.bound import Bound
from fedtheory.worst_case._actors import Clients
from fedtheory.worst_case._confrontations import Confrontation, Way
from fedtheory.worst_case._gram import Form, Vector
from fedtheory.worst_case.control_variates import after_round
from fedtheory.worst_case.problem import Problem

__all__ = ["WAYS"]


def _start(given: Mapping[str, Any]) -> tuple[Problem, Clients, Vector, Vector]:
    """Return a problem whose origin is w*, clients, the model and the errors of the control variates."""
    p = Problem()
    clients = p.clients(2, mu=given["mu"], L=given["L"])
    clients.minimizer(p.origin, objective_gap=0)
    w, error = p.point("start"), p.origin
    p.at_most(w.square, given.get("distance2", given.get("initial_distance2")), "distance2")
    if given["control_error2"]:
        error = clients.deviation()
        p.at_most(error.square, given["control_error2"], "control_error2")
    return p, clients, w, error


def _rounds(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    p, clients, w, error = _start(given)
    eta, tau, first = Fraction(given["step_size"]), given["local_steps"], bound is scaffold.option_one_round
    for _ in range(given.get("num_rounds", 1)):
        w, error = after_round(clients, w, error, tau, eta, first=first)
    weight = (eta * tau) ** 2
    if first:
        left = 1 - eta * given["mu"]
        weight = eta**2 * left ** (2 * tau - 2) * (2 * left / (eta * (given["L"] - given["mu"])) - 1)
    p.maximize(w.square + weight * error.square)
    return Confrontation(bound(**given), p.solve())


def _coins(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    p, clients, w, error = _start(given)
    gamma, chance = Fraction(given["step_size"]), Fraction(given["probability"])

    def expected(x: Vector, error: Vector, num_steps: int) -> Form:
        """Return the potential that is expected after some more steps of clients at x."""
        if not num_steps:
            return x.square + (gamma / chance) ** 2 * error.square
        moved = x - gamma * (clients.gradient(x) - error)
        mean = clients.mean(moved)
        fallen = expected(mean, error - chance / gamma * (moved - mean), num_steps - 1)
        return chance * fallen + (1 - chance) * expected(moved, error, num_steps - 1)

    p.maximize(expected(w, error, given["num_steps"]))
    return Confrontation(bound(**given), p.solve())


WAYS: Mapping[Bound, Way] = {
    **dict.fromkeys((scaffold.one_round, scaffold.option_one_round, scaffold.fixed_step_potential), _rounds),
    **dict.fromkeys((proxskip.fixed_step_potential, proxskip.refined_fixed_step_potential), _coins),
}
