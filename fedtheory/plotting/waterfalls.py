"""Waterfall plots: one bar per step, from the value before it to the value after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory.plotting.style import COLORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["waterfall"]

# A step that changes next to nothing still shows as a line this wide, in powers of ten.
_THINNEST = 0.012


def waterfall(axes: Axes, levels: npt.ArrayLike, labels: Sequence[str], *, groups: Sequence[str] | None = None) -> Axes:
    """Draw a waterfall on a logarithmic scale, from top to bottom; return the Axes.

    The width of a bar is a factor, which stands beside it where it is not 1 when rounded to three digits.

    Parameters
    ----------
    axes
        Where to draw.
    levels
        The value before the first step and after each of n steps, positive, shape (n + 1,).
    labels
        Names of the steps, n of them.
    groups
        Kind of every step; each kind has its color, and its entry in the legend if one of its bars can be seen.

    Returns
    -------
    Axes
        The same Axes.

    Raises
    ------
    ValueError
        If a level is not positive, or there is not one label, or group, per step.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = waterfall(Figure().add_subplot(), [2.0, 20.0, 100.0], ["variance", "drift"])
    >>> [round(float(bar.get_width()), 3) for bar in axes.patches]
    [1.0, 0.699]
    """
    values = np.log10(validate.positive("levels", validate.array("levels", levels, ndim=1)))
    kinds = list(groups) if groups is not None else [""] * len(labels)
    _check_sizes(values.size - 1, labels=labels, groups=kinds)
    colors = dict(zip(dict.fromkeys(kinds), COLORS, strict=False))
    places = np.arange(len(labels))
    for place, kind, before, after in zip(places, kinds, values[:-1], values[1:], strict=True):
        width = after - before
        shown = width if abs(width) > _THINNEST else _THINNEST
        hatch = "////" if width < 0 else None
        axes.barh(
            place, shown, left=before, height=0.72, color=colors[kind], hatch=hatch, edgecolor="white", linewidth=0
        )
        axes.plot([after, after], [place, place + 1], color="#888888", linewidth=0.6)
        if (factor := f"{10.0**width:.3g}") != "1":
            axes.annotate(rf" $\times${factor}", (max(before, after), place), va="center", fontsize=8)
    # A kind that changes nothing has no bar to see, and no entry in the legend.
    changing = [kind for kind, width in zip(kinds, np.diff(values), strict=True) if kind and abs(width) > _THINNEST]
    for kind in dict.fromkeys(changing):
        axes.barh(0, 0, color=colors[kind], label=kind)
    axes.set_yticks(places, labels=list(labels))
    axes.set(ylim=(len(labels) - 0.4, -0.6), xmargin=0.12)
    axes.grid(visible=False, axis="y")
    return axes


def _check_sizes(num_steps: int, **given: Sequence[str]) -> None:
    for name, entries in given.items():
        if len(entries) != num_steps:
            message = f"{name} must have one entry per step, {num_steps}, got {len(entries)}"
            raise ValueError(message)
