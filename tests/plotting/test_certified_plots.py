"""Intervals and waterfalls show the numbers they are given."""

import matplotlib as mpl
import numpy as np
import pytest

from fedtheory.plotting.intervals import certified
from fedtheory.plotting.waterfalls import waterfall

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


def test_bars_lead_from_one_level_to_the_next_and_factors_stand_beside_them(axes):
    # 1 -> 10 -> 1000 -> 100: times 10, times 100, times 1/10
    waterfall(axes, [1.0, 10.0, 1000.0, 100.0], ["a", "b", "c"], groups=["up", "up", "down"])
    bars = [(bar.get_x(), bar.get_width()) for bar in axes.patches if bar.get_width()]
    np.testing.assert_allclose(bars, [(0, 1), (1, 2), (3, -1)], atol=1e-12)
    beside = [(text.get_text().split("$")[-1], *text.xy) for text in axes.texts]
    assert beside == [("10", 1.0, 0), ("100", 3.0, 1), ("0.1", 3.0, 2)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b", "c"]
    assert axes.get_legend_handles_labels()[1].count("up") == 1


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ([1.0, 0.0], "levels must be finite and positive, got 0.0 at index 1"),
        ([1.0, 2.0, 3.0], "one entry per step, 2"),
    ],
)
def test_levels_that_cannot_be_drawn_are_refused(axes, levels, message):
    with pytest.raises(ValueError, match=message):
        waterfall(axes, levels, ["only"])
