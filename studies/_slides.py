"""Parts of the figures of all studies: labels at curves, and means with intervals."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from _repeated import mean_and_limits

from fedtheory.plotting.style import COLORS, MARKERS

DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (6, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 3)))
_LINE = 1.25  # height of a line of text, in font sizes


def curves(axes: Any, x: Any, bands: Mapping[str, Any]) -> None:
    """Plot means with bands, shape (3, n), with different dash patterns, and label them at their ends.

    The scales of the axes must be set.
    """
    looks = dict(zip(bands, zip(COLORS, DASHES, strict=True), strict=False))
    for name, (mean, lower, upper) in bands.items():
        color, dashes = looks[name]
        axes.plot(x, mean, linestyle=dashes, color=color)
        least = np.maximum(lower, np.asarray(mean) / 100) if axes.get_yscale() == "log" else lower
        axes.fill_between(x, least, upper, color=color, alpha=0.2, linewidth=0)
    axes.set_xlim(x[0], x[-1])
    name_ends(axes, {name: (float(band[0][-1]), looks[name][0]) for name, band in bands.items()})


def marked(axes: Any, bands: Mapping[str, tuple[Any, Any]], every: int) -> None:
    """Plot means with bands, each with its own abscissas and marker; the legend contains the labels."""
    for (name, (x, (mean, lower, upper))), color, marker in zip(bands.items(), COLORS, MARKERS, strict=False):
        axes.plot(x, mean, color=color, marker=marker, markevery=every, label=name)
        least = np.maximum(lower, np.asarray(mean) / 100) if axes.get_yscale() == "log" else lower
        axes.fill_between(x, least, upper, color=color, alpha=0.2, linewidth=0)
    axes.legend()


def level(axes: Any, height: float, words: str, side: int = 1) -> None:
    """Plot a horizontal reference line and label it at its right end, above or (with side -1) below."""
    axes.axhline(height, color="black", linewidth=0.8)
    place: dict[str, Any] = {"ha": "right", "va": "bottom" if side > 0 else "top", "fontsize": 9}
    axes.annotate(words, (1, height), (-4, 3 * side), axes.get_yaxis_transform(), "offset points", **place)


def name_ends(axes: Any, ends: Mapping[str, tuple[float, str]], size: float = 9.0) -> None:
    """Write labels to the right of curves at the heights of their ends without overlap; limits must be set."""
    heights = np.array([axes.transData.transform((axes.get_xlim()[1], y))[1] for y, _ in ends.values()])
    low, high = axes.transAxes.transform([(0, 0), (0, 1)])[:, 1]
    places, inches = (heights - low) / (high - low), 0.7 * axes.get_position().height * axes.figure.get_size_inches()[1]
    lines = [1 + name.count("\n") for name in ends]
    apart = np.array([_LINE * size / 72 * number / inches for number in lines])
    for (name, (_, color)), place in zip(ends.items(), _spread(np.clip(places, 0, 1), apart), strict=True):
        axes.text(1.02, place, name, transform=axes.transAxes, color=color, fontsize=size, va="center", ha="left")


def _spread(places: Any, sizes: Any) -> Any:
    """Move positions as little as necessary, so that labels of these sizes do not overlap."""
    order = np.argsort(places, kind="stable")
    ends = np.cumsum(sizes[order]) - sizes[order] / 2
    free = np.asarray(places)[order] - ends
    # The nearest increasing sequence of the free parts: blocks out of order are replaced by their mean.
    blocks: list[list[float]] = []
    for value in free:
        blocks.append([value, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (last, many), (before, few) = blocks.pop(), blocks.pop()
            blocks.append([(last * many + before * few) / (many + few), many + few])
    found = np.empty(len(order))
    found[order] = np.repeat([mean for mean, _ in blocks], [int(number) for _, number in blocks]) + ends
    return found


def intervals(
    axes: Any, samples: Sequence[Any], places: Any, limits: Callable[[Any], Any] = mean_and_limits, **look: Any
) -> None:
    """Plot means with their 95% Student-t intervals, one for each array of samples, at heights.

    A single sample is a hollow marker.
    """
    several = np.array([np.size(one) > 1 for one in samples], dtype=bool)
    found = [limits(np.asarray(one)) for one in samples if np.size(one) > 1]
    if found:
        means, low, high = np.array(found).T
        axes.errorbar(means, places[several], xerr=[means - low, high - means], linestyle="none", capsize=3, **look)
    single = [float(np.asarray(one).item()) for one in samples if np.size(one) == 1]
    axes.plot(
        single,
        places[~several],
        linestyle="none",
        fillstyle="none",
        **{**look, "label": None if found else look.get("label")},
    )


def name_rows(axes: Any, names: Sequence[str]) -> Any:
    """Name the heights 0, -1, -2, ...; return them."""
    places = -np.arange(len(names))
    axes.set_yticks(places, names)
    axes.set_ylim(-len(names) + 0.4, 0.6)
    return places
