"""Matrices of rationals: systems of equations, products and powers."""

from collections.abc import Sequence
from fractions import Fraction

from fedtheory.rational.vectors import Vector, inner

__all__ = ["Matrix", "identity", "product", "solved"]

Matrix = tuple[Vector, ...]


def identity(dim: int) -> Matrix:
    """Return the identity.

    Parameters
    ----------
    dim
        Rows.

    Returns
    -------
    Matrix
        Shape (dim, dim).

    Examples
    --------
    >>> identity(1)
    ((Fraction(1, 1),),)
    """
    return tuple(tuple(Fraction(int(i == j)) for j in range(dim)) for i in range(dim))


def product(left: Matrix, right: Matrix) -> Matrix:
    """Return the product of two matrices.

    Parameters
    ----------
    left, right
        Shapes (n, k) and (k, m).

    Returns
    -------
    Matrix
        Shape (n, m).

    Raises
    ------
    ValueError
        If the shapes do not fit.

    Examples
    --------
    >>> product(identity(1), ((Fraction(7),),))
    ((Fraction(7, 1),),)
    """
    columns = list(zip(*right, strict=True))
    return tuple(tuple(inner(row, column) for column in columns) for row in left)


def solved(rows: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> Vector:
    """Solve a square system of equations.

    Parameters
    ----------
    rows
        The matrix, shape (n, n).
    right
        Shape (n,).

    Returns
    -------
    Vector
        The only solution.

    Raises
    ------
    ValueError
        If there is none, or more than one.

    Examples
    --------
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
