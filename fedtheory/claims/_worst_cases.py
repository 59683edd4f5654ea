"""No member of the class of a bound exceeds the bound: a claim for each bound with a worst case.

The exact worst case under the hypotheses of the bound is proved from both sides, for random constants. A bound that is
too small anywhere fails there.
"""

from fractions import Fraction
from functools import cache
from math import isfinite
from typing import Any

import numpy as np

from fedtheory import worst_case
from fedtheory.errors import OracleError
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.claims import Claim, claim
from fedtheory.theorem.draws import as_texts
from fedtheory.theorem.findings import Finding, at_most, not_applicable


@cache
def worst_case_claim(bound: Bound) -> Claim:
    """Return the claim that the worst case of a bound does not exceed it; a bound has one claim.

    >>> from fedtheory.bounds import sgd
    >>> worst_case_claim(sgd.drawn_step).key
    'sgd:drawn-step-worst-case'
    """
    problem = bound.worst_case
    if problem is None:
        message = f"bound must have a worst case, got {bound.__name__}"
        raise ValueError(message)
    paper, name = bound.statement.topic.key, problem.name or bound.__name__.replace("_", "-")

    def check(rng: np.random.Generator) -> Finding:
        given: dict[str, Any] = problem.draw(rng)
        try:
            found = worst_case.compared(bound, given)
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
