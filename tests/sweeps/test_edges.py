"""Edges of a sweep that ordinary ones do not reach: what is refused there, and what is said."""

import contextlib
import threading
from concurrent.futures import BrokenExecutor, Future
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fedtheory._storage.provenance import made_by, release

import fedtheory as ft
from fedtheory.sweeps import _backends, run
from fedtheory.sweeps._assembly import assembled
from fedtheory.sweeps._grid import gridded
from fedtheory.sweeps._outcomes import Outcome, Variable, variables_of
from fedtheory.sweeps._store import header_of, opened
from fedtheory.sweeps._work import FileWork, FunctionWork, StudyWork, attempt, read_study, work_of
from fedtheory.sweeps.plans import Plan, plan
from fedtheory.sweeps.results import Sweep, SweepWarning
from tests.sweeps import toy


class Doubling:
    """Something that can be called, and is no function."""

    def __call__(self, d):
        return 2.0 * d


GRID = gridded({"d": [1, 2]}, seeds=[3, 5])
HEADER = header_of(work_of(toy.slow), GRID)


def test_a_header_tells_the_release_the_source_and_what_is_swept_over():
    assert HEADER["fedtheory"] == release()
    assert HEADER["source"] == FunctionWork(toy.slow).source != FunctionWork(toy.large).source
    assert (HEADER["axes"], HEADER["seeds"]["numbers"]) == ({"d": ["1", "2"]}, [3, 5])
    assert header_of(work_of(toy.slow), gridded({}))["seeds"] == {"rule": "none", "numbers": None}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"fedtheory": "0.0.1"}, f"by fedtheory 0.0.1, not {release()}"),
        ({"sweep": {"name": "other", "fixed": "{}"}}, "of other, not tests.sweeps.toy:slow"),
        ({"sweep": {"name": "tests.sweeps.toy:slow", "fixed": "1"}}, "of tests.sweeps.toy:slow with other settings"),
        ({"axes": {"e": ["1"]}}, "over e, not d"),
        ({"axes": {"d": ["1", "7"]}}, "with d 7"),
        ({"seeds": {"rule": "none", "numbers": None}}, "with seeds none, not explicit, the same at every point"),
        ({"seeds": {**HEADER["seeds"], "numbers": [3, 8]}}, "with seed 8"),
        ({"sweep": None}, "a header of another form"),
        ({"axes": 7}, "a header of another form"),
    ],
)
def test_what_differs_from_the_sweep_of_a_folder_is_named(tmp_path, change, sentence):
    with opened(tmp_path, {**HEADER, **change}):
        pass
    with pytest.raises(ValueError, match="holds results of another sweep") as refused, opened(tmp_path, HEADER):
        pass
    assert f"({sentence}" in str(refused.value)
    with opened(tmp_path, HEADER, force=True), pytest.raises(ValueError, match="only one sweep may run in"):
        opened(tmp_path, HEADER).__enter__()


def test_a_folder_with_a_header_that_cannot_be_read_is_refused(tmp_path):
    with opened(tmp_path, HEADER):
        pass
    (tmp_path / "sweep.json").write_text("{")
    with pytest.raises(ValueError, match="must be the header of a sweep, got something that cannot be read"):
        opened(tmp_path, HEADER, force=True).__enter__()


def test_a_source_that_has_changed_is_told_and_what_is_complete_is_kept(tmp_path):
    with opened(tmp_path, {**HEADER, "source": "older"}):
        pass
    with pytest.warns(
        SweepWarning, match=r"the source of .*toy:slow has changed: parts in .* complete are kept"
    ) as warned:
        opened(tmp_path, HEADER).__enter__()
    assert [warning.filename for warning in warned] == [__file__]


def test_a_function_is_named_with_the_arguments_that_are_fixed():
    named = FunctionWork(partial(toy.dies_once, 3, marker="m")).identity
    assert named == {"name": "tests.sweeps.toy:dies_once", "fixed": '{"argument 0":3,"marker":"m"}'}
    assert FunctionWork(Doubling()).identity == {"name": f"{__name__}:Doubling", "fixed": "{}"}
    assert FunctionWork(Doubling).identity["name"] == f"{__name__}:Doubling"
    assert FunctionWork(partial(toy.slow)).source == FunctionWork(toy.slow).source
    assert FunctionWork(Doubling()).source == FunctionWork(Doubling).source != ""
    assert FunctionWork(max).source == ""
    assert StudyWork(toy.STUDY, toy.STUDY.config).source == work_of(toy.__file__).source != ""
    assert StudyWork(replace(toy.STUDY, run=max), toy.STUDY.config).source == ""


def test_a_study_is_named_with_the_settings_that_the_grid_leaves():
    named = StudyWork(toy.STUDY, toy.Config(num_steps=7)).identity
    assert named["name"] == "study walk"
    assert '"num_steps":7' in named["fixed"]


@dataclass(frozen=True)
class Steady:
    """What a study without chance is configured by."""

    drift: float = 0.0


def test_a_study_without_a_seed_is_swept_over_none_and_refuses_some():
    steady = StudyWork(replace(toy.STUDY, config=Steady()), Steady())
    refused = []
    for grid in (gridded({"drift": [1.0]}), gridded({"drift": [1.0]}, seeds=2), gridded({"walk": [1.0]})):
        try:
            steady.refuse(grid)
        except ValueError as error:
            refused.append(str(error))
    sentence = "the grid must set parameters of walk (drift), got "
    assert refused == [sentence + "seed", sentence + "walk"]


def test_progress_counts_what_is_done_and_what_has_failed(monkeypatch):
    told: list[tuple[int, str]] = []
    monkeypatch.setattr(run, "reported", lambda *_, **__: contextlib.nullcontext(lambda *news: told.append(news)))
    ft.sweep(lambda d: 1 / (d - 2) / (d - 3), {"d": [1, 2, 3, 4]}, backend="serial", progress=True)
    assert told == [(1, ""), (2, "1 failed"), (3, "2 failed"), (4, "2 failed")]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("1 / 0", "in a file that runs, got .*study.py, which raises ZeroDivisionError: division by zero"),
        ("STUDY = 3", "a study's file must have a STUDY, got none in .*study.py"),
        ("", "a study's file must have a STUDY, got none"),
    ],
)
def test_a_file_without_a_study_is_refused(tmp_path, content, sentence):
    (tmp_path / "study.py").write_text(content)
    with pytest.raises(ValueError, match=sentence):
        read_study(str(tmp_path / "study.py"))


def test_a_file_of_another_kind_is_no_study(tmp_path):
    (tmp_path / "study.txt").write_text("STUDY = 3")
    with pytest.raises(ValueError, match=r"a study must be a Python file, got .*study\.txt"):
        read_study(str(tmp_path / "study.txt"))


def test_a_worker_with_another_file_of_the_study_is_refused_and_one_with_the_same_runs_it():
    work = work_of(toy.__file__, quick=True)
    assert isinstance(work, FileWork)
    assert isinstance(work.opened(), StudyWork)
    assert attempt(work, {"drift": 1.0}, 3, made_by()).variables["checks_failed"].values in (0, 1)
    other = attempt(FileWork(work.path, "another", quick=True), {"drift": 1.0}, 3, made_by())
    assert other.refused == f"workers must have the same file {work.path}, got one with another"


def test_the_small_size_of_a_study_is_taken_where_it_is_asked_for():
    for what in (toy.STUDY, toy.__file__, Path(toy.__file__)):
        for quick, num_steps in ((False, 1000), (True, 10)):
            work = work_of(what, quick=quick)
            assert isinstance(work, StudyWork | FileWork)
            opened_here = work.opened() if isinstance(work, FileWork) else work
            assert opened_here.config.num_steps == num_steps


def test_a_sample_is_spread_over_what_is_missing_and_its_first_is_run_once_more():
    ran: list[int] = []

    def noted(d):
        ran.append(d)
        return 1 / (d - 3)

    found = plan(noted, {"d": range(10)}, backend="serial", samples=3)
    assert ran == [0, 0, 3, 6]
    assert (len(found.sampled), found.failed, found.workers, found.cold) == (3, 1, 1, False)
    few = plan(noted, {"d": [7, 8]}, backend="serial", samples=3)
    assert (ran[4:], len(few.sampled)) == ([7, 7, 8], 2)
    assert few.seconds == pytest.approx(sum(few.sampled), rel=1e-12)


def test_what_a_sweep_takes_is_the_mean_of_the_sample_shared_by_the_workers_that_have_something_to_do():
    times, missing = [2.0, 5.0], list(GRID)
    assert Plan(missing, 0, times, cold=False, failed=0, workers=3).seconds == 3.5 * 4 / 3
    assert Plan(missing, 0, times, cold=False, failed=0, workers=9).seconds == 3.5
    assert Plan([], 4, [], cold=False, failed=0, workers=2).seconds == 0.0


def test_failures_are_missing_from_a_folder_and_damaged_parts_too(tmp_path):
    def odd(d):
        return 1 / (d - 2)

    ft.sweep(odd, {"d": [1, 2, 5]}, backend="serial", out=tmp_path)
    found = plan(odd, {"d": [1, 2, 5]}, backend="serial", out=tmp_path)
    assert ([one.point["d"] for one in found.missing], found.complete, found.failed) == ([2], 2, 1)


def test_what_is_no_number_has_no_table():
    words = ft.sweep(lambda d: d * "ab", {"d": [1, 2]}, backend="serial")
    with pytest.raises(ValueError, match="a sweep must have found a number to show, got none"):
        words.table()
    assert ft.sweep(lambda: 3.0, {}, backend="serial").table().title == "value over nothing"


def test_without_seeds_a_value_is_its_own_interval():
    found = ft.sweep(lambda d: 1.5 * d, {"d": [2, 3]}, backend="serial")
    inside = found.intervals()
    for side in ("mean", "lower", "upper"):
        assert inside[side].values.tolist() == [3.0, 4.5]
    assert inside["seeds"].values.tolist() == [1, 1]
    assert found.table().rows == [{"d": 2, "value": 3.0}, {"d": 3, "value": 4.5}]
    assert found.points == ["d"]
    nothing = ft.sweep(lambda d, seed: 1 / 0, {"d": [2]}, seeds=2, backend="serial")
    assert (nothing.variables, nothing.data["failed"].values.tolist()) == ([], [[True, True]])
    some = ft.sweep(lambda d, seed: 1 / (d - 2), {"d": [2, 3]}, seeds=2, backend="serial").intervals()
    assert some["seeds"].values.tolist() == [0, 2]


def test_numbers_of_numpy_and_lists_of_words_are_what_python_has_for_them():
    axes: dict[str, Any] = {"d": np.array([1, 2]), "pair": [(np.int64(3), [np.float64(0.5)])]}
    grid = gridded(axes)
    assert [one.point for one in grid] == [{"d": 1, "pair": (3, (0.5,))}, {"d": 2, "pair": (3, (0.5,))}]
    assert {type(value) for one in grid for value in one.point.values()} == {int, tuple}
    words: Any = np.array(["one", "three"], dtype=object)
    assert variables_of({"w": words})["w"].values.dtype == np.dtype("<U5")
    with pytest.raises(TypeError, match="w must be made of numbers or words"):
        variables_of({"w": np.array(["one", 3], dtype=object)})


def test_a_digest_is_that_of_what_was_found_whatever_its_order_and_time():
    one, other = Outcome(variables_of({"a": 1.0, "b": 2.0})), Outcome(variables_of({"b": 2.0, "a": 1.0}), seconds=3.0)
    assert one.digest == other.digest
    found = ft.sweep(lambda d: 2.0 * d, {"d": [1, 3]}, backend="serial")
    assert found.data.attrs == {"seeds": "none", "fedtheory": made_by()}
    assert found.seconds > 0


def test_what_a_sweep_took_is_what_its_configurations_took_together():
    grid = gridded({"d": [1, 2, 3]})
    outcomes = {
        one.name: Outcome(variables_of(1.0), seconds=taken) for one, taken in zip(grid, (2.0, 5.0, 7.0), strict=True)
    }
    assert Sweep.of(grid, outcomes).seconds == 14.0


def test_there_are_as_many_workers_as_processors_unless_somebody_says_otherwise(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 6)
    assert [_backends.number_of_workers(None, name) for name in _backends.BACKENDS] == [
        1 if name == "serial" else 6 for name in _backends.BACKENDS
    ]
    assert _backends.number_of_workers(4, "threads") == 4
    assert _backends.number_of_workers(4, "serial") == 1
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert _backends.number_of_workers(None, "threads") == 1


def test_work_is_sent_as_it_is_within_a_process_and_pickled_beyond():
    work = work_of(toy.slow)
    for backend in _backends.BACKENDS:
        found = _backends.packed(work, backend)
        assert (found is work) is (backend in ("serial", "threads"))
        assert attempt(found, {"d": 2}, None, made_by()).variables["value"].values == 3.0
    with pytest.raises(TypeError, match="must be something that can be sent to other processes"):
        _backends.packed(FunctionWork(partial(max, threading.Lock())), "processes")


def test_labels_that_some_results_lack_are_kept_and_what_has_none_is_numbered() -> None:
    grid = gridded({"d": [1, 2]})
    labelled = {
        "k": Variable(("k",), np.array([10, 20])),
        "x": Variable(("k", "j"), np.array([[1.0, 2.0], [3.0, 4.0]])),
    }
    found = assembled(
        grid,
        {
            one.name: Outcome(variables)
            for one, variables in zip(grid, (labelled, {"y": Variable((), np.array(5.0))}), strict=True)
        },
    )
    assert found["k"].values.tolist() == [10, 20]
    assert "j" not in found.coords
    np.testing.assert_array_equal(found["x"].values, [[[1.0, 2.0], [3.0, 4.0]], np.full((2, 2), np.nan)])
    np.testing.assert_array_equal(found["y"].values, [np.nan, 5.0])


class KilledWorker(Exception):
    """What Dask raises for work whose workers died."""


def ended(error: BaseException | None = None) -> Future[Outcome]:
    future: Future[Outcome] = Future()
    if error is None:
        future.set_result(Outcome(seconds=7.0))
    else:
        future.set_exception(error)
    return future


def test_work_is_lost_where_workers_die_refused_where_they_lack_something_and_else_as_they_tell() -> None:
    assert run._outcome(ended(KilledWorker()), final=True) is None
    refused = run._outcome(ended(ModuleNotFoundError("no  fedtheory")), final=True)
    assert refused is not None
    assert refused.refused.startswith("workers must have fedtheory ")
    assert refused.refused.endswith(", got one that cannot run it (ModuleNotFoundError: no fedtheory)")
    told = run._outcome(ended(), final=True)
    assert told is not None
    assert told.seconds == 7.0
    for error in (BrokenExecutor(), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            run._outcome(ended(error), final=True)
    with pytest.raises(BrokenExecutor):
        run._outcome(ended(TypeError()), final=False)


def test_what_is_finished_is_harvested_but_nothing_that_was_given_up_or_failed() -> None:
    waiting: Future[Outcome] = Future()
    given_up: Future[Outcome] = Future()
    given_up.cancel()
    here, there, *_ = GRID
    running = {ended(): here, ended(ValueError()): there, waiting: there, given_up: there}
    kept: list[Any] = []
    run._harvest(running, lambda one, outcome: kept.append((one, outcome.seconds)))
    assert kept == [(here, 7.0)]
    assert len(running) == 3
