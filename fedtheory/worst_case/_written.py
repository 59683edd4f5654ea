"""A proof of the upper side as a person writes it down: inequalities, multipliers, and the squares that are left."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import permutations
from typing import Any, NamedTuple

from fedtheory.errors import OracleError
from fedtheory.worst_case._certificates import Multipliers, verify_upper
from fedtheory.worst_case._classes import FunctionClass, OperatorClass, Point
from fedtheory.worst_case._gram import Basis, Form, Program, Value, Vector

__all__: list[str] = []

_WIDTH = 80
_DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 60, 100, 300, 1000, 10_000)
"""Largest ones of the multipliers that are tried."""
_MOST_TRIED = 200
"""Multipliers of a proof whose numbers are shortened."""
_LOST = Fraction(1, 10**6)
"""Share of the bound that short numbers may cost."""

Key = frozenset[tuple[Basis, Fraction]]


class Known(NamedTuple):
    """A function or an operator, and the points at which it was asked."""

    name: str
    of: FunctionClass | OperatorClass
    points: tuple[Point, ...]


def shortened(program: Program, multipliers: Multipliers) -> Multipliers:
    """Return fractions of small denominators that prove as much, where there are some; else what is given."""
    upper = verify_upper(program, multipliers)
    if len(multipliers.inequalities) > _MOST_TRIED:
        return multipliers
    for largest in _DENOMINATORS:
        tried = Multipliers(*([y.limit_denominator(largest) for y in side] for side in multipliers))  # type: ignore[arg-type]
        with suppress(OracleError):
            if verify_upper(program, tried) <= upper + _LOST * abs(upper):
                return tried
    return multipliers


def slacks(program: Program, multipliers: Multipliers) -> list[list[list[Fraction]]]:
    """Return, for each block, the matrix of ``sum of multiplier times form, less the objective``."""
    factors = (Fraction(-1), *multipliers.equalities, *multipliers.inequalities)
    found = []
    for block, size in zip(program.rows.blocks, program.sizes, strict=True):
        left = [[Fraction(0)] * size for _ in range(size)]
        for form, i, j, whole in zip(block.forms, block.rows, block.columns, block.wholes, strict=True):
            half = factors[form] * int(whole) / (2 * program.rows.denominator)
            left[i][j] += half
            left[j][i] += half
        found.append(left)
    return found


def squares(slack: Sequence[Sequence[Any]], least: Any = 0) -> Iterator[tuple[Any, list[Any]]]:
    """Yield a factor and coordinates of each square whose sum a semidefinite matrix is, largest pivots first."""
    left = [[*row] for row in slack]
    while left:
        pivot = max(range(len(left)), key=lambda k: left[k][k])
        d = left[pivot][pivot]
        if d <= least:
            return
        row = [entry / d for entry in left[pivot]]
        yield d, row
        left = [[entry - d * row[i] * c for entry, c in zip(line, row, strict=True)] for i, line in enumerate(left)]


class Style(NamedTuple):
    """How a number, a name, and what is made of them are written."""

    number: Callable[[Any], str]
    point: Callable[[str], str]
    indexed: Callable[[str, int], str]
    value: Callable[[str, str], str]
    slope: Callable[[str, str], str]
    mean: str
    deviation: str
    square: str
    product: str
    at_most: str
    square_of_sum: str


def _text_number(number: Any) -> str:
    return str(number) if isinstance(number, Fraction) and len(str(number)) <= 14 else f"{float(number):.8g}"


def _latex_number(number: Any) -> str:
    whole = _text_number(number)
    if "/" in whole:
        above, below = whole.split("/")
        return f"\\tfrac{{{above}}}{{{below}}}"
    digits, _, power = whole.partition("e")
    return f"{digits} \\cdot 10^{{{int(power)}}}" if power else digits


def _latex_name(name: str) -> str:
    """Return a letter with its number as an index, and a word upright."""
    letters = name.rstrip("0123456789")
    index = f"_{{{name[len(letters) :]}}}" if name != letters else ""
    upright = letters if len(letters) == 1 else "\\mathrm{" + letters.replace("_", "\\_") + "}"
    return upright + index


TEXT = Style(
    _text_number, str, lambda name, n: f"{name}.x{n}", lambda f, x: f"{f}({x})", lambda f, x: f"{f}'({x})",
    "mean {}", "dev {}", "|{}|^2", "<{}, {}>", "<=", "({})",
)  # fmt: skip
LATEX = Style(
    _latex_number, _latex_name, lambda name, n: f"x^{{{_latex_name(name)}}}_{{{n}}}",
    lambda f, x: f"{_latex_name(f)}({x})", lambda f, x: f"\\nabla {_latex_name(f)}({x})",
    "\\overline{{{}}}", "\\widetilde{{{}}}", "\\lVert {} \\rVert^2", "\\langle {}, {} \\rangle", "\\le", "({})",
)  # fmt: skip


class Names:
    """What vectors and function values are called."""

    def __init__(self, points: Mapping[str, Vector], known: Sequence[Known], style: Style) -> None:
        self.style = style
        self.vectors: dict[Key, str] = {}
        self.values: dict[Value, str] = {}
        self.basis: dict[Basis, str] = {}
        self.made: list[tuple[str, Vector]] = []
        self.taken: set[str] = set()
        for name, vector in points.items():
            self._call(style.point(name), vector)
        for actor in known:
            for number, point in enumerate(actor.points):
                self._call(style.indexed(actor.name, number), point.at)
        for actor in known:
            applied = style.value if isinstance(actor.of, OperatorClass) else style.slope
            for point in actor.points:
                at = self.vectors[point.at.key] if point.at.coordinates else "0"
                self._call(applied(actor.name, at), point.gradient)
                self.values[point.value] = style.value(actor.name, at)
        self.apart = {
            (one - other).key: f"{name} - {beside}"
            for (name, one), (beside, other) in permutations(self.made, 2)
            if one.coordinates.keys() - other.coordinates.keys()
        }

    def _call(self, name: str, vector: Vector) -> None:
        """Name a vector that has no name yet, and what it alone is made of."""
        if not vector.coordinates or vector.key in self.vectors:
            return
        self.vectors[vector.key] = name = self._free(name)
        self.made.append((name, vector))
        if all(c == 1 for c in vector.coordinates.values()) and len({b for b, _ in vector.coordinates}) == len(
            vector.coordinates
        ):
            for place in vector.coordinates:
                template = (
                    "{}" if len(vector.coordinates) == 1 else (self.style.deviation, self.style.mean)[not place[0]]
                )
                self.basis.setdefault(place, template.format(name))

    def vector(self, vector: Vector) -> str:
        """Write a vector: its name, a difference of two names, or what it is made of."""
        found = self.vectors.get(vector.key) or self.apart.get(vector.key)
        return found or self.combination(vector.coordinates)

    def combination(self, coordinates: Mapping[Basis, Any]) -> str:
        """Write a combination of basis vectors."""
        return self.sum((c, self.basis.get(place) or self._unnamed(place)) for place, c in coordinates.items())

    def _unnamed(self, place: Basis) -> str:
        name = self.style.point(f"v{place[1]}" if not place[0] else f"u{place[0]}{place[1]:02}")
        return self.basis.setdefault(place, self._free(name))

    def _free(self, name: str) -> str:
        """Return a name that nothing else has."""
        while name in self.taken:
            name += "'"
        self.taken.add(name)
        return name

    def sum(self, terms: Any) -> str:
        """Write numbers times what they belong to."""
        written = ""
        for c, term in terms:
            if not c:
                continue
            sign = " - " if c < 0 else " + "
            times = "" if abs(c) == 1 else f"{self.style.number(abs(c))} "
            written += f"{sign}{times}{term}"
        return written.removeprefix(" + ").replace(" - ", "-", 1 if written.startswith(" - ") else 0) or "0"

    def form(self, form: Form) -> str:
        """Write a form."""
        style = self.style
        products: dict[str, Fraction] = {}
        for (u, v), c in form.products.items():
            if u.coordinates and v.coordinates:
                sides = sorted((self.vector(u), self.vector(v)))
                term = style.square.format(sides[0]) if sides[0] == sides[1] else style.product.format(*sides)
                products[term] = products.get(term, Fraction(0)) + c
        values = ((c, self.values.get(value) or self._number(value)) for value, c in form.values.items())
        return self.sum((*values, *((c, term) for term, c in products.items())))

    def _number(self, value: Value) -> str:
        return self.values.setdefault(value, self._free(self.style.point("t")))


class Written(NamedTuple):
    """The parts of a proof: bound, objective, terms (multiplier, label, form, sign, bound), squares, definitions."""

    upper: str
    objective: str
    terms: list[tuple[str, str, str, str, str]]
    left: list[str]
    means: list[tuple[str, str]]


def _written(program: Program, multipliers: Multipliers, labels: Sequence[str], names: Names) -> Written:
    multipliers = shortened(program, multipliers)
    number = names.style.number
    sides = (
        (program.equalities, multipliers.equalities, [one.name or "equality" for one in program.equalities], "="),
        (program.inequalities, multipliers.inequalities, labels, names.style.at_most),
    )
    terms = [
        (y, (number(y), label, names.form(one.form), sign, number(one.bound)))
        for constraints, factors, called, sign in sides
        for one, y, label in zip(constraints, factors, called, strict=True)
        if y
    ]
    terms.sort(key=lambda pair: -abs(pair[0]))
    short = all(len(number(y)) <= 30 and "." not in number(y) for y, _ in terms)
    left = []
    for block, slack in enumerate(slacks(program, multipliers)):
        matrix: list[list[Any]] = slack if short else [[float(entry) for entry in row] for row in slack]
        largest = max((matrix[k][k] for k in range(len(matrix))), default=0)
        for d, row in squares(matrix, 0 if short else 1e-9 * largest):
            coordinates = {(block, k): c if short else round(c, 9) for k, c in enumerate(row) if c}
            left.append(names.sum([(d, names.style.square.format(names.combination(coordinates)))]))
    means = [
        (name, names.combination(vector.coordinates))
        for name, vector in names.made
        if name != names.combination(vector.coordinates) and name not in names.basis.values()
    ]
    upper = number(verify_upper(program, multipliers))
    return Written(upper, names.form(program.objective), [term for _, term in terms], left, means)


ROUNDED = "Numbers with a point are rounded; a saved certificate has all digits."
MEANS = "Products of vectors that clients have are means over the clients."
_BLOCKS = ("mean ", "overline")


def as_text(
    program: Program, multipliers: Multipliers, labels: Sequence[str], points: Mapping[str, Vector], known: Any
) -> str:
    """Write a proof in lines."""
    found = _written(program, multipliers, labels, Names(points, known, TEXT))
    lines = [f"{found.objective} <= {found.upper}, since the sum of"]
    lines += [f"  {y} times [{label}] {form} {sign} {bound}" for y, label, form, sign, bound in found.terms]
    lines += ["less the objective is a sum of squares:", *(f"  {one}" for one in found.left or ["0"])]
    lines += ["where"] * bool(found.means) + [f"  {name} = {what}" for name, what in found.means]
    return "\n".join(_folded([*lines, *_notes("\n".join(lines))]))


def as_latex(
    program: Program, multipliers: Multipliers, labels: Sequence[str], points: Mapping[str, Vector], known: Any
) -> str:
    """Write a proof as two environments of amsmath."""
    found = _written(program, multipliers, labels, Names(points, known, LATEX))
    rows = [f"  {name} &= {what}" for name, what in found.means]
    listed = [
        f"  {y}\\colon && {form} &{sign} {bound} && \\text{{{_plain(label)}}}"
        for y, label, form, sign, bound in found.terms
    ]
    total = [f"  {found.objective} &= \\sum_i \\lambda_i\\,\\mathrm{{left}}_i - {found.left[0] if found.left else '0'}"]
    total += [f"  &\\qquad - {one}" for one in found.left[1:]]
    total += [f"  &\\le \\sum_i \\lambda_i\\,\\mathrm{{right}}_i = {found.upper}"]
    parts = [
        ("Points:", rows),
        ("Inequalities, each after its multiplier $\\lambda_i$:", listed),
        ("Their sum:", total),
    ]
    written = "\n".join(f"{said}\n" + _aligned(lines) for said, lines in parts if lines)
    return "\n".join(_folded([*written.split("\n"), *_notes(written)]))


def _folded(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines that a terminal does not break; what goes on a line is indented further than any that begins one."""
    for line in lines:
        yield from textwrap.wrap(
            line, _WIDTH, subsequent_indent=" " * 6, break_long_words=False, break_on_hyphens=False
        )


def _notes(written: str) -> list[str]:
    """Return what has to be said of a proof beside it."""
    rounded = [ROUNDED] if re.search(r"\d\.\d", written) else []
    return rounded + ([MEANS] if any(word in written for word in _BLOCKS) else [])


def _aligned(lines: Sequence[str]) -> str:
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}"


def _plain(label: str) -> str:
    return label.replace("_", "\\_").replace("^2", "\\textsuperscript{2}")
