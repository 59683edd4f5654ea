"""Paired differences as points with intervals, which unlike bands around two curves show whose curve is lower."""

import itertools
from typing import Any

import numpy as np
from _repeated import mean_and_limits


def leads(axes: Any, differences: Any, place: float, look: dict[str, Any]) -> None:
    """Draw the mean of paired differences over each tenth of the rounds, with its interval over the instances.

    ``differences`` has dimensions instance and round; points of several strategies stand side by side, ``place``
    between -1/2 and 1/2 of a tenth.
    """
    last = int(differences["round"].max())
    edges = np.linspace(0, last, 11)
    tenths = [differences.sel(round=slice(*pair)).mean("round").values for pair in itertools.pairwise(edges)]
    mean, lower, upper = mean_and_limits(np.array(tenths).T)
    middles = edges[:-1] + (0.5 + place) * last / 10
    axes.errorbar(middles, mean, [mean - lower, upper - mean], linestyle="none", capsize=2, markersize=4, **look)
