"""A review as an HTML page, as Markdown, and as an appendix in LaTeX.

Page and Markdown are written from the same blocks, so that they name the same numbers. All text is escaped.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from fedtheory._storage.files import deliver
from fedtheory._support.wording import outward, plain, short_exponent
from fedtheory.referee.review import (
    Cell,
    Citation,
    ClosedFormFound,
    CoqFile,
    Counterexample,
    ForAllConstants,
    LooseSummands,
    MachineCheck,
    Missing,
    Review,
    StatedTheorem,
    Tightness,
    Verdict,
)
from fedtheory.theorem.paper import BASES
from fedtheory.verification.records import number_of
from fedtheory.verification.records import plain as plain_data
from fedtheory.verification.renderings import detects, escaped, ratio_text
from fedtheory.verification.report import bars, page

__all__ = ["html", "latex", "markdown", "save", "sections"]

_LONGEST = 40
"""Digits of the longest number that is written out."""
_ACCEPTED = {True: "accepted", False: "not accepted", None: "not run"}


class Block(NamedTuple):
    """A part of a section: ``text``, ``pairs``, ``table``, ``code``, ``formulas``, ``map`` or ``bars``."""

    kind: str
    content: Any


class Section(NamedTuple):
    """A section of a review."""

    title: str
    blocks: Sequence[Block]


def html(review: Review) -> str:
    """Return a review as an HTML page, which makes no request."""
    return page(
        "review.html", title=_title(review), word=_word(review), header=_header(review), sections=sections(review)
    )


def markdown(review: Review) -> str:
    """Return a review in Markdown."""
    lines = [f"# {escaped(_title(review))}", "", f"**{_word(review)}**", "", *_pairs(_header(review))]
    for number, section in enumerate(sections(review), start=1):
        lines += ["", f"## {number}. {section.title}"]
        for block in section.blocks:
            lines += ["", *_MARKDOWN[block.kind](block.content)]
    return "\n".join(lines) + "\n"


def latex(review: Review) -> str:
    """Return an appendix for a paper: what was found, the proof, and the commands; it needs the package amsmath."""
    found = review.citation
    if isinstance(found, Missing):
        return f"% No appendix: {_line(found.reason)}\n"
    commands = (rf"\noindent\texttt{{{_tex(command)}}}\par" for command in found.commands)
    proof = [r"\subsection*{Theorem and proof}", found.latex] if found.latex else []
    title = rf"\section*{{{_tex(_title(review))}}}"
    return "\n".join([title, _tex(found.paragraph), *proof, r"\subsection*{Commands}", *commands]) + "\n"


def save(review: Review, folder: Path) -> list[Path]:
    """Write ``review.html``, ``review.md`` and ``review.tex`` into a folder, and replace those of an earlier review."""
    texts = {"review.html": html(review), "review.md": markdown(review), "review.tex": latex(review)}
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        deliver(folder / name, text.encode("utf-8"))
    return [folder / name for name in texts]


def _title(review: Review) -> str:
    return f"Review of {_line(review.theorem)}"


def _word(review: Review) -> str:
    return "no verdict" if isinstance(review.verdict, Missing) else review.verdict.word


def _header(review: Review) -> list[tuple[str, str]]:
    source = [] if isinstance(review.statement, Missing) else [("source", _line(review.statement.source))]
    file = [("file", _line(review.file))] if review.file else []
    seconds = f"{review.seconds:.1f} of {review.budget:g}"
    return [*source, *file, ("seed", str(review.seed)), ("seconds", seconds)]


def sections(review: Review) -> list[Section]:
    """Return the sections of a review; the first block of each is a sentence about its finding."""
    parts: list[tuple[str, Any, Any]] = [
        ("Statement", review.statement, _statement),
        ("Verdict", review.verdict, _verdict),
        ("Tightness", review.tightness, _tightness),
        ("Loose summands", review.loose_summands, _loose_summands),
        ("For all constants", review.for_all_constants, _for_all_constants),
        ("Machine check", review.machine_check, _machine_check),
        ("What to cite", review.citation, _citation),
    ]
    return [
        Section(title, [_missing(found)] if isinstance(found, Missing) else [*filter(_has_content, blocks(found))])
        for title, found, blocks in parts
    ]


def _has_content(block: Block) -> bool:
    return bool(block.content)


def _missing(found: Missing, what: str = "This section is missing") -> Block:
    return Block("text", f"{what}: {_line(found.reason).rstrip('.')}.")


def _statement(found: StatedTheorem) -> Iterator[Block]:
    yield _sentence(found.remark)
    yield Block("formulas", [(_line(one.name), _line(one.text), one.mathml) for one in found.summands])
    pairs = [
        ("rests on", BASES.get(found.basis, found.basis)),
        ("left side", f"{found.left or 'not declared'} {found.relation} the sum of the summands"),
        *(("assumes", text) for text in found.hypotheses),
        *(("domain", text) for text in found.domain),
        ("constants", _constants(found.constants)),
        ("instance", _constants(found.instance)),
    ]
    yield _described(pairs)


def _verdict(found: Verdict) -> Iterator[Block]:
    yield _sentence(found.word + (f": {found.counterexample.text}" if found.counterexample else ""))
    yield from map(_sentence, found.remarks)
    tried = [
        (f"{name} from", f"{_exact(low)} to {_exact(high)}") if low != high else (name, _exact(low))
        for name, (low, high) in found.ranges.items()
    ]
    pairs = [
        ("instances", _number(found.num_instances)),
        ("exact worst cases", _number(found.num_worst_cases)),
        ("detects", detects({"detectable": found.detects})),
        *tried,
    ]
    yield _described(pairs)
    if found.counterexample is not None:
        yield from _counterexample(found.counterexample)


def _counterexample(found: Counterexample) -> Iterator[Block]:
    sides = [("measured", _number(found.measured)), ("bound", _number(found.predicted))]
    constants = ((name, _number(value)) for name, value in found.constants.items())
    yield _described([("counterexample", found.origin), *sides, *constants])
    if found.functions:
        yield Block("text", "Functions and points that attain it approximately:")
        yield _code("\n".join(_listed(found.functions)))


def _listed(functions: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each function and point."""
    for what, part in functions.items():
        named = part.items() if isinstance(part, Mapping) else [("", part)]
        yield from (f"{what} {name}".strip() + f": {json.dumps(value, default=str)}" for name, value in named)


def _tightness(found: Tightness) -> Iterator[Block]:
    yield _sentence(found.remark)
    yield _sentence(found.trivial)
    yield Block("map", _map(found))
    common = _common([cell.constants for cell in found.cells if cell.constants])
    yield Block("text", f"All cells have {_constants(common)}." if common else "")
    head = (
        "constants",
        "bound",
        "worst case, at least",
        "worst case, at most",
        "ratio",
        "promised progress",
        "finding",
    )
    rows = [
        (
            _constants({name: value for name, value in cell.constants.items() if name not in common}) or "none",
            _decimal(cell.value),
            _decimal(cell.lower, up=False),
            _decimal(cell.upper, up=True),
            _ratio(cell),
            "" if cell.progress is None else f"{cell.progress:.3g}",
            f"{cell.status}: {_line(cell.note)}" if cell.note else cell.status,
        )
        for cell in found.cells
    ]
    yield Block("table", [head, *rows])


def _common(known: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the constants that have the same value everywhere."""
    first = known[0] if known else {}
    return {name: value for name, value in first.items() if all(one.get(name) == value for one in known)}


def _map(found: Tightness) -> dict[str, Any]:
    """Return titles of columns and rows, and for each cell its text, status, and share of the logarithmic scale."""
    finite = [cell.ratio for cell in found.cells if cell.ratio and math.isfinite(cell.ratio)]
    most = max([1.0, *finite])
    columns, rows = ([_line(f"{axis.name} {_exact(value)}") for value in axis.values] for axis in found.axes)
    cells = {cell.place: (_ratio(cell), cell.status, _share(cell.ratio, most)) for cell in found.cells}
    return {"columns": columns, "rows": rows, "cells": cells, "most": ratio_text(most)}


def _share(ratio: float | None, most: float) -> float:
    """Return the place of a ratio on a logarithmic scale from 1 to the largest ratio."""
    if not ratio or ratio <= 1 or most <= 1:
        return 0.0
    return round(min(math.log(ratio) / math.log(most), 1.0), 3)


def _ratio(cell: Cell) -> str:
    if cell.ratio is None:
        return "?" if cell.status == "unknown" else "inf"
    return ratio_text(cell.ratio)


def _loose_summands(found: LooseSummands) -> Iterator[Block]:
    yield _sentence(found.remark)
    yield Block(
        "text", f"Coefficients at {_constants(found.constants)}; each pair of bars has its own scale from zero."
    )
    head = ("constant", "summands", "printed", "needed")
    rows = [
        (_line(one.name), _line(", ".join(one.summands)), _decimal(one.printed), _decimal(one.needed, up=True))
        for one in found.coefficients
    ]
    drawings = [bars(number_of(one.printed), number_of(one.needed)) for one in found.coefficients]
    yield Block("bars", ([head, *rows], drawings))
    yield Block("text", "A true bound with the needed coefficients:")
    yield _code(found.sharpened)


def _for_all_constants(found: ForAllConstants) -> Iterator[Block]:
    if isinstance(found.closed_form, Missing):
        yield _missing(found.closed_form, "No closed form")
    else:
        yield from _closed_form(found.closed_form)
    if isinstance(found.rate, Missing):
        yield _missing(found.rate, "No rate for all rounds")
    else:
        pairs = [("rate per round", _number(found.rate.value)), ("constants", _constants(found.rate.constants))]
        yield Block("pairs", pairs)
        yield _code(found.rate.text)


def _closed_form(found: ClosedFormFound) -> Iterator[Block]:
    where = ", ".join(found.domain)
    yield _sentence(f"the worst case is at most {found.text} where {where}")
    yield _sentence(found.comparison)
    yield Block("formulas", [("worst case at most", _line(found.text), found.mathml)])
    yield Block("pairs", [("proved on", "the whole domain" if found.is_whole else "a part of the domain")])
    yield _code(found.proof)


def _machine_check(found: MachineCheck) -> Iterator[Block]:
    number, proved = len(found.certificates), sum(one.is_proved for one in found.certificates)
    yield _sentence(f"the checker proves {proved} of {number} certificates; Coq: {_coq_answer(found.coq)}")
    head = ("certificate", "constants", "verdict", "answer of the checker")
    rows = [
        (_line(one.file), _constants(one.constants), "proved" if one.is_proved else "not proved", _line(one.answer))
        for one in found.certificates
    ]
    yield Block("table", [head, *rows] if rows else [])
    if not isinstance(found.coq, Missing):
        yield _described([("states", found.coq.about), ("Coq", _ACCEPTED[found.coq.is_accepted])])


def _coq_answer(coq: CoqFile | Missing) -> str:
    return coq.reason if isinstance(coq, Missing) else f"{coq.file}: {coq.answer}"


def _citation(found: Citation) -> Iterator[Block]:
    yield Block("text", _line(found.paragraph))
    yield _code("\n".join(found.commands))
    if found.latex:
        yield _code(found.latex)


def _sentence(text: str) -> Block:
    line = _line(text).rstrip(".")
    return Block("text", f"{line[:1].upper()}{line[1:]}." if line else "")


def _code(text: str) -> Block:
    return Block("code", plain(text))


def _described(pairs: Iterable[tuple[str, str]]) -> Block:
    return Block("pairs", [(_line(name), _line(text)) for name, text in pairs if text])


def _line(text: Any) -> str:
    """Return text of a file in one line, without characters that control a terminal or the order of a line."""
    return " ".join(plain(str(text)).split())


def _constants(constants: Mapping[str, Any]) -> str:
    return _line(", ".join(f"{name}={_exact(value)}" for name, value in constants.items()))


def _exact(value: Any) -> str:
    """Write a number exactly if it is not long, and sequences and arrays of numbers.

    >>> _exact(Fraction(1, 3)), _exact([1, Fraction(1, 2)]), _exact(1e-9), _exact(10**400)
    ('1/3', '(1, 1/2)', '1e-9', 'about 1.00000e400')
    """
    if isinstance(value, int | Fraction) and max(abs(value.numerator), value.denominator) >= 10**_LONGEST:
        return f"about {_decimal(value)}"
    known = value if isinstance(value, list | tuple) else plain_data(value)
    if isinstance(known, list | tuple):
        return f"({', '.join(map(_exact, known))})"
    return short_exponent(f"{known:.6g}") if isinstance(known, float) else _line(known)


def _number(value: Any) -> str:
    """Write a number exactly, and a fraction with its decimal.

    >>> _number(Fraction(1, 3)), _number(Fraction(4, 2))
    ('1/3 = 0.333333', '2')
    """
    text = _exact(value)
    return f"{text} = {_decimal(value)}" if "/" in text and isinstance(value, Fraction) else text


def _decimal(value: Fraction | int | None, *, up: bool | None = None) -> str:
    """Write a number with six digits, rounded to the nearest, or up or down as a proved side must be.

    >>> _decimal(Fraction(2, 3)), _decimal(Fraction(2, 3), up=False), _decimal(2 * 10**400), _decimal(None)
    ('0.666667', '0.666666', '2.00000e400', '')
    """
    if value is None:
        return ""
    number = number_of(value)
    if up is None and math.isfinite(number) and bool(number) == bool(value):
        return short_exponent(f"{number:.6g}")
    return short_exponent(outward(Fraction(value), 6, up=bool(up)).lower())


def _pairs(pairs: Iterable[tuple[str, str]]) -> list[str]:
    return [f"- {escaped(name)}: {escaped(text)}" for name, text in pairs]


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(map(escaped, row))} |" for row in rows]
    return [lines[0], f"|{' --- |' * len(rows[0])}", *lines[1:]]


def _fenced(text: str) -> list[str]:
    """Return a block of code, whose fence is longer than any in it."""
    fence = max((len(run) for run in re.findall("`+", text)), default=0) + 1
    return ["`" * max(fence, 3), *text.splitlines(), "`" * max(fence, 3)]


def _grid(content: Mapping[str, Any]) -> list[str]:
    texts = {place: f"{ratio} {status}" for place, (ratio, status, _) in content["cells"].items()}
    across = range(len(content["columns"]))
    rows = ([title, *(texts.get((i, j), "") for i in across)] for j, title in enumerate(content["rows"]))
    return _table([["", *content["columns"]], *rows])


_MARKDOWN: Mapping[str, Any] = {
    "text": lambda text: [escaped(text)],
    "pairs": _pairs,
    "table": _table,
    "code": _fenced,
    "formulas": lambda rows: _pairs((name, text) for name, text, _ in rows),
    "map": _grid,
    "bars": lambda content: _table(content[0]),
}


def _tex(text: str) -> str:
    """Escape the characters that LaTeX reads as commands."""
    signs = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return re.sub(r"[\\~^{}$&#_%]", lambda found: signs.get(found[0], f"\\{found[0]}"), _line(text))
