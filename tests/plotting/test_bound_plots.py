"""Figures of bounds and errors show the given data, and distinguish theory from measurement."""

from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from fedtheory.plotting.bound import bound_versus_error, measured, theory
from fedtheory.plotting.style import log_log

mpl.use("Agg")


@pytest.fixture
def axes():
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    yield log_log(axes, xlabel="steps", ylabel="gap")
    plt.close(figure)


X = np.arange(1, 101)
MEAN = 1.0 / X


def line(axes: Any, label: str) -> Any:
    (found,) = (line for line in axes.lines if line.get_label() == label)
    return found


def test_mean_and_bounds_are_drawn_as_given(axes):
    bound_versus_error(axes, X, (MEAN, 0.9 * MEAN, 1.1 * MEAN), {"tight": 2 * MEAN, "loose": 9 * MEAN})
    assert np.array_equal(line(axes, "tight").get_ydata(), 2 * MEAN)
    assert np.array_equal(line(axes, "loose").get_ydata(), 9 * MEAN)
    assert np.array_equal(line(axes, "measured mean, 95% band").get_ydata(), MEAN)
    assert len(axes.collections) == 1


def test_an_infinite_bound_is_named_in_words_and_leaves_the_axes_finite(axes):
    bound_versus_error(axes, X, (MEAN, MEAN, MEAN), {"tight": MEAN, "printed": np.full(X.shape, np.inf)})
    assert [text.get_text() for text in axes.texts] == ["printed: infinite"]
    assert np.isfinite(axes.get_ylim()).all()


def test_a_partly_infinite_bound_is_drawn_where_it_says_something(axes):
    values = np.where(X < 50, np.inf, 1.0)
    theory(axes, X, values, label="late")
    assert np.array_equal(np.isnan(line(axes, "late").get_ydata()), X < 50)


def test_a_lower_limit_that_is_not_positive_is_drawn_at_a_hundredth_of_the_mean(axes):
    lower = np.where(X == 3, -1.0, np.where(X == 5, 0.0, 0.9 * MEAN))
    measured(axes, X, MEAN, lower, 1.1 * MEAN, label="mean")
    drawn = {x: y for x, y in axes.collections[0].get_paths()[0].vertices.tolist() if y < MEAN[int(x) - 1]}
    assert {x: drawn[x] for x in (3, 4, 5)} == pytest.approx({3: 1 / 300, 4: 0.9 / 4, 5: 1 / 500}, rel=1e-14)
