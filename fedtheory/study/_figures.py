"""A figure as PNG or PDF: nothing is cut, and the same figure makes the same bytes."""

from __future__ import annotations

import io
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

__all__ = ["figure_bytes", "save_figure"]

_DOTS_PER_INCH = 160


def save_figure(figure: Figure, path: Path | IO[bytes], kind: str) -> None:
    """Write a figure as ``png`` or ``pdf``; the same figure makes the same bytes, whatever the date.

    Labels and legends that reach beyond the figure make it larger: nothing is cut.

    Parameters
    ----------
    figure
        A figure of matplotlib.
    path
        The file, or what is open for its bytes.
    kind
        ``png`` or ``pdf``.

    Examples
    --------
    >>> import tempfile
    >>> from matplotlib.figure import Figure
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_figure(Figure(figsize=(2, 1)), Path(folder, "empty.png"), "png")
    ...     Path(folder, "empty.png").read_bytes()[1:4]
    b'PNG'
    """
    engine = figure.get_layout_engine()
    _write(figure, path, kind, whole=_arranged(figure))
    if engine is not None:
        figure.set_layout_engine(engine)


def figure_bytes(figure: Figure, *kinds: str) -> dict[str, bytes]:
    """Return the content of a file of each kind; the figure stays arranged as it is in them."""
    whole, found = _arranged(figure), {}
    for kind in kinds:
        content = io.BytesIO()
        _write(figure, content, kind, whole)
        found[kind] = content.getvalue()
    return found


def _arranged(figure: Figure) -> Bbox:
    """Arrange a figure, which then stays so, and return what it needs in inches: most of the time of saving it."""
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


def _write(figure: Figure, path: Path | IO[bytes], kind: str, whole: Bbox) -> None:
    undated: dict[str, Any] = {"png": {"Software": None}, "pdf": {"CreationDate": None}}[kind]
    figure.savefig(path, format=kind, dpi=_DOTS_PER_INCH, metadata=undated, bbox_inches=whole)
