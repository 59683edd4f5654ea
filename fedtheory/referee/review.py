"""The review of a theorem: seven sections, each filled or missing for a stated reason.

All numbers that decide something are integers or fractions. Renderers read these records only.
"""

from collections.abc import Mapping
from fractions import Fraction
from math import log
from typing import Any, Literal, NamedTuple

from fedtheory.worst_case import ClosedForm

__all__ = [
    "Axis", "Cell", "Certificate", "Citation", "ClosedFormFound", "Coefficient", "CoqFile", "Counterexample",
    "ForAllConstants", "LooseSummands", "MachineCheck", "Missing", "RateFound", "Review", "StatedTheorem", "Summand",
    "Tightness", "Verdict",
]  # fmt: skip

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


class Missing(NamedTuple):
    """A section without content; the reason is one sentence without a final period."""

    reason: str


class Summand(NamedTuple):
    """A summand of the right-hand side: its name, and its formula as text and MathML."""

    name: str
    text: str
    mathml: str = ""


class StatedTheorem(NamedTuple):
    """Section 1: what the theorem says, and whether its hypotheses can hold together.

    ``left`` is empty if the left-hand side is not declared. ``constants`` fulfill all hypotheses about numbers and the
    domain, and the hypotheses hold on the claim's ``instance``; both are empty if none were found.
    """

    source: str
    basis: str
    left: str
    relation: str
    summands: tuple[Summand, ...]
    hypotheses: tuple[str, ...]
    domain: tuple[str, ...]
    constants: Constants
    instance: Mapping[str, Any]
    remark: str


class Counterexample(NamedTuple):
    """Constants at which the left-hand side is larger than the bound, by an exact comparison.

    ``origin`` is ``worst case``, or the key of the claim whose instance it is. The left-hand side attains or exceeds
    ``measured``. ``functions`` has the functions and points of a worst case, as lists of floating-point numbers.
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


class Verdict(NamedTuple):
    """Section 2: whether the theorem was refuted.

    The ``word`` is ``refuted`` (an exact counterexample), ``proved on the domain`` (the bound is proved to be at least
    the closed form of section 5 on the whole domain), ``no counterexample`` (no exact comparison failed) or
    ``undecided`` (nothing was compared exactly). ``detects`` is the smallest factor by which the bound can be divided
    until a comparison refutes it: a constant that is wrong by less is not noticed.
    """

    word: Word
    num_instances: int
    num_worst_cases: int
    ranges: Mapping[str, tuple[Any, Any]]
    counterexample: Counterexample | None
    detects: float | None
    remarks: tuple[str, ...]


class Axis(NamedTuple):
    """One of the two constants of the map, ``kappa`` for L/mu, and its values."""

    name: str
    values: tuple[Any, ...]


class Cell(NamedTuple):
    """The bound and the exact worst case at one point of the map; a number that is not known is None.

    ``place`` has the numbers of the values on the two axes. ``lower`` and ``upper`` are the proved sides of the worst
    case, and ``ratio`` is the bound divided by it. The status is ``refuted`` if the bound is below the lower side,
    ``attained`` if it is at most the upper side, ``vacuous`` if it is at least the trivial bound, otherwise ``loose``
    or ``unknown``.
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


class Tightness(NamedTuple):
    """Section 3: ratio of the bound to the exact worst case on a map; the axes are its columns and rows."""

    axes: tuple[Axis, Axis]
    cells: tuple[Cell, ...]
    trivial: str
    remark: str


class Coefficient(NamedTuple):
    """Coefficient of a constant of the class: in the bound, and in the exact worst case.

    ``printed`` is the derivative of the bound's value by the constant, ``needed`` the multiplier of the worst case.
    ``summands`` are the names of the summands in which the constant occurs.
    """

    name: str
    summands: tuple[str, ...]
    printed: Fraction
    needed: Fraction


class LooseSummands(NamedTuple):
    """Section 4: coefficients of the bound and coefficients that suffice, at given constants.

    ``sharpened`` is the lemma of the worst case. It is true for all values of the constants in ``coefficients``.
    """

    constants: Constants
    coefficients: tuple[Coefficient, ...]
    sharpened: str
    remark: str


class ClosedFormFound(NamedTuple):
    """An upper bound of the worst case that is proved for all constants of a domain.

    ``is_whole`` says whether the domain is that of the file, and ``is_below`` whether the theorem's bound is proved to
    be at least this value on it; ``comparison`` is a sentence about that.
    """

    text: str
    domain: tuple[str, ...]
    is_whole: bool
    is_below: bool
    comparison: str
    proof: str
    proof_latex: str
    result: ClosedForm
    mathml: str = ""


class RateFound(NamedTuple):
    """A potential that contracts in every round at given constants: the proved rate, and the theorem in words."""

    value: Fraction
    constants: Constants
    text: str


class ForAllConstants(NamedTuple):
    """Section 5: the worst case for all constants, and the rate for all numbers of rounds."""

    closed_form: ClosedFormFound | Missing
    rate: RateFound | Missing


class Certificate(NamedTuple):
    """A saved certificate: name of the file, its constants, and the answer of the checker."""

    file: str
    constants: Constants
    is_proved: bool
    answer: str


class CoqFile(NamedTuple):
    """A formal theorem: name of the file, what it states, whether Coq accepts it (None if it did not run), and why."""

    file: str
    about: str
    is_accepted: bool | None
    answer: str


class MachineCheck(NamedTuple):
    """Section 6: files that programs independent of this package check."""

    certificates: tuple[Certificate, ...]
    coq: CoqFile | Missing


class Citation(NamedTuple):
    """Section 7: a paragraph for a review, an appendix with the proof in LaTeX, and the commands to repeat all."""

    paragraph: str
    latex: str
    commands: tuple[str, ...]


class Review(NamedTuple):
    """The review of a theorem; ``file`` is empty if the bound was given as an object, and times are in seconds."""

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
