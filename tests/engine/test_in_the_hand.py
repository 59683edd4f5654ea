"""Inspection, plots, comparison and storage of a run."""

import json

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.engine.trajectory import Trajectory
from fedtheory.errors import DivergenceWarning

FED = ft.QuadraticFederation([1.0, 2.0, 3.0], [[0.0], [2.0], [7.0]], [0.5, 0.3, 0.2])


def run_of(strategy=None, **changes):
    settings = {"num_rounds": 7, "local_steps": 2, "step_size": 0.1, "initial": [5.0], "num_replicates": 3} | changes
    return ft.fedavg(FED, strategy or ft.selection.PowerOfChoice(1, 2), **settings)


def test_a_run_says_what_matters_in_at_most_ten_lines():
    run = run_of(num_rounds=5000, num_replicates=9, record=("gap", "models", "selected"))
    text = repr(run)
    assert len(text.splitlines()) <= 10
    assert "9 replicates of 3 clients" in text
    assert f"{run.gap[:, 0].mean():.4g} -> {run.gap[:, -1].mean():.4g}" in text
    assert "diverged" not in text


def test_a_run_that_diverged_says_so():
    with pytest.warns(DivergenceWarning, match="3 of 3 replicates diverged"):
        run = run_of(step_size=1e200, num_rounds=9)
    assert "  diverged     3 of 3" in repr(run)


def test_words_of_the_user_are_escaped_in_a_notebook():
    run = Trajectory(np.arange(1), {"gap": np.ones((1, 1))}, np.zeros((1, 1)), np.full(1, -1), {"strategy": "<b>&"})
    assert "&lt;b&gt;&amp;" in run._repr_html_()


def test_a_plot_shows_the_mean_its_band_and_the_papers_letter():
    import matplotlib.pyplot as plt

    run = run_of(record=("gap", "loss", "models"), gradient_noise=1.0)
    figure, axes = plt.subplots()
    try:
        assert run.plot(axes=axes, label="pow-d") is axes
        (line,) = axes.get_lines()
        np.testing.assert_array_equal(line.get_ydata(), run.gap.mean(axis=0))
        assert (axes.get_ylabel(), axes.get_yscale(), line.get_label()) == ("$F(w) - F^*$", "log", "pow-d")
        assert axes.get_xlabel() == "communication rounds"
        assert len(axes.collections) == 1
        ended = Trajectory(np.arange(2), {"gap": np.array([[1.0, 0.0]])}, np.zeros((1, 1)), np.full(1, -1), {})
        assert ended.plot(axes=plt.figure().gca()).get_yscale() == "linear"  # there is no logarithm of zero
        run_of(num_replicates=1, gradient_noise=1.0).plot(axes=axes)  # whose limits are infinite
        assert np.isfinite(axes.collections[-1].get_paths()[0].vertices).all()
        figure.canvas.draw()
    finally:
        plt.close("all")


def test_a_table_has_a_row_for_each_replicate_and_round():
    run = run_of(record=("gap", "uplink", "models"))
    table = run.to_pandas()
    assert list(table.columns) == ["replicate", "round", "gap", "uplink"]
    assert len(table) == 3 * 8
    np.testing.assert_array_equal(table[table["replicate"] == 1]["gap"], run.gap[1])


def test_labelled_runs_say_meaning_and_unit_of_every_variable():
    data = run_of(
        record=tuple(name for name in ft.engine.contract.RECORDS if name not in ("accuracy", "values", "coalitions"))
    ).to_xarray()
    for name in [*data.data_vars, "round", "strategy"]:
        assert data[name].attrs["long_name"]
        assert data[name].attrs["units"]
    assert data["uplink"].attrs["units"] == "floats"


def test_two_runs_combine_without_conflict_and_each_keeps_what_was_run():
    import xarray as xr

    one, other = run_of(), run_of(ft.selection.Full(), step_size=0.05)
    names = [one.config["strategy"], other.config["strategy"]]
    pair = [one.to_xarray(), other.to_xarray()]
    both = xr.concat(pair, "strategy", combine_attrs="no_conflicts")
    merged = xr.merge(
        [data.expand_dims("strategy") for data in pair],
        combine_attrs="no_conflicts",
        compat="no_conflicts",
        join="outer",
    )
    for data in (both, merged):
        assert data.sizes["strategy"] == 2
        for run, name in zip((one, other), names, strict=True):
            np.testing.assert_array_equal(data["gap"].sel(strategy=name), run.gap)
            assert json.loads(str(data["config"].sel(strategy=name).values)) == run.config


def test_a_saved_run_is_only_overwritten_when_that_is_said(tmp_path):
    path = tmp_path / "run.nc"
    run_of().save(path)
    kept = path.read_bytes()
    other = run_of(ft.selection.Full())
    with pytest.raises(FileExistsError, match="path must be a new file"):
        other.save(path)
    assert path.read_bytes() == kept
    other.save(path, overwrite=True)
    assert Trajectory.load(path).gap.tobytes() == other.gap.tobytes()
