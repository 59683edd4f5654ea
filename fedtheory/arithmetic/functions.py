"""Functions used in formulas of bounds, for numbers, arrays, exact rationals and symbols."""

import math
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from fedtheory._support import validate
from fedtheory._support.wording import format_number, truncate
from fedtheory.arithmetic.rounding import Rounded, one_minus_product

__all__ = ["geometric", "maximum", "mean", "short_of_one", "square_root", "total"]

_MOST_BITS = 2**28
_SMALL = 2.0**-27


def maximum(left: Any, right: Any) -> Any:
    """Larger of two numbers, arrays (entrywise), exact rationals or SymPy expressions; a Fraction if either is one.

    >>> maximum(2.5, 2), maximum(Fraction(5, 2), 3)
    (2.5, Fraction(3, 1))
    """
    if _is_symbolic(left) or _is_symbolic(right):
        from sympy import Max

        return Max(left, right)
    if isinstance(left, Rounded) or isinstance(right, Rounded):
        a, b = Rounded.of(left), Rounded.of(right)
        # A surely larger argument contributes only its error; twice covers the rounding of the comparison.
        ahead, unsure = a.value - b.value, 2 * (a.error + b.error)
        error = np.where(ahead > unsure, a.error, np.where(-ahead > unsure, b.error, np.maximum(a.error, b.error)))
        return Rounded(np.maximum(a.value, b.value), error[()])
    left, right = _number("left", left), _number("right", right)
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return np.maximum(left, right)
    # An integer among rationals becomes a rational, so that quotients by it are exact.
    exact = isinstance(left, Fraction) or isinstance(right, Fraction)
    return Fraction(max(left, right)) if exact else max(left, right)


def square_root(value: Any) -> Any:
    """Square root of a nonnegative number, an array or a SymPy expression.

    >>> square_root(Fraction(4, 9)), square_root(2.25)
    (Fraction(2, 3), 1.5)
    """
    if _is_symbolic(value):
        from sympy import sqrt

        return sqrt(value)
    if isinstance(value, Rounded):
        # The interval of a number near 0 may include negative numbers.
        return value.through(lambda x: np.sqrt(np.maximum(x, 0.0)))
    if isinstance(value, Real) and not isinstance(value, int | float | Fraction):
        return value**0.5  # of a type with more digits than doubles
    value = validate.nonnegative("value", value)
    if not isinstance(value, int | Fraction):
        return Rounded.of(value).through(np.sqrt).plain()
    above, below = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if (above**2, below**2) == (value.numerator, value.denominator):
        return Fraction(above, below)
    # 64 binary digits for numbers of any size.
    return float(Fraction(math.isqrt(value.numerator * value.denominator << 128), value.denominator << 64))


def short_of_one(left: Any, right: Any) -> Any:
    """``1 - left right`` for numbers, arrays or fractions, accurate for products close to one.

    >>> short_of_one(Fraction(1, 3), 2)
    Fraction(1, 3)
    >>> f"{short_of_one(1 + 2**-30, 1 - 2**-30):.6g}"
    '8.67362e-19'
    """
    if isinstance(left, Rounded) or isinstance(right, Rounded):
        return one_minus_product(Rounded.of(left), Rounded.of(right))
    if _is_symbolic(left) or _is_symbolic(right):
        return 1 - left * right
    left, right = _finite("left", left), _finite("right", right)
    if isinstance(left, float | np.ndarray) or isinstance(right, float | np.ndarray):
        return one_minus_product(Rounded.of(left), Rounded.of(right)).plain()
    return 1 - left * right


def geometric(rate: Any, num_steps: Any, rest: Any = None) -> tuple[Any, Any]:
    r"""Return ``(1 - rate)^n`` and ``1 - (1 - rate)^n``, accurate for any size of the rate and exact for rationals.

    The rate is the share removed by a step, at most 1; ``rest`` is ``1 - rate``, if it is known to more digits. Powers
    of rationals with more than 2^28 binary digits are a ValueError.

    >>> geometric(0.25, 2), geometric(Fraction(1, 4), 2)
    ((0.5625, 0.4375), (Fraction(9, 16), Fraction(7, 16)))
    >>> f"{geometric(1e-20, 3)[1]:.6g}"
    '3e-20'
    """
    if isinstance(rate, Rounded) or isinstance(num_steps, Rounded):
        return _geometric(Rounded.of(rate), num_steps, rest)
    if _is_symbolic(rate) or _is_symbolic(num_steps):
        power = (1 - rate) ** num_steps
        return power, 1 - power
    rate, num_steps = _finite("rate", rate), validate.nonnegative("num_steps", num_steps)
    if isinstance(rate, float | np.ndarray) or isinstance(num_steps, np.ndarray):
        with np.errstate(all="ignore"):
            left, gone = _geometric(Rounded.of(rate), Rounded.of(num_steps), rest)
        return left.plain(), gone.plain()
    kept = 1 - rate
    digits = max(abs(kept.numerator), kept.denominator) if isinstance(kept, int | Fraction) else 1
    if digits > 1 and num_steps * digits.bit_length() > _MOST_BITS:
        message = (
            f"num_steps must be smaller for exact rationals (floats may be larger), got {format_number(num_steps)}"
        )
        raise ValueError(message)
    return kept**num_steps, 1 - kept**num_steps


def _geometric(rate: Rounded, num_steps: Any, rest: Any) -> tuple[Rounded, Rounded]:
    power = (1 - rate if rest is None else Rounded.of(rest)) ** num_steps
    if not np.all(power.sharp()):
        power = power.better(_power_of_two_parts(rate, num_steps))
    # log(1 - x) is accurate for small x, unlike 1 - x.
    exponent = num_steps * rate.through(lambda x: np.log1p(-x))
    return power, (1 - power).better(-exponent.through(np.expm1))


def _power_of_two_parts(rate: Rounded, num_steps: Any) -> Rounded:
    """Return ``(1 - x)^n`` from 1 - x = a (1 + z) with a double a, whose powers are accurate for every n."""
    # For small x, a is 1, since the power of a rounded 1 - x might underflow before that of 1 + z compensates.
    whole = Rounded(np.where(abs(rate.value) < _SMALL, 1.0, 1.0 - rate.value)[()])
    part = (1 - whole - rate) / whole
    reach = abs(part.value) + part.error
    logarithm = part - part**2 / 2 + Rounded(0.0, reach**3 / np.maximum(1.0 - reach, 0.0))
    power: Rounded = whole**num_steps
    exponent: Rounded = num_steps * logarithm
    return power * exponent.through(np.exp)


def total(values: Any) -> Any:
    """Sum of an array's entries over its last axis, or of a tuple of exact rationals (a Fraction).

    >>> total(np.array([[1.0, 2.0], [3.0, 4.0]])), total((Fraction(1, 2), 3))
    (array([3., 7.]), Fraction(7, 2))
    """
    if isinstance(values, tuple):
        symbolic = any(map(_is_symbolic, values))
        return sum(values if symbolic else validate.entries("values", values), start=Fraction(0))
    if not isinstance(values, Rounded):
        given = validate.unmasked("values", values)
        if given.ndim == 0:
            message = f"values must be a tuple or an array of one dimension or more, got {truncate(values)}"
            raise ValueError(message)
        return np.sum(given if _holds_numbers(given) else validate.array("values", given), axis=-1)
    size = np.shape(values.value)[-1]
    errors = np.broadcast_to(values.error, np.shape(values.value)) + size * 2.0**-53 * abs(values.value)
    return Rounded(np.sum(values.value, axis=-1), np.sum(errors, axis=-1) * (1 + size * 2.0**-52))


def mean(values: Any) -> Any:
    """Mean of an array's entries over its last axis, of a tuple of exact rationals (a Fraction), or of a single number.

    >>> mean(np.array([[1.0, 2.0], [3.0, 4.0]])), mean((Fraction(1, 2), 3)), mean(5)
    (array([1.5, 3.5]), Fraction(7, 4), 5)
    """
    if _is_symbolic(values):
        return values
    shape = np.shape(values.value) if isinstance(values, Rounded) else validate.unmasked("values", values).shape
    if shape and shape[-1] == 0:
        message = f"values must have at least one entry, got shape {shape}"
        raise ValueError(message)
    if not shape:
        return values if isinstance(values, Rounded) else validate.finite("values", values)
    return total(values) / shape[-1]


def _number(name: str, value: Any) -> Any:
    """Return a number of any type, or an array; infinity is allowed, since sums may overflow, but NaN is not."""
    if not isinstance(value, bool) and isinstance(value, Real):
        if not isinstance(value, int | Fraction) and math.isnan(value):
            message = f"{name} must be a number, got nan"
            raise ValueError(message)
        return value
    if _holds_numbers(value):
        return value
    numbers = validate.extended(name, value)
    return numbers if numbers.ndim else float(numbers)


def _finite(name: str, value: Any) -> Any:
    """Return a finite number of any type, or an array of them."""
    number = _number(name, value)
    return number if isinstance(number, Real) and abs(number) != math.inf else validate.finite(name, number)


def _holds_numbers(value: Any) -> bool:
    """Whether the argument is an array of rationals, symbols, or numbers of another type."""
    if not isinstance(value, np.ndarray) or value.dtype != object:
        return False
    return all(_is_symbolic(entry) or (isinstance(entry, Real) and not isinstance(entry, bool)) for entry in value.flat)


def _is_symbolic(value: Any) -> bool:
    return hasattr(value, "free_symbols")
