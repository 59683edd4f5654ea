"""Plots of certified intervals against a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory.plotting.style import COLORS, MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["certified"]


def certified(axes: Axes, x: npt.ArrayLike, lower: npt.ArrayLike, upper: npt.ArrayLike, *, label: str) -> Axes:
    """Plot certified intervals as a band with markers on both edges; return the Axes.

    ``x``, ``lower`` and ``upper`` are positions, and the sides of the intervals, shape (n,). On a logarithmic axis a
    lower side of 0 is omitted. If both sides are equal, the band is a line.

    >>> from matplotlib.figure import Figure
    >>> axes = certified(Figure().add_subplot(), [3, 9], [0.2, 0.3], [0.5, 0.7], label="skew")
    >>> [line.get_ydata().tolist() for line in axes.get_lines()]
    [[0.5, 0.7], [0.2, 0.3]]
    """
    x = validate.array("x", x, ndim=1)
    sides = {"lower": lower, "upper": upper}
    lower, upper = (validate.extended(name, values, shape=x.shape, gaps=True) for name, values in sides.items())
    if axes.get_yscale() == "log":
        lower = np.where(lower > 0, lower, np.nan)
    axes.fill_between(x, lower, upper, color=COLORS[0], alpha=0.25, linewidth=0)
    axes.plot(x, upper, color=COLORS[0], marker=MARKERS[0], label=label)
    axes.plot(x, lower, color=COLORS[0], marker=MARKERS[0])
    return axes
