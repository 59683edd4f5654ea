"""Results of a sweep: one labeled data set, failures with tracebacks, intervals, a table and a plot."""

import time
from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from fedtheory._storage.provenance import code_version
from fedtheory.statistics import student_mean
from fedtheory.sweeps._grid import gridded
from fedtheory.sweeps.results import Outcome, Sweep, variables_of
from tests.sweeps import toy

GRID = {"d": [1, 5], "tau": [1, 2, 3]}


def swept(function: Any, grid: Any, **options: Any) -> Any:
    return ft.sweep(function, grid, **{"backend": "sequential", **options})


@pytest.fixture(scope="module")
def found() -> Any:
    return swept(toy.noisy, GRID, seeds=3)


def test_data_are_labelled_by_the_grid_and_hold_what_the_function_returns(found):
    data = found.data
    assert data["gap"].dims == ("d", "tau", "seed")
    assert (data["d"].values.tolist(), data["tau"].values.tolist()) == ([1, 5], [1, 2, 3])
    seeds = [one.seed for one in gridded(GRID, 3) if one.settings == {"d": 5, "tau": 3}]
    for number, seed in enumerate(seeds):
        wanted, here = toy.noisy(5, 3, seed), data.sel(d=5, tau=3).isel(seed=number)
        assert float(here["gap"]) == wanted["gap"]
        np.testing.assert_array_equal(here["path"].values, wanted["path"])
    # A path is as long as tau; what is missing is NaN.
    assert np.isnan(data["path"].sel(d=1, tau=2).values).tolist() == [[False, False, True]] * 3
    assert data.attrs == {"seeds": "derived from 0 and the point", "fedtheory": code_version()}


def test_a_failed_configuration_is_recorded_with_its_traceback_and_the_sweep_goes_on(found):
    assert found.data["failed"].sel(d=5, tau=2).all()
    assert int(found.data["failed"].sum()) == len(found.failures) == 3
    assert np.isnan(found.data["gap"].sel(d=5, tau=2)).all()
    failure = found.failures[0]
    assert failure.error == "RuntimeError: a bad spot"
    assert failure.configuration.startswith("d=5, tau=2, seed=")
    assert 'raise RuntimeError("a bad' in failure.traceback
    texts = found.data["traceback"]
    assert texts.sel(d=5, tau=2).values[0] == failure.traceback
    assert texts.sel(d=1).values.tolist() == [[""] * 3] * 3


def test_a_failed_configuration_takes_no_more_time_than_passes_meanwhile():
    start = time.perf_counter()
    seconds = swept(toy.fails_at_two, {"d": [2]}).seconds
    assert 0 < seconds <= time.perf_counter() - start


def test_intervals_and_table_are_those_of_student_over_the_seeds(found):
    values = found.data["gap"].sel(d=5, tau=3).values
    lower, upper = student_mean(values, 0.9)
    here = found.intervals("gap", 0.9).sel(d=5, tau=3)
    assert (float(here["mean"]), float(here["lower"]), float(here["upper"])) == (values.mean(), lower, upper)
    row = found.table("gap", 0.9).rows[-1]
    assert row == {"d": 5, "tau": 3, "gap": values.mean(), "+- (90%)": (upper - lower) / 2, "failed": 0}
    assert found.table().rows[4]["failed"] == 3
    assert found.variables == ["gap", "product"]


def test_a_seed_that_failed_is_left_out_and_a_value_that_is_not_finite_is_not():
    def odd(d, seed):
        if (d, seed) == (3, 1):
            raise RuntimeError
        return np.inf if (d, seed) == (5, 1) else float(d + seed)

    here = swept(odd, {"d": [3, 5]}, seeds=[0, 1, 4]).intervals()
    assert here["mean"].values.tolist() == [5.0, np.inf]
    assert here["seeds"].values.tolist() == [2, 3]
    assert (float(here["lower"][0]), float(here["upper"][0])) == tuple(student_mean([3.0, 7.0]))
    assert (float(here["lower"][1]), float(here["upper"][1])) == (-np.inf, np.inf)


def test_without_seeds_a_value_is_its_own_interval():
    plain = swept(lambda d: 1.5 * d, {"d": [2, 3]})
    inside = plain.intervals()
    for side in ("mean", "lower", "upper"):
        assert inside[side].values.tolist() == [3.0, 4.5]
    assert inside["seeds"].values.tolist() == [1, 1]
    assert plain.table().rows == [{"d": 2, "value": 3.0}, {"d": 3, "value": 4.5}]
    assert plain.points == ["d"]
    nothing = swept(lambda d, seed: 1 / 0, {"d": [2]}, seeds=2)
    assert (nothing.variables, nothing.data["failed"].values.tolist()) == ([], [[True, True]])
    some = swept(lambda d, seed: 1 / (d - 2), {"d": [2, 3]}, seeds=2).intervals()
    assert some["seeds"].values.tolist() == [0, 2]


def test_another_seed_or_value_is_another_digest(found):
    assert swept(toy.noisy, GRID, seeds=3, rng=1).digest != found.digest
    assert swept(toy.noisy, GRID, seeds=2).digest != found.digest


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1.0, 2.0),
        ({"a": 1.0}, {"b": 1.0}),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        (np.zeros(2), np.zeros(2, dtype=np.int64)),
        (0.0, -0.0),
    ],
)
def test_what_differs_has_another_digest(one, other):
    assert Outcome(variables_of(one)).digest != Outcome(variables_of(other)).digest


def test_a_digest_is_that_of_what_was_found_whatever_its_order_and_time():
    one, other = Outcome(variables_of({"a": 1.0, "b": 2.0})), Outcome(variables_of({"b": 2.0, "a": 1.0}), seconds=3.0)
    assert one.digest == other.digest
    assert Outcome().digest != Outcome(error="x").digest
    assert Outcome(error="x").digest == Outcome(error="y").digest
    taken = [Outcome(variables_of(1.0), seconds=seconds) for seconds in (2.0, 5.0, 7.0)]
    assert Sweep.of(gridded({"d": [1, 2, 3]}), taken).seconds == 14.0


@pytest.mark.parametrize(
    "result", [object(), {"a": object()}, None, {"a": 1j}, {"w": np.array(["one", 3], dtype=object)}]
)
def test_results_that_are_not_made_of_numbers_are_refused(result):
    with pytest.raises(TypeError, match="numbers"):
        variables_of(result)


def test_a_study_is_swept_with_its_findings():
    walks = swept(toy.STUDY, {"drift": [-5.0, 5.0]}, seeds=[0, 1], quick=True)
    assert walks.data["way"].dims == ("drift", "seed", "when")
    assert walks.data["way"].sel(when="late").values.tolist() == walks.data["end"].values.tolist()
    assert walks.data["not_holding"].values.tolist() == [[1, 1], [0, 0]]
    assert walks.data["holds"].sel(drift=-5.0, seed=1).to_series().to_dict() == {"number": True, "up": False}
    wanted = toy.run(toy.Config(num_steps=10, drift=5.0, seed=1), None)
    assert float(walks.data["end"].sel(drift=5.0, seed=1)) == float(wanted["end"])
    in_its_file = swept(toy.__file__, {"drift": [-5.0, 5.0]}, seeds=[0, 1], quick=True)
    assert in_its_file.digest == walks.digest


def test_a_trajectory_is_labelled():
    def run(d, seed):
        fed = ft.QuadraticFederation([1.0, 1.0, 1.0], [[1.0], [3.0], [8.0]], [0.5, 0.3, 0.2])
        return ft.fedavg(fed, ft.selection.PowerOfChoice(1, d), num_rounds=4, step_size=0.5, rng=seed)

    runs = swept(run, {"d": [1, 3]}, seeds=2)
    assert dict(runs.data["gap"].sizes) == {"d": 2, "seed": 2, "replicate": 1, "round": 5}


@pytest.mark.parametrize(
    ("function", "grid", "sentence"),
    [
        ("nowhere.py", {"d": [1]}, r"a study must be a Python file, got .*nowhere\.py"),
        (toy.slow, GRID, "the function must take d, tau by name"),
        (toy.STUDY, {"K": [1]}, "the grid must set parameters of walk"),
        (toy.slow, {"d": [3, 3.0]}, "every value once"),
    ],
)
def test_what_cannot_be_swept_is_refused_before_anything_runs(tmp_path, function, grid, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence) as refused:
        swept(function, grid, out=tmp_path / "new")
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "new").exists()


def test_variables_with_other_dimensions_at_another_point_are_refused():
    with pytest.raises(ValueError, match="x must have the same dimensions everywhere"):
        swept(lambda d: {"x": np.zeros(2) if d else 0.0}, {"d": [0, 1]})


def worded(d):
    """A word, and numbers, where d is not 3."""
    if d == 3:
        raise ValueError("no word")
    return {"word": np.array(d * "ab"), "even": np.array(d % 2 == 0)}


def test_where_a_configuration_failed_words_are_empty_and_numbers_missing():
    words = swept(worded, {"d": [1, 2, 3]})
    assert words.data["word"].values.tolist() == ["ab", "abab", ""]
    np.testing.assert_array_equal(words.data["even"].values, [0.0, 1.0, np.nan])
