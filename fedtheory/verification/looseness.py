"""How much an inequality gives away: by how much it can be tightened before instances refute it.

Dividing a loose bound by 20 changes no verdict: a check of it cannot see a wrong constant. Its looseness says so.
"""

from dataclasses import replace
from fractions import Fraction

from fedtheory.verification.claims import Claim
from fedtheory.verification.counterexamples import search
from fedtheory.verification.findings import Finding, at_least, at_most

__all__ = ["LADDER", "least_refuted_factor", "tightened"]

LADDER = (1.01, 1.05, 1.1, 1.2, 1.5, *(2.0**power for power in range(1, 11)))
"""The factors by which inequalities are tightened."""

_MOST_INSTANCES = 100


def tightened(claim: Claim, factor: float) -> Claim:
    """Return the claim with the bound of every inequality made sharper by a factor; equalities stay as they are.

    >>> from fedtheory.verification.claims import claim
    >>> from fedtheory.bounds.power_of_choice import gradient_norm
    >>> @claim("textbook:half", "half the bound is never reached", gradient_norm)
    ... def half(_):
    ...     return at_most(Fraction(1, 2), Fraction(1))
    >>> [tightened(half, factor).check(None).holds for factor in (2.0, 2.01)]
    [True, False]
    """
    by = Fraction(factor).limit_denominator(100)
    return replace(claim, check=lambda rng: _sharper(claim.check(rng), by))


def _sharper(finding: Finding, by: Fraction) -> Finding:
    if finding.relation == "==" or not finding.applicable:
        return finding
    if finding.relation == ">=":
        return at_least(finding.measured, finding.predicted * by, instance=finding.instance)
    return at_most(finding.measured, finding.predicted / by, instance=finding.instance)


def least_refuted_factor(claim: Claim, num_instances: int | None = None, rng: int = 0) -> float | None:
    """Return the smallest factor of the ladder by which the claim cannot be tightened, or None if all can be.

    Parameters
    ----------
    claim
        An inequality that holds.
    num_instances
        Instances that the search for a counterexample tries; at most 100, and no more than the thorough budget, by
        default.
    rng
        Seed of the search.
    """
    tried = most_instances(claim) if num_instances is None else num_instances
    # The search prefers what strains the claim: tightening changes all ratios by one factor and not its way.
    ratio = search(claim, tried, rng).worst.ratio
    return next((factor for factor in LADDER if factor * ratio > 1), None)


def most_instances(claim: Claim) -> int:
    """Return how many instances a claim's looseness is worth."""
    return min(_MOST_INSTANCES, claim.instances[1])
