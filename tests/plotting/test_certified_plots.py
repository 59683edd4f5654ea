"""Plots of intervals show the given numbers."""

import matplotlib as mpl
import numpy as np
import pytest

from fedtheory.plotting.intervals import certified

mpl.use("Agg")


@pytest.fixture
def axes():
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def test_both_sides_of_an_interval_are_drawn_and_named_once(axes):
    certified(axes, [1, 2, 3], [0.1, 0.2, 0.3], [0.4, 0.5, 0.6], label="rho")
    drawn = sorted(tuple(line.get_ydata()) for line in axes.lines)
    assert drawn == [(0.1, 0.2, 0.3), (0.4, 0.5, 0.6)]
    assert axes.get_legend_handles_labels()[1] == ["rho"]
    assert len(axes.collections) == 1


def test_a_lower_side_of_zero_is_left_out_on_a_logarithmic_axis(axes):
    axes.set_yscale("log")
    certified(axes, [1, 2], [0.0, 0.2], [0.4, 0.5], label="rho")
    (lower,) = (line for line in axes.lines if line.get_label() != "rho")
    assert np.isnan(lower.get_ydata()[0])
    assert lower.get_ydata()[1] == 0.2
