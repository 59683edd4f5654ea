"""Worst cases of the bounds of Optimal Client Sampling: equal weights and exact gradients."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.theorem.bound import Bound
from fedtheory.worst_case._confrontations import Confrontation, Way, worst_problem
from fedtheory.worst_case._settings import Setting, setting
from fedtheory.worst_case.full_or_uniform import fedavg
from fedtheory.worst_case.optimal_sampling import sampled_step
from fedtheory.worst_case.problem import Problem

__all__ = ["WAYS"]

_LEFT = "the descent stands on the left; uniform sampling, which no optimal sampling beats in the worst case"
_EVERYBODY = "all clients take part, and the descent, if there is one, stands on the left"


def _equal(given: Mapping[str, Any]) -> tuple[int, Fraction]:
    """Return number of clients and gamma of equal weights and exact gradients."""
    share = Fraction(given["max_weight"])
    gamma = Fraction(given.get("smallest_gamma", given.get("gamma")))
    equal = share.numerator == 1 and given["sum_squared_weights"] == share
    same = given.get("mean_inverse_gamma", 1 / gamma) * gamma == 1
    if not (equal and same) or given["relative_noise"] or given["sigma2"]:
        message = "weights and gammas must be equal and gradients exact for the worst case of a sampled round"
        raise ValueError(message)
    return share.denominator, gamma


def _objective_gap(given: Mapping[str, Any]) -> Any:
    """Return Gamma, which bounds ``sum w_i^2 |grad f_i(x*)|^2`` by 2 L W Gamma."""
    squares, W = given.get("squared_weight_optimum_gradient2"), Fraction(given["max_weight"])
    return given["objective_gap"] if squares is None else squares / (2 * W * given["L"])


def _left(bound: Bound, given: Mapping[str, Any]) -> tuple[Any, Fraction]:
    """Return the promise without its descent, and what the descent takes for each unit of the gap."""
    descent = Fraction(bound.terms(**given).get("descent", 0))
    return bound(**given) - descent, -descent / given["gap"] if descent else descent


def _step(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    num_clients, gamma = _equal(given)
    promise, descent = _left(bound, given)
    constants = {"distance2": given["distance2"], "objective_gap": _objective_gap(given)}
    units = setting(1, given["step_size"], mu=given["mu"], L=given["L"], **constants)
    weights = [Fraction(1, num_clients)] * num_clients
    p = sampled_step(units, weights, gamma * num_clients, "uniform", descent * units.L)
    return Confrontation(promise, worst_problem(p, units, "distance"), _LEFT)


def _round(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    num_clients, gamma = _equal(given)
    per_client = given.get("per_client_gap", Fraction(given["max_weight"]) * given["objective_gap"])
    if gamma != 1 or per_client * num_clients != given["objective_gap"]:
        message = f"gamma must be 1, and per_client_gap that of equal weights, got {gamma} and {per_client}"
        raise ValueError(message)
    promise, descent = _left(bound, given)
    constants = {"distance2": given["distance2"], "objective_gap": given["objective_gap"]}
    server, tau = Fraction(given["server_step_size"]), given["local_steps"]
    size = Fraction(given["step_size"]) / (tau * server)
    units = setting(tau, size, mu=given["mu"], L=given["L"], **constants)
    p = accelerated_round(units, server, descent * units.L)
    return Confrontation(promise, worst_problem(p, units, "distance"), _EVERYBODY)


def accelerated_round(given: Setting, server_step_size: Fraction, descent: Fraction) -> Problem:
    """Maximize the squared distance after a round of all clients with a step size of the server.

    ``descent`` times ``F(w) - F*``, w the model before the round, is added.
    """
    p = Problem()
    clients = p.clients(2, given.mu, 1, minimum=0)
    w_star = clients.minimizer(p.origin, objective_gap=given["objective_gap"])
    y = w = p.point("start")
    p.at_most((w - w_star).square, given["distance2"], "distance2")
    for eta in given.steps:
        y = clients.step(y, eta)
    after = w + server_step_size * (clients.mean(y) - w)
    p.maximize((after - w_star).square + descent * (clients.value(w) - clients.value(w_star)))
    return p


def _all_clients(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    """Take gradient descent on f, with noise in a single step."""
    share, num_rounds = Fraction(given["sum_squared_weights"]), given.get("num_rounds", 1)
    if share.numerator != 1 or share == 1 or (given["sigma2"] and num_rounds > 1):
        message = f"weights must be equal, those of two clients or more, and sigma2 0 but for a step, got {share}"
        raise ValueError(message)
    start = given.get("distance2", given.get("initial_distance2"))
    worst = fedavg(
        1, given["step_size"], mu=given["mu"], L=given["L"], distance2=start, objective_gap=0, num_rounds=num_rounds,
        gradient_noise=given["sigma2"], num_clients=share.denominator,
    )  # fmt: skip
    return Confrontation(bound(**given), worst)


WAYS: Mapping[Bound, Way] = {
    ocs.dsgd_strongly_convex: _step,
    ocs.dsgd_convex_clients: _step,
    ocs.dsgd_contraction: _step,
    ocs.full_participation: _all_clients,
    ocs.full_participation_distance: _all_clients,
    ocs.fedavg_strongly_convex: _round,
    ocs.fedavg_strongly_convex_per_client: _round,
    ocs.fedavg_convex_clients: _round,
    ocs.fedavg_contraction: _round,
}
