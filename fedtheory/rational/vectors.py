"""Vectors and matrices of exact rationals, and systems of equations."""

from collections.abc import Sequence
from fractions import Fraction
from numbers import Rational
from typing import Any

from fedtheory._support.wording import short

__all__ = ["combination", "difference", "inner", "scaled"]

Vector = tuple[Fraction, ...]

# What entries that are no rationals, or too few of them, raise in a sum: nothing is looked at before it is used.
_UNFIT = (AttributeError, TypeError, ValueError)


def vector(*numbers: Fraction | int | str) -> Vector:
    """Make a vector of exact rationals.

    >>> vector(1, "1/2")
    (Fraction(1, 1), Fraction(1, 2))
    """
    return tuple(map(_fraction, numbers))


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

    Raises
    ------
    TypeError, ValueError
        If something is no vector of rationals, or the sizes differ.

    Examples
    --------
    >>> inner(vector(1, 2), vector(5, "1/2"))
    Fraction(6, 1)
    """
    _check_sequences(left, right)
    numerator, denominator = 0, 1  # reduced once, not after each sum and product
    try:
        for a, b in zip(left, right, strict=True):
            below = a.denominator * b.denominator
            numerator, denominator = numerator * below + a.numerator * b.numerator * denominator, denominator * below
        return Fraction(numerator, denominator)
    except _UNFIT as error:
        raise _refusal(left, right) from error


def norm2(x: Vector) -> Fraction:
    """Squared Euclidean norm.

    >>> norm2(vector(2, 3))
    Fraction(13, 1)
    """
    return inner(x, x)


def added(left: Vector, right: Vector) -> Vector:
    """Entrywise sum.

    >>> added(vector(2, 3), vector(5, 7))
    (Fraction(7, 1), Fraction(10, 1))
    """
    _check_sequences(left, right)
    try:
        return tuple(a + b for a, b in zip(left, right, strict=True))
    except _UNFIT as error:
        raise _refusal(left, right) from error


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

    Raises
    ------
    TypeError, ValueError
        If something is no vector of rationals, or the sizes differ.

    Examples
    --------
    >>> difference(vector(2, 3), vector(5, 7))
    (Fraction(-3, 1), Fraction(-4, 1))
    """
    _check_sequences(left, right)
    try:
        return tuple(a - b for a, b in zip(left, right, strict=True))
    except _UNFIT as error:
        raise _refusal(left, right) from error


def scaled(factor: Fraction | int, x: Vector) -> Vector:
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

    Raises
    ------
    TypeError, ValueError
        If something is no vector of rationals, or the sizes differ.

    Examples
    --------
    >>> scaled(Fraction(3, 2), vector(5, 7))
    (Fraction(15, 2), Fraction(21, 2))
    """
    _check_sequences(x)
    _check_factor(factor)
    try:
        return tuple(factor * entry for entry in x)
    except _UNFIT as error:
        raise _refusal(x) from error


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

    Raises
    ------
    TypeError, ValueError
        If something is no vector of rationals, or the sizes differ.

    Examples
    --------
    >>> combination(vector("1/2", 3), [vector(2, 4), vector(5, 7)])
    (Fraction(16, 1), Fraction(23, 1))
    """
    _check_sequences(coefficients, vectors)
    try:
        entries = list(zip(*vectors, strict=True))
    except _UNFIT as error:
        raise _refusal(*vectors) from error
    return tuple(inner(coefficients, each) for each in entries)


def _fraction(number: Any) -> Fraction:
    if isinstance(number, bool) or not isinstance(number, Rational | str):
        message = f"numbers must be rationals or text such as 1/2, got {short(number)} of type {type(number).__name__}"
        raise TypeError(message)
    try:
        return Fraction(number)
    except (ValueError, ZeroDivisionError) as error:
        message = f"numbers must be rationals or text such as 1/2, got {short(number)}"
        raise ValueError(message) from error


def _check_factor(factor: Any) -> None:
    if isinstance(factor, bool) or not isinstance(factor, int | Fraction):
        message = f"factor must be a rational number, got {short(factor)} of type {type(factor).__name__}"
        raise TypeError(message)


def _check_sequences(*given: Any) -> None:
    for one in given:
        if not isinstance(one, tuple | list):
            raise _refusal(one)


def _refusal(*given: Any) -> ValueError:
    return ValueError(f"vectors must be equally many rationals, as of vector(1, 2), got {', '.join(map(short, given))}")


Matrix = tuple[Vector, ...]


def identity(dim: int) -> Matrix:
    """Return the identity of some number of rows."""
    return tuple(tuple(Fraction(int(i == j)) for j in range(dim)) for i in range(dim))


def product(left: Matrix, right: Matrix) -> Matrix:
    """Return the product of matrices of shapes (n, k) and (k, m)."""
    columns = list(zip(*right, strict=True))
    return tuple(tuple(inner(row, column) for column in columns) for row in left)
