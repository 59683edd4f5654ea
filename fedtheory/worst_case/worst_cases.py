"""What a worst case is: its value between two proofs, the lemma of its multipliers, the instance that attains it."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, final

from fedtheory._support.wording import outward
from fedtheory.errors import AssumptionViolated, OracleError
from fedtheory.worst_case._embedding import Embedding
from fedtheory.worst_case._gram import Program
from fedtheory.worst_case._settings import Setting
from fedtheory.worst_case.enclosures import Proof, shares_of
from fedtheory.worst_case.instances import Instance
from fedtheory.worst_case.problem import Problem

__all__ = ["WorstCase"]

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
    negative
        Sums of coefficient times constant that must be negative: outcomes that no federation had are impossible there,
        too, and elsewhere the lemma says nothing.
    """

    error: str
    coefficients: Mapping[str, Fraction]
    negative: tuple[Mapping[str, Fraction], ...] = ()

    def __getitem__(self, name: str) -> Fraction:
        return self.coefficients[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.coefficients)

    def __len__(self) -> int:
        return len(self.coefficients)

    @property
    def text(self) -> str:
        """The inequality, with its coefficients rounded up to six digits: constants are not negative."""
        provided = [f"{_in_words(one)} < 0" for one in self.negative]
        inequality = f"{_SYMBOLS[self.error]} <= {_in_words(self.coefficients)}"
        return f"{inequality} where {' and '.join(provided)}" if provided else inequality

    def __call__(self, **constants: Fraction | float) -> Fraction | float:
        """Return the right-hand side.

        Raises
        ------
        TypeError
            If the constants are not those of the lemma.
        AssumptionViolated
            If a sum that must be negative is not.
        """
        if set(constants) != set(self.coefficients):
            message = f"the lemma is about {', '.join(self.coefficients)}, got {', '.join(constants) or 'nothing'}"
            raise TypeError(message)
        for one in self.negative:
            if _weighted_sum(one, constants) >= 0:
                message = f"the lemma holds where {_in_words(one)} < 0, got {float(_weighted_sum(one, constants)):.6g}"
                raise AssumptionViolated(message)
        return _weighted_sum(self.coefficients, constants)


def _weighted_sum(coefficients: Mapping[str, Fraction], constants: Mapping[str, Fraction | float]) -> Fraction | float:
    """Return the sum of coefficient times constant, exact where the constants are."""
    summands = [
        float(c) * constants[name] if isinstance(constants[name], float) else c * constants[name]
        for name, c in coefficients.items()
    ]
    return sum(summands, start=Fraction(0))


def _in_words(coefficients: Mapping[str, Fraction]) -> str:
    """Write a sum with coefficients of six digits, none of them smaller than it is."""
    summands = [f"{outward(c, 6, up=True)} {name}" for name, c in coefficients.items() if c]
    return (" + ".join(summands) or "0").replace("+ -", "- ")


class ProgramSize(NamedTuple):
    """How large a semidefinite program is: rows of each block, numbers of constraints, and how many were solved."""

    blocks: tuple[int, ...]
    num_inequalities: int
    num_equalities: int
    num_programs: int = 1

    @classmethod
    def of(cls, program: Program, num_programs: int) -> ProgramSize:
        """Return the size of one of some programs."""
        return cls(program.sizes, len(program.inequalities), len(program.equalities), num_programs)


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
    proofs
        Of every program, for example one for each outcome of a comparison; of an outcome that no federation has, the
        proof of that.
    """

    enclosure: tuple[Fraction, Fraction]
    multipliers: Lemma
    program: ProgramSize
    proofs: tuple[Proof, ...]
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
        return f"WorstCase({' to '.join(self._ends())}; {self.multipliers.text})"

    def _repr_html_(self) -> str:
        rows = {
            "worst case, proved between": " and ".join(self._ends()),
            "for all constants": self.multipliers.text,
            "program": f"blocks of {', '.join(map(str, self.program.blocks))} rows; "
            f"{self.program.num_inequalities} inequalities",
        }
        cells = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in rows.items())
        return f"<table>{cells}</table>"

    def _ends(self) -> tuple[str, str]:
        lower, upper = self.enclosure
        return outward(lower, 10, up=False), outward(upper, 10, up=True)


Play = tuple[Problem, Callable[[Embedding], Instance]]
"""A problem, and what makes an instance of where its vectors lie."""


def worst_of(plays: Sequence[Play], given: Setting, error: str) -> WorstCase:
    """Put the largest of some problems' values together, in the units that the user gave.

    One that is proved to be empty does not count. Raises what `enclosed` does.

    Examples
    --------
    The largest ``2 |x|^2`` where ``|x|^2 <= 3``.

    >>> p = Problem()
    >>> x = p.point()
    >>> p.at_most(x.square, 3, "distance2")
    >>> p.maximize(2 * x.square)
    >>> given = Setting(Fraction(1, 10), (Fraction(1),), {"distance2": Fraction(3)}, Fraction(1), Fraction(1))
    >>> worst = worst_of([(p, lambda space: None)], given, "distance")
    >>> round(worst.value, 6), round(worst.multipliers["distance2"], 6)
    (6.0, Fraction(2, 1))
    """
    unit, proofs = given.unit(error), tuple(p.prove() for p, _ in plays)
    lower, upper = enclosed(proofs)
    # Where two programs reach the same, the first is as good.
    pairs = [pair for pair in zip(plays, proofs, strict=True) if pair[1].lower is not None]
    (problem, attain), best = max(pairs, key=lambda pair: pair[1].lower or Fraction(0))

    def check() -> tuple[Fraction, Fraction]:
        lower, upper = enclosed([proof.checked() for proof in proofs])
        return unit * lower, unit * upper

    return WorstCase(
        enclosure=(unit * lower, unit * upper),
        multipliers=lemma_of(proofs, given, error),
        program=ProgramSize.of(best.program, len(proofs)),
        proofs=proofs,
        _check=check,
        _attain=lambda: attain(Embedding(problem, best, given)),
    )


def enclosed(proofs: Sequence[Proof]) -> tuple[Fraction, Fraction]:
    """Return between which numbers the largest value of some programs is proved to lie.

    Raises
    ------
    AssumptionViolated
        If all programs are proved to be empty, or one of them to have an infinite value.
    OracleError
        If the proofs do not enclose the value from both sides.
    """
    for proof in proofs:
        if proof.infinite:
            message = "the worst case must be finite, got a class in which errors grow without end"
            raise AssumptionViolated(message)
    possible = [proof for proof in proofs if not proof.empty]
    if not possible:
        names = " and ".join(sorted({name for proof in proofs for name in proof.contradicting})) or "its hypotheses"
        message = f"no federation has these constants: {names} contradict each other"
        raise AssumptionViolated(message)
    lowers = [proof.lower for proof in possible if proof.lower is not None]
    uppers = [proof.upper for proof in possible if proof.upper is not None]
    if not lowers or len(uppers) < len(possible):
        sides = [f"at least {outward(max(lowers), 6, up=False)}"] if lowers else []
        sides += [f"at most {outward(max(uppers), 6, up=True)}"] if len(uppers) == len(possible) else []
        message = (
            f"a worst case must be proved from both sides, got {' and '.join(sides) or 'no proof'} (without units)"
        )
        raise OracleError(message)
    return max(lowers), max(uppers)


def lemma_of(proofs: Sequence[Proof], given: Setting, error: str) -> Lemma:
    """Read the inequality off the multipliers, in the units that the user gave: the largest of each constant."""
    # Constants are not negative, so that the largest coefficients serve all programs.
    possible = [shares_of(proof, proof.multipliers) for proof in proofs if proof.multipliers is not None]
    names = dict.fromkeys(name for shares in possible for name in shares)
    best = {name: max(shares.get(name, Fraction(0)) for shares in possible) for name in names}
    impossible = [shares_of(proof, proof.contradiction) for proof in proofs if proof.contradiction is not None]
    return Lemma(
        error,
        {name: c * given.unit(error) / given.unit(name) for name, c in best.items()},
        tuple({name: c / given.unit(name) for name, c in shares.items()} for shares in impossible),
    )
