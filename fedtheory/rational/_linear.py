"""Matrices of rationals: systems of equations, products and powers."""

from collections.abc import Sequence
from fractions import Fraction

from fedtheory.rational.vectors import Vector, inner

__all__: list[str] = []

Matrix = tuple[Vector, ...]


def identity(dim: int) -> Matrix:
    """Return the identity of some number of rows."""
    return tuple(tuple(Fraction(int(i == j)) for j in range(dim)) for i in range(dim))


def product(left: Matrix, right: Matrix) -> Matrix:
    """Return the product of matrices of shapes (n, k) and (k, m)."""
    columns = list(zip(*right, strict=True))
    return tuple(tuple(inner(row, column) for column in columns) for row in left)


def solved(rows: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> Vector:
    """Return the only solution of a square system of equations; a ``ValueError`` if there is none, or more than one.

    ``x + y = 3`` and ``x - y = 1``:

    >>> one = Fraction(1)
    >>> solved([[one, one], [one, -one]], [Fraction(3), one])
    (Fraction(2, 1), Fraction(1, 1))
    """
    table = [[*row, value] for row, value in zip(rows, right, strict=True)]
    for column in range(len(table)):
        pivot = next((i for i in range(column, len(table)) if table[i][column]), None)
        if pivot is None:
            message = "a system must have one solution, got none or many"
            raise ValueError(message)
        table[column], table[pivot] = table[pivot], table[column]
        table[column] = [entry / table[column][column] for entry in table[column]]
        for i, row in enumerate(table):
            if i != column and row[column]:
                table[i] = [a - row[column] * b for a, b in zip(row, table[column], strict=True)]
    return tuple(row[-1] for row in table)
