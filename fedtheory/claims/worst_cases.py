"""No member of the class of a bound exceeds the bound: a claim for each bound with a worst case.

The exact worst case under the hypotheses of the bound is proved from both sides, for random constants. A bound that is
too small anywhere fails there.
"""

from collections.abc import Mapping
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np

from fedtheory.bounds.catalogue import known_bounds
from fedtheory.claims._comparisons import as_texts
from fedtheory.errors import OracleError
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.claims import Claim, claim
from fedtheory.theorem.findings import Finding, at_most, not_applicable
from fedtheory.theorem.worst_case_problem import WorstCaseProblem
from fedtheory.worst_case import comparisons

__all__ = ["worst_case_claims"]


def worst_case_claims(bounds: Mapping[str, Bound]) -> dict[str, Claim]:
    """Return a claim for each bound with a worst case.

    Parameters
    ----------
    bounds
        Bounds by name, ``paper.function``.

    Returns
    -------
    dict[str, Claim]
        Claims by the same names.

    Examples
    --------
    >>> from fedtheory.bounds import sgd
    >>> worst_case_claims({"sgd.drawn_step": sgd.drawn_step})["sgd.drawn_step"].key
    'sgd:drawn-step-worst-case'
    """
    return {name: _claim(bound, bound.worst_case) for name, bound in bounds.items() if bound.worst_case is not None}


def _claim(bound: Bound, problem: WorstCaseProblem) -> Claim:
    paper, name = bound.statement.topic.key, problem.name or bound.__name__.replace("_", "-")

    def check(rng: np.random.Generator) -> Finding:
        given: dict[str, Any] = problem.draw(rng)
        try:
            found = comparisons.compared(bound, given)
            reached = found.worst_case.enclosure[0]
        except OracleError as error:
            return not_applicable(f"the worst case was not proved: {error}", **as_texts(given))
        value = Fraction(found.bound_value) if isfinite(found.bound_value) else found.bound_value
        return at_most(reached, value, instance=as_texts(given))

    return claim(
        f"{paper}:{name}-worst-case",
        f"No problem of its class exceeds the bound {bound.__name__}",
        bound,
        instances=(3, problem.num_draws),
        looseness=problem.looseness,
        remark=problem.remark,
    )(check)


# Claims are found as attributes of modules.
globals().update({name.replace(".", "_"): one for name, one in worst_case_claims(known_bounds()).items()})
