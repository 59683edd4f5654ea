"""What a worst case is: its value between two proofs, the lemma of its multipliers, the instance that attains it."""

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, final

from fedtheory.worst_case._settings import Setting
from fedtheory.worst_case.certificates import verify_lower, verify_upper
from fedtheory.worst_case.enclosures import Enclosure
from fedtheory.worst_case.gram import Program
from fedtheory.worst_case.instances import Instance

__all__ = ["Lemma", "ProgramSize", "Proof", "WorstCase", "lemma_of", "worst_of"]

_SYMBOLS = {
    "distance": "E |w - w*|^2",
    "gap": "E F(w) - F*",
    "drift": "mean |w_k - w|^2",
    "descent": "F(w) - F(w_+)",
    "gradient": "|grad F(w)|^2",
}


@final
@dataclass(frozen=True)
class Lemma(Mapping[str, Fraction]):
    """An inequality ``error <= sum of coefficient * constant`` that holds for all values of the constants.

    It is what the multipliers of a worst case prove, and the best such inequality where it was found. Constants that
    were 0 there have no coefficient: the lemma is about classes in which they are 0.

    Attributes
    ----------
    error
        What is bounded: ``distance`` or ``gap``, after the last round; of lemmas ``drift``, ``descent``, ``gradient``.
    coefficients
        By the name of a constant.
    """

    error: str
    coefficients: Mapping[str, Fraction]

    def __getitem__(self, name: str) -> Fraction:
        return self.coefficients[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.coefficients)

    def __len__(self) -> int:
        return len(self.coefficients)

    @property
    def text(self) -> str:
        """The inequality, with its coefficients rounded to six digits."""
        summands = [f"{float(c):.6g} {name}" for name, c in self.coefficients.items() if c]
        return f"{_SYMBOLS[self.error]} <= {' + '.join(summands) or '0'}".replace("+ -", "- ")

    def __call__(self, **constants: Fraction | float) -> Fraction | float:
        """Return the right-hand side.

        Raises
        ------
        TypeError
            If the constants are not those of the lemma.
        """
        if set(constants) != set(self.coefficients):
            message = f"the lemma is about {', '.join(self.coefficients)}, got {', '.join(constants) or 'nothing'}"
            raise TypeError(message)
        summands = [
            float(c) * constants[n] if isinstance(constants[n], float) else c * constants[n] for n, c in self.items()
        ]
        return sum(summands, start=Fraction(0))


class ProgramSize(NamedTuple):
    """How large a semidefinite program is: rows of each block, numbers of constraints, and how many were solved."""

    blocks: tuple[int, ...]
    num_inequalities: int
    num_equalities: int
    num_programs: int = 1


class Proof(NamedTuple):
    """A program in units, and the enclosure of its value."""

    program: Program
    enclosure: Enclosure

    @property
    def size(self) -> ProgramSize:
        """The program's size."""
        return ProgramSize(self.program.sizes, len(self.program.inequalities), len(self.program.equalities))

    def checked(self) -> tuple[Fraction, Fraction]:
        """Return the enclosure that the certificates prove, from the program alone."""
        found = self.enclosure
        return verify_lower(self.program, found.point), verify_upper(self.program, found.multipliers)


@final
@dataclass(frozen=True, eq=False)
class WorstCase:
    """The largest error that any federation of a class can reach.

    Attributes
    ----------
    enclosure
        ``lower <= worst case <= upper``, both proved in rationals.
    multipliers
        The lemma that proves the upper side, valid for all values of its constants.
    program
        Size of what was solved.
    """

    enclosure: tuple[Fraction, Fraction]
    multipliers: Lemma
    program: ProgramSize
    _check: Callable[[], tuple[Fraction, Fraction]]
    _attain: Callable[[], Instance]

    @property
    def value(self) -> float:
        """The middle of the enclosure."""
        return float(sum(self.enclosure) / 2)

    @property
    def relative_width(self) -> float:
        """Width of the enclosure, relative to its upper end."""
        lower, upper = self.enclosure
        return float((upper - lower) / upper) if upper else 0.0

    def instance(self) -> Instance:
        """Return a federation that attains the value; its ``run()`` simulates it and gives the value back.

        Raises
        ------
        ValueError
            If there is none: with gradient noise over several rounds, and for programs about lemmas.
        """
        return self._attain()

    def verify(self) -> tuple[Fraction, Fraction]:
        """Check all proofs again, from the programs alone, and return the enclosure that they prove."""
        return self._check()

    def __repr__(self) -> str:
        lower, upper = map(float, self.enclosure)
        return f"WorstCase({self.value:.9g} in [{lower:.10g}, {upper:.10g}]; {self.multipliers.text})"

    def _repr_html_(self) -> str:
        lower, upper = map(float, self.enclosure)
        rows = {
            "worst case": f"{self.value:.9g}",
            "proved between": f"{lower:.10g} and {upper:.10g}",
            "for all constants": self.multipliers.text,
            "program": f"blocks of {', '.join(map(str, self.program.blocks))} rows; "
            f"{self.program.num_inequalities} inequalities",
        }
        cells = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in rows.items())
        return f"<table>{cells}</table>"


def worst_of(proofs: Sequence[Proof], given: Setting, error: str, attain: Callable[[], Instance]) -> WorstCase:
    """Put the largest of some programs' values together, in the units that the user gave.

    Parameters
    ----------
    proofs
        Of the programs, at least one.
    given
        The units of the user.
    error
        What is maximized.
    attain
        Makes the instance when it is asked for.

    Returns
    -------
    WorstCase
        The enclosure of the largest of their values.

    Raises
    ------
    OracleError
        When its proofs are checked again and do not hold.

    Examples
    --------
    The largest ``2 |x|^2`` where ``|x|^2 <= 3``.

    >>> from fractions import Fraction as Q
    >>> from fedtheory.worst_case._settings import Setting
    >>> from fedtheory.worst_case.enclosures import enclose
    >>> from fedtheory.worst_case.gram import Draft
    >>> draft = Draft()
    >>> x = draft.vector()
    >>> draft.at_most(x.square, 3, "distance2")
    >>> program = draft.maximize(2 * x.square)
    >>> given = Setting(Q(1, 10), (Q(1),), {"distance2": Q(3)}, Q(1), Q(1))
    >>> worst = worst_of([Proof(program, enclose(program))], given, "distance", lambda: None)
    >>> round(worst.value, 6)
    6.0
    """
    unit = given.unit(error)
    lower = unit * max(found.lower for _, found in proofs)
    upper = unit * max(found.upper for _, found in proofs)

    def check() -> tuple[Fraction, Fraction]:
        lowers, uppers = zip(*(proof.checked() for proof in proofs), strict=True)
        return unit * max(lowers), unit * max(uppers)

    size = proofs[0].size._replace(num_programs=len(proofs))
    return WorstCase((lower, upper), lemma_of(proofs, given, error), size, check, attain)


def lemma_of(proofs: Sequence[Proof], given: Setting, error: str) -> Lemma:
    """Read the inequality off the multipliers, in the units that the user gave.

    Parameters
    ----------
    proofs
        Of the programs.
    given
        The units of the user.
    error
        What is maximized.

    Returns
    -------
    Lemma
        The largest multiplier of each constant over the programs.

    Examples
    --------
    Multipliers prove ``2 |x|^2 <= 2 * 3`` from ``|x|^2 <= 3``, in which 3 may be any distance2.

    >>> from fractions import Fraction as Q
    >>> from fedtheory.worst_case._settings import Setting
    >>> from fedtheory.worst_case.enclosures import enclose
    >>> from fedtheory.worst_case.gram import Draft
    >>> draft = Draft()
    >>> x = draft.vector()
    >>> draft.at_most(x.square, 3, "distance2")
    >>> program = draft.maximize(2 * x.square)
    >>> given = Setting(Q(1, 10), (Q(1),), {"distance2": Q(3)}, Q(1), Q(1))
    >>> lemma = lemma_of([Proof(program, enclose(program))], given, "distance")
    >>> round(lemma["distance2"], 6)
    Fraction(2, 1)
    """
    # Constants are not negative, so that the largest coefficients serve all programs.
    best: dict[str, Fraction] = {}
    for program, found in proofs:
        shares: dict[str, Fraction] = {}
        for constraint, multiplier in zip(program.inequalities, found.multipliers.inequalities, strict=True):
            if constraint.name:
                share = multiplier * constraint.share
                shares[constraint.name] = shares.get(constraint.name, Fraction(0)) + share
        best = {name: max(c, best.get(name, c)) for name, c in shares.items()}
    return Lemma(error, {name: c * given.unit(error) / given.unit(name) for name, c in best.items()})
