"""Section 4: coefficients of the bound, and those that the proof of the worst case needs."""

from fractions import Fraction

from fedtheory.referee.review import Cell, Coefficient, Constants, LooseSummands, Missing, Tightness, named
from fedtheory.referee.subject import Subject
from fedtheory.worst_case.comparisons import sensitivities

__all__ = ["coefficients_of", "loosest"]

_NOTICEABLE = 1.0001
"""Ratio of a printed to a needed coefficient from which it is called larger; enclosures are narrower."""


def loosest(tightness: Tightness | Missing) -> Cell | None:
    """Return the cell with the largest ratio that is not vacuous, or the largest one."""
    cells = [] if isinstance(tightness, Missing) else [one for one in tightness.cells if one.ratio is not None]
    return max(cells, key=lambda one: (one.status != "vacuous", one.ratio), default=None)


def coefficients_of(subject: Subject, constants: Constants) -> LooseSummands | Missing:
    """Return printed and needed coefficients at given constants, with the lemma that sharpens the bound."""
    if subject.why_no_problem:
        return Missing(subject.why_no_problem)
    found = subject.compared(constants)
    rows = tuple(
        Coefficient(name, _with(subject, constants, name), one.bound, one.worst_case)
        for name, one in sensitivities(subject.bound, {**constants}, found).items()
    )
    if not rows:
        return Missing(
            "the conditions of method() must have the names of the bound's constants, as in "
            'p.at_most((x - best).square, distance2, "distance2")'
        )
    lemma = f"{found.worst_case.multipliers.text}   at {named(_others(constants, rows))}"
    return LooseSummands(constants, rows, lemma, _finding(rows))


def _others(constants: Constants, rows: tuple[Coefficient, ...]) -> Constants:
    shown = {name for one in rows for name in (one.name, f"initial_{one.name}")}
    return {name: value for name, value in constants.items() if name not in shown}


def _with(subject: Subject, constants: Constants, name: str) -> tuple[str, ...]:
    """Return the names of the summands that change with a constant."""
    mine = name if name in constants else f"initial_{name}"
    if mine not in constants:
        return ()
    here = subject.bound.terms(**constants, strict=False)
    there = subject.bound.terms(**{**constants, mine: 2 * Fraction(constants[mine]) + 1}, strict=False)
    return tuple(one for one, value in here.items() if value != there[one])


def _finding(rows: tuple[Coefficient, ...]) -> str:
    loose = [one for one in rows if one.printed > one.needed * Fraction(_NOTICEABLE)]
    if not loose:
        return "at these constants no coefficient of the bound is larger than needed"
    worst = max(loose, key=lambda one: float(one.printed - one.needed) / float(one.printed))
    where = f" (in {' and '.join(worst.summands)})" if worst.summands else ""
    others = "".join(f", that of {one.name} {_both(one)}" for one in rows if one is not worst)
    return f"the coefficient of {worst.name}{where} is {_both(worst)}{others}"


def _both(one: Coefficient) -> str:
    return f"{float(one.printed):.6g} in the bound and {float(one.needed):.6g} in the sharpened statement"
