"""Linear algebra in exact rationals, for the small matrices of certificates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["Exact", "independent", "inverse", "kernel", "over_common", "solve_exactly"]

Exact = Any
"""Array of rationals, or of whole numbers without a limit."""
Sparse = Mapping[int, Fraction]


def over_common(numbers: Iterable[Fraction]) -> tuple[Exact, int]:
    """Write rationals as whole numbers over their least common denominator, shape (n,).

    >>> over_common([Fraction(1, 2), Fraction(1, 3)])
    (array([3, 2], dtype=object), 6)
    """
    known = list(numbers)
    denominator = math.lcm(*(number.denominator for number in known))
    wholes = np.empty(len(known), dtype=object)
    wholes[:] = [number.numerator * (denominator // number.denominator) for number in known]
    return wholes, denominator


def inverse(matrix: Exact) -> Exact:
    """Inverse of an invertible matrix of rationals, shape (n, n).

    >>> inverse(np.array([[Fraction(2), Fraction(1)], [Fraction(0), Fraction(4)]])).tolist()
    [[Fraction(1, 2), Fraction(-1, 8)], [Fraction(0, 1), Fraction(1, 4)]]
    """
    size = len(matrix)
    rows = [[*row, *(Fraction(i == j) for j in range(size))] for i, row in enumerate(matrix)]
    for i in range(size):
        pivot = max(range(i, size), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [entry / rows[i][i] if entry else entry for entry in rows[i]]
        for k in range(size):
            if k != i and rows[k][i]:
                factor = rows[k][i]
                rows[k] = [a - factor * b if b else a for a, b in zip(rows[k], rows[i], strict=True)]
    return np.array([row[size:] for row in rows], dtype=object).reshape(size, size)


def independent(columns: Sequence[Sparse]) -> list[int]:
    """Numbers of the columns that are no combination of those before them.

    >>> one = Fraction(1)
    >>> independent([{0: one}, {0: 2 * one}, {0: one, 1: one}])
    [0, 2]
    """
    reduced: dict[int, tuple[Sparse, Sparse]] = {}
    return [number for number, column in enumerate(columns) if not _taken_up(column, number, reduced)]


def kernel(columns: Sequence[Sparse]) -> list[Sparse]:
    """Return combinations of columns that are 0, by column number: of each that is one of those before it.

    >>> one = Fraction(1)
    >>> kernel([{0: one}, {0: 2 * one}, {0: one, 1: one}])
    [{1: Fraction(1, 1), 0: Fraction(-2, 1)}]
    """
    reduced: dict[int, tuple[Sparse, Sparse]] = {}
    return [found for number, column in enumerate(columns) if (found := _taken_up(column, number, reduced))]


def solve_exactly(columns: Sequence[Sparse], target: Sparse) -> dict[int, Fraction]:
    """Coefficients, by column number, of a combination of columns that equals the target; early columns are preferred.

    Raises
    ------
    ArithmeticError
        If the target is not a combination of the columns.

    Examples
    --------
    >>> one = Fraction(1)
    >>> solve_exactly([{0: one}, {0: 2 * one}, {0: one, 1: one}], {0: 3 * one, 1: one})
    {0: Fraction(2, 1), 2: Fraction(1, 1)}
    """
    reduced: dict[int, tuple[Sparse, Sparse]] = {}
    left: Sparse = target
    recipe: Sparse = {}
    for number, column in enumerate(columns):
        if not left:
            break
        if not _taken_up(column, number, reduced):
            left, recipe = _reduce(left, recipe, reduced)
    if left:
        message = f"the target must be a combination of the columns, but entry {min(left)} is left"
        raise ArithmeticError(message)
    return {number: -c for number, c in sorted(recipe.items())}


def _taken_up(column: Sparse, number: int, reduced: dict[int, tuple[Sparse, Sparse]]) -> Sparse:
    """Add what a column has beyond those before it; if that is nothing, return the combination that is 0."""
    left, recipe = _reduce(column, {number: Fraction(1)}, reduced)
    if not left:
        return recipe
    lead = min(left)
    reduced[lead] = _scaled(left, 1 / left[lead]), _scaled(recipe, 1 / left[lead])
    return {}


def _reduce(left: Sparse, recipe: Sparse, reduced: Mapping[int, tuple[Sparse, Sparse]]) -> tuple[Sparse, Sparse]:
    for lead in sorted(reduced):
        factor = left.get(lead, Fraction(0))
        if factor:
            column, how = reduced[lead]
            left, recipe = _plus(left, -factor, column), _plus(recipe, -factor, how)
    return left, recipe


def _plus(total: Sparse, factor: Fraction, more: Sparse) -> dict[int, Fraction]:
    found = dict(total)
    for key, c in more.items():
        found[key] = found.get(key, Fraction(0)) + factor * c
    return {key: c for key, c in found.items() if c}


def _scaled(numbers: Sparse, factor: Fraction) -> dict[int, Fraction]:
    return {key: factor * c for key, c in numbers.items()}
