"""Proofs in rationals about a program: that its value is at most or at least a number, or that it is empty or infinite.

*At most*: multipliers ``lambda >= 0`` of the inequalities and ``nu`` of the equalities with ``sum lambda_i form_i +
sum nu_j form_j - objective = sum_b <S_b, G_b>`` and every S_b positive semidefinite show that the objective is at most
``sum lambda_i bound_i + sum nu_j bound_j``. *At least*: a point that fulfills all constraints. *Empty* (Farkas):
multipliers that would prove a negative bound of an objective that is 0 everywhere. *Infinite*: a point, and a direction
along which all constraints stay fulfilled and the objective grows.

Only the program is trusted. All quantities are computed again in integers, without rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.arithmetic.matrices import is_semidefinite, over_common
from fedtheory.errors import OracleError
from fedtheory.worst_case._semidefinite import Program
from fedtheory.worst_case._vectors import Vector

Gram = tuple[tuple[Fraction, ...], ...]


class Multipliers(NamedTuple):
    """Exact dual variables: of the inequalities, at least 0, and of the equalities."""

    inequalities: tuple[Fraction, ...]
    equalities: tuple[Fraction, ...] = ()


class FeasiblePoint(NamedTuple):
    """Exact Gram matrices, one for each block, row by row, and exact function values."""

    grams: tuple[Gram, ...]
    values: tuple[Fraction, ...]

    @classmethod
    def of(cls, grams: Iterable[Iterable[Iterable[Fraction]]], values: Iterable[Fraction]) -> FeasiblePoint:
        """Return a point from matrices and numbers in any form."""
        return cls(tuple(tuple(map(tuple, gram)) for gram in grams), tuple(values))

    def each(self, change: Callable[[Fraction], Fraction]) -> FeasiblePoint:
        """Return the point with all entries and values changed."""
        return FeasiblePoint.of(([map(change, row) for row in gram] for gram in self.grams), map(change, self.values))

    def square(self, vector: Vector) -> Fraction:
        """Return the squared length of a vector."""
        places = vector.coordinates.items()
        pairs = ((a, b, c * d) for a, c in places for b, d in places if a[0] == b[0])
        return sum((cd * self.grams[block][row][column] for (block, row), (_, column), cd in pairs), start=Fraction(0))


def verify_upper(program: Program, multipliers: Multipliers) -> Fraction:
    """Return the upper bound that multipliers prove."""
    return _promised(program, multipliers, Fraction(-1))


def _promised(program: Program, multipliers: Multipliers, of_objective: Fraction) -> Fraction:
    """Return the bound that multipliers prove for the objective, or for 0."""
    constraints = (*program.equalities, *program.inequalities)
    factors = (*multipliers.equalities, *multipliers.inequalities)
    if len(factors) != len(constraints) or any(factor < 0 for factor in multipliers.inequalities):
        message = "multipliers must be one per constraint, and at least 0 for an inequality"
        raise OracleError(message)
    weights = (of_objective, *factors)
    if any(value_balance(program, weights)):
        message = "multipliers must make the function values cancel"
        raise OracleError(message)
    wholes, _ = over_common(weights)
    for number, matrix in enumerate(combined(program, wholes)):
        if not is_semidefinite(matrix.tolist()):
            message = f"multipliers must leave a positive semidefinite matrix, got another in block {number}"
            raise OracleError(message)
    return sum((y * c.bound for y, c in zip(factors, constraints, strict=True)), start=Fraction(0))


def combined(program: Program, weights: Any) -> Iterator[Any]:
    """Yield of each block a multiple, ``2 program.rows.denominator``, of the matrix of ``sum weight * form``."""
    for block, size in zip(program.rows.blocks, program.sizes, strict=True):
        upper = np.zeros((size, size), dtype=object)
        np.add.at(upper, (block.rows, block.columns), weights[block.forms] * block.wholes)
        # Twice the matrix: an off-diagonal entry counts for both triangles.
        yield upper + upper.T


def value_balance(program: Program, weights: Sequence[Fraction]) -> list[Fraction]:
    """Coefficient of every function value in ``sum weight * form`` over ``program.forms``."""
    wholes, denominator = over_common(weights)
    levels, share = program.whole_levels
    total, factors = [0] * len(program.values), wholes.tolist()
    for row, place, c in levels:
        total[place] += factors[row] * c
    return [Fraction(number, denominator * share) for number in total]


def verify_empty(program: Program, multipliers: Multipliers) -> Fraction:
    """Return the margin by which multipliers prove that no point fulfills all constraints."""
    nothing = _promised(program, multipliers, Fraction(0))
    if nothing >= 0:
        message = f"multipliers of an empty class must prove a negative bound of 0, got {float(nothing)}"
        raise OracleError(message)
    return -nothing


def verify_lower(program: Program, point: FeasiblePoint) -> Fraction:
    """Return the objective at a point that fulfills all constraints."""
    constraints = (*program.equalities, *program.inequalities)
    return _reached(program, point, [constraint.bound for constraint in constraints])


def _reached(program: Program, point: FeasiblePoint, bounds: Sequence[Fraction]) -> Fraction:
    """Return the objective at a point whose forms are within some bounds."""
    for number, (gram, size) in enumerate(zip(point.grams, program.sizes, strict=True)):
        square = len(gram) == size and all(len(row) == size for row in gram)
        if not square or any(gram[i][j] != gram[j][i] for i in range(size) for j in range(i)):
            message = f"a Gram matrix must be symmetric with {size} rows, got another in block {number}"
            raise OracleError(message)
        if not is_semidefinite(gram):
            message = f"a Gram matrix must be positive semidefinite, got another in block {number}"
            raise OracleError(message)
    objective, *reached = forms_at(program, point)
    exact = len(program.equalities)
    broken = [
        number
        for number, (value, bound) in enumerate(zip(reached, bounds, strict=True))
        if value > bound or (number < exact and value != bound)
    ]
    if broken:
        message = f"the point must fulfill all constraints, got {len(broken)} that it breaks"
        raise OracleError(message)
    return objective


def verify_direction(program: Program, direction: FeasiblePoint) -> Fraction:
    """Return the growth of the objective along a direction that violates no constraint."""
    growth = _reached(program, direction, [Fraction(0)] * (len(program.forms) - 1))
    if growth <= 0:
        message = f"the objective must grow along the direction, got {float(growth)}"
        raise OracleError(message)
    return growth


def forms_at(program: Program, point: FeasiblePoint) -> list[Fraction]:
    """Return the values of all forms at a point, the objective first."""
    found = [Fraction(0)] * len(program.forms)
    for block, gram in zip(program.rows.blocks, point.grams, strict=True):
        if block.forms.size:
            wholes, denominator = over_common([entry for row in gram for entry in row])
            products = block.wholes * wholes.reshape(len(gram), -1)[block.rows, block.columns]
            first = np.flatnonzero(np.diff(block.forms, prepend=-1))
            for number, total in zip(block.forms[first], np.add.reduceat(products, first), strict=True):
                found[number] += Fraction(total, denominator * program.rows.denominator)
    numbers, denominator = over_common(point.values)
    levels, share = program.whole_levels
    sums, factors = dict[int, int](), numbers.tolist()
    for row, place, c in levels:
        sums[row] = sums.get(row, 0) + c * factors[place]
    for row, number in sums.items():
        found[row] += Fraction(number, denominator * share)
    return found
