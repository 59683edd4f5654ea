"""Worst cases of the bounds of FedALIGN: two priority clients, and a third one that is included."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fedtheory.bounds import fedalign as align
from fedtheory.theorem.bound import Bound
from fedtheory.worst_case._confrontations import Confrontation, Way, as_fractions, demand_0
from fedtheory.worst_case._ways_of_biased_selection import gradient_norm
from fedtheory.worst_case.aligned_selection import fedalign

__all__ = ["WAYS"]

_ONE_ROUND = "a round in which a third client is included, whatever the threshold, without a bound on gradients"


def _included(given: Mapping[str, Any], weight: Any, gap: Any) -> dict[str, Any]:
    """Return the constants of a round in which a third client joins, from ``1/(1 + s)`` and ``s Gamma_3/(1 + s)``."""
    if given["sigma2"] or not 0 < weight < 1:
        message = f"sigma2 must be 0 and a client be included for the worst case, got {given['sigma2']} and {weight}"
        raise ValueError(message)
    share = 1 / Fraction(weight) - 1
    found = {name: given[name] for name in ("mu", "L", "objective_gap")}
    found["distance2"] = given.get("distance2", given.get("initial_distance2"))
    found |= {"share": share, "client_gap": gap * (1 + share) / share, "threshold": 1}
    return found | {"cells": ("included",), "minima": "free"}


def _first_step(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    demand_0(given, "elapsed_step_size", of="a round's first step")
    constants = _included(given, given["priority_weight"], given["included_gap"])
    return Confrontation(bound(**given), fedalign(1, given["step_size"], **constants), _ONE_ROUND)


def _first_round(bound: Bound, given: Mapping[str, Any]) -> Confrontation:
    """Take a horizon of one round, in which sums over steps have equal entries."""
    tau = given["local_steps"]
    if given["num_steps"] != tau:
        message = f"num_steps must be one round of {tau} steps, got {given['num_steps']}"
        raise ValueError(message)
    weight, gap = _of_the_round(given, tau)
    sizes = _sizes(bound, given)
    worst = fedalign(tau, sizes, **_included(given, weight, gap), objective="gap")
    return Confrontation(bound(**given), worst, _ONE_ROUND)


def _sizes(bound: Bound, given: Mapping[str, Any]) -> Any:
    """Return the theorem's step sizes."""
    if bound.step_sizes is None:
        message = f"{bound.__name__} must prescribe step sizes"
        raise ValueError(message)
    sizes = {name: float(given[name]) for name in ("mu", "L")}
    return as_fractions(bound.step_sizes(given["num_steps"], local_steps=given["local_steps"], **sizes))


def _of_the_round(given: Mapping[str, Any], tau: int) -> tuple[Any, Any]:
    """Return ``1/(1 + s)`` and the included gap from theta and rho, or from sequences."""
    if "priority_weights" in given:
        return given["priority_weights"][0], given["included_gaps"][0]
    mu, L = Fraction(given["mu"]), Fraction(given["L"])
    horizon = tau + max(8 * L / mu, Fraction(tau)) - 2
    return given["theta"] * horizon / tau, given["rho"] * mu * horizon / (2 * L * tau)


WAYS: Mapping[Bound, Way] = {
    align.gradient_norm: gradient_norm,
    align.one_step: _first_step,
    align.refined_one_step: _first_step,
    align.recursion_gap: _first_round,
    align.full_participation_gap: _first_round,
}
