"""HTML report of verdicts."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fedtheory.theorem.findings import FAILS
from fedtheory.theorem.letters import mathml
from fedtheory.verification.records import Row, number_of, rows
from fedtheory.verification.renderings import (
    applicable,
    detects,
    expectation,
    finding_pairs,
    ratio_text,
    summary,
)
from fedtheory.verification.verdicts import Verdict

__all__ = ["html_report"]

_TEMPLATE = Path(__file__).with_name("report.html")
# Length of an infinite bar beyond the finite part of the scale, as a share of it.
_BEYOND = 1.25


class Bar(NamedTuple):
    """A bar in percent of the width: start, length and end; an infinite bar has an arrow at its end."""

    start: float
    length: float
    end: float
    infinite: bool


class Bars(NamedTuple):
    """Bars of both sides of a comparison on one linear scale, and the position of zero."""

    zero: float
    measured: Bar
    predicted: Bar


def bars(measured: float, predicted: float) -> Bars:
    """Return both sides as bars from zero to their values; bars of negative numbers extend to the left.

    >>> bars(1.0, -3.0)
    Bars(zero=75.0, measured=Bar(start=75.0, length=25.0, end=100.0, infinite=False), \
predicted=Bar(start=0.0, length=75.0, end=0.0, infinite=False))
    >>> bars(0.0, 2.0).measured, bars(2.0, float("inf")).measured.length < bars(2.0, float("inf")).predicted.length
    (Bar(start=0.0, length=0.0, end=0.0, infinite=False), True)
    """
    finite = [side for side in (measured, predicted) if math.isfinite(side)]
    size = max(map(abs, finite), default=0.0) or 1.0  # sides are divided by it to avoid overflow
    scaled = [side / size for side in finite]
    low, high = min([0.0, *scaled]), max([0.0, *scaled])
    if low == high:
        low, high = (-1.0, 1.0) if len(finite) == 2 else (0.0, 0.0)
    beyond = _BEYOND * ((high - low) or 1.0)
    low -= beyond * (-math.inf in (measured, predicted))
    high += beyond * (math.inf in (measured, predicted))

    def place(side: float) -> float:
        return round(100 * (min(max(side / size, low), high) - low) / (high - low), 2)

    zero = place(0.0)
    ends = [place(measured), place(predicted)]
    drawn = [
        Bar(min(zero, end), round(abs(end - zero), 2), end, math.isinf(side))
        for end, side in zip(ends, (measured, predicted), strict=True)
    ]
    return Bars(zero, *drawn)


def bars_of(row: Row) -> Bars | None:
    """Return the bars of a row's worst instance, minus the baseline if there is one; None without two sides."""
    if row["relation"] is None:
        return None
    base = 0.0 if row["baseline"] is None else number_of(row["baseline"])
    return bars(number_of(row["measured"]) - base, number_of(row["predicted"]) - base)


def html_report(verdicts: Iterable[Verdict], header: Mapping[str, Any] | None = None) -> str:
    """Return verdicts as an HTML page, by paper, each with a drawing of its worst instance.

    Text in titles and instances is escaped. Formulas are MathML, drawings are SVG, and the content security policy of
    the page forbids all requests.

    >>> from fedtheory.verification import verify
    >>> page = html_report(verify("power-of-choice:lemma-b2"), {"seed": 0})
    >>> page.startswith("<!doctype html>"), "power-of-choice:lemma-b2" in page
    (True, True)
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    found = list(verdicts)
    bounds: list[Any] = [verdict.claim.bound for verdict in found]
    formulas = {bound: Markup(mathml(bound)) for bound in {*bounds} - {None}}  # written by SymPy from parameters' names
    shown = [
        {**row, **_shown(row), "formula": formulas.get(bound, "")}
        for row, bound in zip(rows(found), bounds, strict=True)
    ]
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        header=dict(header or {}),
        summary=summary(shown),
        claims=sorted(shown, key=lambda row: row["paper"]),
        papers=sorted({row["paper"] for row in shown}),
        kinds=sorted({row["kind"] for row in shown}),
        verdicts=sorted({row["verdict"] for row in shown}),
    )


def _shown(row: Row) -> dict[str, Any]:
    """Return the texts and drawings of a row on the page."""
    ratio = None if row["worst_ratio"] is None else number_of(row["worst_ratio"])
    pairs = finding_pairs(row) if row["relation"] is not None else []
    return {
        "ratio_text": "" if ratio is None else ratio_text(ratio),
        "ratio_order": -1e300 if ratio is None else max(min(ratio, 1e300), -1e300),
        "detects": detects(row),
        "applicable": applicable(row),
        "expectation": expectation(row),
        "pairs": pairs,
        "bars": bars_of(row),
        "caption": f"measured {pairs[0][1]}" if pairs else "",
        "open": row["verdict"] == FAILS or not row["as_expected"],
    }
