"""Inspection, plots, comparison and storage of a run."""

import json

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.engine.trajectory import Band, Trajectory

FED = ft.QuadraticFederation([1.0, 2.0, 3.0], [[0.0], [2.0], [7.0]], [0.5, 0.3, 0.2])


def run_of(strategy=None, **changes):
    settings = {"num_rounds": 7, "local_steps": 2, "step_size": 0.1, "initial": [5.0], "num_replicates": 3} | changes
    return ft.fedavg(FED, strategy or ft.selection.PowerOfChoice(1, 2), **settings)


def test_words_of_the_user_are_escaped_in_a_notebook():
    run = Trajectory(np.arange(1), {"gap": np.ones((1, 1))}, np.zeros((1, 1)), np.full(1, -1), {"strategy": "<b>&"})
    assert "&lt;b&gt;&amp;" in run._repr_html_()


def test_a_notebook_displays_a_band_as_ten_of_its_records():
    values = np.arange(30.0)
    text = Band(values, values - 1, values + 1)._repr_html_()
    assert text.count("<tr>") == 1 + 10
    assert "<tr><td>0</td><td>0</td><td>-1</td><td>1</td></tr>" in text
    assert "<tr><td>29</td><td>29</td><td>28</td><td>30</td></tr>" in text
    assert Band(values[:3], values[:3], values[:3])._repr_html_().count("<tr>") == 1 + 3


def test_two_runs_combine_without_conflict_and_each_keeps_what_was_run():
    import xarray as xr

    one, other = run_of(), run_of(ft.selection.Full(), step_size=0.05)
    names = [one.config["strategy"], other.config["strategy"]]
    pair = [one.to_xarray(), other.to_xarray()]
    both = xr.concat(pair, "strategy", combine_attrs="no_conflicts")
    assert both.sizes["strategy"] == 2
    for run, name in zip((one, other), names, strict=True):
        np.testing.assert_array_equal(both["gap"].sel(strategy=name), run.gap)
        assert json.loads(str(both["config"].sel(strategy=name).values)) == run.config


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
