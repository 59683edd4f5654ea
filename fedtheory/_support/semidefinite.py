"""Positive semidefiniteness decided without rounding: what exact certificates end in."""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

__all__ = ["is_semidefinite", "root"]


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


def root(matrix: Iterable[Iterable[Any]]) -> list[list[float]]:
    """Return the rows v_i of a matrix with ``v_i v_j`` the entry (i, j) of a positive semidefinite matrix of rationals.

    Elimination is exact, so that also a row that is tiny beside others has all digits of doubles.

    >>> from fractions import Fraction
    >>> root([[Fraction(4), Fraction(2)], [Fraction(2), Fraction(2)]])
    [[2.0, 0.0], [1.0, 1.0]]
    """
    left = [[Fraction(entry) for entry in row] for row in matrix]
    rows: list[list[float]] = [[] for _ in left]
    places = list(range(len(left)))
    while places:
        pivot = max(places, key=lambda i: left[i][i])
        height = left[pivot][pivot]
        column = {i: left[i][pivot] for i in places}
        length = math.sqrt(height) if height else 1.0
        for i in range(len(rows)):
            rows[i].append(float(column[i] / height) * length if i in column and height else 0.0)
        places.remove(pivot)
        for i in places:
            if column[i] and height:
                share = column[i] / height
                for j in places:
                    left[i][j] -= share * column[j]
    return rows
