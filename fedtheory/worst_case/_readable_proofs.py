"""Theorem and proof as text: classes, method, inequalities with multipliers, and squares."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.errors import OracleError
from fedtheory.worst_case._certificates import Multipliers, combined, verify_upper
from fedtheory.worst_case._names import LATEX, TEXT, Names, Style, _escaped, _is_free, _latex_number
from fedtheory.worst_case._record import SERVER, Declared, Record
from fedtheory.worst_case._semidefinite import Program
from fedtheory.worst_case._vectors import Form, Key

_WIDTH = 80
_DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 60, 100, 300, 1000, 10_000)
"""Largest denominators that are tried."""
_MOST_TRIED = 200
"""Largest number of multipliers of a proof whose numbers are shortened."""
_LOST = Fraction(1, 10**6)
"""Share of the bound that may be lost for short numbers."""
_TERMS = 5
"""Largest number of terms per line in LaTeX."""


def shortened(program: Program, multipliers: Multipliers) -> Multipliers:
    """Return fractions with small denominators that prove the same bound; if there are none, the given ones."""
    upper = verify_upper(program, multipliers)
    if len(multipliers.inequalities) > _MOST_TRIED:
        return multipliers
    for largest in _DENOMINATORS:
        tried = Multipliers(*([y.limit_denominator(largest) for y in side] for side in multipliers))  # type: ignore[arg-type]
        with suppress(OracleError):
            if verify_upper(program, tried) <= upper + _LOST * abs(upper):
                return tried
    return multipliers


def squares(slack: Sequence[Sequence[Any]], least: Any = 0) -> Iterator[tuple[Any, list[Any]]]:
    """Yield the factor and coordinates of the squares whose sum is a semidefinite matrix, largest pivots first."""
    left = [[*row] for row in slack]
    while left:
        pivot = max(range(len(left)), key=lambda k: left[k][k])
        d = left[pivot][pivot]
        if d <= least:
            return
        row = [entry / d for entry in left[pivot]]
        yield d, row
        left = [[entry - d * row[i] * c for entry, c in zip(line, row, strict=True)] for i, line in enumerate(left)]


class Statement(NamedTuple):
    """The parts of a theorem as lines: hypotheses, definitions, constraints, and conclusion."""

    given: list[str]
    defined: list[tuple[str, str]]
    demanded: list[tuple[str, str, str, str]]
    conclusion: list[str]


def statement_of(record: Record, objectives: Sequence[Form], names: Names) -> Statement:
    """Return the statement of a record."""
    style, format_number, defined = names.style, set[Key](), list[tuple[str, str]]()
    for one in record.declared:
        applied = style.slope if one.of.kind == "function" else style.value
        for call in one.calls:
            at = names.vectors.get(call.at.key, "0")
            if call.at.key not in format_number and at != (made := names.combination(call.at.coordinates)):
                defined.append((at, made))
            format_number.add(call.at.key)
            slope = applied(style.name(one.name), at)
            if not _is_free(call.gradient) or names.vectors[call.gradient.key] != slope:
                defined.append((slope, names.vector(call.gradient)))
            elif one.num_clients > 1 and 0 not in call.gradient.blocks:
                defined.append((style.mean.format(slope), "0"))
    for vector in names.points.values():
        at = names.vectors.get(vector.key, "0")
        if vector.key not in format_number and at != (made := names.combination(vector.coordinates)):
            defined.append((at, made))
    demanded = [
        (one.name, names.form(one.form), "=" if one.is_equality else style.at_most, style.number(one.bound))
        for one in record.constraints
    ]
    return Statement([*_given(record, names)], defined, demanded, [names.form(form) for form in objectives])


def _given(record: Record, names: Names) -> Iterator[str]:
    """Yield the classes of functions and operators, the positions of minimizers, and the noises."""
    style, math = names.style, _math(names.style)
    for one in record.declared:
        yield _declaration(one, style)
    for one in record.declared:
        if one.minimum is not None:
            whose = "of the function of each client of " if one.num_clients > 1 else "of "
            at = names.vectors.get(one.calls[one.minimum].at.key, "0")
            yield f"{math(at)}: a minimizer {whose}{math(style.name(one.name))}"
    yield from _random(record, names)
    if free := _free_names(record, names):
        yield f"{', '.join(map(math, free))}: {'a vector' if len(free) == 1 else 'vectors'}"


def _free_names(record: Record, names: Names) -> list[str]:
    """Return the names of vectors that no other line defines."""
    calls = [call for one in record.declared for call in one.calls]
    known = {call.gradient.key for call in calls} - {vector.key for vector in names.points.values()}
    known |= {one.calls[one.minimum].at.key for one in record.declared if one.minimum is not None}
    made = [step.made.key for step in record.steps if step.verb not in ("noise", "deviation", "mean")]
    return [names.vectors[key] for key in made if key in names.vectors and key not in known]


def _random(record: Record, names: Names) -> Iterator[str]:
    """Yield the laws of the noises and of the differences among clients."""
    style, math = names.style, _math(names.style)
    slopes = {call.gradient.key for one in record.declared for call in one.calls}
    made: dict[tuple[str, str], list[str]] = {}
    for step in record.steps:
        if step.verb in ("noise", "deviation") and step.made.key not in slopes:
            owner = record.sources[max(step.made.blocks)].owner
            made.setdefault((step.verb, owner), []).append(math(names.vectors[step.made.key]))
    for (verb, owner), found in made.items():
        whose = f"each client of {math(style.name(owner))}"
        if verb == "deviation":
            yield f"{', '.join(found)}: a vector of {whose}, of mean 0"
        else:
            by = "once for all" if owner == SERVER else f"by {whose}, independently of the others"
            only = ", which its law depends on through means over clients" if record.averaged else ""
            yield f"{', '.join(found)}: random, drawn {by}, of mean 0 given everything drawn before{only}"
    for step in record.steps:
        if step.verb == "mean":
            noise, owner = step.inputs[0], record.sources[max(step.inputs[0].blocks)].owner
            mean, drawn = (math(names.vectors[vector.key]) for vector in (step.made, noise))
            yield f"{mean}: the mean of {drawn} over the clients of {math(style.name(owner))}"


def _math(style: Style) -> Callable[[str], str]:
    return (lambda text: f"${text}$") if style is LATEX else str


def _declaration(one: Declared, style: Style) -> str:
    math, number = _math(style), (lambda c: f"${_latex_number(c)}$") if style is LATEX else style.number
    name, what = math(style.name(one.name)), one.of.text(number)
    least = ", with the least value 0" if one.least is not None else ""
    if one.num_clients > 1:
        return f"{name}: {one.num_clients} clients, each with a function that is {what}{least}"
    kind = "an operator" if one.of.kind == "operator" else "a function"
    return f"{name}: " + (what if what.startswith("the ") else f"{kind} that is {what}") + least


class Written(NamedTuple):
    """The parts of a proof: bound, terms (multiplier, label, form, sign, bound), and squares."""

    upper: str
    terms: list[tuple[str, str, list[tuple[Fraction, str]], str, str]]
    squares: list[str]


def _written(program: Program, multipliers: Multipliers, names: Names) -> Written:
    multipliers = shortened(program, multipliers)
    number = names.style.number
    factors = (*multipliers.equalities, *multipliers.inequalities)
    used = sorted(zip(factors, program.constraints, strict=True), key=lambda pair: -abs(pair[0]))
    terms = [
        (
            number(y),
            one.label,
            names.terms(one.form),
            "=" if one.is_equality else names.style.at_most,
            number(one.bound),
        )
        for y, one in used
        if y
    ]
    short = all(len(number(y)) <= 30 and "." not in number(y) for y, _ in used)
    left, weights = [], np.array([Fraction(-1), *factors], dtype=object)
    for block, doubled in enumerate(combined(program, weights)):
        slack = doubled * Fraction(1, 2 * program.rows.denominator)
        matrix = (slack if short else slack.astype(float)).tolist()
        most = max((matrix[k][k] for k in range(len(matrix))), default=0)
        for d, row in squares(matrix, 0 if short else 1e-9 * most):
            coordinates = {(block, k): c if short else round(c, 9) for k, c in enumerate(row) if c}
            left.append(names.sum([(d, names.style.square.format(names.combination(coordinates)))]))
    return Written(number(verify_upper(program, multipliers)), terms, left)


ROUNDED = "Numbers with a point are rounded; a saved certificate has all digits."
DIMENSION = "The space is any real inner product space."


def proof_of(
    record: Record, objectives: Sequence[Form], program: Program, multipliers: Multipliers, *, latex: bool
) -> str:
    """Return a theorem with its proof."""
    names = Names(record, LATEX if latex else TEXT)
    said, found = statement_of(record, objectives, names), _written(program, multipliers, names)
    return text_of(record, said, found, names, latex=latex)


def text_of(record: Record, said: Statement, found: Written, names: Names, *, latex: bool) -> str:
    """Return a theorem with its proof, from their parts."""
    write = _as_latex if latex else _as_text
    return "\n".join(_folded(write(record, said, found, names)))


def _as_text(record: Record, said: Statement, found: Written, names: Names) -> list[str]:
    lines = ["Theorem. For all", *(f"  {one}" for one in said.given or ["points"])]
    if said.defined:
        lines += ["and points with", *(f"  {name} = {made}" for name, made in said.defined)]
    if said.demanded:
        lines += [
            "that fulfill",
            *(
                f"  {'[' + name + '] ' if name else ''}{form} {sign} {bound}"
                for name, form, sign, bound in said.demanded
            ),
        ]
    conclusion = said.conclusion[0] if len(said.conclusion) == 1 else f"the least of {', '.join(said.conclusion)}"
    lines += [f"it holds that {conclusion} <= {found.upper}.", "", "Proof. The sum of"]
    lines += [
        f"  {y} times [{label}] {names.sum(terms)} {sign} {bound}" for y, label, terms, sign, bound in found.terms
    ] or ["  0 <= 0"]
    lines += ["less the objective is a sum of squares:", *(f"  {one}" for one in found.squares or ["0"])]
    return [*lines, *_notes(record, "\n".join(lines), names)]


def _as_latex(record: Record, said: Statement, found: Written, names: Names) -> list[str]:
    lines = [
        "\\paragraph{Theorem.} For all",
        "\\begin{itemize}",
        *(f"\\item {one}," for one in said.given or ["points"]),
        "\\end{itemize}",
    ]
    if said.defined:
        lines += ["and points with", *_aligned([f"  {name} &= {made}" for name, made in said.defined])]
    if said.demanded:
        lines += [
            "that fulfill",
            *_aligned([f"  {form} &{sign} {bound} && {_named(name)}" for name, form, sign, bound in said.demanded]),
        ]
    conclusion = said.conclusion[0] if len(said.conclusion) == 1 else f"\\min\\{{{', '.join(said.conclusion)}\\}}"
    lines += ["it holds that", f"\\[ {conclusion} \\le {found.upper}. \\]"]
    lines += ["\\paragraph{Proof.} The sum of these inequalities, each times its multiplier,"]
    rows = []
    for y, label, terms, sign, bound in found.terms:
        rows.append(f"  & {y}\\ \\text{{({_escaped(label)})}}\\colon")
        pieces = [names.sum(terms[k : k + _TERMS]) for k in range(0, len(terms), _TERMS)]
        joined = [piece if not k or piece.startswith("-") else f"+ {piece}" for k, piece in enumerate(pieces)]
        rows += [f"  & \\qquad {piece}" for piece in (*joined[:-1], f"{joined[-1]} {sign} {bound}")]
    lines += [
        "{\\allowdisplaybreaks",
        *_aligned(rows or ["  & 0 \\le 0"]),
        "}",
        "less the objective is a sum of squares:",
    ]
    lines += _aligned([f"  & {'' if not k else '+ '}{one}" for k, one in enumerate(found.squares or ["0"])])
    return [*lines, *_notes(record, "\n".join(lines), names)]


def _named(name: str) -> str:
    return f"\\text{{({_escaped(name)})}}" if name else ""


def _notes(record: Record, text: str, names: Names) -> list[str]:
    """Return explanations of the symbols in a proof."""
    math, style = _math(names.style), names.style
    found = [DIMENSION]
    functions = [one for one in record.declared if one.of.kind == "function"]
    if functions:
        f = style.name(functions[0].name)
        smooth = all(one.of.is_smooth for one in functions)
        kind = "gradient" if smooth else "gradient, or a subgradient,"
        found.append(f"{math(style.slope(f, 'x'))} is the {kind} of {math(f)} at {math('x')}.")
    if names.slacks:
        found.append(
            f"Products of {', '.join(map(math, names.slacks))} are entries of a matrix that is positive semidefinite "
            "for points and gradients of such a quadratic function."
        )
    if any(one.num_clients > 1 for one in record.declared):
        mean, dev = math(style.mean.format("v")), math(style.deviation.format("v"))
        found.append(
            "Products and values of clients are means over the clients; "
            f"{mean} is the mean of a vector, {dev} its difference from it."
        )
    if any(source.is_noise for source in record.sources):
        part = math(style.part.format("v", "n"))
        found.append(
            f"Products are means over the noises; {part} is the part of v that noise n adds: "
            "its mean given all up to n, less that without n."
        )
    return [*found, ROUNDED] if re.search(r"\d\.\d", text) else found


def _folded(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines of at most the width of a terminal; continuation lines are indented further."""
    for line in lines:
        yield from textwrap.wrap(
            line, _WIDTH, subsequent_indent=" " * 6, break_long_words=False, break_on_hyphens=False
        ) or [""]


def _aligned(rows: Sequence[str]) -> list[str]:
    return ["\\begin{align*}", *(f"{row} \\\\" for row in rows[:-1]), rows[-1], "\\end{align*}"]
