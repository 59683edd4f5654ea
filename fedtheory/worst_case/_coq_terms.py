"""Coq terms of vectors and numbers: as text, as an expression of the certificate checker, and as coefficients."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from fedtheory.worst_case._constants import Constant, key_of
from fedtheory.worst_case._coq_names import constants

__all__: list[str] = []

ONE = Fraction(1)
MOST_TERMS = 4
"""Largest number of terms for which the shortest expression of a point by earlier points is searched."""


class Vec(NamedTuple):
    """A vector: text, expression for the checker, coordinates, and whether it is a sum or depends on client ``k``."""

    text: str
    code: str
    at: Mapping[int, Fraction]
    is_sum: bool = False
    is_of_client: bool = False

    @property
    def tight(self) -> str:
        """The text, in parentheses if it is needed as an argument."""
        scope = "%V" if self.is_sum or "*" in self.text else ""
        return f"({self.text}){scope}" if " " in self.text else self.text


class Num(NamedTuple):
    """A number: text, expression for the checker, and coefficients of products, of values, and of 1."""

    text: str
    code: str
    products: Mapping[tuple[int, int], Fraction]
    values: Mapping[int, Fraction]
    constant: Fraction = Fraction(0)
    is_sum: bool = False

    @property
    def key(self) -> tuple[frozenset[tuple[object, Hashable]], ...]:
        """The number as coefficients, without its constant term."""
        return key_of(self.products), key_of(self.values)


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


ZERO = Vec("zero", "VZero", {})


def scaled(c: Fraction, v: Vec) -> Vec:
    """Return a multiple of a vector."""
    inner = f"({v.text})" if v.is_sum else v.text
    at = {place: c * x for place, x in v.at.items() if c * x}
    return Vec(f"{real(c)} * {inner}", f"(VScale {rational(c)} {v.code})", at, is_of_client=v.is_of_client)


def plus(u: Vec, v: Vec, sign: str = "+") -> Vec:
    """Return the sum of two vectors, or their difference."""
    s = ONE if sign == "+" else -ONE
    at = {place: u.at.get(place, Fraction(0)) + s * v.at.get(place, Fraction(0)) for place in {**u.at, **v.at}}
    right = f"({v.text})" if v.is_sum else v.text
    code = f"({'VAdd' if sign == '+' else 'VSub'} {u.code} {v.code})"
    text, kept = f"{u.text} {sign} {right}", {place: x for place, x in at.items() if x}
    return Vec(text, code, kept, is_sum=True, is_of_client=u.is_of_client or v.is_of_client)


def minus(u: Vec, v: Vec) -> Vec:
    """Return the difference of two vectors."""
    return plus(u, v, "-")


def combination(terms: Iterable[tuple[Fraction, Vec]]) -> Vec:
    """Return a linear combination; a term with a positive coefficient comes first."""
    kept = sorted(((c, v) for c, v in terms if c), key=lambda term: term[0] < 0)
    if not kept:
        return ZERO
    (c, first), *rest = kept
    found = first if c == 1 else scaled(c, first)
    for c, v in rest:
        found = plus(found, v if abs(c) == 1 else scaled(abs(c), v), "+" if c > 0 else "-")
    return found


def constant(q: Fraction) -> Num:
    """Return a rational as a constant number."""
    return Num(real(q), f"(Const {rational(q)})", {}, {}, q)


def value(text: str, number: int) -> Num:
    """Return a number that is not a rational constant, for example a function value."""
    return Num(text, f"(Value {number})", {}, {number: ONE})


def product(u: Vec, v: Vec) -> Num:
    """Return the inner product of two vectors, or its mean over clients."""
    products: dict[tuple[int, int], Fraction] = {}
    for i, a in u.at.items():
        for j, b in v.at.items():
            key = (i, j) if i <= j else (j, i)
            products[key] = products.get(key, Fraction(0)) + a * b
    products = {key: c for key, c in products.items() if c}
    text, code = f"ip {u.tight} {v.tight}", f"(Ip {u.code} {v.code})"
    if u.code == v.code:
        text, code = f"sq {u.tight}", f"(Sq {u.code})"
    return Num(f"E p (fun k => {text})" if u.is_of_client or v.is_of_client else text, code, products, {})


def square(u: Vec) -> Num:
    """Return the squared norm of a vector."""
    return product(u, u)


def times(c: Fraction, a: Num) -> Num:
    """Return a multiple of a number."""
    inner = f"({a.text})" if a.is_sum else a.text
    return Num(
        f"{real(c)} * {inner}",
        f"(Times {rational(c)} {a.code})",
        {key: c * x for key, x in a.products.items() if c * x},
        {key: c * x for key, x in a.values.items() if c * x},
        c * a.constant,
    )


def add(a: Num, b: Num, sign: str = "+") -> Num:
    """Return the sum of two numbers, or their difference."""
    s = ONE if sign == "+" else -ONE
    products, values = dict(a.products), dict(a.values)
    for key, x in b.products.items():
        products[key] = products.get(key, Fraction(0)) + s * x
    for number, x in b.values.items():
        values[number] = values.get(number, Fraction(0)) + s * x
    return Num(
        f"{a.text} {sign} {f'({b.text})' if b.is_sum else b.text}",
        f"({'Plus' if sign == '+' else 'Minus'} {a.code} {b.code})",
        {key: x for key, x in products.items() if x},
        {number: x for number, x in values.items() if x},
        a.constant + s * b.constant,
        is_sum=True,
    )


def less(a: Num, b: Num) -> Num:
    """Return the difference of two numbers."""
    return add(a, b, "-")


def total(terms: Iterable[tuple[Fraction, Num]]) -> Num:
    """Return a linear combination; a term with a positive coefficient comes first."""
    kept = sorted(((c, a) for c, a in terms if c), key=lambda term: term[0] < 0)
    if not kept:
        return constant(Fraction(0))
    (c, first), *rest = kept
    found = first if c == 1 else times(c, first)
    for c, a in rest:
        found = add(found, a if abs(c) == 1 else times(abs(c), a), "+" if c > 0 else "-")
    return found


def expressed(target: Mapping[int, Fraction], known: Sequence[Vec], atoms: Sequence[Vec]) -> Vec:
    """Return a vector as a short combination of known vectors and atoms.

    Starting from the last atom, each term eliminates one atom. The term is a multiple of that atom or of a known vector
    whose last atom it is.
    """
    ends: dict[int, list[Vec]] = {}
    for v in (*known, *atoms):
        if v.at:
            ends.setdefault(max(v.at), []).append(v)

    def within(left: Mapping[int, Fraction], terms: int) -> list[tuple[Fraction, Vec]] | None:
        if not left:
            return []
        if not terms:
            return None
        last = max(left)
        for v in reversed(ends[last]):
            c = left[last] / v.at[last]
            rest = {
                place: left.get(place, Fraction(0)) - c * v.at.get(place, Fraction(0)) for place in {**left, **v.at}
            }
            found = within({place: x for place, x in rest.items() if x}, terms - 1)
            if found is not None:
                return [(c, v), *found]
        return None

    for terms in range(1, MOST_TERMS + 1):
        if (found := within(target, terms)) is not None:
            return combination(reversed(found))
    return combination((c, atoms[place]) for place, c in sorted(target.items()))
