"""Expressions of vectors and numbers in Coq.

An expression is a tree. Functions read it as text of Coq, as an expression of the certificate checker, as coordinates
of a vector, and as coefficients of a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from fedtheory.worst_case._constants import Constant
from fedtheory.worst_case._coq_names import constants

ONE = Fraction(1)
MOST_TERMS = 4
"""Largest number of terms for which the shortest expression of a point by earlier points is searched."""


class Name(NamedTuple):
    """A vector with a name: its text, its name in the checker, and its coordinates.

    ``stands_for`` is the expression of a defined point, and None for a vector that is not a combination of others.
    """

    text: str
    code: str
    at: Mapping[int, Fraction]
    is_of_client: bool = False
    stands_for: Any = None


class Value(NamedTuple):
    """A number that is not a constant, such as a function value, and its number."""

    text: str
    number: int


class Fixed(NamedTuple):
    """A rational constant."""

    number: Fraction


class Times(NamedTuple):
    """A multiple of a vector or of a number."""

    factor: Fraction
    term: Any


class Sum(NamedTuple):
    """The sum or difference of two vectors, or of two numbers."""

    left: Any
    sign: str
    right: Any


class Product(NamedTuple):
    """The inner product of two vectors; a mean over clients if one of them differs among clients."""

    u: Any
    v: Any


ZERO = Name("zero", "VZero", {})
_CODES = {"*": ("Times", "VScale"), "+": ("Plus", "VAdd"), "-": ("Minus", "VSub")}
"""Names of operations in the checker: on numbers, and on vectors."""
_SIGNS = {"+": 1, "-": -1}


def text(term: Any) -> str:
    """Return an expression as text of Coq."""
    match term:
        case Fixed(number):
            return real(number)
        case Times(factor, inner):
            return f"{real(factor)} * {_operand(inner)}"
        case Sum(left, sign, right):
            return f"{text(left)} {sign} {_operand(right)}"
        case Product(u, v):
            found = f"sq {argument(u)}" if code(u) == code(v) else f"ip {argument(u)} {argument(v)}"
            return f"E p (fun k => {found})" if is_of_client(u) or is_of_client(v) else found
    return str(term.text)


def _operand(term: Any) -> str:
    return f"({text(term)})" if isinstance(term, Sum) else text(term)


def argument(v: Any) -> str:
    """Return a vector as an argument of a function of Coq."""
    found = text(v)
    scope = "%V" if isinstance(v, Sum) or "*" in found else ""
    return f"({found}){scope}" if " " in found else found


def code(term: Any) -> str:
    """Return an expression of the certificate checker."""
    match term:
        case Value(_, number):
            return f"(Value {number})"
        case Fixed(number):
            return f"(Const {rational(number)})"
        case Times(factor, inner):
            return f"({_CODES['*'][is_vector(inner)]} {rational(factor)} {code(inner)})"
        case Sum(left, sign, right):
            return f"({_CODES[sign][is_vector(left)]} {code(left)} {code(right)})"
        case Product(u, v):
            return f"(Sq {code(u)})" if code(u) == code(v) else f"(Ip {code(u)} {code(v)})"
    return str(term.code)


def is_vector(term: Any) -> bool:
    """Whether an expression is a vector; otherwise it is a number."""
    match term:
        case Times(_, inner) | Sum(inner, _, _):
            return is_vector(inner)
    return isinstance(term, Name)


def is_of_client(v: Any) -> bool:
    """Whether a vector depends on the client ``k``."""
    match v:
        case Times(_, inner):
            return is_of_client(inner)
        case Sum(left, _, right):
            return is_of_client(left) or is_of_client(right)
    return bool(v.is_of_client)


def coordinates(v: Any) -> Mapping[int, Fraction]:
    """Return the coordinates of a vector."""
    match v:
        case Times(factor, inner):
            return added({}, factor, coordinates(inner))
        case Sum(left, sign, right):
            return added(coordinates(left), _SIGNS[sign], coordinates(right))
    at: Mapping[int, Fraction] = v.at
    return at


def added(first: Mapping[Any, Fraction], c: Fraction | int, more: Mapping[Any, Fraction]) -> dict[Any, Fraction]:
    """Return coefficients plus a multiple of others, without those that are 0."""
    found = dict(first)
    for place, x in more.items():
        found[place] = found.get(place, Fraction(0)) + c * x
    return {place: x for place, x in found.items() if x}


class Coefficients(NamedTuple):
    """A number as coefficients of products of atoms, of values, and of 1."""

    products: Mapping[tuple[int, int], Fraction] = {}
    values: Mapping[int, Fraction] = {}
    constant: Fraction = Fraction(0)

    def plus(self, c: Fraction | int, more: Coefficients) -> Coefficients:
        """Return the sum with a multiple of another number."""
        products, values = added(self.products, c, more.products), added(self.values, c, more.values)
        return Coefficients(products, values, self.constant + c * more.constant)


def coefficients(term: Any) -> Coefficients:
    """Return the coefficients of a number."""
    match term:
        case Value(_, number):
            return Coefficients(values={number: ONE})
        case Times(factor, inner):
            return Coefficients().plus(factor, coefficients(inner))
        case Sum(left, sign, right):
            return coefficients(left).plus(_SIGNS[sign], coefficients(right))
        case Product(u, v):
            products: dict[tuple[int, int], Fraction] = {}
            for i, a in coordinates(u).items():
                for j, b in coordinates(v).items():
                    key = (i, j) if i <= j else (j, i)
                    products[key] = products.get(key, Fraction(0)) + a * b
            return Coefficients({key: c for key, c in products.items() if c})
    return Coefficients(constant=term.number)


def polynomial(p: Any) -> str:
    """Return a polynomial as a real number of Coq."""
    found, names = "", constants(tuple(map(str, p.ring.symbols))).values()
    for exponents, c in p.terms():
        powers = [f"{name}^{n}" if n > 1 else name for name, n in zip(names, exponents, strict=True) if n]
        size = [real(Fraction(abs(int(c.numerator)), int(c.denominator)))] if abs(c) != 1 or not powers else []
        found += f"{' - ' if c < 0 else ' + '}{' * '.join([*size, *powers])}"
    return (f"- {found[3:]}" if found.startswith(" - ") else found[3:]) or "0"


def factored(p: Any) -> str:
    """Return a polynomial as a product of its factors, each in parentheses unless it is one term."""
    content, factors = p.factor_list()
    words = [f"({text})" if " " in (text := polynomial(one)) else text for one, _ in factors]
    powers = [f"{word}^{n}" if n > 1 else word for word, (_, n) in zip(words, factors, strict=True)]
    c = Fraction(int(content.numerator), int(content.denominator))
    return " * ".join(powers if c == 1 and powers else [f"({real(c)})" if c < 0 else real(c), *powers])


def _of_constants(q: Constant) -> str:
    above, below = (factored(part) for part in (q.function.numer, q.function.denom))
    if below == "1":
        return above if re.fullmatch(r"\w+|\([^()]*\)", above) else f"({above})"
    return f"({above} / {below})" if below.isidentifier() or below.isdigit() else f"({above} / ({below}))"


def real(q: Fraction) -> str:
    """Return a rational, or a rational function of named constants, as a real number of Coq."""
    if isinstance(q, Constant):
        return _of_constants(q)
    return str(q.numerator) if q.denominator == 1 else f"{q.numerator} / {q.denominator}"


def tight(q: Fraction) -> str:
    """Return a rational as an argument that is a real number of Coq."""
    if isinstance(q, Constant):
        return _of_constants(q)
    return str(q.numerator) if q.denominator == 1 and q >= 0 else f"({real(q)})"


def rational(q: Fraction) -> str:
    """Return a rational of Coq; a function of named constants is no rational, and stays in braces."""
    if isinstance(q, Constant):
        return f"{{{_of_constants(q)}}}"
    if q.denominator == 1:
        return str(q.numerator) if q >= 0 else f"({q.numerator})"
    return f"({q.numerator} # {q.denominator})"


def plus(a: Any, b: Any) -> Sum:
    """Return the sum of two terms."""
    return Sum(a, "+", b)


def minus(a: Any, b: Any) -> Sum:
    """Return the difference of two terms."""
    return Sum(a, "-", b)


def square(u: Any) -> Product:
    """Return the squared length of a vector."""
    return Product(u, u)


def total(terms: Iterable[tuple[Fraction, Any]], empty: Any) -> Any:
    """Return a linear combination of vectors or of numbers; a term with a positive coefficient comes first."""
    kept = sorted(((c, one) for c, one in terms if c), key=lambda term: term[0] < 0)
    if not kept:
        return empty
    (c, first), *rest = kept
    found = first if c == 1 else Times(c, first)
    for c, one in rest:
        found = Sum(found, "+" if c > 0 else "-", one if abs(c) == 1 else Times(abs(c), one))
    return found


def expressed(target: Mapping[int, Fraction], known: Sequence[Name], atoms: Sequence[Name]) -> Any:
    """Return a vector as a short combination of known vectors and atoms; each term eliminates the last atom left."""
    ends: dict[int, list[Name]] = {}
    for v in (*known, *atoms):
        if v.at:
            ends.setdefault(max(v.at), []).append(v)

    def within(left: Mapping[int, Fraction], terms: int) -> list[tuple[Fraction, Name]] | None:
        if not left:
            return []
        if not terms:
            return None
        last = max(left)
        for v in reversed(ends[last]):
            c = left[last] / v.at[last]
            found = within(added(left, -c, v.at), terms - 1)
            if found is not None:
                return [(c, v), *found]
        return None

    for terms in range(1, MOST_TERMS + 1):
        if (found := within(target, terms)) is not None:
            return total(reversed(found), ZERO)
    return total(((c, atoms[place]) for place, c in sorted(target.items())), ZERO)
