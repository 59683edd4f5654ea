"""Titles of figures, and figures as PNG or PDF files, uncut and with reproducible bytes."""

from __future__ import annotations

import io
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

_DOTS_PER_INCH = 160


def titled(figure: Figure, sentence: str) -> Figure:
    """Write a sentence above a figure, in lines that fit its width; return the figure."""
    width = int(10 * figure.get_size_inches()[0])
    unbroken = sentence.replace(" = ", "\u00a0=\u00a0")  # no line ends inside an equation
    figure.suptitle(textwrap.fill(unbroken, width), x=0.01, ha="left", fontsize=11, weight="bold")
    return figure


def figure_bytes(figure: Figure, *kinds: str) -> dict[str, bytes]:
    """Return the content of a file of each kind; the figure keeps their layout, enlarged by labels beyond it."""
    whole, found = _arranged(figure), {}
    undated: dict[str, dict[str, Any]] = {"png": {"Software": None}, "pdf": {"CreationDate": None}}
    for kind in kinds:
        content = io.BytesIO()
        figure.savefig(content, format=kind, dpi=_DOTS_PER_INCH, metadata=undated[kind], bbox_inches=whole)
        found[kind] = content.getvalue()
    return found


def _arranged(figure: Figure) -> Bbox:
    """Fix the layout of a figure, and return its extent in inches; this takes most of the time of saving it."""
    from matplotlib import rc_context

    drawn_at, figure.dpi = figure.dpi, _DOTS_PER_INCH
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    whole = figure.get_tightbbox().padded(0.05)
    figure.dpi = drawn_at
    with rc_context({"figure.autolayout": False, "figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)
    return whole
