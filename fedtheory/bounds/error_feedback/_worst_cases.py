"""Worst-case problems of the bounds on compressed communication with one client."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fedtheory import worst_case
from fedtheory.theorem import Bound, WorstCaseProblem


def _with_memory(bound: Bound, given: Mapping[str, Any]) -> Any:
    method = worst_case.error_feedback if bound.__name__ == "ef_round" else worst_case.ef21
    return method(1, **given)


def _without_memory(bound: Bound, given: Mapping[str, Any]) -> Any:
    known = {"gap" if name == "initial_gap" else name: value for name, value in given.items()}
    return worst_case.compressed_gradients(**known)


_GAP = {
    "num_rounds": lambda c: c.whole(1, 2),
    "step_size": lambda c: 2 * c.share() / ((1 + c["compression_error"]) * c["L"]),
}
ROUND = WorstCaseProblem(_with_memory, {"largest_rate": Fraction(5, 4)})
GAP = WorstCaseProblem(_without_memory, _GAP)
