"""Style of all figures: colors for color-blind readers, markers and legends."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
from fedtheory.theorem.symbols import SYMBOLS

__all__ = ["COLORS", "MARKERS", "appearance", "label_of", "legend_below", "log_log", "log_places"]

# The palette of Okabe and Ito without yellow, which is too faint for lines on white; dark and light colors alternate.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

_SETTINGS: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelsize": 10,
    "axes.titlesize": 10,
    "figure.constrained_layout.use": True,
    "font.size": 10,
    "grid.alpha": 0.6,
    "grid.color": "#cccccc",
    "grid.linewidth": 0.5,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "svg.hashsalt": "fedtheory",
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
}


@contextlib.contextmanager
def appearance() -> Iterator[None]:
    """Context manager that applies the style of the figures and restores the previous settings at the end.

    >>> import matplotlib as mpl
    >>> before = mpl.rcParams["figure.dpi"]
    >>> with appearance():
    ...     inside = mpl.rcParams["svg.hashsalt"]
    >>> inside, mpl.rcParams["figure.dpi"] == before
    ('fedtheory', True)
    """
    import matplotlib as mpl

    with mpl.rc_context(_SETTINGS):  # type: ignore[arg-type]
        yield


def log_log(axes: "Axes", *, xlabel: str, ylabel: str) -> "Axes":
    """Set logarithmic axes with labels; return the Axes.

    >>> from matplotlib.figure import Figure
    >>> log_log(Figure().add_subplot(), xlabel="rounds", ylabel="gap").get_xscale()
    'log'
    """
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    return axes


def legend_below(figure: "Figure", *, num_columns: int = 3) -> "Figure":
    """Add one legend below all panels, with each label once; return the figure.

    >>> from matplotlib.figure import Figure
    >>> figure = Figure(layout="constrained")
    >>> _ = [axes.plot([2, 3], label="pow-d") for axes in figure.subplots(1, 2)]
    >>> [text.get_text() for text in legend_below(figure).legends[0].get_texts()]
    ['pow-d']
    """
    num_columns, unique = validate.count("num_columns", num_columns), dict[str, Any]()
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            unique.setdefault(label, handle)
    figure.legend(list(unique.values()), list(unique), loc="outside lower center", ncols=num_columns)
    return figure


def log_places(length: int, count: int = 200) -> npt.NDArray[np.int64]:
    """At most ``count`` distinct indices from 0 to length - 1, evenly spaced on a logarithmic axis, with both ends.

    >>> log_places(1001, 4)
    array([   0,    1,   32, 1000])
    """
    last = validate.size("length", length) - 1
    inner = np.geomspace(1, max(last, 1), validate.size("count", count, 2) - 1)
    places = np.unique(np.concatenate([[0], np.rint(inner), [last]]).astype(np.int64))
    within: npt.NDArray[np.int64] = places[places <= last]
    return within


# Expressions that would need brackets within a formula.
_RECORDED = {"gap": "F(w) - F^*", "loss": "F(w)"}


def label_of(name: str) -> str:
    r"""Return the label of a name in figures: its most common letter, or its words.

    >>> label_of("rho_bar"), label_of("num_clients"), label_of("gap")
    ('$\\bar\\rho$', 'num clients', '$F(w) - F^*$')
    """
    row = SYMBOLS.get(name)
    letter = _RECORDED.get(name, row.letter if row else "")
    return f"${letter}$" if letter else name.replace("_", " ")
