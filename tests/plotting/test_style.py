"""Style of figures."""

import itertools
from collections.abc import Iterable
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb

from fedtheory.plotting.grids import lines_with_bands
from fedtheory.plotting.style import COLORS, MARKERS, appearance, legend_below, log_log, log_places

mpl.use("Agg")

# Linear RGB to the two cone responses left to dichromats (Vienot, Brettel, Mollon 1999): protan, deutan.
SIMULATIONS = {
    "protan": np.array([[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]]),
    "deutan": np.array([[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]]),
    "normal": np.eye(3),
}
# About 25 of 255 steps.
APART = 0.1


@pytest.fixture
def figure():
    import matplotlib.pyplot as plt

    figure, _ = plt.subplots(1, 2)
    yield figure
    plt.close(figure)


@pytest.mark.parametrize(
    ("intervals", "asked", "sentence"),
    [
        ({"mean": ("strategy", [1.0, 2.0])}, {}, "a plot must have an axis of numbers, got none"),
        ({"mean": (("d", "tau"), [[1.0], [2.0]])}, {"hue": "d"}, "hue must be one of 'tau', got 'd'"),
    ],
)
def test_a_grid_without_an_axis_of_numbers_or_such_a_hue_is_refused(figure, intervals, asked, sentence):
    from xarray import Dataset

    named = {"strategy": ["uniform", "pow-d"]} if not asked else {"d": [3, 9], "tau": [2]}
    with pytest.raises(ValueError, match=sentence):
        lines_with_bands(figure.axes[0], Dataset(intervals, coords=named), "gap", **asked)


def seen(eye: str, color: str) -> Any:
    return np.clip(SIMULATIONS[eye] @ np.array(to_rgb(color)) ** 2.2, 0, 1) ** (1 / 2.2)


def closest(eye: str, colors: Iterable[str]) -> Any:
    return min(np.linalg.norm(a - b) for a, b in itertools.combinations([seen(eye, color) for color in colors], 2))


@pytest.mark.parametrize("eye", SIMULATIONS)
def test_colors_stay_apart_for_every_eye(eye):
    assert closest(eye, COLORS) > APART


def test_a_red_and_a_green_of_the_same_lightness_would_fail_the_same_test():
    red, green = "#cc4c33", "#858033"
    assert closest("normal", (red, green)) > APART > closest("deutan", (red, green))


def test_markers_are_distinct_and_as_many_as_colors():
    assert len(set(MARKERS)) == len(MARKERS) == len(COLORS)


def test_the_readers_settings_come_back():
    before = dict(mpl.rcParams)
    with appearance():
        assert mpl.rcParams["axes.grid"]
    assert dict(mpl.rcParams) == before


def test_the_legend_names_every_label_once_and_lies_below_the_panels():
    import matplotlib.pyplot as plt

    with appearance():
        figure, panels = plt.subplots(1, 2)
        for axes in panels:
            axes.plot([1, 2], label="same")
        panels[1].plot([2, 1], label="other")
        legend_below(figure)
        figure.canvas.draw()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["same", "other"]
    assert all(not legend.get_window_extent().overlaps(axes.get_tightbbox()) for axes in panels)
    plt.close(figure)


def test_log_log_names_both_axes(figure):
    axes = log_log(figure.axes[0], xlabel="steps [1]", ylabel="gap [1]")
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("steps [1]", "gap [1]")


@given(st.integers(1, 20_000), st.integers(2, 300))
def test_log_places_are_increasing_indices_with_both_ends(length, count):
    places = log_places(length, count)
    assert places[0] == 0
    assert places[-1] == length - 1
    assert (np.diff(places) > 0).all()
    assert places.size <= count + 1
