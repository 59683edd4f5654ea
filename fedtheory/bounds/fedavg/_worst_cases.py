"""Worst-case problems of the bounds of Li et al. and of the bounds without bounded gradients."""

from collections.abc import Mapping
from typing import Any

from fedtheory import worst_case
from fedtheory.bounds._worst_cases import as_fractions, require_0
from fedtheory.theorem import Bound, WorstCaseProblem

_WITHOUT_G2 = "the worst case ignores the bound on gradients; the true ratio is at least this one"
_FEW = "the worst case has two clients and ignores the bound on gradients; the true ratio is at least this one"
_G2 = "the worst case ignores the bound on gradients that the theorem assumes"


def _class(given: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: given[name] for name in ("mu", "L")}
    found["objective_gap"] = given.get("objective_gap", 0)
    return found | {"distance2": given.get("distance2", given.get("initial_distance2"))}


def _rounds(given: Mapping[str, Any]) -> tuple[int, int]:
    """Return the number of local steps and of rounds; the horizon must be whole rounds without noise."""
    tau, steps = given["local_steps"], given["num_steps"]
    noise = given.get("weighted_sigma2", given.get("sigma2"))
    if steps % tau or noise:
        message = f"num_steps must be whole rounds, and weighted_sigma2 or sigma2 0, got {steps} and {noise}"
        raise ValueError(message)
    return tau, steps // tau


def _sizes(bound: Any, given: Mapping[str, Any]) -> Any:
    tau = {} if bound.__name__ == "decaying_steps_gap" else {"local_steps": given["local_steps"]}
    return as_fractions(bound.step_sizes(given["num_steps"], mu=float(given["mu"]), L=float(given["L"]), **tau))


def _all_clients(bound: Bound, given: Mapping[str, Any]) -> Any:
    tau, num_rounds = _rounds(given)
    sizes = _sizes(bound, given)
    worst = worst_case.fedavg(tau, sizes, **_class(given), num_rounds=num_rounds, objective="gap")
    return worst_case.Comparison(bound(**given), worst, _WITHOUT_G2)


def _sampled(bound: Bound, given: Mapping[str, Any]) -> Any:
    """Solve over all selections of at most a few clients."""
    tau, num_rounds = _rounds(given)
    distinct = "num_clients" in given
    who = {"num_selected": given["num_selected"], "num_clients": given.get("num_clients", 2)}
    who |= {"sampling": "distinct" if distinct else "independent"}
    sizes = _sizes(bound, given)
    worst = worst_case.fedavg(tau, sizes, **_class(given), **who, num_rounds=num_rounds, objective="gap")
    return worst_case.Comparison(bound(**given), worst, _WITHOUT_G2 if distinct else _FEW)


def _step(bound: Bound, given: Mapping[str, Any]) -> Any:
    """Solve a round's first step."""
    require_0(given, "weighted_sigma2", of="a step")
    worst = worst_case.fedavg(1, given["step_size"], **_class(given))
    return worst_case.Comparison(bound(**given), worst, _WITHOUT_G2)


def _distance(bound: Bound, given: Mapping[str, Any]) -> Any:
    """Solve rounds of all clients without a bound on gradients."""
    counts = {name: given[name] for name in ("local_steps", "num_rounds") if name in given}
    return worst_case.fedavg(**{"local_steps": 1, **counts}, step_size=given["step_size"], **_class(given))


def _gap(bound: Bound, given: Mapping[str, Any]) -> Any:
    return worst_case.fedavg(1, given["step_size"], **_class(given), objective="gap")


def _sampled_step(bound: Bound, given: Mapping[str, Any]) -> Any:
    who = {name: given[name] for name in ("num_clients", "num_selected")}
    return worst_case.fedavg(1, given["step_size"], **_class(given), **who, sampling="distinct")


def _large_gradients(c):
    """Return a G2 that the paths of the worst federation barely exceed."""
    return c["L"] ** 2 * (c["initial_distance2"] + 2 * c["objective_gap"] / c["mu"])


_FREE = {"step_size": lambda c: c.share() / c["L"], "local_steps": lambda c: c.whole(1, 3)}
_FREE_ROUNDS = _FREE | {"local_steps": lambda c: c.whole(1, 2), "num_rounds": lambda c: c.whole(1, 3)}
_FREE_SAMPLE = _FREE | {"num_clients": lambda c: c.whole(2, 9), "num_selected": lambda c: c.whole(1, c["num_clients"])}
_STEP = {
    "weighted_sigma2": 0,
    "local_steps": lambda c: c.whole(1, 3),
    "G2": lambda c: 2 * c["mu"] * c["objective_gap"] * c.whole(1, 9),
    "step_size": lambda c: c.share() / (4 * c["L"]),
}
_HORIZON = {
    "sigma2": 0,
    "weighted_sigma2": 0,
    "local_steps": lambda c: c.whole(1, 2),
    "num_steps": lambda c: c["local_steps"] * c.whole(1, 2),
    "G2": _large_gradients,
}
# One round, since the number of outcomes grows exponentially with the rounds.
_SAMPLED = _HORIZON | {
    "num_steps": lambda c: c["local_steps"],
    "num_selected": lambda c: c.whole(1, 2),
    "num_clients": lambda c: c.whole(2, 3),
}
_NO_HETEROGENEITY = "the heterogeneity of the recursion that proves the bound vanishes for one local step"
ONE_STEP: WorstCaseProblem = WorstCaseProblem(_step, _STEP)
ONE_ROUND: WorstCaseProblem = WorstCaseProblem(_distance, _FREE)
FIXED_ROUNDS: WorstCaseProblem = WorstCaseProblem(_distance, _FREE_ROUNDS)
GAP_AFTER_STEP: WorstCaseProblem = WorstCaseProblem(_gap, _FREE)
SAMPLED_STEP: WorstCaseProblem = WorstCaseProblem(_sampled_step, _FREE_SAMPLE)
FULL_PARTICIPATION: WorstCaseProblem = WorstCaseProblem(_all_clients, _HORIZON, looseness=2, remark=_NO_HETEROGENEITY)
WITH_REPLACEMENT: WorstCaseProblem = WorstCaseProblem(_sampled, _SAMPLED, looseness=4, remark=_G2)
WITHOUT_REPLACEMENT: WorstCaseProblem = WorstCaseProblem(_sampled, _SAMPLED, looseness=2, remark=_G2)
DECAYING_STEPS: WorstCaseProblem = WorstCaseProblem(_sampled, _SAMPLED, looseness=64, remark=_G2)
