"""Worst-case problems of the bounds of FedALIGN, with two priority clients and a third client that is included."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory import worst_case
from fedtheory.bounds import power_of_choice as poc
from fedtheory.bounds._worst_cases import as_fractions, require_0
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.draws import draw_class, step_size, tenths, whole
from fedtheory.theorem.worst_case_problem import WorstCaseProblem

__all__: list[str] = []

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


def _first_round(bound: Bound, given: Mapping[str, Any]) -> Any:
    """Solve a horizon of one round, whose sums over steps have equal entries."""
    tau = given["local_steps"]
    if given["num_steps"] != tau:
        message = f"num_steps must be {tau}, one round, for the worst case, got {given['num_steps']}"
        raise ValueError(message)
    if bound.step_sizes is None:
        message = f"{bound.__name__} must prescribe step sizes to have a worst case"
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


def _draw_class(rng: np.random.Generator) -> dict[str, Any]:
    """Draw two priority clients and a third client of equal size, and a G2 that is large enough for them."""
    given = draw_class(rng) | {"sigma2": Fraction(0), "client_gap": tenths(rng, 1, 30)}
    mu = given["mu"]
    least = max(mu**2 * given["distance2"] + 2 * mu * given["objective_gap"], 2 * mu * given["client_gap"])
    given |= {"G2": least * whole(rng, 1, 5)}
    share = Fraction(1, whole(rng, 1, 4))
    return given | {"priority_weight": 1 / (1 + share), "included_gap": share * given.pop("client_gap") / (1 + share)}


def _draw_step(rng: np.random.Generator) -> dict[str, Any]:
    given = _draw_class(rng)
    return given | {"step_size": step_size(rng, 1 / (4 * given["L"])), "local_steps": whole(rng, 1, 3)}


def _draw_refined_step(rng: np.random.Generator) -> dict[str, Any]:
    given = _draw_step(rng)
    del given["local_steps"]
    return given | {"elapsed_step_size": Fraction(0), "squared_weights": Fraction(1)}


def _draw_recursion(rng: np.random.Generator) -> dict[str, Any]:
    given, tau = _draw_class(rng), whole(rng, 1, 2)
    given["initial_distance2"] = given.pop("distance2")
    sequences = {f"{name}s": [given.pop(name)] * tau for name in ("priority_weight", "included_gap")}
    return given | sequences | {"num_steps": tau, "local_steps": tau}


def _draw_theorem(rng: np.random.Generator) -> dict[str, Any]:
    given = _draw_recursion(rng)
    tau, mu, L = given["num_steps"], given["mu"], given["L"]
    horizon = tau + max(8 * L / mu, Fraction(tau)) - 2
    theta = tau * given.pop("priority_weights")[0] / horizon
    return given | {"theta": theta, "rho": 2 * L * tau * given.pop("included_gaps")[0] / (mu * horizon)}


def _draw_gradient(rng: np.random.Generator) -> dict[str, Any]:
    return {"excess": tenths(rng, 1, 90), "L": tenths(rng, 1, 90)}


GRADIENT_NORM: WorstCaseProblem = WorstCaseProblem(_gradient_norm, _draw_gradient)
ONE_STEP: WorstCaseProblem = WorstCaseProblem(_first_step, _draw_step)
REFINED_ONE_STEP: WorstCaseProblem = WorstCaseProblem(_first_step, _draw_refined_step)
RECURSION: WorstCaseProblem = WorstCaseProblem(_first_round, _draw_recursion, looseness=1.2, remark=_G2)
THEOREM: WorstCaseProblem = WorstCaseProblem(_first_round, _draw_theorem, looseness=1.5, remark=_G2)
