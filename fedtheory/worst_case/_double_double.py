"""Arrays of numbers of 31 digits, and the linear algebra of an interior-point method for them.

A number is an unevaluated sum of two doubles (Dekker 1971; Hida, Li and Bailey 2001): relative errors are near 2^-104,
and the range is that of doubles. Functions accept arrays of doubles as well, so that the same code runs in both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any, final

import numpy as np

from fedtheory._support.compiling import compiled
from fedtheory._support.validate import Array

__all__ = [
    "DoubleDouble",
    "Numbers",
    "cholesky",
    "root_of",
    "rounded",
    "solve_lower",
    "solve_upper",
    "squares",
    "triangle_of",
    "widened",
]

_SPLITTER = 134217729.0  # 2^27 + 1 cuts a double into halves whose products are exact


@final
class DoubleDouble:
    """An array of sums ``high + low`` with ``|low|`` at most half a unit in the last place of ``high``."""

    __slots__ = ("high", "low")
    __array_ufunc__ = None  # operators with an array on the left call the methods of this class

    def __init__(self, high: Any, low: Any = None) -> None:
        self.high: Array = np.asarray(high, dtype=float)
        self.low: Array = np.zeros_like(self.high) if low is None else np.asarray(low, dtype=float)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self.high.shape

    @property
    def T(self) -> DoubleDouble:  # noqa: N802, as numpy calls it
        """The transposed array."""
        return DoubleDouble(self.high.T, self.low.T)

    def reshape(self, *shape: int) -> DoubleDouble:
        """Return the same numbers in another shape."""
        return DoubleDouble(self.high.reshape(*shape), self.low.reshape(*shape))

    def swapaxes(self, first: int, second: int) -> DoubleDouble:
        """Return the array with two axes exchanged."""
        return DoubleDouble(self.high.swapaxes(first, second), self.low.swapaxes(first, second))

    def fractions(self) -> list[Fraction]:
        """Return the numbers, flattened, as rationals, without rounding."""
        if np.isnan(self.high).any():
            message = "rationals must come from numbers, got some that are not"
            raise FloatingPointError(message)
        pairs = zip(self.high.ravel().tolist(), self.low.ravel().tolist(), strict=True)
        return [Fraction(high) + Fraction(low) for high, low in pairs]

    def __getitem__(self, key: Any) -> DoubleDouble:
        return DoubleDouble(self.high[key], self.low[key])

    def __neg__(self) -> DoubleDouble:
        return DoubleDouble(-self.high, -self.low)

    def __add__(self, other: Any) -> DoubleDouble:
        return _elementwise(_sum, self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> DoubleDouble:
        return _elementwise(_sum, self, -widened(other))

    def __rsub__(self, other: Any) -> DoubleDouble:
        return _elementwise(_sum, -self, other)

    def __mul__(self, other: Any) -> DoubleDouble:
        return _elementwise(_product, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> DoubleDouble:
        return _elementwise(_quotient, self, other)

    def __rtruediv__(self, other: Any) -> DoubleDouble:
        return _elementwise(_quotient, widened(other), self)

    def __matmul__(self, other: DoubleDouble) -> DoubleDouble:
        inner, before, after = self.shape[-1], self.shape[:-1], other.shape[1:]
        rows, columns = self.reshape(math.prod(before), inner), other.reshape(inner, math.prod(after))
        return DoubleDouble(*_matmul(*_parts(rows), *_parts(columns))).reshape(*before, *after)


Numbers = Any
"""An array of doubles, or a ``DoubleDouble``."""


def rounded(numbers: Numbers) -> Array:
    """Return the nearest doubles.

    >>> float(rounded(DoubleDouble(1.0) / DoubleDouble(3.0)))
    0.3333333333333333
    """
    return numbers.high if isinstance(numbers, DoubleDouble) else numbers


def cholesky(matrix: Numbers) -> Numbers:
    """Return the lower triangle L with ``L L' = matrix``, shape (n, n).

    Raises
    ------
    LinAlgError
        If the matrix is not positive definite in this arithmetic.

    Examples
    --------
    >>> L = cholesky(DoubleDouble([[4.0, 2.0], [2.0, 5.0]]))
    >>> L.high.tolist(), L.low.tolist()
    ([[2.0, 0.0], [1.0, 2.0]], [[0.0, 0.0], [0.0, 0.0]])
    """
    if not isinstance(matrix, DoubleDouble):
        return np.linalg.cholesky(matrix)
    high, low, definite = _cholesky(*_parts(matrix))
    if not definite:
        message = "a matrix must be positive definite for its triangle"
        raise np.linalg.LinAlgError(message)
    return DoubleDouble(high, low)


def solve_lower(triangle: Numbers, right: Numbers) -> Numbers:
    """Solve ``L X = right`` for a lower triangle L, shapes (n, n), (n,) or (n, r).

    >>> solve_lower(DoubleDouble([[2.0, 0.0], [1.0, 4.0]]), DoubleDouble([2.0, 9.0])).high.tolist()
    [1.0, 2.0]
    """
    return _solved(triangle, right, transposed=False)


def solve_upper(triangle: Numbers, right: Numbers) -> Numbers:
    """Solve ``L' X = right`` for a lower triangle L, shapes (n, n), (n,) or (n, r).

    >>> solve_upper(DoubleDouble([[2.0, 0.0], [1.0, 4.0]]), DoubleDouble([4.0, 8.0])).high.tolist()
    [1.0, 2.0]
    """
    return _solved(triangle, right, transposed=True)


def squares(rows: Numbers) -> Numbers:
    """Return the inner products of rows, shape (m, n) to (m, m).

    >>> squares(DoubleDouble([[1.0, 2.0], [3.0, 4.0]])).high.tolist()
    [[5.0, 11.0], [11.0, 25.0]]
    """
    return DoubleDouble(*_squares(*_parts(rows))) if isinstance(rows, DoubleDouble) else rows @ rows.T


def triangle_of(parts: Sequence[Numbers]) -> Numbers:
    """Return the lower triangle L with ``L L' = sum part part'``, shapes (m, n) of parts and (m, m).

    If the products have too few digits, the triangle is computed from the parts by orthogonalization.

    Raises
    ------
    LinAlgError
        If the rows are not linearly independent in this arithmetic.

    Examples
    --------
    >>> triangle_of([DoubleDouble([[3.0]]), DoubleDouble([[4.0]])]).high.tolist()
    [[5.0]]
    """
    try:
        return cholesky(reduce(add, map(squares, parts)))
    except np.linalg.LinAlgError:
        triangle = _by_rows(parts)
    diagonal, smallest = rounded(triangle).diagonal(), 1e-30 if isinstance(triangle, DoubleDouble) else 1e-15
    if not (np.abs(diagonal) > smallest * np.abs(rounded(triangle)).max(axis=1, initial=0.0)).all():
        message = "rows must be linearly independent"
        raise np.linalg.LinAlgError(message)
    return triangle


def _by_rows(parts: Sequence[Numbers]) -> Numbers:
    """Return the triangle from the rows themselves."""
    if not any(isinstance(part, DoubleDouble) for part in parts):
        upper: Any = np.linalg.qr(np.concatenate(parts, axis=1).T, mode="r")
        return upper.T
    high, low = (np.concatenate(side, axis=1) for side in zip(*(_parts(widened(part)) for part in parts), strict=True))
    return DoubleDouble(*_orthogonalized(high, low))


def root_of(numbers: Numbers) -> Numbers:
    """Return square roots of numbers that are not negative.

    >>> (root_of(DoubleDouble([2.0])) * root_of(DoubleDouble([2.0])) - 2.0).high.round(30).tolist()
    [0.0]
    """
    if not isinstance(numbers, DoubleDouble):
        return np.sqrt(numbers)
    rough = np.sqrt(numbers.high)
    missing = numbers - DoubleDouble(rough) * DoubleDouble(rough)
    return DoubleDouble(rough) + missing.high / np.where(rough > 0, 2 * rough, 1.0)


def widened(numbers: Any) -> DoubleDouble:
    """Return doubles as pairs of doubles; pairs are returned unchanged.

    >>> widened([1.0, 2.0]).low.tolist()
    [0.0, 0.0]
    """
    return numbers if isinstance(numbers, DoubleDouble) else DoubleDouble(numbers)


def _solved(triangle: Numbers, right: Numbers, *, transposed: bool) -> Numbers:
    """Solve by substitution."""
    from scipy.linalg.lapack import dtrtrs

    if not right.shape[0]:
        return right
    if not isinstance(triangle, DoubleDouble):
        found: Array = dtrtrs(triangle, right, lower=True, trans=transposed)[0]
        return found
    if transposed:  # read backwards, L' is a lower triangle, too
        return _solved(triangle.T[::-1, ::-1], right[::-1], transposed=False)[::-1]
    columns = right.reshape(right.shape[0], math.prod(right.shape[1:]))
    return DoubleDouble(*_substituted(*_parts(triangle), *_parts(columns))).reshape(*right.shape)


def _parts(numbers: DoubleDouble) -> tuple[Array, Array]:
    """Return both parts as contiguous arrays."""
    return np.ascontiguousarray(numbers.high), np.ascontiguousarray(numbers.low)


def _elementwise(operation: Any, left: DoubleDouble, other: Any) -> DoubleDouble:
    """Apply an operation to all pairs of numbers."""
    right = widened(other)
    return DoubleDouble(*operation.py_func(left.high, left.low, right.high, right.low))


@compiled
def _sum(a: float, al: float, b: float, bl: float) -> tuple[float, float]:
    """Add two numbers."""
    s = a + b
    t = s - a
    e = (a - (s - t)) + (b - t)
    u = al + bl
    t = u - al
    f = (al - (u - t)) + (bl - t)
    e += u
    h = s + e
    e = e - (h - s)
    e += f
    s = h + e
    return s, e - (s - h)


@compiled
def _product(a: float, al: float, b: float, bl: float) -> tuple[float, float]:
    """Multiply two numbers."""
    p = a * b
    t = _SPLITTER * a
    ah = t - (t - a)
    ar = a - ah
    t = _SPLITTER * b
    bh = t - (t - b)
    br = b - bh
    e = ((ah * bh - p) + ah * br + ar * bh) + ar * br
    e += a * bl + al * b
    h = p + e
    return h, e - (h - p)


@compiled
def _quotient(a: float, al: float, b: float, bl: float) -> tuple[float, float]:
    """Divide two numbers by a step of Newton's method."""
    q = a / b
    h, low = _product(b, bl, q, 0.0)
    h, low = _sum(a, al, -h, -low)
    e = (h + low) / b
    s = q + e
    return s, e - (s - q)


@compiled
def _root(a: float, al: float) -> tuple[float, float]:
    """Take the square root of a positive number by a step of Newton's method."""
    root = np.sqrt(a)
    h, low = _product(root, 0.0, root, 0.0)
    h, low = _sum(a, al, -h, -low)
    e = h / (2 * root)
    s = root + e
    return s, e - (s - root)


@compiled
def _matmul(a: Array, al: Array, b: Array, bl: Array) -> tuple[Array, Array]:
    rows, inner = a.shape
    columns = b.shape[1]
    c, cl = np.zeros((rows, columns)), np.zeros((rows, columns))
    for i in range(rows):
        for k in range(inner):
            if a[i, k] != 0.0:
                for j in range(columns):
                    h, low = _product(a[i, k], al[i, k], b[k, j], bl[k, j])
                    c[i, j], cl[i, j] = _sum(c[i, j], cl[i, j], h, low)
    return c, cl


@compiled
def _squares(a: Array, al: Array) -> tuple[Array, Array]:
    rows, inner = a.shape
    b, bl = np.ascontiguousarray(a.T), np.ascontiguousarray(al.T)
    c, cl = np.zeros((rows, rows)), np.zeros((rows, rows))
    for i in range(rows):
        for k in range(inner):
            if a[i, k] != 0.0:
                for j in range(i + 1):
                    h, low = _product(a[i, k], al[i, k], b[k, j], bl[k, j])
                    c[i, j], cl[i, j] = _sum(c[i, j], cl[i, j], h, low)
    for i in range(rows):
        for j in range(i):
            c[j, i], cl[j, i] = c[i, j], cl[i, j]
    return c, cl


@compiled
def _orthogonalized(rows: Array, rows_low: Array) -> tuple[Array, Array]:
    """Triangle of the modified method of Gram and Schmidt."""
    size, inner = rows.shape
    a, al = rows.copy(), rows_low.copy()
    t, tl = np.zeros((size, size)), np.zeros((size, size))
    for k in range(size):
        s, sl = 0.0, 0.0
        for i in range(inner):
            h, low = _product(a[k, i], al[k, i], a[k, i], al[k, i])
            s, sl = _sum(s, sl, h, low)
        if not s > 0.0:
            return t, tl
        t[k, k], tl[k, k] = _root(s, sl)
        for i in range(inner):
            a[k, i], al[k, i] = _quotient(a[k, i], al[k, i], t[k, k], tl[k, k])
        for j in range(k + 1, size):
            s, sl = 0.0, 0.0
            for i in range(inner):
                h, low = _product(a[k, i], al[k, i], a[j, i], al[j, i])
                s, sl = _sum(s, sl, h, low)
            t[j, k], tl[j, k] = s, sl
            for i in range(inner):
                h, low = _product(a[k, i], al[k, i], s, sl)
                a[j, i], al[j, i] = _sum(a[j, i], al[j, i], -h, -low)
    return t, tl


@compiled
def _cholesky(matrix: Array, matrix_low: Array) -> tuple[Array, Array, bool]:
    size = len(matrix)
    a, al = matrix.copy(), matrix_low.copy()
    for k in range(size):
        for j in range(k + 1, size):
            a[k, j], al[k, j] = 0.0, 0.0
        if not a[k, k] > 0.0:
            return a, al, False
        a[k, k], al[k, k] = _root(a[k, k], al[k, k])
        for i in range(k + 1, size):
            a[i, k], al[i, k] = _quotient(a[i, k], al[i, k], a[k, k], al[k, k])
        for i in range(k + 1, size):
            for j in range(k + 1, i + 1):
                h, low = _product(a[i, k], al[i, k], a[j, k], al[j, k])
                a[i, j], al[i, j] = _sum(a[i, j], al[i, j], -h, -low)
    return a, al, True


@compiled
def _substituted(a: Array, al: Array, right: Array, right_low: Array) -> tuple[Array, Array]:
    size, columns = right.shape
    x, xl = right.copy(), right_low.copy()
    for k in range(size):
        for j in range(columns):
            x[k, j], xl[k, j] = _quotient(x[k, j], xl[k, j], a[k, k], al[k, k])
        for i in range(k + 1, size):
            for j in range(columns):
                h, low = _product(a[i, k], al[i, k], x[k, j], xl[k, j])
                x[i, j], xl[i, j] = _sum(x[i, j], xl[i, j], -h, -low)
    return x, xl
