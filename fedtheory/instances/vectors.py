"""Vectors of exact rationals, with arithmetic operations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from numbers import Rational
from typing import Any, final

from fedtheory._support.values import to_fraction
from fedtheory._support.wording import truncate

__all__ = ["Vector", "combination", "vector"]

EXACT = frozenset((int, Fraction))


@final
class Vector(tuple[Fraction, ...]):
    """A tuple of rationals with ``v + w``, ``v - w``, ``a * v``, ``v / a`` and the inner product ``v @ w``.

    Entries and factors are integers or fractions. A float raises a ``TypeError``, since results from a rounded number
    would appear to be exact. Vectors of different sizes raise a ``ValueError``.

    >>> v, w = vector(1, "1/2"), vector(3, 2)
    >>> print(v + w, v - w, 2 * v, v / 2, v @ w)
    (4, 5/2) (-2, -3/2) (2, 1) (1/2, 1/4) 4
    """

    __slots__ = ()
    __array_ufunc__ = None  # a NumPy integer times a vector is computed here, not by NumPy

    def __new__(cls, entries: Iterable[Any]) -> Vector:
        """Keep fractions, and convert integers and text to fractions."""
        made = super().__new__(cls, entries)
        return made if all(type(entry) is Fraction for entry in made) else super().__new__(cls, map(_fraction, made))

    def __str__(self) -> str:
        return f"({', '.join(map(str, self))})"

    def __add__(self, other: Any) -> Vector:
        return Vector(a + b for a, b in _pairs(self, other)) if isinstance(other, tuple | list) else NotImplemented

    def __radd__(self, other: Any) -> Vector:
        return self if type(other) is int and other == 0 else self.__add__(other)  # sum() begins with 0

    def __sub__(self, other: Any) -> Vector:
        return Vector(a - b for a, b in _pairs(self, other)) if isinstance(other, tuple | list) else NotImplemented

    def __rsub__(self, other: Any) -> Vector:
        return Vector(other) - self if isinstance(other, tuple | list) else NotImplemented

    def __mul__(self, factor: Any) -> Vector:
        if type(factor) is not Fraction:
            if isinstance(factor, bool) or not isinstance(factor, Rational):
                return NotImplemented
            factor = to_fraction(factor)
        return Vector(factor * entry for entry in self)

    def __rmul__(self, factor: Any) -> Vector:
        return self.__mul__(factor)

    def __truediv__(self, divisor: Any) -> Vector:
        return self * (1 / to_fraction(divisor)) if isinstance(divisor, Rational) else NotImplemented

    def __matmul__(self, other: Any) -> Fraction:
        return inner(self, other) if isinstance(other, tuple | list) else NotImplemented


def vector(*numbers: Fraction | int | str) -> Vector:
    """Make a vector of exact rationals from integers, fractions, or text such as ``"1/2"``.

    >>> vector(1, "1/2")
    (Fraction(1, 1), Fraction(1, 2))
    """
    return Vector(map(_fraction, numbers))


def inner(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    """Return the sum of the products of two sequences, such as weights and numbers.

    >>> inner([1, 2], vector(5, "1/2"))
    Fraction(6, 1)
    """
    numerator, denominator = 0, 1  # reduced once, not after each sum and product
    try:
        for a, b in zip(_known(left), _known(right), strict=True):
            below = a.denominator * b.denominator
            numerator, denominator = numerator * below + a.numerator * b.numerator * denominator, denominator * below
        return Fraction(numerator, denominator)
    except (AttributeError, TypeError, ValueError) as error:
        raise _unequal(left, right) from error


def _known(numbers: Sequence[Any]) -> Sequence[Fraction | int]:
    return numbers if EXACT.issuperset(map(type, numbers)) else Vector(numbers)


def norm2(x: Sequence[Fraction]) -> Fraction:
    """Squared Euclidean norm."""
    return inner(x, x)


def combination(coefficients: Sequence[Fraction], vectors: Sequence[Vector]) -> Vector:
    """Linear combination of at least one vector.

    >>> combination(vector("1/2", 3), [vector(2, 4), vector(5, 7)])
    (Fraction(16, 1), Fraction(23, 1))
    """
    if not vectors:
        raise _unequal(coefficients, vectors)
    try:
        entries = list(zip(*vectors, strict=True))
    except (TypeError, ValueError) as error:
        raise _unequal(*vectors) from error
    return Vector(inner(coefficients, each) for each in entries)


def total(vectors: Sequence[Vector]) -> Vector:
    """Sum of some vectors."""
    return combination([Fraction(1)] * len(vectors), vectors)


def average(vectors: Sequence[Vector]) -> Vector:
    """Plain mean of some vectors."""
    return combination([Fraction(1, len(vectors))] * len(vectors), vectors)


def _fraction(number: Any) -> Fraction:
    if isinstance(number, bool) or not isinstance(number, Rational | str):
        message = f"numbers must be rationals or text such as 1/2, got {truncate(number)}"
        raise TypeError(message)
    try:
        return to_fraction(number) if isinstance(number, Rational) else Fraction(number)
    except (ValueError, ZeroDivisionError) as error:
        message = f"numbers must be rationals or text such as 1/2, got {truncate(number)}"
        raise ValueError(message) from error


def _pairs(left: Vector, right: Any) -> Iterable[tuple[Fraction, Fraction]]:
    """Yield pairs of the entries of two vectors of one size."""
    if len(left) != len(right):
        raise _unequal(left, right)
    return zip(left, right if type(right) is Vector else Vector(right), strict=True)


def _unequal(*given: Any) -> ValueError:
    return ValueError(
        f"vectors must be equally many rationals, like vector(1, 2), got {', '.join(map(truncate, given))}"
    )
