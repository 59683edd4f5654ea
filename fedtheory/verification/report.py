"""Verdicts as one HTML page that needs nothing else: no network, no server, no file beside it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from fedtheory._support.wording import told_apart
from fedtheory.theorem._letters import mathml
from fedtheory.verification.conclusions import Verdict
from fedtheory.verification.findings import FAILS
from fedtheory.verification.plain_rows import Row, rows
from fedtheory.verification.renderings import finding_pairs, ratio_text, replay_line, summary

__all__ = ["html_report"]

# Smaller ratios are drawn as none: a promise a million times too large is as far off as one a billion times.
_LEAST_RATIO = 1e-6
_TEMPLATE = Path(__file__).with_name("report.html")


def html_report(verdicts: Iterable[Verdict], header: Mapping[str, Any] | None = None) -> str:
    """Return verdicts as a page of HTML, claims by paper and counterexamples drawn.

    Whatever stands in titles and instances stays text. Formulas are MathML, pictures are SVG, and the page asks nobody
    for anything: a policy in its head forbids that.

    Parameters
    ----------
    verdicts
        As ``verify`` returns them.
    header
        What the verdicts come from, such as version, date and seed: pairs of a name and what is shown beside it.

    Returns
    -------
    str
        The whole page.

    Examples
    --------
    >>> from fedtheory.verification import verify
    >>> page = html_report(verify("power-of-choice:lemma-b2"), {"seed": 0})
    >>> page.startswith("<!doctype html>"), "power-of-choice:lemma-b2" in page
    (True, True)
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    found = list(verdicts)
    bounds: list[Any] = [verdict.claim.bound for verdict in found]
    drawn = {bound: Markup(mathml(bound)) for bound in {*bounds} - {None}}  # SymPy writes it, of parameters' names
    told = [
        {**row, **_shown(row), "formula": drawn.get(bound, "")} for row, bound in zip(rows(found), bounds, strict=True)
    ]
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        header=dict(header or {}), summary=summary(told), papers=_papers(told), claims=told,
        errata=[row for row in told if row["verdict"] == FAILS],
        kinds=sorted({row["kind"] for row in told}), verdicts=sorted({row["verdict"] for row in told}),
    )  # fmt: skip


def _papers(told: Sequence[Row]) -> dict[str, list[Row]]:
    return {paper: [row for row in told if row["paper"] == paper] for paper in sorted({row["paper"] for row in told})}


def _shown(row: Row) -> dict[str, Any]:
    """Return what the page shows of a row beside what it holds: texts of numbers, lengths of bars."""
    ratio = None if row["worst_ratio"] is None else _number(row["worst_ratio"])
    return {
        "ratio_text": "" if ratio is None else ratio_text(ratio),
        "ratio_sort": -1.0 if ratio is None else min(ratio, 1e300),
        "ratio_length": 0.0 if ratio is None else _length(ratio),
        "reproduce": replay_line(row),
        "pairs": finding_pairs(row) if row["relation"] is not None else [],
        "bars": _bars(row),
    }


def _length(ratio: float) -> float:
    """Length of the bar of a ratio in percent, on a logarithmic scale on which 1 is 80; only what is above goes beyond.

    >>> [_length(ratio) for ratio in (0.0, 1e-9, 1e-3, 1.0, 1.0019, 1e9)]
    [0.0, 0.0, 40.0, 80.0, 85.0, 100.0]
    """
    if ratio <= _LEAST_RATIO:
        return 0.0
    if ratio > 1.0:
        # Beyond the mark at 1 by what can be seen, however little it is.
        return round(min(85.0 - 15.0 * math.log(min(ratio, 1e300)) / math.log(_LEAST_RATIO), 100.0), 1)
    return round(80.0 * (1.0 - math.log(ratio) / math.log(_LEAST_RATIO)), 2)


def _bars(row: Row) -> list[dict[str, Any]]:
    """Measured and predicted number side by side, each with its length in percent of the longer, if both are finite."""
    if row["relation"] is None:
        return []
    measured, predicted = _number(row["measured"]), _number(row["predicted"])
    longest = max(abs(measured), abs(predicted))
    if not 0.0 < longest < math.inf:
        return []
    texts = f"{measured:.6g}", f"{predicted:.6g}"
    if texts[0] == texts[1] and measured != predicted:
        texts = told_apart(measured, predicted)
    sides = zip(("measured", "predicted"), (measured, predicted), texts, strict=True)
    return [
        {"name": name, "text": text, "length": round(100.0 * abs(value) / longest, 2)} for name, value, text in sides
    ]


def _number(value: Any) -> float:
    """Return a row's number as a double; what is no number, or too large to be written, as infinity.

    >>> [_number(value) for value in (2, "9/32", "inf", "about 2^5000", None)]
    [2.0, 0.28125, inf, inf, inf]
    """
    try:
        return float(Fraction(value)) if isinstance(value, str) else float(value)
    except (ValueError, TypeError, OverflowError):
        return math.inf
