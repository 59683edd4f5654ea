"""Vectors of exact rationals."""

from collections.abc import Sequence
from fractions import Fraction

__all__ = ["Vector", "added", "combination", "difference", "inner", "norm2", "scaled", "vector"]

Vector = tuple[Fraction, ...]


def vector(*numbers: Fraction | int | str) -> Vector:
    """Make a vector of exact rationals.

    Parameters
    ----------
    *numbers
        Whole numbers, fractions, or text such as ``1/2``.

    Returns
    -------
    Vector
        Shape (v,).

    Examples
    --------
    >>> vector(1, "1/2")
    (Fraction(1, 1), Fraction(1, 2))
    """
    return tuple(Fraction(number) for number in numbers)


def inner(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    """Inner product: also a weighted sum of numbers.

    Parameters
    ----------
    left, right
        Shape (v,) each.

    Returns
    -------
    Fraction
        Exact.

    Examples
    --------
    >>> inner(vector(1, 2), vector(5, "1/2"))
    Fraction(6, 1)
    """
    numerator, denominator = 0, 1  # reduced once, not after each sum and product
    for a, b in zip(left, right, strict=True):
        below = a.denominator * b.denominator
        numerator, denominator = numerator * below + a.numerator * b.numerator * denominator, denominator * below
    return Fraction(numerator, denominator)


def norm2(x: Vector) -> Fraction:
    """Squared Euclidean norm.

    Parameters
    ----------
    x
        Shape (v,).

    Returns
    -------
    Fraction
        Exact.

    Examples
    --------
    >>> norm2(vector(2, 3))
    Fraction(13, 1)
    """
    return inner(x, x)


def added(left: Vector, right: Vector) -> Vector:
    """Entrywise sum.

    Parameters
    ----------
    left, right
        Shape (v,) each.

    Returns
    -------
    Vector
        Shape (v,).

    Examples
    --------
    >>> added(vector(2, 3), vector(5, 7))
    (Fraction(7, 1), Fraction(10, 1))
    """
    return tuple(a + b for a, b in zip(left, right, strict=True))


def difference(left: Vector, right: Vector) -> Vector:
    """Entrywise difference.

    Parameters
    ----------
    left, right
        Shape (v,) each.

    Returns
    -------
    Vector
        Shape (v,).

    Examples
    --------
    >>> difference(vector(2, 3), vector(5, 7))
    (Fraction(-3, 1), Fraction(-4, 1))
    """
    return tuple(a - b for a, b in zip(left, right, strict=True))


def scaled(factor: Fraction, x: Vector) -> Vector:
    """Multiple of a vector.

    Parameters
    ----------
    factor
        Any rational.
    x
        Shape (v,).

    Returns
    -------
    Vector
        Shape (v,).

    Examples
    --------
    >>> scaled(Fraction(3, 2), vector(5, 7))
    (Fraction(15, 2), Fraction(21, 2))
    """
    return tuple(factor * entry for entry in x)


def combination(coefficients: Sequence[Fraction], vectors: Sequence[Vector]) -> Vector:
    """Sum of coefficient times vector; there must be at least one vector.

    Parameters
    ----------
    coefficients
        As many as vectors.
    vectors
        Shape (v,) each.

    Returns
    -------
    Vector
        Shape (v,).

    Examples
    --------
    >>> combination(vector("1/2", 3), [vector(2, 4), vector(5, 7)])
    (Fraction(16, 1), Fraction(23, 1))
    """
    return tuple(inner(coefficients, entries) for entries in zip(*vectors, strict=True))
