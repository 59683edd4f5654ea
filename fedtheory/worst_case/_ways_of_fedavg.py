"""Worst cases of the bounds of Li et al., and of those without bounded gradients."""

from collections.abc import Mapping
from typing import Any

from fedtheory.bounds import fedavg as li
from fedtheory.theorem.bound import Bound
from fedtheory.worst_case._confrontations import Confrontation, Way, as_fractions, demand_0
from fedtheory.worst_case._ways_of_biased_selection import WITHOUT_G2
from fedtheory.worst_case.full_or_uniform import fedavg

__all__ = ["WAYS"]

_FEW = "the worst case is that of two clients, without a bound on gradients: the looseness is at least this"


def _class(given: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: given[name] for name in ("mu", "L")}
    found["objective_gap"] = given.get("objective_gap", 0)
    return found | {"distance2": given.get("distance2", given.get("initial_distance2"))}


def _rounds(given: Mapping[str, Any]) -> tuple[int, int]:
    """Return local steps and rounds of a horizon without noise."""
    tau, steps = given["local_steps"], given["num_steps"]
    noise = given.get("weighted_sigma2", given.get("sigma2"))
    if steps % tau or noise:
        message = f"num_steps must be whole rounds, and the variance of gradients 0, got {steps} and {noise}"
        raise ValueError(message)
    return tau, steps // tau


def _sizes(bound: Bound, given: Mapping[str, Any]) -> Any:
    tau = {} if bound is li.decaying_steps_gap else {"local_steps": given["local_steps"]}
    steps = bound.step_sizes or li.decaying_step_sizes
    return as_fractions(steps(given["num_steps"], mu=float(given["mu"]), L=float(given["L"]), **tau))


def _all_clients(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    tau, num_rounds = _rounds(given)
    worst = fedavg(tau, _sizes(bound, given), **_class(given), num_rounds=num_rounds, objective="gap")
    return Confrontation(bound(**given), worst, WITHOUT_G2)


def _sampled(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    """Go through all selections of few clients."""
    tau, num_rounds = _rounds(given)
    distinct = "num_clients" in given
    who = {"num_selected": given["num_selected"], "num_clients": given.get("num_clients", 2)}
    who |= {"sampling": "distinct" if distinct else "independent"}
    worst = fedavg(tau, _sizes(bound, given), **_class(given), **who, num_rounds=num_rounds, objective="gap")
    return Confrontation(bound(**given), worst, WITHOUT_G2 if distinct else _FEW)


def _step(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    """Take a round's first step."""
    demand_0(given, "weighted_sigma2", of="a step")
    return Confrontation(bound(**given), fedavg(1, given["step_size"], **_class(given)), WITHOUT_G2)


def _free(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    """Take rounds of all clients, without any bound on gradients."""
    num_rounds = given.get("num_rounds", 1)
    objective = "gap" if bound is li.gap_after_step else "distance"
    tau = given.get("local_steps", 1)
    worst = fedavg(tau, given["step_size"], **_class(given), num_rounds=num_rounds, objective=objective)
    return Confrontation(bound(**given), worst)


def _sampled_step(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    who = {name: given[name] for name in ("num_clients", "num_selected")}
    return Confrontation(bound(**given), fedavg(1, given["step_size"], **_class(given), **who, sampling="distinct"))


WAYS: Mapping[Bound, Way] = {
    li.one_step: _step,
    li.full_participation_gap: _all_clients,
    li.with_replacement_gap: _sampled,
    li.without_replacement_gap: _sampled,
    li.decaying_steps_gap: _sampled,
    li.one_round: _free,
    li.fixed_step_distance: _free,
    li.gap_after_step: _free,
    li.sampled_step: _sampled_step,
}
