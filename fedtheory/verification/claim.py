"""What a claim is: a published statement with one check, which shows on one instance whether the statement holds."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, final

import numpy as np

from fedtheory.paper import Bound, Statement

__all__ = [
    "BUDGETS",
    "FAILS",
    "HOLDS",
    "INCONCLUSIVE",
    "KINDS",
    "NOT_APPLICABLE",
    "ROUNDING",
    "Claim",
    "Finding",
    "at_least",
    "at_most",
    "equal_to",
    "not_applicable",
    "worst_of",
]

KINDS = ("identity", "inequality", "optimality", "rate", "erratum", "reproduction")
BUDGETS = ("quick", "thorough")
HOLDS, FAILS, NOT_APPLICABLE, INCONCLUSIVE = "holds", "fails", "not applicable", "inconclusive"

ROUNDING = 1e-9
"""Relative slack of every floating-point comparison: a sum of 10^5 rounded products loses about 1e-11, and a violation
that matters is orders of magnitude larger. It stands for rounding only; exact rationals are compared without it."""


@final
@dataclass(frozen=True)
class Finding:
    """What one instance showed.

    Attributes
    ----------
    measured, predicted
        The two sides; both exact (``int`` or ``Fraction``) or floating.
    relation
        How measured should stand to predicted: ``<=``, ``>=`` or ``==``.
    holds
        True, False, or None when the instance decides nothing.
    side
        What was compared: ``exact``, ``floating point``, or the confidence limit that was used.
    instance
        The numbers that define the instance.
    applicable
        Whether the hypotheses hold on this instance.
    """

    measured: Any
    predicted: Any
    relation: str
    holds: bool | None
    side: str = "exact"
    instance: Mapping[str, Any] = field(default_factory=dict)
    applicable: bool = True

    @property
    def ratio(self) -> float:
        """Measured over predicted, turned over for ``>=``: an inequality holds up to 1 and is attained at 1.

        An inequality between zeros says nothing about its constant: its ratio is 0.
        """
        if not self.applicable:
            return math.nan
        small, large = (self.predicted, self.measured) if self.relation == ">=" else (self.measured, self.predicted)
        if small == large:
            return 1.0 if large or self.relation == "==" else 0.0
        if large == 0:
            return math.copysign(math.inf, small)
        return float(small / large)

    @property
    def strain(self) -> float:
        """How near the instance is to breaking the claim; the worst instance is the one with the largest strain."""
        if not self.applicable:
            return -math.inf
        if self.relation == "==":
            return abs(self.ratio - 1)
        if self.holds is False and not self.ratio > 1:
            return math.inf  # the sides have different signs, so that their ratio says nothing
        return self.ratio


@final
@dataclass(frozen=True)
class Claim:
    """A statement that can be checked, instance by instance.

    Attributes
    ----------
    key
        ``paper:statement``, lower case, for example ``power-of-choice:lemma-b2``.
    title
        One line that says what is claimed.
    statement
        The source, with the form (printed, corrected, derived, refined) that the check follows.
    kind
        One of ``KINDS``.
    check
        Draws one instance from the generator and says what it shows. Pytest, the command line and the counterexample
        search all call this one function. It should use ``rng.random`` and ``rng.integers`` only, so that the search
        can steer it.
    hypotheses
        What must hold, in words; by default what the bound assumes.
    expected
        The verdict that the theory says is right: ``fails`` for an erratum.
    instances
        Numbers of instances at the quick and at the thorough budget; (1, 1) for a single deterministic instance.
    bound
        The bound whose value the check compares with, if there is one.
    remark
        What a reader of the verdict should know.

    Raises
    ------
    ValueError
        If the key, the kind, the expected verdict or the numbers of instances are not of these forms.
    """

    key: str
    title: str
    statement: Statement
    kind: str
    check: Callable[[np.random.Generator], Finding]
    hypotheses: tuple[str, ...] = ()
    expected: str = HOLDS
    instances: tuple[int, int] = (20, 400)
    bound: Bound | None = None
    remark: str = ""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9-]+:[a-z0-9.-]+", self.key):
            message = f"key must look like 'paper:statement' in lower case, got {self.key!r}"
            raise ValueError(message)
        if self.kind not in KINDS:
            message = f"kind must be one of {', '.join(KINDS)}, got {self.kind!r}"
            raise ValueError(message)
        if self.expected not in (HOLDS, FAILS):
            message = f"expected must be {HOLDS!r} or {FAILS!r}, got {self.expected!r}"
            raise ValueError(message)
        if min(self.instances) < 1:
            message = f"instances must be at least 1 at every budget, got {self.instances}"
            raise ValueError(message)
        if self.bound is not None and not self.hypotheses:
            object.__setattr__(self, "hypotheses", tuple(hypothesis.text for hypothesis in self.bound.hypotheses))

    @property
    def is_single(self) -> bool:
        """Whether the check has just one instance, which it finds without randomness."""
        return self.instances == (1, 1)

    def num_instances(self, budget: str) -> int:
        """Return the number of instances at a budget."""
        return self.instances[BUDGETS.index(budget)]


def at_most(
    measured: Any, predicted: Any, *, instance: Mapping[str, Any] | None = None, rtol: float = ROUNDING
) -> Finding:
    """Compare ``measured <= predicted``; exact numbers without tolerance, floats with the relative slack ``rtol``.

    >>> at_most(Fraction(1, 3), Fraction(1, 2)).ratio == 2 / 3
    True
    >>> at_most(2, 1).holds
    False
    """
    return _compared((measured, "<=", predicted), measured - predicted, instance, rtol)


def at_least(
    measured: Any, predicted: Any, *, instance: Mapping[str, Any] | None = None, rtol: float = ROUNDING
) -> Finding:
    """Compare ``measured >= predicted``; the ratio is predicted / measured.

    >>> at_least(Fraction(9, 32), Fraction(17, 32)).holds
    False
    """
    return _compared((measured, ">=", predicted), predicted - measured, instance, rtol)


def equal_to(
    measured: Any,
    predicted: Any,
    *,
    instance: Mapping[str, Any] | None = None,
    rtol: float = ROUNDING,
    scale: float = 0.0,
) -> Finding:
    """Compare ``measured == predicted``; ``scale`` is the size of the terms where both sides are sums that may cancel.

    >>> equal_to(0.1 + 0.2, 0.3).holds, equal_to(Fraction(1, 3), Fraction(333, 1000)).holds
    (True, False)
    >>> equal_to(1.0 - 1.0, 1e-17).holds, equal_to(1.0 - 1.0, 1e-17, scale=1.0).holds
    (False, True)
    """
    return _compared((measured, "==", predicted), abs(measured - predicted), instance, rtol, scale)


def _compared(
    statement: tuple[Any, str, Any],
    excess: Any,
    instance: Mapping[str, Any] | None,
    rtol: float,
    scale: float = 0.0,
) -> Finding:
    measured, relation, predicted = statement
    exact = all(isinstance(side, int | Fraction) for side in (measured, predicted))
    if not exact and any(math.isnan(side) for side in (measured, predicted)):
        message = f"both sides of a comparison must be numbers, got {measured} {relation} {predicted}"
        raise ValueError(message)
    slack: Any = 0 if exact else rtol * max(abs(measured), abs(predicted), scale)
    holds = measured == predicted or bool(excess <= slack)
    return Finding(measured, predicted, relation, holds, "exact" if exact else "floating point", dict(instance or {}))


def not_applicable(**instance: Any) -> Finding:
    """Say that the hypotheses do not hold on this instance."""
    return Finding(math.nan, math.nan, "<=", None, instance=instance, applicable=False)


def worst_of(findings: Iterable[Finding]) -> Finding:
    """Return the finding nearest to breaking the claim: failures first, then by strain.

    >>> worst_of([at_most(1, 2), at_most(3, 4), at_most(1, 8)]).ratio
    0.75
    """
    return max(findings, key=lambda finding: (finding.holds is False, finding.applicable, finding.strain))
