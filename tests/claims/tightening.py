"""The looseness of an inequality: the factor by which it can be tightened before instances refute it.

Dividing a loose bound by 20 may not change its verdict, so its check does not detect a wrong constant. The looseness
states this factor.
"""

from dataclasses import replace
from fractions import Fraction

from fedtheory.theorem.claims import Claim
from fedtheory.theorem.findings import Finding, at_least, at_most

LADDER = (1.01, 1.05, 1.1, 1.2, 1.5, *(2.0**power for power in range(1, 12)))
"""The factors by which inequalities are tightened."""


def tightened(claim: Claim, factor: float) -> Claim:
    """Return the claim with the bound of every inequality made sharper by a factor; equalities stay as they are."""
    by = Fraction(factor).limit_denominator(100)
    return replace(claim, check=lambda rng: _sharper(claim.check(rng), by))


def _sharper(finding: Finding, by: Fraction) -> Finding:
    if finding.relation == "==" or not finding.applicable:
        return finding
    base = 0 if finding.baseline is None else finding.baseline
    beyond = finding.predicted - base
    # An upper side that is negative is sharper where it is larger.
    sharper = base + (beyond * by if (finding.relation == ">=") == (beyond >= 0) else beyond / by)
    compare = at_least if finding.relation == ">=" else at_most
    return compare(finding.measured, sharper, instance=finding.instance, baseline=finding.baseline)
