"""Worst-case problems of the bounds of FedALIGN, with two priority clients and a third client that is included."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fedtheory import worst_case
from fedtheory.bounds import power_of_choice as poc
from fedtheory.bounds._worst_cases import as_fractions, require_0
from fedtheory.theorem import Bound, WorstCaseProblem

_ONE_ROUND = "one round that includes a third client at any threshold, without a bound on gradients"
_G2 = "the worst case ignores the bound on gradients that the theorem assumes"


def _included(given: Mapping[str, Any], weight: Any, gap: Any) -> dict[str, Any]:
    """Return the constants of a round that includes a third client, from ``1/(1 + s)`` and ``s Gamma_3/(1 + s)``."""
    if given["sigma2"] or not 0 < weight < 1:
        message = f"sigma2 must be 0 and priority_weight in (0, 1) for a worst case, got {given['sigma2']} and {weight}"
        raise ValueError(message)
    share = 1 / Fraction(weight) - 1
    found = {name: given[name] for name in ("mu", "L", "objective_gap")}
    found["distance2"] = given.get("distance2", given.get("initial_distance2"))
    found |= {"share": share, "client_gap": gap * (1 + share) / share, "threshold": 1}
    return found | {"cells": ("included",), "minima": "free"}


def _first_step(bound: Bound, given: Mapping[str, Any]) -> Any:
    require_0(given, "elapsed_step_size", of="a round's first step")
    constants = _included(given, given["priority_weight"], given["included_gap"])
    worst = worst_case.fedalign(1, given["step_size"], **constants)
    return worst_case.Comparison(bound(**given), worst, _ONE_ROUND)


def _first_round(bound: Any, given: Mapping[str, Any]) -> Any:
    """Solve a horizon of one round, whose sums over steps have equal entries."""
    tau = given["local_steps"]
    if given["num_steps"] != tau:
        message = f"num_steps must be {tau}, one round, for the worst case, got {given['num_steps']}"
        raise ValueError(message)
    weight, gap = _of_the_round(given, tau)
    known = {name: float(given[name]) for name in ("mu", "L")}
    sizes = as_fractions(bound.step_sizes(given["num_steps"], local_steps=tau, **known))
    worst = worst_case.fedalign(tau, sizes, **_included(given, weight, gap), objective="gap")
    return worst_case.Comparison(bound(**given), worst, _ONE_ROUND)


def _of_the_round(given: Mapping[str, Any], tau: int) -> tuple[Any, Any]:
    """Return ``1/(1 + s)`` and the included gap, from theta and rho or from the sequences."""
    if "priority_weights" in given:
        return given["priority_weights"][0], given["included_gaps"][0]
    mu, L = Fraction(given["mu"]), Fraction(given["L"])
    horizon = tau + max(8 * L / mu, Fraction(tau)) - 2
    return given["theta"] * horizon / tau, given["rho"] * mu * horizon / (2 * L * tau)


def _gradient_norm(bound: Bound, given: Mapping[str, Any]) -> Any:
    return poc._worst_cases.GRADIENT_NORM.solve(bound, given)


def _least_gradients(c):
    largest_gap = max(c["mu"] * c["distance2"] / 2 + c["objective_gap"], c["client_gap"])
    return 2 * c["mu"] * largest_gap * c.whole(1, 5)


# Two priority clients, and a third client of equal size that is included; s is its share.
_STEP = {
    "sigma2": 0,
    "local_steps": lambda c: c.whole(1, 3),
    "elapsed_step_size": 0,
    "squared_weights": 1,
    "step_size": lambda c: c.share() / (4 * c["L"]),
    "client_gap": lambda c: c.positive(3),
    "G2": _least_gradients,
    "s": lambda c: Fraction(1, c.whole(1, 4)),
    "priority_weight": lambda c: 1 / (1 + c["s"]),
    "included_gap": lambda c: c["s"] * c["client_gap"] / (1 + c["s"]),
}
_HORIZON = _STEP | {
    "local_steps": lambda c: c.whole(1, 2),
    "num_steps": lambda c: c["local_steps"],
    "priority_weights": lambda c: [c["priority_weight"]] * c["num_steps"],
    "included_gaps": lambda c: [c["included_gap"]] * c["num_steps"],
    "horizon": lambda c: c["num_steps"] + max(8 * c["L"] / c["mu"], c["local_steps"]) - 2,
    "theta": lambda c: sum(c["priority_weights"]) / c["horizon"],
    "rho": lambda c: 2 * c["L"] * sum(c["included_gaps"]) / (c["mu"] * c["horizon"]),
}
GRADIENT_NORM: WorstCaseProblem = WorstCaseProblem(_gradient_norm)
ONE_STEP: WorstCaseProblem = WorstCaseProblem(_first_step, _STEP)
RECURSION: WorstCaseProblem = WorstCaseProblem(_first_round, _HORIZON, looseness=1.2, remark=_G2)
THEOREM: WorstCaseProblem = WorstCaseProblem(_first_round, _HORIZON, looseness=1.5, remark=_G2)
