"""From the solver's hints to exact enclosures of a program's value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from fractions import Fraction
from functools import cache, partial
from typing import NamedTuple, TypeVar

import numpy as np

from fedtheory._validate import Array
from fedtheory.errors import AssumptionViolated, OracleError
from fedtheory.worst_case._feasibility import best_multipliers, best_point, mixed
from fedtheory.worst_case._rational import rounded, solve_exactly
from fedtheory.worst_case.certificates import (
    FeasiblePoint,
    Multipliers,
    value_balance,
    verify_lower,
    verify_upper,
)
from fedtheory.worst_case.gram import Program
from fedtheory.worst_case.solver import Assembled, Empty, Solution, assemble, solve, tightened

__all__ = ["Enclosure", "enclose", "prove_lower", "prove_upper"]

# Multipliers and coordinates are rounded to multiples of these powers of 1/2.
_MULTIPLIER_BITS, _COORDINATE_BITS = 36, 44
# How much room the solver leaves for rounding: a loss of this times a number of order 10. Where little is not enough,
# shares of solutions with much room are mixed in; where it is too much for a small value, there is less.
_LITTLE, _LESS, _MUCH = 2e-8, (2e-9, 2e-10), (1e-6, 1e-7)
_MIXTURES = (
    (1e-6, 0.01),
    (1e-6, 0.03),
    (1e-7, 1.0),
    (1e-6, 0.1),
    (1e-6, 0.3),
    (1e-6, 1.0),
    (1e-4, 1e-3),
    (1e-4, 1e-2),
    (1e-4, 0.1),
    (1e-4, 1.0),
)
_NARROW = 1e-5


Proved = TypeVar("Proved")
Rounding = Callable[[Solution], FeasiblePoint]
Hint = Callable[[], Solution]
Solver = Callable[[float], Solution]
"""Solutions that leave some room."""


class Enclosure(NamedTuple):
    """``lower <= value <= upper``, and the proofs of both sides."""

    lower: Fraction
    upper: Fraction
    point: FeasiblePoint
    multipliers: Multipliers


def enclose(program: Program, rounding: Rounding | None = None) -> Enclosure:
    """Enclose the value of a program between two rationals, each with a proof.

    The solver is given the program with every inequality tightened a little, so that its point is feasible in spite of
    rounding, and with ``eps tr G`` added to the objective, so that what its multipliers leave is at least ``eps I``.
    A program with equalities needs a ``rounding`` of its own from the solver's solution to a feasible point.

    Parameters
    ----------
    program
        To be maximized.
    rounding
        From the solver's solution to a feasible point; by default its entries as they are.

    Returns
    -------
    Enclosure
        Two rationals, with the point and the multipliers that prove them.

    Raises
    ------
    AssumptionViolated
        If nothing fulfills the constraints; the sentence names the constants that contradict each other.
    OracleError
        If the solver fails, or its solutions cannot be rounded to proofs.
    """
    assembled = assemble(program)

    @cache
    def solved(room: float) -> Solution:
        return solve(tightened(assembled, room), gram_weight=room, tolerance=1e-10)

    between = partial(_between, program, assembled, solved, rounding)
    try:
        found = between(solved(_LITTLE))
    except Empty as error:
        raise _contradiction(program, error.multipliers) from error
    for room in _LESS:
        if found.upper - found.lower > _NARROW * found.upper:
            with suppress(OracleError):
                found = _narrower(found, between(solved(room)))
    return found


def _narrower(one: Enclosure, other: Enclosure) -> Enclosure:
    upper, lower = min(one, other, key=lambda e: e.upper), max(one, other, key=lambda e: e.lower)
    return Enclosure(lower.lower, upper.upper, lower.point, upper.multipliers)


def _contradiction(program: Program, multipliers: Array) -> AssumptionViolated:
    constraints = (*program.equalities, *program.inequalities)
    used = np.abs(multipliers) > 1e-6 * np.abs(multipliers).max()
    names = sorted({c.name for c, counts in zip(constraints, used, strict=True) if c.name and counts})
    return AssumptionViolated(f"no federation has these constants: {' and '.join(names)} contradict each other")


def _between(
    program: Program, assembled: Assembled, solved: Solver, rounding: Rounding | None, close: Solution
) -> Enclosure:
    """Prove both sides with as little of a roomy solution as it takes."""
    mixtures = [partial(_mixture, close, solved, room, share) for room, share in _MIXTURES]
    dual: list[Hint] = [lambda: close, lambda: best_multipliers(assembled, close, _roomy(solved)), *mixtures]
    # A rounding of its own makes its points feasible itself.
    near: list[Hint] = [] if rounding else [lambda: best_point(assembled, close, _roomy(solved))]
    primal: list[Hint] = [lambda: close, *near, *mixtures]
    upper, multipliers = _first_proof(partial(prove_upper, program), dual)
    lower, point = _first_proof(partial(prove_lower, program, rounding=rounding), primal)
    return Enclosure(lower, upper, point, multipliers)


def _roomy(solved: Solver) -> list[Solution]:
    found = []
    for room in _MUCH:
        with suppress(OracleError):
            found.append(solved(room))
    return found


def _first_proof(prove: Callable[[Solution], Proved], hints: Iterable[Hint]) -> Proved:
    reason: Exception | None = None
    for hint in hints:
        try:
            return prove(hint())
        except (OracleError, ArithmeticError) as error:
            reason = error
    message = f"the solver's solution must round to a proof, got none: {reason}"
    raise OracleError(message)


def _mixture(close: Solution, solved: Solver, room: float, share: float) -> Solution:
    return mixed(close, solved(room), share)


def prove_upper(program: Program, solution: Solution) -> tuple[Fraction, Multipliers]:
    """Round the solver's multipliers to a proof that the value is at most a number.

    Parameters
    ----------
    program
        To be maximized.
    solution
        Of the solver.

    Returns
    -------
    tuple[Fraction, Multipliers]
        The number, and the multipliers that prove it.
    """
    multipliers = _balanced(program, solution)
    return verify_upper(program, multipliers), multipliers


def prove_lower(
    program: Program, solution: Solution, *, rounding: Rounding | None = None
) -> tuple[Fraction, FeasiblePoint]:
    """Round the solver's point to one that fulfills all constraints.

    Parameters
    ----------
    program
        To be maximized.
    solution
        Of the solver.
    rounding
        From the solution to a feasible point.

    Returns
    -------
    tuple[Fraction, FeasiblePoint]
        The value at the point, and the point.
    """
    point = (rounding or _entries)(solution)
    return verify_lower(program, point), point


def _entries(solution: Solution) -> FeasiblePoint:
    values = tuple(rounded(value, _COORDINATE_BITS) for value in solution.values)
    return FeasiblePoint(tuple(_root(gram) for gram in solution.grams), values)


def _balanced(program: Program, solution: Solution) -> Multipliers:
    """Round multipliers, and correct the largest ones so that the function values cancel exactly."""
    num_equalities = len(program.equalities)
    found = np.concatenate([solution.equality_multipliers, solution.multipliers])
    factors = [rounded(y, _MULTIPLIER_BITS) for y in found]
    missing = {place: -c for place, c in enumerate(value_balance(program, (Fraction(-1), *factors))) if c}
    order = sorted(range(len(factors)), key=lambda row: (row >= num_equalities, -factors[row]))
    columns: list[dict[int, Fraction]] = [{} for _ in factors]
    for row, place, c in program.levels:
        if row:
            columns[row - 1][place] = c
    for place, change in solve_exactly([columns[row] for row in order], missing).items():
        factors[order[place]] += change
    return Multipliers(tuple(factors[num_equalities:]), tuple(factors[:num_equalities]))


def _root(gram: Array) -> tuple[tuple[Fraction, ...], ...]:
    values, vectors = np.linalg.eigh(gram)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    return tuple(tuple(rounded(entry, _COORDINATE_BITS) for entry in row) for row in root)
