"""Plots of measured curves with confidence bands, and of theory lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory.theorem.bound import Bound

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["bound_versus_error", "measured", "theory"]

# Styles of bounds, tightest first. Measurements are solid lines with markers.
_COLORS = ("#D55E00", "#009E73", "#CC79A7", "#E69F00")
_DASHES = ((0, (5, 1.5)), (0, (4, 1.5, 1, 1.5)), (0, (1, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (8, 3)))
_MEASURED = "#0072B2"


def measured(
    axes: Axes,
    x: npt.ArrayLike,
    mean: npt.ArrayLike,
    lower: npt.ArrayLike,
    upper: npt.ArrayLike,
    *,
    label: str,
    color: str = _MEASURED,
    marker: str = "o",
) -> Axes:
    """Plot a measured mean with markers and its confidence band; return the Axes.

    ``x``, ``mean``, ``lower`` and ``upper`` are increasing positions, mean and confidence limits, each of shape (n,).
    On a logarithmic axis a lower limit of zero or less is drawn at a hundredth of the mean. The band has no legend
    entry.

    >>> from matplotlib.figure import Figure
    >>> axes = measured(Figure().add_subplot(), [1, 2], [5.0, 3.0], [4.0, 2.0], [6.0, 4.0], label="pow-d")
    >>> axes.get_lines()[0].get_ydata()
    array([5., 3.])
    """
    x = validate.array("x", x, ndim=1)
    sides = {"mean": mean, "lower": lower, "upper": upper}
    mean, lower, upper = (validate.extended(name, values, shape=x.shape, gaps=True) for name, values in sides.items())
    if axes.get_yscale() == "log":
        lower = np.where(lower > 0, lower, mean / 100)
    axes.fill_between(x, lower, upper, color=color, alpha=0.25, linewidth=0)
    spread = np.geomspace if axes.get_xscale() == "log" and x[0] > 0 else np.linspace
    places = range(x.size) if x.size <= 8 else [*np.searchsorted(x, spread(x[0], x[-1], 8)[:-1]), x.size - 1]
    axes.plot(x, mean, color=color, marker=marker, markevery=[*map(int, places)], label=label)
    return axes


def theory(axes: Axes, x: npt.ArrayLike, values: npt.ArrayLike, *, label: str, rank: int = 0) -> Axes:
    """Plot a theory line, dashed and without markers; return the Axes.

    Infinite values are omitted. ``rank`` is 0 for the tightest bound; each rank has another color and other dashes.

    >>> from matplotlib.figure import Figure
    >>> theory(Figure().add_subplot(), [1, 2], [5.0, float("inf")], label="bound").get_lines()[0].get_ydata()
    array([ 5., nan])
    """
    rank = validate.count("rank", rank, 0)
    # Four colors and five dashes repeat together only after twenty lines.
    color, dashes = _COLORS[rank % len(_COLORS)], _DASHES[rank % len(_DASHES)]
    places = validate.array("x", x, ndim=1)
    heights = validate.extended("values", values, shape=places.shape, gaps=True)
    finite = np.where(np.isfinite(heights), heights, np.nan)
    axes.plot(places, finite, color=color, linestyle=dashes, label=label)
    return axes


def bound_versus_error(
    axes: Axes,
    x: npt.ArrayLike,
    error: tuple[Any, Any, Any],
    bounds: Mapping[Any, npt.ArrayLike],
    *,
    quantity: str = "gap",
) -> Axes:
    """Plot a measured error and bounds on it; return the Axes.

    Parameters
    ----------
    x, error
        Horizons, shape (n,), and mean, lower and upper confidence limit, each of shape (n,).
    bounds
        Values of bounds, each of shape (n,), tightest first, by label or by bound, as returned by
        `fedtheory.exact.bounds_over_rounds`. A bound that is infinite everywhere is named in the corner instead.
    quantity
        Quantity of the error. A bound (not a label) on another quantity or another model is refused.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> error = ([5.0, 3.0], [4.0, 2.0], [6.0, 4.0])
    >>> axes = bound_versus_error(Figure().add_subplot(), [1, 2], error, {"Theorem 3.1": [70.0, 50.0]})
    >>> [line.get_label() for line in axes.get_lines()]
    ['Theorem 3.1', 'measured mean, 95% band']
    """
    bounds = {_label(key, quantity): values for key, values in bounds.items()}
    for rank, (label, values) in enumerate(bounds.items()):
        theory(axes, x, values, label=label, rank=rank)
    if len(sides := validate.sequence("error", error, "mean, lower and upper limits")) != 3:
        message = f"error must be mean, lower and upper limits, got {len(sides)} entries"
        raise ValueError(message)
    measured(axes, x, *sides, label="measured mean, 95% band")
    vacuous = [label for label, values in bounds.items() if not np.isfinite(values).any()]
    if vacuous:
        note = "\n".join(f"{label}: infinite" for label in vacuous)
        axes.text(0.03, 0.03, note, transform=axes.transAxes, fontsize="small", color="#444444")
    return axes


def _label(key: Any, quantity: str) -> str:
    """Return a label, or the name of a bound; raise if the bound is not one on this quantity of the last model."""
    if not isinstance(key, Bound):
        return str(key)
    left = key.left
    if left is not None and not (left.quantity == quantity and left.is_of_last_model):
        message = f"bounds must bound the {quantity} of the last model after the whole run, got {key.__name__}, which"
        message += f" bounds the {left.description}"
        raise ValueError(message)
    return f"{key.statement.topic.key}, {key.short_name}"
