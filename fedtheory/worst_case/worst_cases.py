"""Worst cases: the enclosure of the largest value, its lemma, and points that attain it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any, final

from fedtheory import worst_case
from fedtheory._support.wording import outward
from fedtheory.errors import AssumptionViolated, OracleError
from fedtheory.worst_case._certificates import verify_upper
from fedtheory.worst_case._names import Names
from fedtheory.worst_case._record import SERVER, Record
from fedtheory.worst_case._semidefinite import Program
from fedtheory.worst_case._vectors import Form
from fedtheory.worst_case.instances import Instance
from fedtheory.worst_case.proofs import Proof, shares_of, short_point

__all__ = ["WorstCase"]

_KNOWN = 1e-4
"""Largest relative distance of both sides at which the value is known."""


@final
@dataclass(frozen=True)
class Lemma(Mapping[str, Fraction]):
    """An inequality ``error <= sum of coefficient * constant`` that holds for all values of the constants.

    The multipliers of a worst case prove the inequality. It is the best such inequality at the constants for which it
    was computed. Constants that were 0 have no coefficient; the lemma holds for classes in which they are 0.

    ``error`` is the bounded quantity as text, and ``coefficients`` are given by the name of a constant. ``below_zero``
    are names of negative constants, whose coefficients are rounded down in the text.
    """

    error: str
    coefficients: Mapping[str, Fraction]
    below_zero: frozenset[str] = frozenset()

    def __getitem__(self, name: str) -> Fraction:
        return self.coefficients[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.coefficients)

    def __len__(self) -> int:
        return len(self.coefficients)

    @property
    def text(self) -> str:
        """The inequality with coefficients of six digits, rounded so that it holds for constants with these signs."""
        summands = [f"{outward(c, 6, up=name not in self.below_zero)} {name}" for name, c in self.items() if c]
        return f"{self.error} <= {' + '.join(summands) or '0'}".replace("+ -", "- ")

    def __call__(self, **constants: Fraction | float) -> Fraction | float:
        """Return the right-hand side."""
        if set(constants) != set(self.coefficients):
            message = f"the lemma is about {', '.join(self.coefficients)}, got {', '.join(constants) or 'nothing'}"
            raise TypeError(message)
        summands = [float(c) * x if isinstance(x := constants[name], float) else c * x for name, c in self.items()]
        return sum(summands, start=Fraction(0))


@final
@dataclass(frozen=True, eq=False)
class Case:
    """A worst-case problem with its proofs.

    ``objectives`` are the forms whose minimum is maximized, and ``relaxed`` the names of the parts with necessary
    conditions only, so that only an upper bound is proved.
    """

    record: Record
    objectives: tuple[Form, ...]
    relaxed: tuple[str, ...]
    proof: Proof

    @property
    def lower(self) -> Fraction | None:
        return None if self.relaxed else self.proof.lower

    @property
    def upper(self) -> Fraction | None:
        return self.proof.upper

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(one.label for one in self.proof.program.inequalities)

    def document(self) -> dict[str, Any]:
        """Return problem and proofs as part of a certificate."""
        return worst_case.exporters.case_document(self.record, self.objectives, self.proof, lower=not self.relaxed)

    def in_short_numbers(self) -> Case:
        """Return the upper side alone, with multipliers of small denominators if these prove the same bound."""
        proof = replace(self.proof, point=None, lower=None)
        if proof.multipliers is not None:
            multipliers = worst_case.exporters.shortened(proof.program, proof.multipliers)
            proof = replace(proof, multipliers=multipliers, upper=verify_upper(proof.program, multipliers))
        return replace(self, proof=proof)

    def checked(self) -> Case:
        return Case(self.record, self.objectives, self.relaxed, self.proof.checked())


Combine = Callable[[Sequence[Case]], tuple[Fraction | None, Fraction | None]]
"""Function that returns both sides of the value of several problems."""


@final
@dataclass(frozen=True, eq=False)
class WorstCase:
    """Largest value over a class, with proofs of both sides.

    Attributes
    ----------
    lower, upper
        ``lower <= worst case <= upper``, both proved in rationals; a side without a proof is None.
    multipliers
        The lemma that proves the upper side, valid for all values of its constants.
    cases
        Problems with their proofs. The worst case is their largest value, for example over the orders of the losses,
        or the composition of their values as rounds.
    is_composed
        Whether the cases are rounds that are composed.
    """

    lower: Fraction | None
    upper: Fraction | None
    multipliers: Lemma
    cases: tuple[Case, ...]
    _combine: Combine = field(repr=False)
    is_composed: bool = False

    @property
    def enclosure(self) -> tuple[Fraction, Fraction]:
        """Both sides; OracleError if one of them has no proof."""
        if self.lower is None or self.upper is None:
            message = f"both sides of a worst case must be proved, got {self._sides}{self._why_one_sided}"
            raise OracleError(message)
        return self.lower, self.upper

    @property
    def value(self) -> float:
        """The worst case; OracleError unless both sides are proved and their relative distance is at most 1e-4."""
        lower, upper = self.enclosure
        if self.relative_width > _KNOWN:
            message = f"the value must be known to a relative distance of {_KNOWN}, got {self._sides}"
            raise OracleError(message)
        return float((lower + upper) / 2)

    @property
    def relative_width(self) -> float:
        """Width of the enclosure relative to the larger absolute value of its ends; 0 if both ends are 0."""
        lower, upper = self.enclosure
        largest = max(abs(lower), abs(upper))
        return float((upper - lower) / largest) if largest else 0.0

    @property
    def relaxed(self) -> tuple[str, ...]:
        """Names of the parts of the problem with necessary conditions only, so that only an upper bound is proved.

        These are functions and operators without known sufficient conditions for their class or their points, functions
        with a line search, geometric means whose smaller values increase the objective, and omitted conditions.
        """
        return tuple(dict.fromkeys(name for case in self.cases for name in case.relaxed))

    @property
    def deciding(self) -> Case:
        """The case with the largest value; the first one if there are several."""
        return max(self.cases, key=lambda case: [(side is not None, side or 0) for side in (case.lower, case.upper)])

    @property
    def program(self) -> Program:
        """The semidefinite program of the deciding case."""
        return self.deciding.proof.program

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the inequalities of the deciding case."""
        return self.deciding.labels

    @property
    def active(self) -> dict[str, Fraction]:
        """The inequalities in the upper proof of the deciding case, with multipliers, the largest first."""
        multipliers = self.deciding.proof.multipliers
        if multipliers is None:
            return {}
        used = [(label, y) for label, y in zip(self.labels, multipliers.inequalities, strict=True) if y]
        return dict(sorted(used, key=lambda pair: -pair[1]))

    def verify(self) -> tuple[Fraction | None, Fraction | None]:
        """Verify all proofs again, using only the programs, and return the sides that they prove."""
        return self._combine([case.checked() for case in self.cases])

    def proof(self, *, latex: bool = False) -> str:
        """Return the theorem and its proof for the upper side of the deciding case as text.

        The sum of multiplier times inequality minus the objective is a sum of squares of vectors. Fractions with small
        denominators are used if they prove the same bound. LaTeX has environments of the package amsmath.
        """
        self._refuse_composed("a proof")
        case = self.deciding
        if case.proof.multipliers is None:
            return "nothing is proved of the upper side"
        return worst_case.exporters.proof_of(
            case.record, case.objectives, case.proof.program, case.proof.multipliers, latex=latex
        )

    def instance(self) -> Instance:
        """Return functions and points that attain the deciding case's lower side; ValueError if it has no proof."""
        self._refuse_composed("an instance")
        case = self.deciding
        if case.proof.point is None or case.relaxed:
            message = "an instance must come from a proof of the lower side, got none"
            raise ValueError(message)
        point = short_point(case.proof) or case.proof.point
        return Instance(case.record, case.objectives, case.proof.program, point)

    def save(self, path: str | Path) -> None:
        """Write problem and proofs to a JSON file, which ``checker`` verifies with the standard library alone.

        An existing file is replaced.
        """
        self._refuse_composed("a certificate")
        worst_case.exporters.save(path, [case.document() for case in self.cases])

    def coq(self, path: str | Path, name: str = "worst_case") -> None:
        """Write the upper side as a theorem in Coq about functions on any real inner product space, with its proof.

        The file is new and ends in ``.v``. It requires the files in ``fedtheory/formal`` and Coq's standard library. A
        bound with many digits is rounded up to eight digits. If there are several cases, there is one numbered theorem
        per case. Raises ValueError if the upper side has no proof, a part of the problem has no formal statement, the
        file exists, or Coq cannot load a file or a theorem of that name.
        """
        self._refuse_composed("a formal theorem")
        worst_case.exporters.write_coq(path, name, (case.in_short_numbers().document() for case in self.cases))

    def _refuse_composed(self, what: str) -> None:
        if self.is_composed:
            message = f"{what} must be one of a round (worst_case.skew_class), got {len(self.cases)} rounds"
            raise ValueError(message)

    def __repr__(self) -> str:
        lemma = f"; {self.multipliers.text}" if self.multipliers else ""
        return f"WorstCase({self._sides}{self._why_one_sided}{lemma})"

    @property
    def _sides(self) -> str:
        lower, upper = (
            None if side is None else outward(side, 10, up=up) for side, up in ((self.lower, False), (self.upper, True))
        )
        return f"lower={lower}, upper={upper}"

    @property
    def _why_one_sided(self) -> str:
        if self.upper is None and not self.relaxed:
            return " (the value may be infinite unless p.at_most keeps the points together)"
        more = f" and {len(self.relaxed) - 2} more" if len(self.relaxed) > 2 else ""
        return f" (an upper bound only, because of {' and '.join(self.relaxed[:2])}{more})" if self.relaxed else ""


def worst_of(cases: Sequence[Case], error: str = "") -> WorstCase:
    """Return the worst case over several problems; problems that are proved to be empty are ignored."""
    lower, upper = largest(cases)
    if not error:
        names = Names(cases[0].record)
        error = " and ".join(names.form(form) for form in cases[0].objectives[:2])
        error = error if len(cases[0].objectives) < 2 else f"the least of {error} and others"
    return WorstCase(lower, upper, lemma_of(cases, error), tuple(cases), largest)


def largest(cases: Sequence[Case]) -> tuple[Fraction | None, Fraction | None]:
    """Return proved bounds of the largest value of some problems."""
    for case in cases:
        if case.proof.infinite:
            _refuse_infinite(case)
    possible = [case for case in cases if not case.proof.empty]
    if not possible:
        names = dict.fromkeys(name for case in cases for name in case.proof.contradicting)
        found = " and ".join([*names][:4])
        message = f"a problem must have points and functions that fulfill it, got contradictions of {found}"
        raise AssumptionViolated(message)
    lowers = [case.lower for case in possible if case.lower is not None]
    uppers = [case.upper for case in possible if case.upper is not None]
    lower, upper = max(lowers, default=None), max(uppers) if len(uppers) == len(possible) else None
    if lower is None and upper is None:
        message = "a worst case must be proved from one side at least, got no proof"
        raise OracleError(message)
    return lower, upper


def _refuse_infinite(case: Case) -> None:
    if case.relaxed:
        too_little = " and ".join(case.relaxed)
        message = f"an upper bound must follow from what is demanded, got too little that is known of {too_little}"
        raise OracleError(message)
    points, grows = Names(case.record).points, case.proof.grows
    far = [name for name, vector in points.items() if grows(vector)]
    apart = [f"{name} - {other}" for name, other in permutations(points, 2) if grows(points[name] - points[other])]
    near = next(iter(sorted(apart, key=lambda text: "- x*" not in text)), f"{far[0]} - y" if far else "")
    remedy = f"p.at_most(({near}).square, 1) keeps them together" if near else "f.value(x) - f.value(x*) may be meant"
    owners = {case.record.sources[block].owner for name in far for block in points[name].blocks}
    if owners - {"", SERVER}:
        remedy += ", and c.heterogeneity(zeta2=1) bounds the clients' gradients at the minimizer"
    what = ", ".join(far[:4]) or "function values"
    message = f"the worst case must be finite, got one that grows without end with {what} ({remedy})"
    raise AssumptionViolated(message)


def lemma_of(cases: Sequence[Case], error: str) -> Lemma:
    """Return the inequality that the multipliers prove, with the largest coefficients over the cases."""
    # For nonnegative constants, the largest coefficients are valid for all cases.
    proofs = [case.proof for case in cases]
    possible = [shares_of(proof, proof.multipliers) for proof in proofs if proof.multipliers is not None]
    names = dict.fromkeys(name for shares in possible for name in shares)
    best = {name: max(shares.get(name, Fraction(0)) for shares in possible) for name in names}
    below = {name for case in cases for name, number in case.record.numbers.items() if number < 0}
    return Lemma(error, best, frozenset(below))
