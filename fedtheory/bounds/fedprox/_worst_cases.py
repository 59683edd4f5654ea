"""Worst-case problem of the bound on a round of FedProx."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory import worst_case
from fedtheory.bounds._worst_cases import require_0
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.draws import tenths
from fedtheory.theorem.worst_case_problem import WorstCaseProblem

__all__: list[str] = []

_FULL_PARTICIPATION = (
    "all clients take part in the worst case; the bound also covers drawn clients, whose mean moves farther"
)


def _solve(bound: Bound, given: Mapping[str, Any]) -> Any:
    require_0(given, "inexactness", "negative_curvature", of="a round that is proved from both sides")
    known = {name: value for name, value in given.items() if name != "inexactness"}
    return worst_case.Comparison(bound(**given), worst_case.fedprox(**known), _FULL_PARTICIPATION)


def _draw(rng: np.random.Generator) -> dict[str, Any]:
    L = tenths(rng, 1, 30)
    B = 1 + tenths(rng, 0, 30)
    return {
        "gradient2": tenths(rng, 1, 90),
        "L": L,
        "negative_curvature": Fraction(0),
        "proximal_weight": L * (3 + tenths(rng, 0, 100)) * B**2,
        "gradient_dissimilarity": B,
        "inexactness": Fraction(0),
    }


LOSS_CHANGE = WorstCaseProblem(
    _solve,
    _draw,
    looseness=1.05,
    remark="no federation maximizes drift and curvature together; bound and worst case are negative",
)
