"""A long run shows its progress, stops at once with finished replicates, and resumes bit-identically."""

import dataclasses
import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from typing import Any

import numba
import numpy as np
import pytest

import fedtheory as ft
from fedtheory._storage.netcdf import file_bytes, read_file
from fedtheory._support import progress
from fedtheory.engine import Interrupted, _checkpoints, _execution, _replicates
from tests.environment import PLAIN_PYTHON, ROOT

RECORD = ("gap", "uplink", "selected")
FORM = "fedtheory checkpoint 3"


def run(num_replicates=12, *, fed=None, strategy=None, **options):
    fed = fed or ft.QuadraticFederation([1.0, 2.0, 5.0], [[0.0], [1.0], [3.0]], [0.5, 0.2, 0.3])
    arguments = {
        "num_rounds": 6, "local_steps": 2, "step_size": 0.1, "gradient_noise": 1.0, "rng": 5, "record": RECORD,
    }  # fmt: skip
    return ft.fedavg(
        fed, strategy or ft.selection.PowerOfChoice(1, 2), num_replicates=num_replicates, **arguments | options
    )


def check_same(one, other):
    assert one.records.keys() == other.records.keys()
    assert all(one.records[name].tobytes() == other.records[name].tobytes() for name in one.records)
    assert one.counts.tobytes() == other.counts.tobytes()
    assert one.diverged_at.tobytes() == other.diverged_at.tobytes()
    assert one.config == other.config


def begins(monkeypatch):
    """Replicates that begin from now on, by the place of their seed."""
    run_one, places = _replicates.Worker.run, list[int]()

    def noted(worker, seed):
        places.append(seed.spawn_key[-1])
        return run_one(worker, seed)

    monkeypatch.setattr(_replicates.Worker, "run", noted)
    return places


@pytest.mark.parametrize("num_threads", [1, 3])
def test_checkpoints_and_progress_change_no_bit(tmp_path, monkeypatch, num_threads):
    plain = run()
    places = begins(monkeypatch)
    often = {"checkpoint": tmp_path / "run.nc", "checkpoint_every": 1e-6}
    check_same(run(num_threads=num_threads, **often), plain)
    assert sorted(places) == list(range(12))
    check_same(run(progress=True, num_threads=num_threads), plain)


def test_a_finished_checkpoint_is_read_and_nothing_is_run(tmp_path, monkeypatch):
    plain = run(checkpoint=tmp_path / "run.nc")
    places = begins(monkeypatch)
    check_same(run(checkpoint=tmp_path / "run.nc"), plain)
    assert places == []


@pytest.mark.parametrize("strategy", [None, ft.selection.Proportional(2)], ids=["pow-d", "rand"])
def test_a_run_goes_on_to_the_same_bits_and_computes_what_is_missing_only(tmp_path, monkeypatch, strategy):
    plain = run(12, strategy=strategy)
    run(5, strategy=strategy, checkpoint=tmp_path / "run.nc")
    places = begins(monkeypatch)
    check_same(run(12, strategy=strategy, checkpoint=tmp_path / "run.nc"), plain)
    assert sorted(places) == list(range(5, 12))
    check_same(run(3, strategy=strategy, checkpoint=tmp_path / "run.nc"), run(3, strategy=strategy))


class Counting:
    """Clients come and go: the rule reads who was there."""

    def rules(self, weights, num_rounds):
        def come_and_go(round_index, table, memory, rng, present):
            present[round_index % 2] = not present[round_index % 2]
            return np.count_nonzero(present)

        rules = ft.selection.Proportional(2).rules(weights, num_rounds)
        return dataclasses.replace(rules, attend=come_and_go)


def test_everybody_is_there_before_the_first_rule_says_otherwise():
    first = run(20, strategy=Counting()).recorded("selected")[:, 0]
    assert set(first.ravel().astype(int)) == {1, 2}  # and client 0 has left


def test_replicates_beyond_those_that_are_asked_for_stay_in_the_file(tmp_path, monkeypatch):
    path = tmp_path / "run.nc"
    run(6, checkpoint=path)
    path.write_bytes(file_bytes(read_file(path, FORM).isel(replicate=[0, 1, 5]), FORM))
    places = begins(monkeypatch)
    check_same(run(3, checkpoint=path), run(3))
    assert places[:1] == [2]
    assert sorted(read_file(path, FORM)["replicate"].values) == [0, 1, 2, 5]


@pytest.mark.filterwarnings("ignore::fedtheory.errors.DivergenceWarning")
def test_diverged_replicates_are_kept_as_such(tmp_path):
    diverging = {"step_size": 1e200, "num_rounds": 4}
    check_same(run(3, checkpoint=tmp_path / "run.nc", **diverging), run(3, **diverging))
    again = run(3, checkpoint=tmp_path / "run.nc", **diverging)
    assert (again.status == "diverged").all()
    check_same(again, run(3, **diverging))


# The mirror image: all that a run is told beside the arrays of the federation is the same.
OTHER = ft.QuadraticFederation([1.0, 2.0, 5.0], [[0.0], [-1.0], [-3.0]], [0.5, 0.2, 0.3])


@pytest.mark.parametrize(
    "change",
    [
        {"rng": 6}, {"rng": np.random.SeedSequence(5, spawn_key=(1,))}, {"num_rounds": 7}, {"step_size": 0.2},
        {"local_steps": 1}, {"local_steps": [1, 2, 2]}, {"gradient_noise": 2.0}, {"initial": [1.0]},
        {"record": ("gap",)},
        {"record_every": 2}, {"server_step_size": 0.5}, {"momentum": 0.5}, {"proximal_weight": 1.0},
        {"returned_noise": 1.0}, {"fed": OTHER}, {"strategy": ft.selection.PowerOfChoice(1, 3)},
        {"strategy": ft.selection.Proportional(1)}, {"strategy": ft.selection.PowerOfChoice(1, 2, loss="last")},
    ],
    ids=str,
)  # fmt: skip
def test_the_checkpoint_of_another_run_is_refused_in_one_line(tmp_path, change):
    run(2, checkpoint=tmp_path / "run.nc")
    with pytest.raises(ValueError, match="checkpoint must be of this run, got that of another in") as refused:
        run(2, checkpoint=tmp_path / "run.nc", **change)
    assert "\n" not in str(refused.value)


def test_a_checkpoint_of_another_fedtheory_and_a_damaged_one_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "run.nc"
    run(2, checkpoint=path)
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:-1], b"", b"no archive"):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"checkpoint must be one that a run wrote, got .*, which .*: remove it"):
            run(2, checkpoint=path)
    path.write_bytes(whole)
    monkeypatch.setattr(_checkpoints, "code_version", lambda: "0.0.1 (abc)")
    path.write_bytes(file_bytes(read_file(path, FORM).assign_attrs(identity="another"), FORM))
    with pytest.raises(ValueError, match=r"checkpoint must be of fedtheory 0\.0\.1 \(abc\), got that of"):
        run(2, checkpoint=path)


STRANGE: dict[str, dict[str, Any]] = {
    "a replicate twice": {"replicate": np.array([0, 0])},
    "half a replicate": {"replicate": np.array([0.0, 0.5])},
    "other rounds": {"excess": np.zeros((2, 3))},
    "other clients": {"counts": np.zeros((3, 3), dtype=int)},
    "no records": {"excess": None},
}


@pytest.mark.parametrize("what", STRANGE)
def test_a_file_with_other_arrays_than_its_run_writes_is_refused_in_one_line(tmp_path, what):
    path = tmp_path / "run.nc"
    run(2, checkpoint=path)
    content = read_file(path, FORM)
    for name, values in STRANGE[what].items():
        content = content.drop_vars(name)
        if values is not None:
            content[name] = tuple(f"{name}_{axis}_own" for axis in range(values.ndim)), values
    path.write_bytes(file_bytes(content, FORM))
    with pytest.raises(ValueError, match=r"got .*, whose arrays are others than its run writes: remove it"):
        run(3, checkpoint=path)


@pytest.mark.parametrize("name", ["missing/run.nc", "file/run.nc", "folder", "x" * 300])
def test_a_checkpoint_that_cannot_be_written_is_refused_before_the_first_round(tmp_path, monkeypatch, name):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    places = begins(monkeypatch)
    with pytest.raises(ValueError, match=r"checkpoint must be a file that can be written, got .* \(.+\)") as refused:
        run(2, checkpoint=tmp_path / name)
    assert "\n" not in str(refused.value)
    assert places == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


@pytest.mark.parametrize(
    ("name", "kind"), [("a\0b", ValueError), ("\ud800", ValueError), (3, TypeError), (b"run", TypeError)]
)
def test_what_is_no_path_is_refused_before_the_first_round(name, kind):
    with pytest.raises(kind, match="checkpoint must be a path"):
        run(2, checkpoint=name)


class Mine:
    def __init__(self, rule):
        self.rule = rule

    def rules(self, weights, num_rounds):
        return ft.selection.Rules(select=self.rule, max_selected=1)


def first(round_index, table, memory, weights, candidates, losses, rng, chosen):
    chosen[0] = np.argmin(weights)
    return 1


def last(round_index, table, memory, weights, candidates, losses, rng, chosen):
    chosen[0] = np.argmax(weights)
    return 1


def test_strategies_are_told_apart_by_what_their_rules_do(tmp_path):
    kept = run(2, strategy=Mine(first), checkpoint=tmp_path / "run.nc", record=("gap",))
    again = run(2, strategy=Mine(first), checkpoint=tmp_path / "run.nc", record=("gap",))
    assert again.gap.tobytes() == kept.gap.tobytes()
    with pytest.raises(ValueError, match="checkpoint must be of this run"):
        run(2, strategy=Mine(last), checkpoint=tmp_path / "run.nc", record=("gap",))


RIDGE = 1.0


@numba.njit
def helper(weight):
    return weight + 1.0


def ridged(round_index, table, memory, weights, candidates, losses, rng, chosen):
    chosen[0] = np.argmin(weights + RIDGE * helper(weights))
    return 1


@pytest.mark.parametrize(
    ("name", "value"),
    [("RIDGE", -1.0), ("helper", numba.njit(lambda weight: weight - 1.0)), ("np", math)],
    ids=["a number", "a compiled helper", "a module"],
)
def test_a_rule_whose_globals_have_changed_is_another_one(tmp_path, monkeypatch, name, value):
    run(1, strategy=Mine(ridged), checkpoint=tmp_path / "run.nc", record=("gap",))
    run(1, strategy=Mine(ridged), checkpoint=tmp_path / "run.nc", record=("gap",))
    monkeypatch.setattr(sys.modules[__name__], name, value)
    with pytest.raises(ValueError, match="checkpoint must be of this run"):
        run(1, strategy=Mine(ridged), checkpoint=tmp_path / "run.nc", record=("gap",))


def test_a_rule_that_cannot_be_identified_cannot_be_kept(tmp_path):
    lock = threading.Lock()

    def locked(round_index, table, memory, weights, candidates, losses, rng, chosen):
        with lock:
            return first(round_index, table, memory, weights, candidates, losses, rng, chosen)

    run(1, strategy=Mine(locked), record=("gap",))
    with pytest.raises(
        ValueError,
        match=r"checkpoint must be None for a run that cannot be identified: .*locked cannot",
    ):
        run(1, strategy=Mine(locked), record=("gap",), checkpoint=tmp_path / "run.nc")


PROGRAM = """
import sys
from tests.engine.test_checkpoints import run
run(
    4000, num_rounds=1500, num_threads=1, checkpoint=sys.argv[1], checkpoint_every=0.02, record=("gap",),
    record_every=500,
)
"""


def finished_in(path):
    """Finished replicates that a file keeps."""
    if not path.exists():
        return 0
    return read_file(path, FORM)["counts"].shape[0]


@pytest.mark.slow
@pytest.mark.skipif(PLAIN_PYTHON, reason="as plain Python it takes minutes")
def test_a_run_that_is_killed_goes_on_to_the_same_bits(tmp_path):
    path = tmp_path / "run.nc"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "-c", PROGRAM, str(path)], env=environment) as process:
        while not finished_in(path) and process.poll() is None:
            time.sleep(0.005)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    options = {"num_rounds": 1500, "record": ("gap",), "record_every": 500}
    left = finished_in(path)
    assert 1 <= left < 4000
    check_same(run(left + 3, checkpoint=path, **options), run(left + 3, **options))


@pytest.mark.slow
@pytest.mark.skipif(PLAIN_PYTHON, reason="as plain Python it takes long to make the schedule")
def test_ctrl_c_leaves_what_is_finished(tmp_path):
    options = {"num_rounds": 20000, "record_every": 20000, "record": ("gap",), "num_threads": 2}
    run(2, **options)  # compiled by now
    path, finished_so_far = tmp_path / "run.nc", list[int]()

    def interrupt() -> None:
        # Before the run has begun, the signal would end the tests.
        while len(finished_so_far) < 2 or not finished_in(path):
            time.sleep(0.005)
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=interrupt, daemon=True)
    presser.start()
    with pytest.raises(Interrupted) as stopped:
        run(20000, checkpoint=path, checkpoint_every=0.05, progress=finished_so_far.append, **options)
    presser.join()
    finished = stopped.value.finished
    assert finished is not None
    assert len(finished.counts) >= 2
    check_same(finished, run(len(finished.counts), **options))
    assert str(stopped.value) == f"interrupted after {len(finished.counts)} replicates"
    check_same(run(len(finished.counts), checkpoint=path, **options), finished)


def test_ctrl_c_before_anything_is_finished_leaves_nothing(monkeypatch):
    def pressed(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(_execution, "_run_replicates", lambda *arguments: None)
    monkeypatch.setattr(_execution, "_next_message", pressed)
    with pytest.raises(Interrupted) as stopped:
        run(progress=True)
    assert stopped.value.finished is None


def in_step(monkeypatch):
    """Let a replicate run only when what was said of those before is shown."""
    turns = threading.Semaphore(0)
    run_one, next_message = _replicates.Worker.run, _execution._next_message

    def waiting(worker, seed):
        turns.acquire()
        return run_one(worker, seed)

    def releasing(messages, look):
        turns.release()
        return next_message(messages, None)

    monkeypatch.setattr(_replicates.Worker, "run", waiting)
    monkeypatch.setattr(_execution, "_next_message", releasing)


def test_progress_is_shown_after_two_seconds_only(capsys, monkeypatch):
    run(progress=True)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(_execution, "reported", partial(progress.reported, delay=0.0))
    in_step(monkeypatch)
    run(progress=True, num_threads=1)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("rounds: 6 of 72, 1 of 12 replicates, 0:00:")
    assert lines[1:] == ["rounds: 72 of 72, 12 of 12 replicates"]


def test_a_long_replicate_shows_its_rounds(capsys, monkeypatch):
    monkeypatch.setattr(_execution, "reported", partial(progress.reported, delay=0.0))
    monkeypatch.setattr(_execution, "_POLL", 1e-3)
    run(1, num_rounds=1_000_000, record_every=1_000_000, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"rounds: \d+ of 1000000(, \d:\d\d:\d\d left)?", lines[0])
    assert lines[-1] == "rounds: 1000000 of 1000000"
    assert len(lines) == 2


@pytest.mark.parametrize(("every", "often"), [(1e3, False), (1e-6, True)])
def test_the_file_is_written_when_it_is_due_and_at_the_end(tmp_path, monkeypatch, every, often):
    numbers, save = list[int](), _checkpoints.Checkpoint.save

    def noted(file, finished):
        numbers.append(len(finished))
        save(file, finished)

    monkeypatch.setattr(_checkpoints.Checkpoint, "save", noted)
    in_step(monkeypatch)
    run(checkpoint=tmp_path / "run.nc", checkpoint_every=every, num_threads=1)
    assert numbers[-1] == 12
    assert (len(numbers) > 1) == often


def test_a_function_is_told_beside_a_checkpoint(tmp_path):
    counted: list[int] = []
    run(checkpoint=tmp_path / "run.nc", progress=counted.append, num_threads=1)
    assert counted == list(range(1, 13))


def test_the_age_of_a_checkpoint_must_be_positive(tmp_path):
    with pytest.raises(ValueError, match=r"checkpoint_every must be finite and positive, got 0\.0"):
        run(checkpoint=tmp_path / "run.nc", checkpoint_every=0.0)
