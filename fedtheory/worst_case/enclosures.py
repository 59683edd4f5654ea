"""From the solver's hints to exact enclosures of a program's value."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fedtheory._validate import Array
from fedtheory.errors import OracleError
from fedtheory.worst_case._rational import rounded, solve_exactly
from fedtheory.worst_case.certificates import (
    FeasiblePoint,
    Multipliers,
    value_balance,
    verify_lower,
    verify_upper,
)
from fedtheory.worst_case.gram import Program
from fedtheory.worst_case.solver import Assembled, Solution, assemble, roomy, solve, triangle

__all__ = ["Enclosure", "enclose", "prove_lower", "prove_upper"]

# Multipliers and coordinates are rounded to multiples of these powers of 1/2.
_MULTIPLIER_BITS, _COORDINATE_BITS = 36, 44


class Enclosure(NamedTuple):
    """``lower <= value <= upper``, and the proofs of both sides."""

    lower: Fraction
    upper: Fraction
    point: FeasiblePoint
    multipliers: Multipliers


def enclose(program: Program) -> Enclosure:
    """Enclose the value of a program between two rationals, each with a proof.

    Raises
    ------
    OracleError
        If the solver fails, or its solutions cannot be rounded to proofs.
    """
    assembled = assemble(program)
    upper, multipliers, solution = prove_upper(program, assembled)
    lower, point = prove_lower(program, assembled, solution)
    return Enclosure(lower, upper, point, multipliers)


def prove_upper(program: Program, assembled: Assembled) -> tuple[Fraction, Multipliers, Solution]:
    """Round the solver's multipliers to a proof that the value is at most a number.

    With ``eps tr G`` added to the objective the dual slack is at least ``eps I``, which leaves room for rounding.
    """
    for eps in (1e-8, 1e-7, 1e-6, 1e-5, 1e-4):
        try:
            shifted = solve(assembled, gram_weight=eps, tolerance=1e-10)
            multipliers = _balanced(program, shifted)
            return verify_upper(program, multipliers), multipliers, shifted
        except (OracleError, ArithmeticError) as error:
            reason = error
    message = f"the solver's multipliers must round to a proof, got none: {reason}"
    raise OracleError(message)


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


def prove_lower(program: Program, assembled: Assembled, solution: Solution) -> tuple[Fraction, FeasiblePoint]:
    """Move the solver's point a little towards an inner one, and round it to a point that fulfills all constraints."""
    if program.equalities:
        message = "a program must be without equalities for a lower side, got some"
        raise OracleError(message)
    trace = sum(float(np.trace(gram)) for gram in solution.grams)
    inner = solve(roomy(assembled, 10 * trace + 1e-9), tolerance=1e-3).x[:-1]
    share = _needed_share(assembled, solution.x, inner)
    while share < 1e-2:
        point = _rounded_point(assembled, (1 - share) * solution.x + share * inner)
        try:
            return verify_lower(program, point), point
        except OracleError as error:
            reason, share = error, 4 * share
    message = f"the solver's point must round to a feasible one, got none: {reason if share < 1 else 'no inner point'}"
    raise OracleError(message)


def _needed_share(assembled: Assembled, x: Array, inner: Array) -> float:
    """Return the share of the inner point that makes up for what the solver's point lacks."""
    room, outside = (assembled.bounds[1:] - assembled.rows[1:] @ point for point in (inner, x))
    lacking = 1e-12 - outside
    shares = np.where(lacking > 0, lacking / np.maximum(room + lacking, 1e-300), 0.0)
    return max(1.5 * float(shares.max()), 1e-11) if (room > 0).all() else np.inf


def _rounded_point(assembled: Assembled, x: Array) -> FeasiblePoint:
    factors, start = [], 0
    for size in assembled.sizes:
        i, j = triangle(size)
        gram = np.zeros((size, size))
        gram[i, j] = gram[j, i] = x[start : start + i.size] * np.where(i == j, 1.0, np.sqrt(0.5))
        factors.append(_root(gram))
        start += i.size
    return FeasiblePoint(tuple(factors), tuple(rounded(f, _COORDINATE_BITS) for f in x[start:]))


def _root(gram: Array) -> tuple[tuple[Fraction, ...], ...]:
    values, vectors = np.linalg.eigh(gram)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    return tuple(tuple(rounded(entry, _COORDINATE_BITS) for entry in row) for row in root)
