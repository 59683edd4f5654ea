"""Vectors of a worst-case problem, their inner products, and function values: expressions with rational coefficients.

Every vector is a linear combination of basis vectors. Each basis vector belongs to a block, and vectors of different
blocks are orthogonal. The dimension of the space is not restricted.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from typing import Any, Generic, TypeVar, final

from fedtheory._support.values import to_fraction
from fedtheory._support.wording import truncate
from fedtheory.worst_case._constants import key_of, vanishes

Term = TypeVar("Term")
Result = TypeVar("Result")
Basis = tuple[int, int]
"""A basis vector: (block, number in the block)."""
Key = frozenset[tuple[Basis, Hashable]]
"""Key that equal vectors have in common."""


class _Linear(Generic[Result]):
    """Operations that follow from a sum and from a multiple; ``Vector``, ``Value`` and ``Form`` have these two."""

    __slots__ = ()

    def __radd__(self, zero: int) -> Any:
        """Return the term itself for the 0 with which ``sum`` begins."""
        return self if type(zero) is int and zero == 0 else NotImplemented

    def __sub__(self: Any, other: Any) -> Result:
        difference: Result = self + -1 * other
        return difference

    def __mul__(self: Any, factor: Fraction | int) -> Result:
        multiple: Result = self.__rmul__(factor)
        return multiple

    def __truediv__(self, divisor: Fraction | int) -> Result:
        return self * inverse_of(divisor)

    def __neg__(self) -> Result:
        return self * -1


@final
class Vector(_Linear["Vector"]):
    """A linear combination of basis vectors.

    Vectors are compared by identity, so a program keeps the structure of the products in which it was written.
    ``owner`` identifies the record of the basis vectors; the zero vector belongs to every record. The owner of a
    problem's vectors is a function that returns their text.
    """

    __slots__ = ("coordinates", "owner")

    def __init__(self, coordinates: Mapping[Basis, Fraction], owner: object = None) -> None:
        self.coordinates = {place: c for place, c in coordinates.items() if not vanishes(c)}
        self.owner = owner

    def __repr__(self) -> str:
        return _shown("vector", self, self.owner)

    def __add__(self, other: Vector) -> Vector:
        if not isinstance(other, Vector):
            return NotImplemented
        places = {**self.coordinates, **other.coordinates}
        return Vector({place: self[place] + other[place] for place in places}, one_owner(self, other))

    def __rmul__(self, factor: Fraction | int) -> Vector:
        c = exact("a factor", factor)
        return Vector({place: c * entry for place, entry in self.coordinates.items()}, self.owner)

    def __pow__(self, exponent: int) -> Form:
        """Return the squared length for the exponent 2."""
        if type(exponent) is int and exponent == 2:
            return self.square
        message = f"a vector has the power 2 only, its squared length (x.square), got the exponent {truncate(exponent)}"
        raise TypeError(message)

    def __getitem__(self, place: Basis) -> Fraction:
        return self.coordinates.get(place, Fraction(0))

    def __matmul__(self, other: Vector) -> Form:
        if not isinstance(other, Vector):
            return NotImplemented
        one_owner(self, other)
        return Form({(self, other): Fraction(1)})

    @property
    def key(self) -> Key:
        return key_of(self.coordinates)

    @property
    def square(self) -> Form:
        """Squared length, also written ``x**2``."""
        return self @ self

    @property
    def blocks(self) -> set[int]:
        return {block for block, _ in self.coordinates}

    def within(self, blocks: Iterable[int]) -> Vector:
        """Return the part of the vector in some blocks."""
        kept = set(blocks)
        return Vector({place: c for place, c in self.coordinates.items() if place[0] in kept}, self.owner)


def exact(name: str, number: Any) -> Fraction | int:
    """Return an integer or a fraction; raise TypeError for a float, which is rarely the intended number."""
    meant = ""
    if isinstance(number, bool):
        pass  # a bool is an integer in Python
    elif isinstance(number, int | Fraction):
        return number
    elif isinstance(number, numbers.Rational):
        return to_fraction(number)
    elif isinstance(number, Vector):
        meant = " (x @ y is the product of two vectors)"
    elif isinstance(number, numbers.Real) and math.isfinite(number):
        meant = f" ({Fraction(repr(float(number)))!r})"
    message = f"{name} must be an int or a Fraction, got {truncate(number)}{meant}"
    raise TypeError(message)


def fraction(name: str, number: Any) -> Fraction:
    """Return an integer or a rational as a Fraction; other numbers raise TypeError."""
    found = exact(name, number)
    return found if isinstance(found, Fraction) else Fraction(found)


def inverse_of(divisor: Any) -> Fraction:
    """Return the inverse of a nonzero rational."""
    number = fraction("a divisor", divisor)
    if vanishes(number):
        message = "a divisor must differ from 0, got 0"
        raise ValueError(message)
    return 1 / number


def one_owner(*terms: Vector | Value) -> object:
    """Return the record of vectors and function values; raise ValueError if there are several."""
    owners = {id(term.owner): term.owner for term in terms if term.owner is not None}
    if len(owners) > 1:
        message = f"vectors and function values must belong to one problem, got some of {len(owners)}"
        raise ValueError(message)
    return next(iter(owners.values()), None)


@final
class Value(_Linear["Form"]):
    """An unknown function value."""

    __slots__ = ("owner",)

    def __init__(self, owner: object = None) -> None:
        self.owner = owner

    def __repr__(self) -> str:
        return _shown("value", self, self.owner)

    def __add__(self, other: Form | Value) -> Form:
        return Form.of(self) + other

    def __rmul__(self, factor: Fraction | int) -> Form:
        return factor * Form.of(self)


@final
class Form(_Linear["Form"]):
    """A linear function of inner products and of function values."""

    __slots__ = ("products", "values")

    def __init__(
        self, products: Mapping[tuple[Vector, Vector], Fraction], values: Mapping[Value, Fraction] | None = None
    ) -> None:
        self.products = products
        self.values = values or {}

    def __repr__(self) -> str:
        terms: list[Vector | Value] = [*(vector for pair in self.products for vector in pair), *self.values]
        return _shown("form", self, next((term.owner for term in terms if term.owner is not None), None))

    @classmethod
    def total(
        cls, products: Iterable[tuple[tuple[Vector, Vector], Fraction]], values: Iterable[tuple[Value, Fraction]] = ()
    ) -> Form:
        """Sum terms, several of which may contain the same product or value."""
        return cls(_added({}, products), _added({}, values))

    @classmethod
    def of(cls, term: Any) -> Form:
        """Return a form; a function value is converted to a form."""
        if isinstance(term, Form):
            return term
        if isinstance(term, Value):
            return cls({}, {term: Fraction(1)})
        message = f"a form must be made of inner products and function values, got {truncate(term)}"
        raise TypeError(message)

    @property
    def says_nothing(self) -> bool:
        """Whether the form is 0 for all values of the unknowns."""
        has_product = any(u.coordinates and v.coordinates for u, v in self.pairs)
        return not has_product and all(map(vanishes, self.values.values()))

    @property
    def pairs(self) -> list[tuple[Vector, Vector]]:
        """The products whose coefficients are not 0."""
        return [pair for pair, c in self.products.items() if not vanishes(c)]

    def __add__(self, other: Form | Value) -> Form:
        right = Form.of(other)
        return Form(_added(self.products, right.products.items()), _added(self.values, right.values.items()))

    def __rmul__(self, factor: Fraction | int) -> Form:
        times = exact("a factor", factor)
        return Form(
            {pair: times * c for pair, c in self.products.items()},
            {value: times * c for value, c in self.values.items()},
        )


def _shown(kind: str, term: Vector | Value | Form, owner: object) -> str:
    # An empty sum has no owner.
    text = owner(term) if callable(owner) else "0" if owner is None else ""
    return f"<{kind} {text}>" if text else f"<{kind}>"


def _added(left: Mapping[Term, Fraction], right: Iterable[tuple[Term, Fraction]]) -> dict[Term, Fraction]:
    total = dict(left)
    for key, c in right:
        total[key] = total.get(key, Fraction(0)) + c
    return total
