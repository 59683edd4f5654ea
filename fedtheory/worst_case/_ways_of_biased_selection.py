"""Worst cases of the bounds of Power-of-Choice."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fedtheory.bounds import power_of_choice as poc
from fedtheory.theorem.bound import Bound
from fedtheory.worst_case._actors import Function
from fedtheory.worst_case._confrontations import Confrontation, Way, as_fractions, demand_0, worst_problem
from fedtheory.worst_case._gram import Vector
from fedtheory.worst_case._settings import Setting, setting
from fedtheory.worst_case.problem import Problem
from fedtheory.worst_case.skewed_selection import averaged_gap, skew_class, skew_class_horizon, skews

__all__ = ["WAYS", "WITHOUT_G2", "gradient_norm"]

WITHOUT_G2 = "the worst case is that without a bound on gradients, so that the looseness is at least this"
# A lemma about any convex function is met by functions of this condition number, of which some attain it.
_CONDITION = 10


def _class(given: Mapping[str, Any]) -> dict[str, Any]:
    """Constants of the skewed class, by the names of its door."""
    kept = ("mu", "L", "objective_gap", "rho_tilde", "num_selected")
    found = {name: given[name] for name in kept if name in given}
    found["rho_diagonal"] = given.get("rho_diagonal", given.get("rho_bar"))
    start = given.get("distance2", given.get("initial_distance2"))
    # A gap bounds mu/2 times the squared distance, and a population of curvature mu attains it.
    found["distance2"] = 2 * given["initial_gap"] / given["mu"] if start is None else start
    return found | {"gradient_noise": given["sigma2"]}


def _round(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    worst = skew_class(given["local_steps"], given["step_size"], **_class(given))
    return Confrontation(bound(**given), worst)


def _first_step(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    demand_0(given, "elapsed_step_size", of="a round's first step")
    worst = skew_class(1, given["step_size"], **_class(given), G2=given["G2"] - given["sigma2"])
    return Confrontation(bound(**given), worst)


def _horizon(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    """Compose rounds with the bound's own step sizes; the promise is a squared distance."""
    tau = given["local_steps"]
    num_steps = given["num_steps"] if "num_steps" in given else tau * given["num_rounds"]
    worst = skew_class_horizon(num_steps, tau, _sizes(bound, given, num_steps), **_class(given))
    promise, remark = bound(**given), ""
    if "G2" in given:
        promise, remark = 2 * promise / given["L"], WITHOUT_G2
    return Confrontation(promise, worst, remark)


def _sizes(bound: Bound, given: Mapping[str, Any], num_steps: int) -> Any:
    if "gamma" in given:
        return [1 / (Fraction(given["mu"]) * (t + Fraction(given["gamma"]))) for t in range(num_steps)]
    if bound.step_sizes is None:
        return given["step_size"]
    counts = {"num_selected": given["num_selected"]} if bound in _WEIGHTED else {}
    return as_fractions(bound.step_sizes(num_steps, mu=float(given["mu"]), L=float(given["L"]), **counts))


def _weighted(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    """Weights that sum to one are those of the mean for the skews, but not for noise."""
    demand_0(given, "sigma2", of="selection with weights")
    way = _first_step if "elapsed_step_size" in given else _horizon
    return way(bound, given)


def _averaged(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    """Judge the rounds' starts by the objective, in one program; selected clients have vanishing weights."""
    demand_0(given, "sigma2", of="averaged models")
    tau, num_rounds = given["local_steps"], given["num_rounds"]
    constants = {"distance2": given["initial_distance2"], "objective_gap": given["objective_gap"], "gradient_noise": 0}
    units = setting(tau * num_rounds, given["step_size"], mu=given["mu"], L=given["L"], **constants)
    c = 1 - units.steps[0] * units.mu
    ratios = skews(units, given["rho_diagonal"], given["rho_tilde"], given["num_selected"])
    p = averaged_gap(units, ratios, [c ** (-tau * r) for r in range(num_rounds)])
    return Confrontation(bound(**given), worst_problem(p, units, "gap"))


def gradient_norm(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    """Give Lemma B.1 to strongly convex functions."""
    L = Fraction(given["L"])
    units = setting(1, 1 / L, mu=L / _CONDITION, L=L, excess=given["excess"])
    p, f, w = _above_the_least(units)
    p.maximize(f.gradient(w).square)
    return Confrontation(bound(**given), worst_problem(p, units, "gradient"))


def _loss_after_step(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    L = Fraction(given["L"])
    units = setting(1, given["step_size"], mu=L / _CONDITION, L=L, excess=given["excess"])
    p, f, w = _above_the_least(units)
    p.maximize(f.value(w) - f.value(f.step(w, units.steps[0])))
    worst = worst_problem(p, units, "descent")
    return Confrontation(given["excess"] - bound(**given), worst, "as the loss that a step removes at most")


def _above_the_least(given: Setting) -> tuple[Problem, Function, Vector]:
    """Return one function and a model whose loss is at most ``excess`` above the least."""
    p = Problem()
    f, w = p.function(given.mu, 1, minimum=0), p.point()
    p.at_most(f.value(w) - f.value(f.minimizer(p.origin)), given["excess"], "excess")
    return p, f, w


def _drift(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    # Where the round begins does not matter; a distance sets the unit.
    start, tau = Fraction(given["G2"]) / Fraction(given["L"]) ** 2, given["local_steps"]
    units = setting(tau, given["step_size"], mu=given["mu"], L=given["L"], G2=given["G2"], distance2=start)
    return Confrontation(bound(**given), worst_problem(_drifting_round(units), units, "drift"))


def _drifting_round(given: Setting) -> Problem:
    """Maximize the mean squared distance of the clients' models from their mean, just before the last step."""
    p = Problem()
    clients, w = p.clients(2, given.mu, 1), p.origin
    p.at_most(clients.gradient(w).square, given["G2"], "G2")
    for eta in given.steps[:-1]:
        w = clients.step(w, eta)
    p.maximize((w - clients.mean(w)).square)
    return p


_WEIGHTED = (poc.derived_weighted_average_gap, poc.weighted_average_gap)

WAYS: Mapping[Bound, Way] = {
    poc.gradient_norm: gradient_norm,
    poc.loss_after_step: _loss_after_step,
    poc.exact_client_drift: _drift,
    poc.one_step: _first_step,
    poc.weighted_one_step: _weighted,
    poc.one_round: _round,
    poc.fixed_step_distance: _horizon,
    poc.decaying_steps_distance: _horizon,
    poc.averaged_rounds_gap: _averaged,
    poc.decaying_steps_gap: _horizon,
    poc.refined_decaying_steps_gap: _horizon,
    poc.fixed_step_gap: _horizon,
    poc.refined_fixed_step_gap: _horizon,
    poc.derived_weighted_average_gap: _weighted,
    poc.weighted_average_gap: _weighted,
}
