"""Proofs in rationals that a program's value is not larger, or not smaller, than a number.

The upper side is elementary: multipliers ``lambda >= 0`` of the inequalities and ``nu`` of the equalities with
``sum lambda_i form_i + sum nu_j form_j - objective = sum_b <S_b, G_b>`` and every S_b positive semidefinite show that
the objective is at most ``sum lambda_i bound_i + sum nu_j bound_j``. The lower side is a point that fulfills all
constraints.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from fedtheory.errors import OracleError
from fedtheory.worst_case._rational import congruence, is_semidefinite
from fedtheory.worst_case.gram import Form, Program, Value, Vector

__all__ = ["FeasiblePoint", "Multipliers", "value_balance", "verify_lower", "verify_upper"]


class Multipliers(NamedTuple):
    """Exact dual variables: of the inequalities, at least 0, and of the equalities."""

    inequalities: tuple[Fraction, ...]
    equalities: tuple[Fraction, ...] = ()


class FeasiblePoint(NamedTuple):
    """Exact factors ``V_b`` of the Gram matrices ``G_b = V_b' V_b``, row by row, and exact function values."""

    factors: tuple[tuple[tuple[Fraction, ...], ...], ...]
    values: tuple[Fraction, ...]


def verify_upper(program: Program, multipliers: Multipliers) -> Fraction:
    """Return the upper bound that multipliers prove, and trust nothing but the program.

    Raises
    ------
    OracleError
        If they prove nothing: one of the inequalities' is negative, the function values do not cancel, or what remains
        of a block is not positive semidefinite.
    """
    constraints = (*program.equalities, *program.inequalities)
    factors = (*multipliers.equalities, *multipliers.inequalities)
    if len(factors) != len(constraints) or any(factor < 0 for factor in multipliers.inequalities):
        message = "multipliers must be one per constraint, and at least 0 for an inequality"
        raise OracleError(message)
    weights = (Fraction(-1), *factors)
    if any(value_balance(program, weights).values()):
        message = "multipliers must make the function values cancel"
        raise OracleError(message)
    for block in range(len(program.sizes)):
        if not is_semidefinite(_slack(program, weights, block)):
            message = f"multipliers must leave a positive semidefinite matrix, got another in block {block}"
            raise OracleError(message)
    return sum((y * c.bound for y, c in zip(factors, constraints, strict=True)), start=Fraction(0))


def value_balance(program: Program, weights: Sequence[Fraction]) -> dict[Value, Fraction]:
    """Coefficient of every function value in ``sum weight * form`` over ``program.forms``."""
    total: dict[Value, Fraction] = dict.fromkeys(program.values, Fraction(0))
    for weight, form in zip(weights, program.forms, strict=True):
        for value, c in form.values.items():
            total[value] += weight * c
    return total


def _slack(program: Program, weights: Sequence[Fraction], block: int) -> list[list[Fraction]]:
    """Coordinates of ``sum weight * form`` in a block, a symmetric matrix."""
    vectors = program.vectors
    numbers = {vector: number for number, vector in enumerate(vectors)}
    middle: dict[tuple[int, int], Fraction] = {}
    for weight, form in zip(weights, program.forms, strict=True):
        if weight:
            for (u, v), c in form.products.items():
                pair = numbers[u], numbers[v]
                middle[pair] = middle.get(pair, Fraction(0)) + weight * c
    return congruence([_within(vector, block) for vector in vectors], middle, program.sizes[block])


def _within(vector: Vector, block: int) -> dict[int, Fraction]:
    return {place: c for (home, place), c in vector.coordinates.items() if home == block}


def verify_lower(program: Program, point: FeasiblePoint) -> Fraction:
    """Return the objective at a point, and trust nothing but the program.

    Raises
    ------
    OracleError
        If the point breaks a constraint.
    """
    images = {vector: _image(vector, point) for vector in program.vectors}
    values = dict(zip(program.values, point.values, strict=True))

    def at(form: Form) -> Fraction:
        products = (c * _dot(images[u], images[v]) for (u, v), c in form.products.items())
        return sum(products, start=sum((c * values[f] for f, c in form.values.items()), start=Fraction(0)))

    broken = [f"{c.form} <= {c.bound}" for c in program.inequalities if at(c.form) > c.bound]
    broken += [f"{c.form} == {c.bound}" for c in program.equalities if at(c.form) != c.bound]
    if broken:
        message = f"the point must fulfill all constraints, got {len(broken)} that it breaks"
        raise OracleError(message)
    return at(program.objective)


def _image(vector: Vector, point: FeasiblePoint) -> list[Fraction]:
    """Return the vector itself: basis vectors are columns of the factors, and blocks are orthogonal to each other."""
    found = []
    for block, rows in enumerate(point.factors):
        inside = _within(vector, block)
        found += [sum((c * row[place] for place, c in inside.items()), start=Fraction(0)) for row in rows]
    return found


def _dot(x: Sequence[Fraction], y: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(x, y, strict=True)), start=Fraction(0))
