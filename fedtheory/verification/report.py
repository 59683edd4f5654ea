"""Reports as HTML pages, from the templates in one folder; a page makes no request, and text is escaped."""

import functools
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fedtheory.theorem.findings import FAILS
from fedtheory.theorem.letters import mathml
from fedtheory.verification.records import Row, number_of, rows
from fedtheory.verification.renderings import console_rows, description, ratio_text, summary
from fedtheory.verification.verdicts import Verdict

__all__ = ["bars", "html_report", "page"]

_TEMPLATES = Path(__file__).with_name("pages")
# Length of an infinite bar beyond the finite part of the scale, as a share of it.
_BEYOND = 1.25


def html_report(verdicts: Iterable[Verdict], header: Mapping[str, Any] | None = None) -> str:
    """Return verdicts as an HTML page, by paper, each with a drawing of its worst instance.

    >>> from fedtheory.verification import verify
    >>> text = html_report(verify("power-of-choice:lemma-b2"), {"seed": 0})
    >>> text.startswith("<!doctype html>"), "power-of-choice:lemma-b2" in text
    (True, True)
    """
    from markupsafe import Markup

    found = list(verdicts)
    bounds: list[Any] = [verdict.claim.bound for verdict in found]
    formulas = {bound: mathml(bound) for bound in {*bounds} - {None}}
    listed = rows(found)
    shown = [
        {
            **row,
            **cells,
            "ratio": "" if row["worst_ratio"] is None else ratio_text(row["worst_ratio"]),
            "pairs": description(row),
            "bars": bars_of(row),
            "formula": Markup(formulas.get(bound, "")),
            "open": row["verdict"] == FAILS or not row["as_expected"],
        }
        for row, cells, bound in zip(listed, console_rows(listed), bounds, strict=True)
    ]
    return page("verdicts.html", header=header or {}, summary=summary(shown), claims=shown)


def page(template: str, **content: Any) -> str:
    """Return a page of a template of this folder; formulas in MathML are inserted as they are."""
    return str(_environment().get_template(template).render(**content))


@functools.cache
def _environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    options: dict[str, Any] = {
        "autoescape": True,
        "undefined": StrictUndefined,
        "trim_blocks": True,
        "lstrip_blocks": True,
    }
    return Environment(loader=FileSystemLoader(_TEMPLATES), **options)


def bars(*values: float) -> tuple[float, list[tuple[float, bool]]]:
    """Return the position of zero, and the end of each value's bar with whether it is infinite, on one linear scale.

    Positions are in percent of the width; bars of negative numbers extend to the left.

    >>> bars(1.0, -3.0), bars(1.0, float("inf"))
    ((75.0, [(100.0, False), (0.0, False)]), (0.0, [(44.44, False), (100.0, True)]))
    """
    size = max((abs(value) for value in values if math.isfinite(value)), default=0.0) or 1.0  # avoids overflow
    finite = [0.0, *(value / size for value in values if math.isfinite(value))]
    low, high = min(finite), max(finite)
    if low == high and len(finite) > len(values):
        low, high = -1.0, 1.0
    beyond = _BEYOND * ((high - low) or 1.0)
    low, high = low - beyond * (-math.inf in values), high + beyond * (math.inf in values)
    zero, *ends = (round(100 * (min(max(value / size, low), high) - low) / (high - low), 2) for value in (0.0, *values))
    return zero, [(end, math.isinf(value)) for end, value in zip(ends, values, strict=True)]


def bars_of(row: Row) -> tuple[float, list[tuple[float, bool]]] | None:
    """Return the bars of a row's worst instance, minus the baseline if there is one; None without two sides."""
    if row["relation"] is None:
        return None
    base = 0.0 if row["baseline"] is None else number_of(row["baseline"])
    return bars(*(number_of(row[side]) - base for side in ("measured", "predicted")))
