"""Results of single instances: comparisons by exact numbers, with a rounding tolerance, or by confidence limits."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, final

from fedtheory._support import validate
from fedtheory._support.wording import truncate
from fedtheory.statistics.interval import Interval

__all__ = ["Finding", "at_least", "at_most", "equal_to", "mean_at_most", "not_applicable", "worst_of"]

_DECIMALS = 9  # decimals of the strain of floats, well above rounding
HOLDS, FAILS, NOT_APPLICABLE, INCONCLUSIVE, ERROR = "holds", "fails", "not applicable", "inconclusive", "error"
NO_COUNTEREXAMPLE = "no counterexample"

ROUNDING = 1e-9
"""Relative slack of every floating-point comparison: a sum of 10^5 rounded products loses about 1e-11, and relevant
violations are orders of magnitude larger. It allows for rounding only; exact rationals are compared without it."""


def verdict_text(verdict: str, *, as_expected: bool) -> str:
    """Return a verdict in words; a documented counterexample is no failure of the library.

    >>> verdict_text(FAILS, as_expected=True), verdict_text(FAILS, as_expected=False)
    ('refuted, as documented', 'fails')
    """
    return "refuted, as documented" if verdict == FAILS and as_expected else verdict


@final
@dataclass(frozen=True)
class Finding:
    """Result of one instance: two sides, the relation between them, and whether it holds.

    Attributes
    ----------
    measured, predicted
        The two sides, real numbers: exact (``int``, ``Fraction``) or floating.
    relation
        Required relation of measured to predicted: ``<=``, ``>=`` or ``==``.
    holds
        True, False, or None if the instance decides nothing.
    side
        Kind of comparison: ``exact``, ``floating point``, or the confidence limit used.
    applicable
        Whether the hypotheses hold on this instance; if not, the sides do not matter.
    slack
        Allowed violation of the relation: rounding, or an allowance that the claim explains.
    risk
        Upper bound on the probability that the finding contradicts a true claim; 0 without confidence limits.
    baseline
        Common part of both sides of an inequality, if known, which is subtracted from both in the ratio.
    """

    measured: Any
    predicted: Any
    relation: str
    holds: bool | None
    side: str = "exact"
    instance: Mapping[str, Any] = field(default_factory=dict)
    applicable: bool = True
    slack: Any = 0
    reason: str = ""
    risk: float = 0.0
    baseline: Any = None

    def __post_init__(self) -> None:
        validate.choice("relation", self.relation, ("<=", ">=", "=="))
        if type(self.holds) not in (bool, type(None)):
            message = f"holds must be True, False or None, got {self.holds!r}"
            raise ValueError(message)
        if self.applicable and not (is_number(self.measured) and is_number(self.predicted)):
            raise _no_numbers(self.measured, self.relation, self.predicted)
        if self.baseline is not None and not (is_number(self.baseline) and abs(self.baseline) < math.inf):
            message = f"baseline must be a finite number, got {truncate(self.baseline)}"
            raise ValueError(message)
        slack = validate.nonnegative("slack", self.slack)
        shown = _shown(self.measured, self.relation, self.predicted, slack) if self.applicable else None
        if self.holds is not None and self.holds is not shown:
            message = f"holds must agree with the sides, {shown}, got {self.holds} for {self._in_words}"
            raise ValueError(message)

    @property
    def _in_words(self) -> str:
        return f"{self.measured} {self.relation} {self.predicted}"

    @property
    def is_finite(self) -> bool:
        """Whether both sides are finite numbers."""
        return self.applicable and abs(self.measured) < math.inf and abs(self.predicted) < math.inf

    @property
    def ratio(self) -> float:
        """Measured over predicted, inverted for ``>=``: an inequality holds up to 1 and is attained at 1.

        If both sides of an inequality are negative, it is inverted again. If both sides are zero (up to the slack), the
        ratio is 0 for an inequality, whose constant they do not test, and 1 for an identity. It is NaN if hypotheses
        are violated or a bound is infinite.
        """
        small, large = (self.predicted, self.measured) if self.relation == ">=" else (self.measured, self.predicted)
        if not self.applicable or abs(large) == math.inf:
            return math.nan
        if self.baseline is not None:
            small, large = _beyond(small, self.baseline), _beyond(large, self.baseline)
            if max(abs(small), abs(large)) <= self.slack:
                return 0.0
            small = small - self.slack if self.slack else small
        if max(abs(small), abs(large)) <= self.slack:
            return 1.0 if self.relation == "==" else 0.0
        if small == large:
            return 1.0
        turned = self.relation != "==" and small < 0 and large < 0
        return _quotient(large, small) if turned else _quotient(small, large)

    @property
    def strain(self) -> float:
        """Closeness of the instance to breaking the claim; the worst instance has the largest strain."""
        strain = abs(self.ratio - 1) if self.relation == "==" else self.ratio
        if self.holds is False and (math.isnan(strain) or (self.relation != "==" and strain <= 1)):
            return math.inf  # the ratio is meaningless if the signs differ or a side is infinite
        return -math.inf if math.isnan(strain) else strain


def _no_numbers(measured: Any, relation: str, predicted: Any) -> ValueError:
    sides = " ".join(f"{measured} {relation} {predicted}".split())
    return ValueError(f"both sides of a comparison must be numbers, got {sides}")


def is_number(side: Any) -> bool:
    """Whether the argument is one real number; infinity is allowed, NaN is not."""
    if isinstance(side, bool):
        return False
    return isinstance(side, int | Fraction) or (isinstance(side, numbers.Real) and not math.isnan(side))


def _shown(measured: Any, relation: str, predicted: Any, slack: Any) -> bool | None:
    """Return whether the relation holds up to the slack; None if an infinite side leaves nothing to compare."""
    if relation == "==":
        both_infinite = measured == predicted and abs(measured) == math.inf
        return None if both_infinite else bool(measured == predicted or abs(measured - predicted) <= slack)
    small, large = (predicted, measured) if relation == ">=" else (measured, predicted)
    if small == -math.inf or large == math.inf:
        return None
    return bool(small <= large or small - large <= slack)


def _beyond(side: Any, baseline: Any) -> Any:
    """Return side - baseline, without rounding if the side is exact."""
    exact = isinstance(side, int | Fraction) and math.isfinite(baseline)
    return Fraction(side) - Fraction(baseline) if exact else float(side) - float(baseline)


def _quotient(small: Any, large: Any) -> float:
    try:
        return math.copysign(math.inf, small) if large == 0 else float(small / large)
    except OverflowError:  # the quotient of exact numbers exceeds the range of floats
        return math.inf if (small > 0) == (large >= 0) else -math.inf


def at_most(
    measured: Any,
    predicted: Any,
    *,
    instance: Mapping[str, Any] | None = None,
    rtol: float = ROUNDING,
    baseline: Any = None,
) -> Finding:
    """Compare ``measured <= predicted``; exact numbers without tolerance, floats with the relative slack ``rtol``.

    An infinite bound decides nothing. ``baseline`` is a common part of both sides, such as the distance before a step.
    The ratio is then (measured - baseline) / (predicted - baseline); the verdict does not change.

    >>> at_most(2, 1).holds, at_most(math.inf, 1.0).holds, at_most(1.0, math.inf).holds
    (False, False, None)
    >>> at_most(99, 98).ratio < 1.02, at_most(99, 98, baseline=100).ratio
    (True, 2.0)
    """
    return _compared(measured, "<=", predicted, instance, rtol, baseline=baseline)


def at_least(
    measured: Any,
    predicted: Any,
    *,
    instance: Mapping[str, Any] | None = None,
    rtol: float = ROUNDING,
    baseline: Any = None,
) -> Finding:
    """Compare ``measured >= predicted``; the ratio is predicted / measured. Arguments are as in ``at_most``.

    >>> at_least(Fraction(9, 32), Fraction(17, 32)).holds
    False
    """
    return _compared(measured, ">=", predicted, instance, rtol, baseline=baseline)


def equal_to(
    measured: Any,
    predicted: Any,
    *,
    instance: Mapping[str, Any] | None = None,
    rtol: float = ROUNDING,
    scale: float = 0.0,
) -> Finding:
    """Compare ``measured == predicted``; ``scale`` is the size of the terms if both sides are sums that may cancel.

    The slack of floats is ``rtol`` times the largest absolute value of both sides and ``scale``.

    >>> equal_to(0.1 + 0.2, 0.3).holds, equal_to(Fraction(1, 3), Fraction(333, 1000)).holds
    (True, False)
    >>> equal_to(1.0 - 1.0, 1e-17).holds, equal_to(1.0 - 1.0, 1e-17, scale=1.0).holds
    (False, True)
    """
    return _compared(measured, "==", predicted, instance, rtol, scale)


def _compared(
    measured: Any,
    relation: Literal["<=", ">=", "=="],
    predicted: Any,
    instance: Any,
    rtol: float,
    scale: float = 0.0,
    baseline: Any = None,
) -> Finding:
    rtol, scale = (validate.one(*each) for each in (("rtol", rtol), ("scale", scale)))
    rtol, scale = validate.nonnegative("rtol", rtol), validate.nonnegative("scale", scale)
    if not (is_number(measured) and is_number(predicted)):
        raise _no_numbers(measured, relation, predicted)
    exact = all(isinstance(side, int | Fraction) for side in (measured, predicted))
    # An infinite side must not make the slack infinite.
    sizes = [scale, *(abs(side) for side in (measured, predicted) if abs(side) < math.inf)]
    slack = 0 if exact else rtol * max(sizes)
    holds = _shown(measured, relation, predicted, slack)
    reason = "an infinite side decides nothing" if holds is None else ""
    side = "exact" if exact else "floating point"
    return Finding(
        measured, predicted, relation, holds, side, dict(instance or {}), slack=slack, reason=reason, baseline=baseline
    )


def not_applicable(reason: str = "", /, **instance: Any) -> Finding:
    """Return the finding that the hypotheses do not hold on this instance: it counts neither for nor against the claim.

    >>> not_applicable("one client only", num_clients=1).applicable
    False
    """
    return Finding(math.nan, math.nan, "<=", None, "", instance, applicable=False, reason=reason)


def mean_at_most(
    interval: Interval[Any], predicted: float, *, confidence: float, instance: Mapping[str, Any] | None = None
) -> Finding:
    """Compare an expectation with a bound: holds if the upper limit is at most the bound, fails if the lower is above.

    It is undecided if the bound is between the limits or infinite. The risk is 1 minus the confidence of the limits.

    >>> [mean_at_most(Interval(1.0, 2.0), bound, confidence=0.999).holds for bound in (3.0, 0.5, 1.5)]
    [True, False, None]
    """
    lower, upper = map(float, interval)
    if not is_number(predicted):
        message = f"predicted must be a number, got {truncate(predicted)}"
        raise ValueError(message)
    predicted = float(predicted)
    holds = False if lower > predicted else True if upper <= predicted < math.inf else None
    measured, side = (lower, "lower") if holds is False else (upper, "upper")
    reason = f"the bound {predicted:.6g} is between the limits {lower:.6g} and {upper:.6g}" if holds is None else ""
    return Finding(
        measured,
        float(predicted),
        "<=",
        holds,
        f"{side} confidence limit",
        dict(instance or {}),
        reason=reason,
        risk=1 - validate.confidence(confidence),
    )


def worst_of(findings: Iterable[Finding]) -> Finding:
    """Return the finding closest to a violation: failures first, then undecided findings, then by ratio.

    Strains of floats are equal if they agree to nine decimals, so that the result does not depend on the processor. The
    risk is the total risk of all findings.

    >>> worst_of([at_most(1, 2), at_most(3, 4), at_most(1, 8)]).ratio
    0.75
    """
    found = list(findings)
    worst, risk = max(found, key=severity), min(sum(finding.risk for finding in found), 1.0)
    return worst if risk == worst.risk else replace(worst, risk=risk)


def severity(finding: Finding) -> tuple[bool, bool, bool, float]:
    """Return the sort key of findings, the worst last: whether it fails, is undecided, is applicable; its strain."""
    undecided = finding.applicable and finding.holds is None
    strain = finding.strain if finding.side == "exact" else round(finding.strain, _DECIMALS)
    return finding.holds is False, undecided, finding.applicable, strain
