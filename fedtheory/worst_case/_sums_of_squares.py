"""Decomposition of a semidefinite rational matrix into a sum of squares, with short numbers if possible."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np

Square = tuple[Fraction, list[Fraction]]
"""A nonnegative factor, and the coefficients of the vector that is squared."""

FEW_BITS = 40
"""Largest length of numbers for which an exact elimination is not rounded."""
PRECISIONS = (16, 24, 32, 40, 48)
"""Numbers of binary digits of rounded squares that are tried."""


def sum_of_squares(matrix: Sequence[Sequence[Fraction]]) -> list[Square] | None:
    """Return the squares in a decomposition of a symmetric matrix, or None if it is not positive semidefinite."""
    exact, pivots = _eliminated(matrix)
    if exact is None:
        return None
    if all(_bits(d) <= FEW_BITS and all(_bits(c) <= FEW_BITS for c in row) for d, row in exact):
        return exact
    # The matrix is diagonal, with the pivots as entries, in the coordinates that the rows of `onto` compute.
    onto: list[list[Fraction]] = [list(row) for _, row in exact]
    for k in range(len(onto) - 1, -1, -1):
        for later in range(k + 1, len(onto)):
            c = onto[k][pivots[later]]
            onto[k] = [a - c * b for a, b in zip(onto[k], onto[later], strict=True)] if c else onto[k]
    if any(_bits(c) > FEW_BITS for row in onto for c in row):
        return exact
    rounded = _rounded([[matrix[i][j] for j in pivots] for i in pivots])
    return exact if rounded is None else [(d, _through(row, onto)) for d, row in rounded]


def _bits(number: Fraction) -> int:
    return max(number.numerator.bit_length(), number.denominator.bit_length())


def _through(row: Sequence[Fraction], onto: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    found = [Fraction(0)] * len(onto[0])
    for c, line in zip(row, onto, strict=True):
        if c:
            found = [a + c * b for a, b in zip(found, line, strict=True)]
    return found


def _eliminated(matrix: Sequence[Sequence[Fraction]]) -> tuple[list[Square] | None, list[int]]:
    """Return squares, the largest pivots first, and the positions of the pivots."""
    left, found, pivots = [[*row] for row in matrix], list[Square](), list[int]()
    while left:
        pivot = max(range(len(left)), key=lambda k: left[k][k])
        d = left[pivot][pivot]
        if d <= 0:
            return (None if any(map(any, left)) else found), pivots
        row = [entry / d for entry in left[pivot]]
        found.append((d, row))
        pivots.append(pivot)
        left = [[entry - d * row[i] * c for entry, c in zip(line, row, strict=True)] if row[i] else line
                for i, line in enumerate(left)]  # fmt: skip
    return found, pivots


def _rounded(matrix: Sequence[Sequence[Fraction]]) -> list[Square] | None:
    """Return rounded squares of a definite matrix, and squares of one or two coordinates that correct the rounding.

    The remainder of the rounded squares is diagonally dominant.
    """
    size = len(matrix)
    scales = [_power_near_root(matrix[i][i]) for i in range(size)]
    scaled = [[matrix[i][j] / (scales[i] * scales[j]) for j in range(size)] for i in range(size)]
    near: Any = np.array([[float(x) for x in row] for row in scaled])
    least = float(np.linalg.eigvalsh(near)[0])
    if not least > 0:
        return None
    for share, digits in ((s, d) for d in PRECISIONS for s in (0.5, 0.9)):
        try:
            lower: Any = np.linalg.cholesky(near - share * least * np.eye(size))
        except np.linalg.LinAlgError:
            continue
        rows = [[Fraction(round(float(c) * 2**digits), 2**digits) for c in column] for column in lower.T]
        left = [
            [scaled[i][j] - sum(row[i] * row[j] for row in rows if row[i] and row[j]) for j in range(size)]
            for i in range(size)
        ]
        rest = [left[i][i] - sum(abs(x) for j, x in enumerate(left[i]) if j != i) for i in range(size)]
        if min(rest) < 0:
            continue
        small: list[Square] = [(Fraction(1), row) for row in rows]
        for i in range(size):
            small.append((rest[i], [Fraction(int(k == i)) for k in range(size)]))
            for j in range(i):
                sign = 1 if left[i][j] > 0 else -1
                pair = [Fraction(int(k == i) + sign * int(k == j)) for k in range(size)]
                small.append((abs(left[i][j]), pair))
        return [(d, [c * s for c, s in zip(row, scales, strict=True)]) for d, row in small if d]
    return None


def _power_near_root(number: Fraction) -> Fraction:
    """Return a power of 2 near the square root of a number."""
    root = isqrt(int(number * 2**60))
    return Fraction(2) ** (root.bit_length() - 31)
