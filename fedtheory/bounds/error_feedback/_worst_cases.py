"""Worst-case problems of the bounds on compressed communication with one client."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fedtheory import worst_case
from fedtheory.theorem import Bound, WorstCaseProblem


def _with_memory(bound: Bound, given: Mapping[str, Any]) -> Any:
    method = worst_case.error_feedback if bound.__name__ == "ef_round" else worst_case.ef21
    return method(1, **given)


def _distance(bound: Bound, given: Mapping[str, Any]) -> Any:
    p, s = worst_case.Problem(), given["compression_error"]
    f = p.function(given["mu"], given["L"])
    best, w, memory = f.minimizer(), p.point("start"), p.origin
    p.at_most((w - best).square, given["initial_distance2"], "initial_distance2")
    for _ in range(given["num_rounds"]):
        wanted = memory + given["step_size"] * f.gradient(w)
        sent = p.compressed(wanted, s**2)
        w, memory = w - sent, wanted - sent
    p.maximize((w - best).square)
    return p.solve()


def _gradient2(bound: Bound, given: Mapping[str, Any]) -> Any:
    p, s = worst_case.Problem(), given["compression_error"]
    f = p.function(given["mu"], given["L"])
    w, memory = p.point("start"), p.vector()
    start = s * f.gradient(w).square + (f.gradient(w) - memory).square
    p.at_most(start, given["initial_potential"], "initial_potential")
    for _ in range(given["num_rounds"]):
        w = w - given["step_size"] * memory
        memory = memory + p.compressed(f.gradient(w) - memory, s**2)
    p.maximize(f.gradient(w).square)
    return p.solve()


def _without_memory(bound: Bound, given: Mapping[str, Any]) -> Any:
    known = {"gap" if name == "initial_gap" else name: value for name, value in given.items()}
    return worst_case.compressed_gradients(**known)


_GAP = {
    "num_rounds": lambda c: c.whole(1, 2),
    "step_size": lambda c: 2 * c.share() / ((1 + c["compression_error"]) * c["L"]),
}
_RATE = {"largest_rate": Fraction(5, 4)}
_HORIZON = _RATE | {"num_rounds": lambda c: c.whole(1, 2)}
ROUND = WorstCaseProblem(_with_memory, _RATE)
DISTANCE = WorstCaseProblem(_distance, _HORIZON, looseness=1.05)
GRADIENT2 = WorstCaseProblem(_gradient2, _HORIZON)
GAP = WorstCaseProblem(_without_memory, _GAP)
