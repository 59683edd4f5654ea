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
from fedtheory.worst_case.gram import Constraint, Form, Program, Value, Vector
from fedtheory.worst_case.solver import Solution, solve

__all__ = ["Enclosure", "enclose", "prove_lower", "prove_upper"]

# Multipliers and coordinates are rounded to multiples of these powers of 1/2.
_MULTIPLIER_BITS, _COORDINATE_BITS = 36, 44


class Enclosure(NamedTuple):
    """``lower <= value <= upper`` with the proofs of both sides, and the solver's solution between them."""

    lower: Fraction
    upper: Fraction
    point: FeasiblePoint
    multipliers: Multipliers
    solution: Solution


def enclose(program: Program) -> Enclosure:
    """Enclose the value of a program between two rationals, each with a proof.

    Raises
    ------
    OracleError
        If the solver fails, or its solutions cannot be rounded to proofs.
    """
    solution = solve(program)
    upper, multipliers = prove_upper(program, solution)
    lower, point = prove_lower(program, solution)
    return Enclosure(lower, upper, point, multipliers, solution)


def prove_upper(program: Program, solution: Solution) -> tuple[Fraction, Multipliers]:
    """Round the solver's multipliers to a proof that the value is at most a number.

    With ``eps tr G`` added to the objective the dual slack is at least ``eps I``, which leaves room for rounding.
    """
    trace = sum(float(np.trace(gram)) for gram in solution.grams)
    scale = max(abs(solution.value), 1e-12) / max(trace, 1e-12)
    for eps in (1e-8, 1e-7, 1e-6, 1e-5, 1e-4):
        try:
            shifted = solve(program, gram_weight=eps * scale, tolerance=1e-10)
            multipliers = _balanced(program, shifted)
            return verify_upper(program, multipliers), multipliers
        except (OracleError, ArithmeticError) as error:
            reason = error
    message = f"the solver's multipliers must round to a proof, got none: {reason}"
    raise OracleError(message)


def _balanced(program: Program, solution: Solution) -> Multipliers:
    """Round multipliers, and correct the largest ones so that the function values cancel exactly."""
    num_equalities = len(program.equalities)
    found = np.concatenate([solution.equality_multipliers, solution.multipliers])
    factors = [rounded(y, _MULTIPLIER_BITS) for y in found]
    numbers = {value: number for number, value in enumerate(program.values)}
    order = sorted(range(len(factors)), key=lambda row: (row >= num_equalities, -factors[row]))
    forms = program.forms[1:]
    columns = [{numbers[value]: c for value, c in forms[row].values.items() if c} for row in order]
    missing = {numbers[v]: -c for v, c in value_balance(program, (Fraction(-1), *factors)).items() if c}
    for place, change in solve_exactly(columns, missing).items():
        factors[order[place]] += change
    return Multipliers(tuple(factors[num_equalities:]), tuple(factors[:num_equalities]))


def prove_lower(program: Program, solution: Solution) -> tuple[Fraction, FeasiblePoint]:
    """Move the solver's point a little towards an inner one, and round it to a point that fulfills all constraints."""
    if program.equalities:
        message = "a program must be without equalities for a lower side, got some"
        raise OracleError(message)
    roomy = _inner(program, solution)
    inner = solve(roomy)
    places = [roomy.values.index(value) for value in program.values]
    for share in (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3):
        grams = [(1 - share) * gram + share * inside for gram, inside in zip(solution.grams, inner.grams, strict=True)]
        values = (1 - share) * solution.values + share * inner.values[places]
        point = FeasiblePoint(tuple(_root(gram) for gram in grams), tuple(rounded(f, _COORDINATE_BITS) for f in values))
        try:
            return verify_lower(program, point), point
        except OracleError as error:
            reason = error
    message = f"the solver's point must round to a feasible one, got none: {reason}"
    raise OracleError(message)


def _inner(program: Program, solution: Solution) -> Program:
    """Maximize the room that all inequalities leave, among points of a size like the solution's."""
    room = Value()
    basis = [Vector({(b, i): Fraction(1)}) for b, size in enumerate(program.sizes) for i in range(size)]
    trace = Form({(vector, vector): Fraction(1) for vector in basis})
    size = 10 * sum(float(np.trace(gram)) for gram in solution.grams) + 1e-9
    roomy = tuple(Constraint(c.form + room, c.bound) for c in program.inequalities)
    return Program(program.sizes, Form.of(room), (*roomy, Constraint(trace, Fraction(size))))


def _root(gram: Array) -> tuple[tuple[Fraction, ...], ...]:
    values, vectors = np.linalg.eigh(gram)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    return tuple(tuple(rounded(entry, _COORDINATE_BITS) for entry in row) for row in root)
