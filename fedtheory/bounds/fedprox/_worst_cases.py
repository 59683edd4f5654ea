"""Worst-case problem of the bound on a round of FedProx."""

from collections.abc import Mapping
from typing import Any

from fedtheory import worst_case
from fedtheory.bounds._worst_cases import require_0
from fedtheory.theorem import Bound, WorstCaseProblem

_FULL_PARTICIPATION = (
    "all clients take part in the worst case; the bound also covers drawn clients, whose mean moves farther"
)


def _solve(bound: Bound, given: Mapping[str, Any]) -> Any:
    require_0(given, "inexactness", "negative_curvature", of="a round that is proved from both sides")
    known = {name: value for name, value in given.items() if name != "inexactness"}
    return worst_case.Comparison(bound(**given), worst_case.fedprox(**known), _FULL_PARTICIPATION)


_EXACT = {
    "negative_curvature": 0,
    "inexactness": 0,
    "gradient_dissimilarity": lambda c: 1 + c.tenths(0, 30),
    "proximal_weight": lambda c: c["L"] * (3 + c.tenths(0, 100)) * c["gradient_dissimilarity"] ** 2,
}
LOSS_CHANGE = WorstCaseProblem(
    _solve,
    _EXACT,
    looseness=1.05,
    remark="no federation maximizes drift and curvature together; bound and worst case are negative",
)
