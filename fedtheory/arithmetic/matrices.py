"""Linear algebra with exact rationals, by python-flint."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpz_mat

__all__: list[str] = []

Exact = Any
"""Array of rationals, or of integers of any size."""
Sparse = Mapping[int, Fraction]
_WIDE = 4
"""Number of rows per column from which linear equations are replaced by their normal equations."""


def over_common(numbers: Iterable[Fraction]) -> tuple[Exact, int]:
    """Write rationals as integers over their least common denominator, shape (n,).

    >>> over_common([Fraction(1, 2), Fraction(1, 3)])
    (array([3, 2], dtype=object), 6)
    """
    known = list(numbers)
    denominator = math.lcm(*(number.denominator for number in known))
    wholes = np.empty(len(known), dtype=object)
    wholes[:] = [number.numerator * (denominator // number.denominator) for number in known]
    return wholes, denominator


def product(left: Exact, right: Exact) -> Exact:
    """Multiply matrices of rationals, shapes (n, k) and (k, m)."""
    return _array(_matrix(left) * _matrix(right))


def whole_product(left: Exact, right: Exact) -> Exact:
    """Multiply matrices of integers, shapes (n, k) and (k, m)."""
    one, other = (fmpz_mat(*matrix.shape, matrix.ravel().tolist()) for matrix in (left, right))
    found = np.empty(len(left) * right.shape[1], dtype=object)
    found[:] = [*map(int, (one * other).entries())]
    return found.reshape(len(left), right.shape[1])


def inverse(matrix: Exact) -> Exact:
    """Inverse of an invertible matrix of rationals, shape (n, n)."""
    return _array(_matrix(matrix).inv())


def solved(rows: Exact, right: Exact) -> tuple[Fraction, ...]:
    """Return the unique solution of a square system of equations; ValueError if there is none, or more than one."""
    try:
        found = _matrix(rows).solve(_matrix([[number] for number in right]))
    except ZeroDivisionError:
        message = "a system must have one solution, got none or many"
        raise ValueError(message) from None
    return tuple(_array(found).ravel().tolist())


def independent(columns: Sequence[Sparse]) -> list[int]:
    """Return the numbers of the columns that are no combination of earlier ones."""
    return _reduced(columns)[1]


def kernel(columns: Sequence[Sparse]) -> list[dict[int, Fraction]]:
    """Return vanishing combinations of columns, by column number, for each column that depends on earlier ones."""
    table, pivots = _reduced(columns)
    return [
        {number: Fraction(1), **_column(table, pivots, number, -1)}
        for number in range(len(columns))
        if number not in pivots
    ]


def solve_exactly(columns: Sequence[Sparse], target: Sparse) -> dict[int, Fraction]:
    """Coefficients, by column number, of a combination of columns that equals the target; early columns are preferred.

    ArithmeticError if there is none.
    """
    table, pivots = _reduced([*columns, target])
    if len(columns) in pivots:
        message = f"the target must be a combination of the {len(columns)} columns, got another vector"
        raise ArithmeticError(message)
    return _column(table, pivots, len(columns), 1)


def is_semidefinite(matrix: Iterable[Iterable[Any]]) -> bool:
    """Whether a symmetric matrix of rationals or integers is positive semidefinite.

    A symmetric matrix has only real eigenvalues. None of them is negative if and only if the coefficients of its
    characteristic polynomial alternate in sign.
    """
    rows = [list(row) for row in matrix]
    scale = math.lcm(*(entry.denominator for row in rows for entry in row))
    if not rows:
        return True
    coefficients = fmpz_mat([[int(entry * scale) for entry in row] for row in rows]).charpoly().coeffs()
    return all(c * (-1) ** (len(rows) - power) >= 0 for power, c in enumerate(coefficients))


def root(matrix: Iterable[Iterable[Any]]) -> list[list[float]]:
    """Return rows v_i such that ``v_i v_j`` is the entry (i, j) of a positive semidefinite matrix of rationals.

    Elimination is exact, so that rows that are much smaller than others are accurate as well.
    """
    left = [[fmpq(entry.numerator, entry.denominator) for entry in row] for row in matrix]
    rows: list[list[float]] = [[] for _ in left]
    places = list(range(len(left)))
    while places:
        pivot = max(places, key=lambda i: left[i][i])
        height = left[pivot][pivot]
        column = {i: left[i][pivot] for i in places}
        length = math.sqrt(_fraction(height)) if height else 1.0
        for i in range(len(rows)):
            rows[i].append(float(_fraction(column[i] / height)) * length if i in column and height else 0.0)
        places.remove(pivot)
        for i in places:
            if column[i] and height:
                share = column[i] / height
                for j in places:
                    left[i][j] -= share * column[j]
    return rows


def _reduced(columns: Sequence[Sparse]) -> tuple[fmpq_mat, list[int]]:
    """Return the reduced row echelon form and its pivot columns."""
    numbers = {row: number for number, row in enumerate(dict.fromkeys(row for column in columns for row in column))}
    if not numbers:
        return fmpq_mat(0, len(columns)), []
    if len(numbers) > _WIDE * len(columns):
        # A' A has the kernel of A, and therefore the same reduced form.
        rows: dict[int, list[tuple[int, Fraction]]] = {}
        for number, column in enumerate(columns):
            for row, c in column.items():
                rows.setdefault(row, []).append((number, c))
        table = fmpq_mat(len(columns), len(columns))
        for entries in rows.values():
            exact = [(number, fmpq(c.numerator, c.denominator)) for number, c in entries]
            for i, c in exact:
                for j, d in exact:
                    table[i, j] += c * d
    else:
        table = fmpq_mat(len(numbers), len(columns))
        for number, column in enumerate(columns):
            for row, c in column.items():
                table[numbers[row], number] = fmpq(c.numerator, c.denominator)
    table, rank = table.rref()
    pivots: list[int] = []
    for row in range(rank):
        start = pivots[-1] + 1 if pivots else 0
        pivots.append(next(number for number in range(start, len(columns)) if table[row, number]))
    return table, pivots


def _column(table: fmpq_mat, pivots: Sequence[int], number: int, sign: int) -> dict[int, Fraction]:
    """Return a column of a reduced form as a combination of pivot columns."""
    found = {pivot: table[row, number] for row, pivot in enumerate(pivots) if pivot < number}
    return {pivot: sign * _fraction(c) for pivot, c in found.items() if c}


def _matrix(rows: Any) -> fmpq_mat:
    num_rows, num_columns = np.shape(rows)
    entries = (entry for row in rows for entry in row)
    exact = [fmpq(int(entry.numerator), int(entry.denominator)) for entry in entries]
    return fmpq_mat(num_rows, num_columns, exact)


def _array(matrix: fmpq_mat) -> Exact:
    found = np.empty(matrix.nrows() * matrix.ncols(), dtype=object)
    found[:] = [*map(_fraction, matrix.entries())]
    return found.reshape(matrix.nrows(), matrix.ncols())


def _fraction(number: fmpq) -> Fraction:
    return Fraction(int(number.p), int(number.q))
