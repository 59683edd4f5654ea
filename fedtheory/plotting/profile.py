"""How often each client is selected."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fedtheory.plotting.style import COLORS, MARKERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

__all__ = ["selection_profile"]


def selection_profile(axes: "Axes", frequencies: "Mapping[str, npt.ArrayLike]", *, sort_by: str) -> "Axes":
    """Draw each client's share of the selections, a series of markers per strategy; return the Axes.

    Parameters
    ----------
    frequencies
        By label, shares of shape (K,); clients are in one order for all series.
    sort_by
        Label of the series in whose descending order the clients stand.
    """
    order = np.argsort(-np.asarray(frequencies[sort_by]), kind="stable")
    place = np.arange(order.size)
    for index, (label, shares) in enumerate(frequencies.items()):
        color, marker = COLORS[index % len(COLORS)], MARKERS[index % len(MARKERS)]
        axes.plot(place, np.asarray(shares)[order], linestyle="none", color=color, marker=marker, label=label)
    axes.set_xticks(place, labels=[str(client) for client in order], rotation=90, fontsize=7)
    return axes
