"""Section 2: counterexamples among instances of the claims, and among exact worst cases."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import inf
from typing import Any

from fedtheory.errors import AssumptionViolated, OracleError
from fedtheory.referee.clock import Clock
from fedtheory.referee.review import ClosedFormFound, Constants, Counterexample, Verdict, Word, named
from fedtheory.referee.subject import Subject, complexity
from fedtheory.theorem.findings import Finding
from fedtheory.verification import hunt
from fedtheory.verification.verdicts import verdicts_of
from fedtheory.worst_case import Comparison

__all__ = ["decided", "with_proof"]

_WORST_CASES = 24
"""Constants at which the exact worst case is compared with the bound."""
_SHARE, _HUNT = 0.4, 0.1
"""Shares of the time that is left: for this section, and for all hunts for a counterexample."""
_LARGEST_DENOMINATOR = 10_000


def decided(subject: Subject, clock: Clock) -> Verdict:
    """Compare the bound with instances and worst cases; a refutation is an exact comparison."""
    found = _Comparisons()
    with clock.limit(_SHARE):
        _examine(subject, clock, found)
        if not (subject.why_no_problem or found.counterexample):
            for number, constants in enumerate(subject.points[:_WORST_CASES], start=1):
                clock.step(f"2 verdict: worst case {number} of {min(len(subject.points), _WORST_CASES)}")
                if found.compare(subject, constants):
                    break
    if found.counterexample and found.counterexample.origin == "worst case":  # else a hunt has shrunk it
        with clock.limit(_SHARE / 2):
            found.simplify(subject, clock)
    else:
        found.remarks += [clock.ended] * bool(clock.ended)
    if subject.why_no_problem:
        found.remarks.append(f"no exact worst case was computed: {subject.why_no_problem}")
    elif subject.method is not None:
        found.remarks.append("the worst cases are those of method(), which must state the theorem's class and method")
    return found.verdict()


def _examine(subject: Subject, clock: Clock, found: "_Comparisons") -> None:
    for number, claim in enumerate(subject.claims, start=1):
        clock.say(f"2 verdict: instances of claim {number} of {len(subject.claims)}, {claim.key}")
        seconds = _HUNT * clock.left / len(subject.claims)
        [verdict] = verdicts_of([claim], rng=subject.seed, hunt_seconds=seconds)
        found.num_instances += verdict.num_applicable + (verdict.hunted.num_applicable if verdict.hunted else 0)
        for name, ends in verdict.ranges.items():
            found.widen(name, *ends)
        if verdict.worst.holds is False:
            clock.say(f"2 verdict: refuted; shrinking the instance of {claim.key}")
            smaller = hunt(claim, seconds, subject.seed).worst
            found.refute(claim.key, smaller if smaller.holds is False else verdict.worst)
        elif verdict.detectable is not None:
            found.factors.append(verdict.detectable)
            found.exact += verdict.side == "exact"
        if verdict.reason:
            found.remarks.append(f"{claim.key}: {verdict.verdict}, {verdict.reason}")


class _Comparisons:
    """What was compared so far."""

    def __init__(self) -> None:
        self.num_instances = self.num_worst_cases = self.exact = 0
        self.ranges: dict[str, tuple[Any, Any]] = {}
        self.factors: list[float] = []
        self.counterexample: Counterexample | None = None
        self.remarks: list[str] = []

    def widen(self, name: str, *numbers: Any) -> None:
        """Extend the range of a constant."""
        known = [*self.ranges.get(name, ()), *numbers]
        self.ranges[name] = min(known), max(known)

    def refute(self, key: str, worst: Finding) -> None:
        """Record an instance that breaks a claim, if its sides are exact numbers."""
        if worst.side != "exact" or not worst.is_finite:
            self.remarks.append(f"{key}: an instance breaks the claim by a comparison that is not exact ({worst.side})")
            return
        sides = Fraction(worst.measured), Fraction(worst.predicted)
        self.counterexample = Counterexample(key, worst.instance, *sides, worst.relation, {})

    def compare(self, subject: Subject, constants: Constants) -> bool:
        """Compare the bound with the exact worst case at given constants; return whether the bound is too small."""
        try:
            found = subject.compared(constants)
        except (AssumptionViolated, OracleError, ValueError) as error:
            self.remarks.append(f"no worst case at {named(constants)}: {error}")
            return False
        self.num_worst_cases += 1
        for name, value in constants.items():
            if not isinstance(value, list | tuple):
                self.widen(name, value)
        lower, value = found.worst_case.lower, Fraction(found.bound_value)
        if lower is None:
            self.remarks.append(f"only an upper side is proved at {named(constants)}")
            return False
        self.exact += 1
        if lower > value:
            self.counterexample = _of_worst_case(constants, found, lower, value)
        elif lower > 0:
            self.factors.append(float(value / lower))
        return lower > value

    def simplify(self, subject: Subject, clock: Clock) -> None:
        """Look for a counterexample with simpler constants, the simplest first."""
        assert self.counterexample is not None
        simpler = sorted(subject.points, key=complexity)
        for constants in simpler[: simpler.index(self.counterexample.constants)]:
            clock.step(f"2 verdict: refuted; trying {named(constants)}")
            if self.compare(subject, constants):
                return

    def verdict(self) -> Verdict:
        """Return what follows from the comparisons."""
        word: Word = "refuted" if self.counterexample else "no counterexample" if self.exact else "undecided"
        detects = min(self.factors, default=None) if word == "no counterexample" else None
        return Verdict(
            word, self.num_instances, self.num_worst_cases, self.ranges, self.counterexample, detects,
            (*_noticed(detects), *self.remarks),
        )  # fmt: skip


def _noticed(detects: float | None) -> Iterator[str]:
    if detects == inf:
        yield "the comparisons notice no wrong constant"
    elif detects is not None:
        yield f"the bound divided by more than {detects:.6g} would be refuted; a smaller error is not noticed"


def _of_worst_case(constants: Constants, found: Comparison, lower: Fraction, value: Fraction) -> Counterexample:
    functions: Mapping[str, Any] = {}
    if not found.worst_case.is_composed:
        functions = found.worst_case.instance().as_data()
    return Counterexample("worst case", constants, simplest(value, lower), value, "<=", functions)


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction with the least denominator that is above ``low`` and at most ``high``."""
    for denominator in range(1, _LARGEST_DENOMINATOR):
        found = Fraction(high * denominator // 1, denominator)
        if found > low:
            return found
    return high


def with_proof(verdict: Verdict, form: ClosedFormFound) -> Verdict:
    """Return the verdict after the bound was compared with a closed form of the worst case."""
    if not form.is_below or verdict.counterexample:
        return verdict
    return verdict._replace(word="proved on the domain", remarks=(form.comparison, *verdict.remarks))
