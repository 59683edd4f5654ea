"""Floating-point numbers with bounds on their rounding errors."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["DIGITS", "Rounded", "one_minus_product"]

DIGITS = 2.0**-40  # relative error, 9.1e-13, up to which a result counts as known
_UNIT = 2.0**-53
_TINY = 2.0**-1072  # a few subnormal numbers
_UNDERFLOW = 1e-290  # products below it may lose digits of their own rounding error
_SPLIT = 2.0**27 + 1
_SLACK = 1 + 2.0**-48  # for the rounding of the error bounds themselves


@dataclass(frozen=True, slots=True, eq=False)
class Rounded:
    """A number (or array) with a bound on its distance from the exact result; NaN stands for no bound.

    Sums, products and quotients keep an error of 0 where they are exact. ``value`` is what plain floating-point
    arithmetic gives.
    """

    value: Any
    error: Any = 0.0

    # NumPy leaves mixed arithmetic to this class, and refuses its own functions, which would lose the error.
    __array_ufunc__ = None

    @staticmethod
    def of(number: Any) -> "Rounded":
        """Return a number, a rational, a tuple of rationals or an array of numbers as the nearest doubles."""
        if isinstance(number, Rounded):
            return number
        if isinstance(number, float) or (isinstance(number, int) and abs(number) < 2**53):
            return Rounded(np.float64(number))
        if isinstance(number, int | Fraction):
            value = np.float64(_nearest(number))
            exact = np.isfinite(value) and Fraction(float(value)) == number
            return Rounded(value, 0.0 if exact else _UNIT * abs(value) + _TINY)
        if isinstance(number, tuple):
            parts = [Rounded.of(part) for part in number]
            return Rounded(np.array([part.value for part in parts]), np.array([part.error for part in parts]))
        return Rounded(np.asarray(number, dtype=np.float64)[()])

    def __add__(self, other: Any) -> "Rounded":
        b = Rounded.of(other)
        total = self.value + b.value
        late = total - self.value
        rounding = (self.value - (total - late)) + (b.value - late)
        return _bounded(total, self.error + b.error, rounding)

    def __mul__(self, other: Any) -> "Rounded":
        b = Rounded.of(other)
        product = self.value * b.value
        spread = abs(self.value) * b.error + self.error * (abs(b.value) + b.error)
        underflow = (abs(product) < _UNDERFLOW) | (self.error != 0) | (b.error != 0)
        lost = _TINY * (underflow & self._may_differ_from_zero() & b._may_differ_from_zero())
        return _bounded(product, spread + lost, _product_rounding(self.value, b.value, product))

    def __truediv__(self, other: Any) -> "Rounded":
        b = Rounded.of(other)
        quotient = self.value / b.value
        product = quotient * b.value
        remainder = (self.value - product) - _product_rounding(quotient, b.value, product)
        room = np.maximum(abs(b.value) - b.error, 0.0)
        lost = _TINY * (((abs(self.value) < _UNDERFLOW) | (b.error != 0)) & self._may_differ_from_zero())
        spread = self.error + abs(quotient) * b.error + abs(remainder) + lost
        underflow = _TINY * (((abs(quotient) < _UNDERFLOW) | (spread != 0)) & self._may_differ_from_zero())
        return _bounded(quotient, spread / room + underflow, 0.0)

    def __pow__(self, exponent: Any) -> "Rounded":
        """Return a power; the exponent counts as exact."""
        p = Rounded.of(exponent).value
        if np.ndim(p) == 0 and p == 2:
            return self * self
        if np.any((p < 0) | (p != np.rint(p))):
            return self.through(lambda x: x**p)
        value = self.value**p
        spread = np.where(value == 0, self.error**p, abs(value) * np.expm1(p * np.log1p(self.error / abs(self.value))))
        rounding = (p != 0) * (
            8 * _UNIT * (abs(value) + spread) + _TINY * self._may_differ_from_zero() * (abs(value) < _UNDERFLOW)
        )
        return _bounded(value, (p != 0) * spread, rounding)

    def through(self, function: Callable[[Any], Any]) -> "Rounded":
        """Return a monotone function of the number, evaluated by NumPy to within two units in the last place."""
        reach = self.error + 2 * _UNIT * abs(self.value) * (self.error > 0)
        low, value, high = (function(x) for x in (self.value - reach, self.value, self.value + reach))
        largest = np.maximum(abs(low), abs(high))
        return _bounded(value, np.maximum(abs(high - value), abs(value - low)), 8 * _UNIT * largest + _TINY)

    def __neg__(self) -> "Rounded":
        return Rounded(-self.value, self.error)

    def __sub__(self, other: Any) -> "Rounded":
        return self + -Rounded.of(other)

    def __rsub__(self, other: Any) -> "Rounded":
        return Rounded.of(other) + -self

    def __rtruediv__(self, other: Any) -> "Rounded":
        return Rounded.of(other) / self

    def __radd__(self, other: Any) -> "Rounded":
        return Rounded.of(other) + self

    def __rmul__(self, other: Any) -> "Rounded":
        return Rounded.of(other) * self

    def __getitem__(self, index: Any) -> "Rounded":
        return Rounded(self.value[index], np.broadcast_to(self.error, np.shape(self.value))[index])

    def __len__(self) -> int:
        return len(self.value)

    def _may_differ_from_zero(self) -> Any:
        return (self.value != 0) | (self.error != 0)

    def known(self) -> Any:
        """Whether the value has its digits, that is a relative error of at most ``DIGITS``; entry by entry."""
        return np.isfinite(self.value) & (self.error <= DIGITS * abs(self.value))

    def sharp(self) -> Any:
        """Whether the value is good to 32 units in the last place; entry by entry."""
        return self.error <= 64 * _UNIT * abs(self.value)

    def better(self, other: "Rounded") -> "Rounded":
        """Return this number where it is sharp, elsewhere the one of smaller error."""
        mine = self.sharp() | np.isnan(other.error) | (self.error <= other.error)
        return Rounded(np.where(mine, self.value, other.value)[()], np.where(mine, self.error, other.error)[()])

    def outward(self, side: str) -> Any:
        """Return the value where it is known, and elsewhere the end of its interval on the honest side.

        An upper bound is rounded up, a lower bound down; where nothing is known, to infinity of that sign.
        """
        sign = {"upper": 1.0, "lower": -1.0}[side]
        end = self.value + sign * self.error
        nothing = np.isnan(end) | (end == -sign * np.inf)
        # The end was rounded itself: the next number is beyond it.
        beyond = np.where(nothing, sign * np.inf, np.nextafter(end, sign * np.inf))
        return _plain(np.where(self.known(), self.value, beyond))

    def plain(self) -> Any:
        """Return the value alone, a float or an array."""
        return _plain(self.value)


def one_minus_product(a: Rounded, b: Rounded) -> Rounded:
    """Return ``1 - a b``; close to ``a b = 1`` the rounding of the product is known exactly, and taken back."""
    plain = 1 - a * b
    product = a.value * b.value
    value = (1.0 - product) - _product_rounding(a.value, b.value, product)
    # Between 1/2 and 2 the difference from 1 is exact, so that only the last sum rounds.
    exact = (product >= 0.5) & (product <= 2.0) & (a.error == 0) & (b.error == 0)
    error = np.where(exact, 2 * _UNIT * abs(value) + _TINY, np.nan)[()]
    return plain.better(Rounded(value, error))


def _plain(value: Any) -> Any:
    return value if np.ndim(value) else float(np.float64(value))


def _bounded(value: Any, error: Any, rounding: Any) -> Rounded:
    return Rounded(value, (error + abs(rounding)) * _SLACK)


def _product_rounding(a: Any, b: Any, product: Any) -> Any:
    # Dekker's exact difference a b - product; NaN beyond 1e299.
    a_high, b_high = _high(a), _high(b)
    a_low, b_low = a - a_high, b - b_high
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _high(a: Any) -> Any:
    scaled = _SPLIT * a
    return scaled - (scaled - a)


def _nearest(number: int | Fraction) -> float:
    try:
        return float(Fraction(number))
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")
