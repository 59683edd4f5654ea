"""Named constants: rationals that remember the rational function that they are.

A program that is run once with named constants gives its conditions for all constants. Each comparison of two numbers
and each division is recorded. On a domain where comparisons have the same outcome, and no divisor is 0, the conditions
are the same.
"""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any, final

from fedtheory._support.wording import format_number


def _computed(work: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """Return an operation of a constant with a number, and the one with exchanged sides."""

    def of(self: Constant, other: Any, left: Any, right: Any) -> Any:
        if not isinstance(other, int | Fraction):
            return self._undefined(other)
        functions = [function_of(part, self.function.field) for part in (left, right)]
        if work is operator.truediv and functions[1]:
            self._compare(functions[1], number_of(right))
        return self._made(work(number_of(left), number_of(right)), work(*functions))

    return (lambda self, other: of(self, other, self, other)), (lambda self, other: of(self, other, other, self))


def _ordered(work: Callable[[Any, Any], bool]) -> Any:
    """Return a comparison of a constant with a number."""

    def compared(self: Constant, other: Any) -> Any:
        if not isinstance(other, int | Fraction):
            return self._undefined(other)
        outcome, apart = work(self.number, number_of(other)), self.number - number_of(other)
        # Which of the two is larger, and whether they may be equal, must be the same on the whole domain.
        function = self.function - function_of(other, self.function.field)
        self._compare(function, apart, is_strict=outcome == (work in (operator.lt, operator.gt)))
        return outcome

    return compared


@final
class Constant(Fraction):
    """A rational number with the rational function whose value it is.

    Two constants are equal if their functions are. An order is that of the numbers. Orders, and that two constants
    differ, are added to ``compared``. All that would use the number or the text alone, such as ``float``, ``hash`` and
    ``str``, raises a TypeError. As a program may catch this error, the use is added to ``compared`` as ``0 > 0``, which
    is never proved. The library uses ``vanishes``, ``key_of`` and ``written`` in the place of truth, hash and text.
    """

    __slots__ = ("compared", "function", "number")
    number: Fraction
    function: Any
    compared: set[tuple[Any, bool]]

    def __new__(cls, number: Fraction, function: Any, compared: set[tuple[Any, bool]]) -> Constant:
        self = super().__new__(cls, number)
        self.number, self.function, self.compared = number, function, compared
        return self

    def _refuse(self, *_: Any) -> Any:
        self.compared.add((self.function.field.zero, True))
        message = (
            f"a named constant must only be computed with and compared, got another use of {self.function.as_expr()}"
        )
        raise TypeError(message)

    def _undefined(self, other: object) -> Any:
        """Refuse numbers with which fractions can be added or compared, but which are not rational."""
        is_inexact = isinstance(other, numbers.Number) and not isinstance(other, numbers.Rational)
        return self._refuse() if is_inexact else NotImplemented

    def _made(self, number: Fraction, function: Any) -> Fraction:
        """Return a result, which is an ordinary number if its function is constant."""
        if function.numer.is_ground and function.denom.is_ground:
            # Constants of two pieces have numbers of two points, so that only the function decides.
            return as_fraction(function.numer.LC / function.denom.LC)
        return Constant(number, function, self.compared)

    def _compare(self, apart: Any, number: Fraction, *, is_strict: bool = True) -> None:
        """Record that a difference has the sign of its value here."""
        if not (apart.numer.is_ground and apart.denom.is_ground):
            self.compared.add((apart if number > 0 else -apart, is_strict))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, int | Fraction):
            undefined: bool = self._undefined(other)
            return undefined
        function = function_of(other, self.function.field)
        if function.field == self.function.field:  # a program may keep a constant of an earlier call
            self._compare(self.function - function, self.number - number_of(other))
        return bool(self.function == function)

    def __bool__(self) -> bool:
        self._compare(self.function, self.number)
        return bool(self.function)

    def __pow__(self, power: Any, modulo: Any = None) -> Any:
        if not isinstance(power, int):
            return self._undefined(power)
        if power < 0:
            self._compare(self.function, self.number)
        return self._made(self.number**power, self.function**power)

    def __neg__(self) -> Any:
        return self._made(-self.number, -self.function)

    def __pos__(self) -> Constant:
        return self

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    __add__, __radd__ = _computed(operator.add)
    __sub__, __rsub__ = _computed(operator.sub)
    __mul__, __rmul__ = _computed(operator.mul)
    __truediv__, __rtruediv__ = _computed(operator.truediv)
    __lt__, __le__ = _ordered(operator.lt), _ordered(operator.le)
    __gt__, __ge__ = _ordered(operator.gt), _ordered(operator.ge)

    def __hash__(self) -> int:  # type: ignore[override]  # numbers.Complex has None
        refused: int = self._refuse()
        return refused

    _refused: Any = _refuse
    __repr__ = __str__ = __format__ = _refused
    __float__ = __int__ = __trunc__ = __floor__ = __ceil__ = __round__ = __complex__ = _refused
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = __rpow__ = _refused
    __copy__ = __deepcopy__ = __reduce__ = __reduce_ex__ = _refused
    as_integer_ratio = is_integer = limit_denominator = _refused
    numerator = denominator = property(_refuse)


def vanishes(number: Any) -> bool:
    """Whether a number is 0; a constant only if it is 0 at all constants.

    Terms that are kept change nothing at constants where their coefficients become 0.
    """
    return not (number.function if isinstance(number, Constant) else number)


def key_of(coordinates: Mapping[Any, Any]) -> frozenset[tuple[Any, Hashable]]:
    """Return a key that mappings with equal numbers have in common."""
    return frozenset((place, hashable(c)) for place, c in coordinates.items())


def hashable(number: Any) -> Hashable:
    """Return a number, and in the place of a constant its function."""
    found: Hashable = number.function if isinstance(number, Constant) else number
    return found


def written(number: Any) -> str:
    """Return the text of a number, or of a constant's function, for a message."""
    return str(number.function.as_expr()) if isinstance(number, Constant) else format_number(number)


def function_of(number: Fraction | int, field: Any) -> Any:
    """Return a number as a rational function."""
    if isinstance(number, Constant):
        return number.function
    return field(field.domain(number.numerator, number.denominator))


def number_of(number: Fraction | int) -> Fraction:
    """Return the value of a constant, or an ordinary number unchanged."""
    return number.number if isinstance(number, Constant) else Fraction(number)


def evaluate(function: Any, point: Sequence[Fraction]) -> Fraction:
    """Return the value of a rational function; ZeroDivisionError at a pole."""
    field = function.field
    pairs = [*zip(field.ring.gens, (field.domain(c.numerator, c.denominator) for c in point), strict=True)]
    return as_fraction(function.numer.evaluate(pairs) / function.denom.evaluate(pairs))


def as_fraction(number: Any) -> Fraction:
    """Return a number of a field's domain as a fraction."""
    return Fraction(int(number.numerator), int(number.denominator))
