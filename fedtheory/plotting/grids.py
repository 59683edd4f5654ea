"""Means over a grid of settings: lines with confidence bands."""

from typing import TYPE_CHECKING

from fedtheory._support import validate
from fedtheory._support.wording import truncate
from fedtheory.plotting.bound import measured
from fedtheory.plotting.style import COLORS, MARKERS, label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from xarray import Dataset

# On a linear axis, positions that differ by more than this factor are only distinguishable if they are large.
_WIDE = 30


def lines_with_bands(
    axes: "Axes", intervals: "Dataset", name: str, *, x: str | None = None, hue: str | None = None
) -> "Axes":
    """Plot means with confidence bands against one dimension, one line for each value of another; return the Axes."""
    by_length = sorted(map(str, intervals["mean"].dims), key=lambda dim: -intervals.sizes[dim])
    numeric = [dim for dim in by_length if intervals[dim].dtype.kind in "iuf"]
    if not numeric:
        message = "a plot must have an axis of numbers, got none"
        raise ValueError(message)
    x = numeric[0] if x is None else validate.choice("x", x, tuple(numeric))
    others = [dim for dim in by_length if dim != x]
    if hue is None:
        hue = next((dim for dim in others if intervals.sizes[dim] > 1), None)
    elif hue not in others:
        message = f"hue must be one of {', '.join(map(repr, others))}, got {truncate(hue)}"
        raise ValueError(message)
    rest = {dim: 0 for dim in others if dim != hue}
    here = intervals.isel(rest).sortby(x)
    places = here[x].values
    if places[0] > 0 and places[-1] >= _WIDE * places[0]:
        axes.set_xscale("log")
    for i in range(1 if hue is None else here.sizes[hue]):
        line = here if hue is None else here.isel({hue: i})
        label = label_of(name) if hue is None else f"{label_of(hue)} = {here[hue].values[i]}"
        measured(
            axes, places, line["mean"].values, line["lower"].values, line["upper"].values, label=label,
            color=COLORS[i % len(COLORS)], marker=MARKERS[i % len(MARKERS)],
        )  # fmt: skip
    axes.set_xlabel(label_of(x))
    axes.set_ylabel(label_of(name))
    axes.set_title(", ".join(f"{label_of(dim)} = {intervals[dim].values[0]}" for dim in rest))
    return axes
