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


def test_a_step_that_changes_nothing_is_a_thin_bar_without_a_factor_and_its_kind_has_no_entry(axes):
    waterfall(axes, [1.0, 10.0, 10.0, 100.0], ["a", "b", "c"], groups=["up", "idle", "up"])
    [_, unchanged, _] = [bar for bar in axes.patches if bar.get_width()]
    assert unchanged.get_x() == 1.0
    assert 0 < unchanged.get_width() < 0.05
    assert [text.xy[1] for text in axes.texts] == [0, 2]
    assert axes.get_legend_handles_labels()[1] == ["up"]


@pytest.mark.parametrize("named", ["labels", "groups"])
@pytest.mark.parametrize("size", [1, 3])
def test_every_step_has_one_label_and_one_group(axes, named, size):
    given = {"labels": ["a", "b"], "groups": ["up", "up"]} | {named: ["c"] * size}
    with pytest.raises(ValueError, match=f"{named} must have one entry per step, 2, got {size}"):
        waterfall(axes, [1.0, 10.0, 1000.0], **given)


def test_only_falling_bars_are_hatched_and_each_is_tied_to_the_next(axes):
    waterfall(axes, [1.0, 10.0, 1000.0, 100.0], ["a", "b", "c"])
    assert [bool(bar.get_hatch()) for bar in axes.patches if bar.get_width()] == [False, False, True]
    ties = [(list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines]
    assert ties == [([1, 1], [0, 1]), ([3, 3], [1, 2]), ([2, 2], [2, 3])]


def test_above_the_first_bar_and_below_the_last_is_the_same_margin(axes):
    waterfall(axes, [1.0, 2.0, 3.0, 4.0], ["first", "second", "third"])
    (bottom, top), bars = axes.get_ylim(), [bar for bar in axes.patches if bar.get_width()]
    first, last = bars[0].get_y(), bars[-1].get_y() + bars[-1].get_height()
    assert first - top == pytest.approx(bottom - last, rel=1e-12)
    assert first - top == pytest.approx(0.24, rel=1e-12)


def test_the_first_step_stands_on_top(axes):
    waterfall(axes, [1.0, 2.0, 3.0], ["first", "second"])
    bottom, top = axes.get_ylim()
    assert bottom > top


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
