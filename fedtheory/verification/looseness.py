"""How much an inequality gives away: by how much it can be tightened before instances refute it.

Dividing a loose bound by 20 changes no verdict: a check of it cannot see a wrong constant. Its looseness says so.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from fedtheory._support import validate
from fedtheory.verification.claims import Claim
from fedtheory.verification.findings import Finding, at_least, at_most
from fedtheory.verification.hunts import hunt

__all__ = ["least_refuted_factor", "tightened"]

LADDER = (1.01, 1.05, 1.1, 1.2, 1.5, *(2.0**power for power in range(1, 12)))
"""The factors by which inequalities are tightened."""


def tightened(claim: Claim, factor: float) -> Claim:
    """Return the claim with the bound of every inequality made sharper by a factor; equalities stay as they are.

    Parameters
    ----------
    claim
        An inequality.
    factor
        What the upper side is divided by, or the lower multiplied with.

    Returns
    -------
    Claim
        Its check is that of the claim; its findings are sharper.

    Examples
    --------
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
    base = 0 if finding.baseline is None else finding.baseline
    beyond = finding.predicted - base
    # An upper side that is negative is sharper where it is larger.
    sharper = base + (beyond * by if (finding.relation == ">=") == (beyond >= 0) else beyond / by)
    compare = at_least if finding.relation == ">=" else at_most
    return compare(finding.measured, sharper, instance=finding.instance, baseline=finding.baseline)


def least_refuted_factor(
    claim: Claim, num_instances: int = 100, rng: validate.RNGLike = 0, start: Sequence[float] = ()
) -> float | None:
    """Return the smallest factor of the ladder by which the claim cannot be tightened, or None if all can be.

    Parameters
    ----------
    claim
        An inequality that holds.
    num_instances, rng, start
        Of the hunt for a counterexample: most instances to try, seed, and the tape to start from.

    Returns
    -------
    float | None
        Above 1; one of ``LADDER``.

    Raises
    ------
    TypeError, ValueError
        If the number of instances is no count.

    Examples
    --------
    Half of the bound is reached: divided by 2 it still holds, divided by 4, the next of the ladder, it does not.

    >>> from fedtheory.verification.claims import claim
    >>> from fedtheory.bounds.power_of_choice import gradient_norm
    >>> @claim("textbook:half", "half the bound is reached", gradient_norm)
    ... def half(rng):
    ...     return at_most(1.0, 2.0)
    >>> least_refuted_factor(half, 1)
    4.0
    """
    # The hunt prefers what strains the claim: tightening changes all ratios by one factor and not its way.
    most = validate.size("num_instances", num_instances)
    ratio = hunt(claim, rng=rng, evaluations=most, start=start, small=False).worst.ratio
    return next((factor for factor in LADDER if factor * ratio > 1), None)
