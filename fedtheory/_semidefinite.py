"""Positive semidefiniteness decided without rounding: what exact certificates end in."""

import math
from collections.abc import Iterable
from typing import Any

__all__ = ["is_semidefinite"]


def is_semidefinite(matrix: Iterable[Iterable[Any]]) -> bool:
    """Whether a symmetric matrix of rationals or integers is positive semidefinite, by elimination without fractions.

    The largest diagonal entry left is the pivot; a pivot of 0 demands that nothing else is left.

    >>> from fractions import Fraction
    >>> is_semidefinite([[Fraction(1), Fraction(2)], [Fraction(2), Fraction(4)]])
    True
    >>> is_semidefinite([[1, 2], [2, 3]])
    False
    """
    rows = [list(row) for row in matrix]
    scale = math.lcm(*(entry.denominator for row in rows for entry in row))
    left = [[int(entry * scale) for entry in row] for row in rows]
    previous = 1
    while left:
        place = max(range(len(left)), key=lambda i: left[i][i])
        pivot, pivot_row = left[place][place], left[place]
        if pivot <= 0:
            return not any(entry for row in left for entry in row)
        others = [i for i in range(len(left)) if i != place]
        # Bareiss: the division is exact, so that entries stay minors of the matrix.
        left = [[(pivot * left[i][j] - left[i][place] * pivot_row[j]) // previous for j in others] for i in others]
        previous = pivot
    return True
