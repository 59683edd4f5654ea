"""Arrays of numbers with 31 digits, and linear algebra for the interior-point method.

A number is an unevaluated sum of two doubles (Dekker 1971; Hida, Li and Bailey 2001). Relative errors are about 2^-104,
and the range is that of doubles. Functions also accept arrays of doubles, so that the same code works in both
arithmetics.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any, final

import numpy as np

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


@final
class DoubleDouble:
    """An array of sums ``high + low``, where ``|low|`` is at most half a unit in the last place of ``high``."""

    __slots__ = ("high", "low")
    __array_ufunc__ = None  # operators with a NumPy array on the left call the methods of this class

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
        """Return the flattened numbers as rationals, without rounding."""
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
        return _elementwise("add", self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> DoubleDouble:
        return _elementwise("add", self, -widened(other))

    def __rsub__(self, other: Any) -> DoubleDouble:
        return _elementwise("add", -self, other)

    def __mul__(self, other: Any) -> DoubleDouble:
        return _elementwise("product", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> DoubleDouble:
        return _elementwise("quotient", self, other)

    def __rtruediv__(self, other: Any) -> DoubleDouble:
        return _elementwise("quotient", widened(other), self)

    def __matmul__(self, other: DoubleDouble) -> DoubleDouble:
        inner, before, after = self.shape[-1], self.shape[:-1], other.shape[1:]
        rows, columns = self.reshape(math.prod(before), inner), other.reshape(inner, math.prod(after))
        return DoubleDouble(*_kernels().matmul(*_parts(rows), *_parts(columns))).reshape(*before, *after)


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

    Examples
    --------
    >>> L = cholesky(DoubleDouble([[4.0, 2.0], [2.0, 5.0]]))
    >>> L.high.tolist(), L.low.tolist()
    ([[2.0, 0.0], [1.0, 2.0]], [[0.0, 0.0], [0.0, 0.0]])
    """
    if not isinstance(matrix, DoubleDouble):
        return np.linalg.cholesky(matrix)
    high, low, definite = _kernels().cholesky(*_parts(matrix))
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
    return DoubleDouble(*_kernels().squares(*_parts(rows))) if isinstance(rows, DoubleDouble) else rows @ rows.T


def triangle_of(parts: Sequence[Numbers]) -> Numbers:
    """Return the lower triangle L with ``L L' = sum part part'``, shapes (m, n) of parts and (m, m).

    If the products are not accurate enough, the triangle is computed from the parts by orthogonalization.

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
    """Return the triangle by orthogonalization of the rows."""
    if not any(isinstance(part, DoubleDouble) for part in parts):
        upper: Any = np.linalg.qr(np.concatenate(parts, axis=1).T, mode="r")
        return upper.T
    high, low = (np.concatenate(side, axis=1) for side in zip(*(_parts(widened(part)) for part in parts), strict=True))
    return DoubleDouble(*_kernels().orthogonalized(high, low))


def root_of(numbers: Numbers) -> Numbers:
    """Return square roots of nonnegative numbers.

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
    if transposed:  # with rows and columns reversed, L' is lower triangular
        return _solved(triangle.T[::-1, ::-1], right[::-1], transposed=False)[::-1]
    columns = right.reshape(right.shape[0], math.prod(right.shape[1:]))
    return DoubleDouble(*_kernels().substituted(*_parts(triangle), *_parts(columns))).reshape(*right.shape)


def _parts(numbers: DoubleDouble) -> tuple[Array, Array]:
    """Return both parts as contiguous arrays."""
    return np.ascontiguousarray(numbers.high), np.ascontiguousarray(numbers.low)


def _elementwise(operation: str, left: DoubleDouble, other: Any) -> DoubleDouble:
    """Apply a compiled elementwise operation."""
    right = widened(other)
    return DoubleDouble(*getattr(_kernels(), operation).py_func(left.high, left.low, right.high, right.low))


def _kernels() -> Any:
    """Import the compiled functions, and numba, on first use."""
    from fedtheory.worst_case import _double_double_kernels

    return _double_double_kernels
