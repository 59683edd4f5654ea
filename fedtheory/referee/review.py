"""The review of a theorem: seven sections, each filled or missing for a stated reason.

All numbers that decide something are integers or fractions. Renderers read these records only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import Any, Literal, final

from fedtheory.worst_case import ClosedForm

__all__ = [
    "Axis",
    "Cell",
    "Certificate",
    "Citation",
    "ClosedFormFound",
    "Coefficient",
    "CoqFile",
    "Counterexample",
    "ForAllConstants",
    "LooseSummands",
    "MachineCheck",
    "Missing",
    "RateFound",
    "Review",
    "StatedTheorem",
    "Summand",
    "Tightness",
    "Verdict",
]

Constants = Mapping[str, Any]
"""Arguments of the bound by name: integers and fractions, or lists of them."""
Word = Literal["refuted", "proved on the domain", "no counterexample", "undecided"]
Status = Literal["refuted", "attained", "vacuous", "loose", "unknown"]


def named(constants: Mapping[str, Any]) -> str:
    """Return constants with their names, as text.

    >>> named({"mu": Fraction(1, 10), "local_steps": 2})
    'mu=1/10, local_steps=2'
    """
    return ", ".join(f"{name}={_text(c)}" for name, c in constants.items())


def _text(value: Any) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list | tuple) else str(value)


@final
@dataclass(frozen=True)
class Missing:
    """A section without content; the reason is one sentence without a final period."""

    reason: str


@final
@dataclass(frozen=True)
class Summand:
    """A summand of the right-hand side: its name, and its formula as text, LaTeX and MathML."""

    name: str
    text: str
    latex: str
    mathml: str = ""


@final
@dataclass(frozen=True)
class StatedTheorem:
    """Section 1: what the theorem says, and whether its hypotheses can hold together.

    Attributes
    ----------
    source, basis
        Paper and number of the statement; what the transcription rests on, for example ``remembered``.
    left, left_latex, relation
        Left-hand side, empty if it is not declared, and its relation to the sum of the summands.
    hypotheses, domain
        Hypotheses in words; inequalities between the constants that the file gives.
    constants
        Constants that fulfill all hypotheses about numbers and the domain; empty if none were found.
    instance
        An instance of the claims on which the hypotheses hold, by the names of its properties; empty if there is none.
    remark
        One sentence: whether the hypotheses can hold together.
    """

    source: str
    basis: str
    left: str
    left_latex: str
    relation: str
    summands: tuple[Summand, ...]
    hypotheses: tuple[str, ...]
    domain: tuple[str, ...]
    constants: Constants
    instance: Mapping[str, Any]
    remark: str


@final
@dataclass(frozen=True)
class Counterexample:
    """Constants at which the left-hand side is larger than the bound, by an exact comparison.

    Attributes
    ----------
    origin
        ``worst case``, or the key of the claim whose instance it is.
    constants
        Constants of the bound, or what the instance of a claim names.
    measured, predicted
        A number that the left-hand side attains or exceeds, and the value of the bound. Both are exact.
    functions
        For a worst case: functions and points that attain it approximately, as lists of floating-point numbers.
    """

    origin: str
    constants: Constants
    measured: Fraction
    predicted: Fraction
    relation: str
    functions: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The counterexample in one sentence."""
        reached = "at most" if self.relation == ">=" else "at least" if self.functions else "exactly"
        return (
            f"at {named(self.constants)} the left-hand side is {reached} {self.measured}, "
            f"and the bound is {self.predicted}"
        )


@final
@dataclass(frozen=True)
class Verdict:
    """Section 2: whether the theorem was refuted.

    Attributes
    ----------
    word
        ``refuted``: there is an exact counterexample. ``proved on the domain``: section 5 has a closed form of the
        worst case, and the bound is proved to be at least that on the whole domain. ``no counterexample``: at least one
        exact comparison was made, and none failed. ``undecided``: nothing was compared exactly.
    num_instances, num_worst_cases
        Instances of claims on which the hypotheses held; constants at which the exact worst case was compared.
    ranges
        Smallest and largest tried value of each constant.
    detects
        Smallest factor by which the bound can be divided until one of the comparisons refutes it; None if nothing was
        compared. A constant that is wrong by less is not noticed.
    remarks
        Sentences about what was tried.
    """

    word: Word
    num_instances: int
    num_worst_cases: int
    ranges: Mapping[str, tuple[Any, Any]]
    counterexample: Counterexample | None
    detects: float | None
    remarks: tuple[str, ...]


@final
@dataclass(frozen=True)
class Axis:
    """One of the two constants of the map, ``kappa`` for L/mu, and its values."""

    name: str
    values: tuple[Any, ...]


@final
@dataclass(frozen=True)
class Cell:
    """The bound and the exact worst case at one point of the map.

    Attributes
    ----------
    place
        Numbers of the values on the two axes.
    constants
        All constants of the bound; empty if no constants of the cell fulfill the hypotheses.
    value, lower, upper
        Value of the bound, and both proved sides of the worst case; None if unknown.
    ratio
        Value of the bound divided by the worst case; None if the worst case is not known.
    status
        ``refuted``: the bound is below the lower side. ``attained``: it is at most the upper side, so that the ratio is
        1 within the enclosure. ``vacuous``: it is at least the trivial bound. Otherwise ``loose``, or ``unknown``.
    note
        Why the ratio is unknown.
    trivial
        Value of the trivial bound; None if it is not known.
    """

    place: tuple[int, int]
    constants: Constants
    value: Fraction | None
    lower: Fraction | None
    upper: Fraction | None
    ratio: float | None
    status: Status
    note: str = ""
    trivial: Fraction | None = None

    @property
    def progress(self) -> float | None:
        """Share of the true progress from the trivial bound that the theorem promises, on a logarithmic scale.

        A bound of 1/4 is half of the progress from 1 to 1/16, although it is four times the worst case. None if the
        worst case is not known or is no progress.
        """
        if self.value is None or self.upper is None or self.trivial is None or not 0 < self.upper < self.trivial:
            return None
        return log(self.value / self.trivial) / log(self.upper / self.trivial) if self.value > 0 else None


@final
@dataclass(frozen=True)
class Tightness:
    """Section 3: ratio of the bound to the exact worst case, on a map of two constants.

    Attributes
    ----------
    axes, cells
        The two axes (columns, rows) and the cells that were computed. The second axis may have one value.
    trivial
        Definition of the trivial bound; if it is not known, the sentence says so, and no cell is vacuous.
    remark
        The finding in one sentence, and what is missing if the time ended.
    """

    axes: tuple[Axis, Axis]
    cells: tuple[Cell, ...]
    trivial: str
    remark: str


@final
@dataclass(frozen=True)
class Coefficient:
    """Coefficient of a constant of the class: in the bound, and in the exact worst case.

    ``printed`` is the derivative of the bound's value by the constant, ``needed`` the multiplier of the worst case.
    ``summands`` are the names of the summands in which the constant occurs.
    """

    name: str
    summands: tuple[str, ...]
    printed: Fraction
    needed: Fraction


@final
@dataclass(frozen=True)
class LooseSummands:
    """Section 4: coefficients of the bound and coefficients that suffice, at given constants.

    Attributes
    ----------
    sharpened
        The lemma of the worst case, as text. It is true for all values of the constants in ``coefficients``; the other
        constants have the values in ``constants``.
    remark
        Which summand is loose, in one sentence.
    """

    constants: Constants
    coefficients: tuple[Coefficient, ...]
    sharpened: str
    remark: str


@final
@dataclass(frozen=True)
class ClosedFormFound:
    """An upper bound of the worst case that is proved for all constants of a domain.

    Attributes
    ----------
    text, latex, mathml
        The value.
    domain, is_whole
        Inequalities between the constants, and whether they are those of the file.
    is_below
        Whether the theorem's bound is proved to be at least this value on the domain.
    comparison
        One sentence about that comparison.
    proof, proof_latex
        Theorem and proof.
    result
        The closed form itself.
    """

    text: str
    latex: str
    domain: tuple[str, ...]
    is_whole: bool
    is_below: bool
    comparison: str
    proof: str
    proof_latex: str
    result: ClosedForm
    mathml: str = ""


@final
@dataclass(frozen=True)
class RateFound:
    """A potential that contracts in every round at given constants: the proved rate, and the theorem in words."""

    value: Fraction
    constants: Constants
    text: str


@final
@dataclass(frozen=True)
class ForAllConstants:
    """Section 5: the worst case for all constants, and the rate for all numbers of rounds."""

    closed_form: ClosedFormFound | Missing
    rate: RateFound | Missing


@final
@dataclass(frozen=True)
class Certificate:
    """A saved certificate: name of the file, its constants, and the answer of the checker."""

    file: str
    constants: Constants
    is_proved: bool
    answer: str


@final
@dataclass(frozen=True)
class CoqFile:
    """A formal theorem: name of the file, what it states, whether Coq accepts it (None if it did not run), and why."""

    file: str
    about: str
    is_accepted: bool | None
    answer: str


@final
@dataclass(frozen=True)
class MachineCheck:
    """Section 6: files that programs independent of this package check."""

    certificates: tuple[Certificate, ...]
    coq: CoqFile | Missing


@final
@dataclass(frozen=True)
class Citation:
    """Section 7: a paragraph for a review, an appendix with the proof in LaTeX, and the commands to repeat all."""

    paragraph: str
    latex: str
    commands: tuple[str, ...]


@final
@dataclass(frozen=True)
class Review:
    """The review of a theorem.

    Attributes
    ----------
    theorem, file
        Name of the bound, and the file that was read; empty if the bound was given as an object.
    seed, budget, seconds
        Seed of the instances, allowed and used time in seconds.
    """

    theorem: str
    file: str
    seed: int
    budget: float
    seconds: float
    statement: StatedTheorem | Missing
    verdict: Verdict | Missing
    tightness: Tightness | Missing
    loose_summands: LooseSummands | Missing
    for_all_constants: ForAllConstants | Missing
    machine_check: MachineCheck | Missing
    citation: Citation | Missing

    @property
    def exit_code(self) -> int:
        """0 if nothing wrong was found, 1 if the theorem is refuted, 3 if that is undecided."""
        if isinstance(self.verdict, Missing) or self.verdict.word == "undecided":
            return 3
        return 1 if self.verdict.word == "refuted" else 0
