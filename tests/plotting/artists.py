"""Tell what a figure shows, artist by artist, so that it can be compared with what is written down."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator


def told(axes: Axes) -> list[str]:
    """Return a line for each artist of a panel, in the order in which they were drawn, after those of its axes."""
    artists = [*axes.lines, *axes.patches, *axes.collections, *axes.texts]
    return [*_frame(axes), *(_artist(artist) for artist in artists)]


def look(axes: Axes) -> list[str]:
    """Return the same without numbers of the data: what the reader is told, and how lines, bars and areas look."""
    bare = [re.sub(r" from .*?(?= grid| at |$)", "", line) for line in _frame(axes)]
    artists = (_artist(artist).split(": ")[0] for artist in (*axes.lines, *axes.patches, *axes.collections))
    texts = (f"text {text.get_text()}" for text in axes.texts)
    return [*bare, *dict.fromkeys(artists), *map(_across, filter(_is_across, axes.lines)), *texts]


def shown_numbers(axes: Axes) -> Iterator[float]:
    """Yield the numbers at which lines, bars and areas are drawn, to six digits."""
    for artist in (*axes.lines, *axes.patches, *axes.collections):
        _, colon, numbers = _artist(artist).rpartition(": ")
        yield from map(float, numbers.split() if colon else ())


def _frame(axes: Axes) -> Iterator[str]:
    yield f"title {axes.get_title()!r}"
    for name, axis, limits in (("x", axes.xaxis, axes.get_xlim()), ("y", axes.yaxis, axes.get_ylim())):
        yield f"{name} {axis.get_label_text()!r} {axis.get_scale()} from {_numbers(limits)}{_ticks(axis)}"
    yield f"legend {axes.get_legend_handles_labels()[1]}"


def _ticks(axis: Any) -> str:
    labels = axis.get_ticklabels()
    grid = " grid" if any(line.get_visible() for line in axis.get_gridlines()) else ""
    if not isinstance(axis.get_major_locator(), FixedLocator):  # other ticks are the choice of matplotlib
        return grid
    looks = {(label.get_rotation(), label.get_fontsize()) for label in labels}
    return f"{grid} at {_numbers(axis.get_ticklocs())}: {[label.get_text() for label in labels]} {sorted(looks)}"


def _artist(artist: Any) -> str:
    common = f"z {artist.get_zorder():g}{'' if artist.get_clip_on() else ' unclipped'}"
    if isinstance(artist, Text):
        place = f"{_numbers(artist.get_position())} {'of the panel' if _in_panel(artist) else ''}"
        return f"text {artist.get_text()!r} at {place} {artist.get_color()} {artist.get_fontsize():g} {common}"
    if isinstance(artist, Line2D):
        return f"line {_label(artist)} {_line(artist)} {common}: {_numbers(artist.get_xydata())}"
    if isinstance(artist, Rectangle):
        box = (artist.get_x(), artist.get_y(), artist.get_width(), artist.get_height())
        look = f"{to_hex(artist.get_facecolor())} {to_hex(artist.get_edgecolor())} {artist.get_linewidth():g}"
        return f"bar {look} {artist.get_hatch() or ''} {common}: {_numbers(box)}"
    if not isinstance(artist, Collection):
        return f"{type(artist).__name__} {_label(artist)} {common}"
    colors = [*artist.get_facecolor(), *artist.get_edgecolor()]
    face, width = to_hex(colors[0], keep_alpha=True) if colors else "", np.ravel(artist.get_linewidth())[0]
    corners = {tuple(corner) for path in artist.get_paths() for corner in np.asarray(path.vertices).tolist()}
    return f"area {_label(artist)} {face} {width:g} {common}: {_numbers(sorted(corners))}"


def _label(artist: Any) -> str:
    label = artist.get_label() or ""
    return "" if label.startswith("_") else repr(label)


def _line(line: Line2D) -> str:
    dashes = line._unscaled_dash_pattern  # type: ignore[attr-defined]  # the style alone does not tell dashes apart
    mark = f"{line.get_marker()} {line.get_markersize():g} {line.get_fillstyle()} every {line.get_markevery()}"
    return f"{to_hex(line.get_color())} {line.get_linestyle()!r} {dashes} {line.get_linewidth():g} {mark}"


def _is_across(line: Line2D) -> bool:
    """Whether a line goes straight through the panel, from edge to edge."""
    return line.axes is not None and line.get_transform() in (
        line.axes.get_xaxis_transform(which="grid"),
        line.axes.get_yaxis_transform(which="grid"),
    )


def _across(line: Line2D) -> str:
    """Say where, to three digits: what it marks may have been measured."""
    return f"line across at {' '.join(f'{value:.3g}' for value in np.ravel(line.get_xydata()))}"


def _in_panel(text: Text) -> bool:
    return text.axes is not None and text.get_transform() == text.axes.transAxes


def _numbers(values: Any) -> str:
    return " ".join(f"{value:.6g}" for value in np.asarray(values, dtype=np.float64).ravel())
