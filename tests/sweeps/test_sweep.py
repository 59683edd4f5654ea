"""A sweep finds the same whatever runs it, labels it, and goes on after whatever ended it."""

import importlib.util
import multiprocessing
import sys
from functools import partial
from typing import Any

import numpy as np
import pytest
from fedtheory._storage.provenance import made_by

import fedtheory as ft
from fedtheory.statistics import student_mean
from fedtheory.sweeps import run as running
from fedtheory.sweeps._grid import gridded
from fedtheory.sweeps._outcomes import Outcome, Variable, variables_of
from fedtheory.sweeps._store import part_bytes, part_content
from fedtheory.sweeps._work import FunctionWork, attempt, work_of
from fedtheory.sweeps.plans import plan
from fedtheory.sweeps.results import SweepWarning
from tests.sweeps import toy

GRID = {"d": [1, 5], "tau": [1, 2, 3]}
HAS_DASK = importlib.util.find_spec("distributed") is not None


@pytest.fixture(scope="module")
def swept():
    return ft.sweep(toy.noisy, GRID, seeds=3, backend="serial")


def parts(folder):
    return sorted((folder / "parts").iterdir())


def watched(monkeypatch):
    """Points that are run from now on."""
    ran: list[dict[str, Any]] = []

    def noted(work, point, *rest):
        ran.append(point)
        return attempt(work, point, *rest)

    monkeypatch.setattr(running, "attempt", noted)
    return ran


def test_data_are_labelled_by_the_grid_and_hold_what_the_function_returns(swept):
    data = swept.data
    assert data["gap"].dims == ("d", "tau", "seed")
    assert (data["d"].values.tolist(), data["tau"].values.tolist()) == ([1, 5], [1, 2, 3])
    seeds = [one.seed for one in gridded(GRID, 3) if (one.point["d"], one.point["tau"]) == (5, 3)]
    for number, seed in enumerate(seeds):
        wanted, here = toy.noisy(5, 3, seed), data.sel(d=5, tau=3).isel(seed=number)
        assert float(here["gap"]) == wanted["gap"]
        np.testing.assert_array_equal(here["path"].values, wanted["path"])
    # A path is as long as tau; what is missing is NaN.
    assert np.isnan(data["path"].sel(d=1, tau=2).values).tolist() == [[False, False, True]] * 3


def test_a_failed_configuration_is_recorded_with_its_traceback_and_the_sweep_goes_on(swept):
    assert swept.data["failed"].sel(d=5, tau=2).all()
    assert int(swept.data["failed"].sum()) == len(swept.failures) == 3
    assert np.isnan(swept.data["gap"].sel(d=5, tau=2)).all()
    failure = swept.failures[0]
    assert failure.error == "RuntimeError: a bad spot"
    assert failure.configuration.startswith("d=5, tau=2, seed=")
    assert 'raise RuntimeError("a bad' in failure.traceback


def test_intervals_and_table_are_those_of_student_over_the_seeds(swept):
    values = swept.data["gap"].sel(d=5, tau=3).values
    lower, upper = student_mean(values, 0.9)
    here = swept.intervals("gap", 0.9).sel(d=5, tau=3)
    assert (float(here["mean"]), float(here["lower"]), float(here["upper"])) == (values.mean(), lower, upper)
    row = swept.table("gap", 0.9).rows[-1]
    assert row == {"d": 5, "tau": 3, "gap": values.mean(), "+- (90%)": (upper - lower) / 2, "failed": 0}
    assert swept.table().rows[4]["failed"] == 3
    assert swept.variables == ["gap", "product"]


def test_a_seed_that_failed_is_left_out_and_a_value_that_is_not_finite_is_not():
    def odd(d, seed):
        if (d, seed) == (3, 1):
            raise RuntimeError
        return np.inf if (d, seed) == (5, 1) else float(d + seed)

    found = ft.sweep(odd, {"d": [3, 5]}, seeds=[0, 1, 4], backend="serial").intervals()
    assert found["mean"].values.tolist() == [5.0, np.inf]
    assert found["seeds"].values.tolist() == [2, 3]
    assert (float(found["lower"][0]), float(found["upper"][0])) == tuple(student_mean([3.0, 7.0]))
    assert (float(found["lower"][1]), float(found["upper"][1])) == (-np.inf, np.inf)


def test_workers_have_one_thread_for_linear_algebra(monkeypatch):
    for library in ("OPENBLAS", "OMP", "MKL"):
        monkeypatch.setenv(f"{library}_NUM_THREADS", "2")
    assert ft.sweep(toy.threads, {"d": [1]}, backend="processes", workers=1).data["value"].item() == 1


def test_a_plot_has_a_line_for_each_value_of_the_shorter_axis(swept):
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    assert swept.plot(axes, "product") is axes
    lines = axes.get_lines()
    assert ([line.get_label() for line in lines], axes.get_xlabel()) == (["d = 1", "d = 5"], "tau")
    np.testing.assert_array_equal(lines[0].get_ydata(), swept.intervals("product")["mean"].sel(d=1))
    with pytest.raises(ValueError, match="x must be one of 'tau', 'd', got 'K'"):
        swept.plot(axes, x="K")
    with pytest.raises(ValueError, match="variable must be one of 'gap', 'product', got 'path'"):
        swept.plot(axes, "path")


@pytest.mark.parametrize(("backend", "workers"), [("serial", None), ("threads", 3), ("processes", 2)])
def test_every_backend_finds_the_same(swept, backend, workers, tmp_path):
    found = ft.sweep(toy.noisy, GRID, seeds=3, backend=backend, workers=workers, out=tmp_path)
    assert found.digest == swept.digest
    assert found.data.identical(swept.data)
    assert len(parts(tmp_path)) == 18


@pytest.mark.slow  # starts a scheduler and two workers, seconds each
@pytest.mark.skipif(not HAS_DASK, reason="dask[distributed] is not installed")
def test_a_cluster_finds_the_same_and_so_does_one_that_runs_already(swept):
    from distributed import LocalCluster

    assert ft.sweep(toy.noisy, GRID, seeds=3, backend="dask", workers=2).digest == swept.digest
    with LocalCluster(n_workers=1, threads_per_worker=2, host="127.0.0.1", dashboard_address="127.0.0.1:0") as cluster:
        found = ft.sweep(toy.noisy, GRID, seeds=3, backend="dask", scheduler=cluster.scheduler_address)
    assert found.digest == swept.digest


def test_a_run_has_the_same_bits_in_a_process_of_its_own():
    with multiprocessing.get_context("spawn").Pool(1) as alone:
        assert alone.apply(toy.trained_here) == toy.trained_here()


@pytest.mark.parametrize("backend", ["processes", pytest.param("dask", marks=pytest.mark.slow)])
def test_a_run_has_the_same_bits_on_workers(backend):
    if backend == "dask" and not HAS_DASK:
        pytest.skip("dask[distributed] is not installed")
    found = ft.sweep(toy.trained, {"d": [2, 5]}, seeds=2, backend=backend, workers=2)
    assert not found.failures
    assert found.digest == toy.trained_here()


@pytest.mark.slow  # waits for a scheduler that does not answer
@pytest.mark.skipif(not HAS_DASK, reason="dask[distributed] is not installed")
def test_a_scheduler_that_does_not_answer_is_refused():
    with pytest.raises(ValueError, match="scheduler must be the address of a Dask scheduler that answers, got tcp"):
        ft.sweep(toy.slow, {"d": [1]}, backend="dask", scheduler="tcp://127.0.0.1:9")


def test_without_dask_the_backend_is_refused_with_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(
        ValueError, match=r"dask must have dask\[distributed\] installed \(pip install 'fedtheory\[dask\]'\)"
    ):
        ft.sweep(toy.slow, {"d": [1]}, backend="dask")


def test_another_seed_or_value_is_another_digest(swept):
    assert ft.sweep(toy.noisy, GRID, seeds=3, rng=1, backend="serial").digest != swept.digest
    assert ft.sweep(toy.noisy, GRID, seeds=2, backend="serial").digest != swept.digest


def test_what_is_complete_is_not_run_again_and_failures_are(swept, tmp_path, monkeypatch):
    ft.sweep(toy.noisy, GRID, seeds=3, backend="serial", out=tmp_path)
    ran = watched(monkeypatch)
    again = ft.sweep(toy.noisy, GRID, seeds=3, backend="serial", out=tmp_path)
    assert ran == [{"d": 5, "tau": 2}] * 3
    assert again.digest == swept.digest
    assert again.data.identical(swept.data)


def test_a_grid_may_grow(tmp_path, monkeypatch):
    ft.sweep(toy.slow, {"d": [1, 2]}, backend="serial", out=tmp_path)
    ran = watched(monkeypatch)
    found = ft.sweep(toy.slow, {"d": [2, 7, 1]}, backend="serial", out=tmp_path)
    assert ran == [{"d": 7}]
    assert found.data["value"].values.tolist() == [3.0, 10.5, 1.5]


def halved(content):
    return content[: len(content) // 2]


def flipped(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize("damage", [halved, flipped, lambda content: b""])
def test_a_damaged_part_is_run_again_with_a_warning(tmp_path, damage):
    before = ft.sweep(toy.slow, {"d": [1, 2]}, backend="serial", out=tmp_path)
    part = parts(tmp_path)[0]
    part.write_bytes(damage(part.read_bytes()))
    with pytest.warns(SweepWarning, match=rf"{part.name} is run again: a part must [^()]*\(\w+\)$"):
        after = ft.sweep(toy.slow, {"d": [1, 2]}, backend="serial", out=tmp_path)
    assert after.digest == before.digest


@pytest.mark.parametrize("num_damaged", [2, 3])
def test_many_damaged_parts_are_one_warning(tmp_path, num_damaged):
    ft.sweep(toy.slow, {"d": [1, 2, 3]}, backend="serial", out=tmp_path)
    for part in parts(tmp_path)[:num_damaged]:
        part.write_bytes(b"")
    assert len(plan(toy.slow, {"d": [1, 2, 3]}, out=tmp_path, samples=1).missing) == num_damaged
    more = rf"cannot be read \(EOFError\) \(and {num_damaged - 1} more\)$"
    with pytest.warns(SweepWarning, match=more) as warned:
        ft.sweep(toy.slow, {"d": [1, 2, 3]}, backend="serial", out=tmp_path)
    assert [warning.filename for warning in warned] == [__file__]  # one, that points to who sweeps


def test_a_part_under_the_name_of_another_is_run_again(tmp_path):
    before = ft.sweep(toy.slow, {"d": [1, 2]}, backend="serial", out=tmp_path)
    one, other = parts(tmp_path)
    one.write_bytes(other.read_bytes())
    with pytest.warns(SweepWarning, match="a part must be of its own configuration"):
        after = ft.sweep(toy.slow, {"d": [1, 2]}, backend="serial", out=tmp_path)
    assert after.digest == before.digest


def test_unfinished_files_of_a_sweep_that_was_killed_are_removed(tmp_path):
    ft.sweep(toy.slow, {"d": [1]}, backend="serial", out=tmp_path)
    (tmp_path / "parts" / ".abc.npz.1.partial").write_bytes(b"half")
    ft.sweep(toy.slow, {"d": [1]}, backend="serial", out=tmp_path)
    assert len(parts(tmp_path)) == 1


@pytest.mark.parametrize(
    ("again", "sentence"),
    [
        ({"grid": {"d": [1]}}, "with d 2"),
        ({"grid": {"e": [1]}, "function_or_study": lambda e: e}, r"of .*toy:slow, not .*<lambda>"),
        ({"function_or_study": toy.dies}, r"of .*toy:slow, not .*toy:dies"),
        (
            {"function_or_study": partial(toy.slow, d=1), "grid": {}},
            "of .*toy:slow with other settings beside the grid",
        ),
        ({"function_or_study": lambda d, seed: d, "seeds": 2}, "of .*toy:slow, not"),
    ],
)
def test_results_of_another_sweep_are_refused_in_one_line_and_left_alone(tmp_path, again, sentence):
    arguments = {"function_or_study": toy.slow, "grid": {"d": [1, 2]}, "backend": "serial", "out": tmp_path}
    ft.sweep(**arguments)
    before = {path: path.read_bytes() for path in parts(tmp_path)}
    with pytest.raises(ValueError, match=rf"holds results of another sweep \(.*{sentence}") as refused:
        ft.sweep(**arguments | again)
    assert "\n" not in str(refused.value)
    assert {path: path.read_bytes() for path in parts(tmp_path)} == before
    forced = ft.sweep(**arguments | again, force=True)
    assert forced.digest == ft.sweep(**arguments | again | {"out": None}).digest
    assert len(parts(tmp_path)) == forced.data["failed"].size


def test_another_rule_for_seeds_is_another_sweep(tmp_path):
    ft.sweep(toy.noisy, {"d": [1], "tau": [1]}, seeds=[0], backend="serial", out=tmp_path)
    with pytest.raises(ValueError, match="seeds explicit, the same at every point, not derived from 0 and the point"):
        ft.sweep(toy.noisy, {"d": [1], "tau": [1]}, seeds=1, backend="serial", out=tmp_path)


def test_a_folder_of_something_else_is_refused_also_by_force(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ValueError, match="which holds something else"):
        ft.sweep(toy.slow, {"d": [1]}, backend="serial", out=tmp_path, force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"out must be a folder that can be written, got .*file.* \(Not a directory\)"):
        ft.sweep(toy.slow, {"d": [1]}, backend="serial", out=tmp_path / "file" / "sweep")


def test_a_second_sweep_in_one_folder_is_refused(tmp_path):
    def within(d):
        ft.sweep(toy.slow, {"d": [1]}, backend="serial", out=tmp_path)

    found = ft.sweep(within, {"d": [1]}, backend="serial", out=tmp_path)
    assert "only one sweep may run in" in found.failures[0].error
    ft.sweep(within, {"d": [1]}, backend="serial", out=tmp_path)  # the lock is free again


def test_a_worker_with_another_fedtheory_is_refused(monkeypatch):
    said = attempt(FunctionWork(toy.slow), {"d": 1}, None, "0.0.1 (abc)").refused
    assert said == f"workers must have fedtheory 0.0.1 (abc), got one with {made_by()}"
    monkeypatch.setattr(running, "made_by", lambda: "0.0.1 (abc)")
    with pytest.raises(ValueError, match=r"workers must have fedtheory 0\.0\.1 \(abc\), got one with"):
        ft.sweep(toy.slow, {"d": [1]}, backend="serial")


def test_a_worker_that_cannot_import_what_is_swept_is_refused():
    assert "workers must be able to import" in attempt(b"cfedtheory.nowhere\nf\n.", {}, None, made_by()).refused


def test_parts_of_another_fedtheory_are_kept_with_a_warning(tmp_path, monkeypatch):
    ft.sweep(toy.slow, {"d": [1]}, backend="serial", out=tmp_path)
    monkeypatch.setattr(running, "made_by", lambda: "0.0.1 (abc)")
    with pytest.warns(SweepWarning, match=r"were computed by fedtheory .*, this is 0\.0\.1") as warned:
        ft.sweep(toy.slow, {"d": [1]}, backend="serial", out=tmp_path)
    assert [warning.filename for warning in warned] == [__file__]


def test_a_function_that_does_not_take_the_grid_is_refused_before_anything_runs(tmp_path):
    with pytest.raises(TypeError, match="the function must take d, tau by name"):
        ft.sweep(toy.slow, GRID, backend="serial", out=tmp_path / "new")
    assert not (tmp_path / "new").exists()
    with pytest.raises(ValueError, match="the grid must set parameters of walk"):
        ft.sweep(toy.STUDY, {"K": [1]}, backend="serial")


def test_a_study_is_swept_with_its_checks():
    found = ft.sweep(toy.STUDY, {"drift": [-5.0, 5.0]}, seeds=[0, 1], backend="serial", quick=True)
    assert found.data["way"].dims == ("drift", "seed", "when")
    assert found.data["way"].sel(when="late").values.tolist() == found.data["end"].values.tolist()
    assert found.data["checks_failed"].values.tolist() == [[1, 1], [0, 0]]
    assert found.data["holds"].sel(drift=-5.0, seed=1).to_series().to_dict() == {
        "it is a number": True,
        "it went up": False,
    }
    wanted = toy.run(toy.Config(num_steps=10, drift=5.0, seed=1), None)
    assert float(found.data["end"].sel(drift=5.0, seed=1)) == float(wanted["end"])


def test_a_trajectory_is_labelled():
    def run(d, seed):
        fed = ft.QuadraticFederation([1.0, 1.0, 1.0], [[1.0], [3.0], [8.0]], [0.5, 0.3, 0.2])
        return ft.fedavg(fed, ft.selection.PowerOfChoice(1, d), num_rounds=4, step_size=0.5, rng=seed)

    found = ft.sweep(run, {"d": [1, 3]}, seeds=2, backend="serial")
    assert dict(found.data["gap"].sizes) == {"d": 2, "seed": 2, "replicate": 1, "round": 5}


@pytest.mark.parametrize(
    "result", [1.5, {"a": np.arange(6).reshape(2, 3), "b": "word", "c": True}, np.array([np.nan, -0.0])]
)
def test_a_part_is_read_as_it_was_written(result):
    outcome = Outcome(variables_of(result), seconds=1.25, made_by="x")
    form, read = part_content(part_bytes(outcome, "form"))
    assert form == "form"
    assert read.digest == outcome.digest
    assert (read.seconds, read.made_by, list(read.variables)) == (1.25, "x", list(outcome.variables))


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


def test_a_failure_and_an_empty_result_have_different_digests():
    assert Outcome().digest != Outcome(error="x").digest
    assert Outcome(error="x").digest == Outcome(error="y").digest


@pytest.mark.parametrize("result", [object(), {"a": object()}, None, {"a": 1j}])
def test_results_that_are_not_made_of_numbers_are_refused(result):
    with pytest.raises(TypeError, match="numbers"):
        variables_of(result)


def test_a_plan_says_what_is_missing_and_writes_nothing(tmp_path):
    first = plan(toy.slow, {"d": range(8)}, backend="threads", workers=2, out=tmp_path / "new")
    assert (len(first.missing), first.complete, len(first.sampled)) == (8, 0, 3)
    assert not (tmp_path / "new").exists()
    # 8 sleeps of 0.03 s, two at a time
    assert 0.12 <= first.seconds < 1
    ft.sweep(toy.slow, {"d": range(6)}, backend="threads", out=tmp_path / "new")
    second = plan(toy.slow, {"d": range(8)}, backend="threads", workers=2, out=tmp_path / "new")
    assert ([one.point["d"] for one in second.missing], second.complete) == ([6, 7], 6)
    with pytest.raises(ValueError, match="another sweep"):
        plan(toy.slow, {"d": [1]}, out=tmp_path / "new")


def test_a_plan_is_content_with_one_long_run():
    found = plan(toy.slow, {"d": range(8)}, backend="threads", workers=3, max_seconds=0.01)
    assert (found.cold, len(found.sampled)) == (True, 1)
    assert found.seconds == pytest.approx(found.sampled[0] * 8 / 3, rel=1e-12)


def test_what_cannot_be_swept_is_refused():
    with pytest.raises(TypeError, match="must be a function or a study, got int"):
        work_of(3)
    with pytest.raises(ValueError, match=r"a study must be a Python file, got nowhere\.py"):
        work_of("nowhere.py")
    with pytest.raises(ValueError, match="backend must be one of"):
        ft.sweep(toy.slow, {"d": [1]}, backend="gpu")


def test_variables_with_other_dimensions_at_another_point_are_refused():
    def odd(d):
        return {"x": np.zeros(2) if d else 0.0}

    with pytest.raises(ValueError, match="x must have the same dimensions everywhere"):
        ft.sweep(odd, {"d": [0, 1]}, backend="serial")


def test_a_name_that_is_an_axis_too_gets_an_underscore():
    found = ft.sweep(lambda d: {"d": 2.0 * d, "failed": 1.0}, {"d": [3]}, backend="serial")
    assert set(found.data.data_vars) == {"d_", "failed_", "failed"}
    assert Variable(("d_0",), np.zeros(1)).dims == ("d_0",)


def worded(d):
    """A word, and numbers, where d is not 3."""
    if d == 3:
        raise ValueError("no word")
    return {"word": np.array(d * "ab"), "even": np.array(d % 2 == 0)}


def test_where_a_configuration_failed_words_are_empty_and_numbers_missing():
    found = ft.sweep(worded, {"d": [1, 2, 3]}, backend="serial")
    assert found.data["word"].values.tolist() == ["ab", "abab", ""]
    np.testing.assert_array_equal(found.data["even"].values, [0.0, 1.0, np.nan])
