"""Plots of selection frequencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory.plotting.style import COLORS, MARKERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

__all__ = ["selection_profile"]


def selection_profile(axes: Axes, shares: npt.ArrayLike, frequencies: Mapping[str, npt.ArrayLike]) -> Axes:
    """Draw how often clients are selected, markers per strategy over gray bars of the data shares; return the Axes.

    Parameters
    ----------
    axes
        Where to draw.
    shares
        Data shares p, shape (K,); the clients stand in their descending order.
    frequencies
        By label, shares of the selections, shape (K,).

    Returns
    -------
    Axes
        The same Axes.

    Raises
    ------
    TypeError, ValueError
        If something is no array of numbers, or the shapes differ.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = selection_profile(Figure().add_subplot(), [0.25, 0.75], {"pow-d": [0.4, 0.6]})
    >>> axes.get_lines()[0].get_ydata()
    array([0.6, 0.4])
    """
    shares = validate.array("shares", shares, ndim=1)
    order = np.argsort(-shares, kind="stable")
    place = np.arange(order.size)
    axes.bar(place, shares[order], color="#c0c0c0", label="data share p")
    for index, (label, frequency) in enumerate(frequencies.items()):
        selected = validate.array(label, frequency, shape=shares.shape)
        color, marker = COLORS[index % len(COLORS)], MARKERS[index % len(MARKERS)]
        look = axes.plot(place, selected[order], color=color, marker=marker, label=label, linestyle="none")
        # A client that is never selected has its marker on the frame.
        look[0].set_clip_on(False)
    axes.set_xticks(place, labels=[str(client) for client in order], rotation=90, fontsize=7)
    axes.grid(visible=False, axis="x")
    return axes
