"""Names of the vectors, functions and values of a problem, and descriptions of classes, as text or LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import count, permutations
from typing import Any, NamedTuple

from fedtheory._support.wording import format_number
from fedtheory.worst_case._record import Record
from fedtheory.worst_case._vectors import Basis, Form, Key, Value, Vector

_MOST_NAMED = 200
"""Largest number of points whose differences get names."""


class Style(NamedTuple):
    """Format of numbers and names."""

    number: Callable[[Any], str]
    name: Callable[[str], str]
    value: Callable[[str, str], str]
    slope: Callable[[str, str], str]
    mean: str
    deviation: str
    part: str
    square: str
    product: str
    at_most: str


def _text_number(number: Any) -> str:
    is_short = isinstance(number, Fraction) and max(abs(number.numerator), number.denominator) < 10**14
    if is_short and len(str(number)) <= 14:
        return str(number)
    try:
        value = float(number)
    except OverflowError:
        return format_number(number)
    return f"{value:.8g}" if value or not number else format_number(number)


def _latex_number(number: Any) -> str:
    whole = _text_number(number)
    if "/" in whole:
        above, below = whole.split("/")
        return f"{'-' * above.startswith('-')}\\tfrac{{{above.removeprefix('-')}}}{{{below}}}"
    digits, _, power = whole.partition("e")
    return f"{digits} \\cdot 10^{{{int(power)}}}" if power else digits


def _latex_name(name: str) -> str:
    r"""Return a letter with its number as an index, or a word in upright type.

    >>> print(*(_latex_name(name) for name in ("x1", "x*", "start", "w_0", "f.x")))
    x_{1} x_{\star} \mathrm{start} w_{0} \text{f.x}
    """
    found = re.fullmatch(r"([A-Za-z]+)_?(\d*)(\*?)(\d*)", name)
    if not found:
        return f"\\text{{{_escaped(name)}}}"
    letters, number, star, more = found.groups()
    base = letters if len(letters) == 1 else f"\\mathrm{{{letters}}}"
    index = number + "\\star" * bool(star) + more
    return f"{base}_{{{index}}}" if index else base


def _escaped(text: str) -> str:
    return text.replace("_", "\\_").replace("^", "\\textasciicircum{}")


TEXT = Style(
    _text_number, str, lambda f, x: f"{f}({x})", lambda f, x: f"{f}'({x})",
    "mean({})", "dev({})", "{1}({0})", "|{}|^2", "<{}, {}>", "<=",
)  # fmt: skip
LATEX = Style(
    _latex_number, _latex_name, lambda f, x: f"{f}({x})", lambda f, x: f"\\nabla {f}({x})",
    "\\overline{{{}}}", "\\widetilde{{{}}}", "{{{0}}}^{{[{1}]}}",
    "\\lVert {} \\rVert^2", "\\langle {}, {} \\rangle", "\\le",
)  # fmt: skip
LETTERS = {"noise": "n", "deviation": "d", "mean": "m", "compressed": "c", "inexact gradient": "e", "root": "r"}
"""Letters for vectors without a name, by the operation that made them."""


class Names:
    """Names of the vectors, functions and function values of a record; ``points`` are points by name."""

    def __init__(self, record: Record, style: Style = TEXT) -> None:
        self.style, self.record = style, record
        self.vectors: dict[Key, str] = {}
        self.values: dict[Value, str] = {}
        self.basis: dict[Basis, str] = {}
        self.points: dict[str, Vector] = {}
        self.defined: dict[str, Vector] = {}
        self.slacks: list[str] = []
        self._taken: set[str] = set()
        names = record.point_names()
        known = {vector.key: vector for vector in record.names.values()}
        known |= {call.at.key: call.at for one in record.declared for call in one.calls if call.at.coordinates}
        for key, name in names.items():
            self.points[name] = known[key]
            self._define(style.name(name), known[key])
        for one in record.declared:
            for call in one.calls:
                at = self.vectors.get(call.at.key, "0")
                applied = style.slope if one.of.kind == "function" else style.value
                if _is_free(call.gradient):
                    self._define(applied(style.name(one.name), at), call.gradient)
                if call.value not in record.zeros:
                    self.values[call.value] = style.value(style.name(one.name), at)
        for step in record.steps:
            if step.made.key not in self.vectors and {*step.made.coordinates} - {*self.basis}:
                letter = LETTERS.get(step.verb, "v")
                numbered = (style.name(f"{letter}{number}") for number in count(1))
                self._define(next(name for name in numbered if name not in self._taken), step.made)
        self._name_parts()

    @cached_property
    def _differences(self) -> dict[Key, str]:
        """Names of the differences of two vectors."""
        return {
            (one - other).key: f"{name} - {subtrahend}"
            for (name, one), (subtrahend, other) in permutations(self.defined.items(), 2)
            if one.coordinates.keys() - other.coordinates.keys() and len(self.defined) < _MOST_NAMED
        }

    def _define(self, name: str, vector: Vector) -> None:
        """Define a name for a vector that has none."""
        if vector.coordinates and vector.key not in self.vectors:
            while name in self._taken:
                name += "'"
            self._taken.add(name)
            self.vectors[vector.key], self.defined[name] = name, vector

    def _name_parts(self) -> None:
        """Name basis vectors after the vectors that consist of them."""
        sources = self.record.sources
        noise = {
            block: next(iter(step.made.coordinates))
            for step in self.record.steps
            if step.verb in ("noise", "mean")
            for block, _ in step.made.coordinates
        }
        crossed = {block: noise for (_, noise), block in self.record.crossings.items()}
        own = {block: self.vectors.get(Vector({place: Fraction(1)}).key, "n") for block, place in noise.items()}
        for name, vector in self.defined.items():
            if not _is_free(vector):
                continue
            for place in vector.coordinates:
                block = place[0]
                template = self.style.deviation if block and not sources[block].is_noise else self.style.mean
                if block and sources[block].is_noise:
                    template = self.style.part
                whole = len(vector.coordinates) == 1
                part = template.format(name, own.get(block, ""))
                if block in crossed:
                    part = self.style.part.format(part, own.get(crossed[block], ""))
                self.basis.setdefault(place, name if whole else part)

    def vector(self, vector: Vector) -> str:
        """Return a vector's name, a difference of two names, or a combination of basis vectors."""
        found = self.vectors.get(vector.key) or self._differences.get(vector.key)
        return found or self.combination(vector.coordinates)

    def combination(self, coordinates: Mapping[Basis, Any]) -> str:
        """Return a combination as text; vectors whose parts have equal coefficients are written by name."""
        left, terms = dict(coordinates), list[tuple[Any, str]]()
        for name, whole in self.defined.items():
            places = whole.coordinates
            c, *others = (left.get(place, 0) for place in places)
            if others and _is_free(whole) and all(other == c for other in others):
                terms += [(c, name)] * bool(c)
                left = {place: entry for place, entry in left.items() if place not in places}
        terms += [(c, self.basis.get(place) or self._slack(place)) for place, c in left.items()]
        order = {name: number for number, name in enumerate(self.defined)}
        return self.sum(sorted(terms, key=lambda term: order.get(term[1], len(order))))

    def sum(self, terms: Iterable[tuple[Any, str]]) -> str:
        """Return a linear combination as text."""
        found = ""
        for c, term in terms:
            if c:
                times = "" if abs(c) == 1 else f"{self.style.number(abs(c))} "
                found += f"{' - ' if c < 0 else ' + '}{times}{term}"
        return found.removeprefix(" + ").replace(" - ", "-", 1 if found.startswith(" - ") else 0) or "0"

    def form(self, form: Form) -> str:
        return self.sum(self.terms(form))

    def terms(self, form: Form) -> list[tuple[Fraction, str]]:
        """Return the terms of a form with their coefficients."""
        style, products = self.style, dict[str, Fraction]()
        for (u, v), c in form.products.items():
            if u.coordinates and v.coordinates:
                sides = sorted((self.vector(u), self.vector(v)))
                term = style.square.format(sides[0]) if sides[0] == sides[1] else style.product.format(*sides)
                products[term] = products.get(term, Fraction(0)) + c
        values = [
            (c, self.values.get(value) or self._number(value))
            for value, c in form.values.items()
            if value not in self.record.zeros
        ]
        return [(c, term) for c, term in (*values, *((c, term) for term, c in products.items())) if c]

    def _slack(self, place: Basis) -> str:
        """Name a vector that occurs only in the proof; its products are entries of a positive semidefinite matrix."""
        self.slacks.append(self.style.name(f"s{len(self.slacks) + 1}"))
        return self.basis.setdefault(place, self.slacks[-1])

    def _number(self, value: Value) -> str:
        numbered = (self.style.name(f"t{number}") for number in count(1))
        name = next(one for one in numbered if one not in self._taken)
        self._taken.add(name)
        return self.values.setdefault(value, name)


def _is_free(vector: Vector) -> bool:
    """Whether a vector is a basis vector, or the sum of one basis vector per block."""
    return (
        bool(vector.coordinates)
        and all(c == 1 for c in vector.coordinates.values())
        and (len({block for block, _ in vector.coordinates}) == len(vector.coordinates))
    )
