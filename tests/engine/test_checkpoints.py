"""A long run shows how far it is, stops at once with what is finished, and goes on to the same bits."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.engine import Interrupted, _blocks, _checkpoints, _replicates
from tests.environment import PLAIN_PYTHON, ROOT

RECORD = ("gap", "uplink", "selected")


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


def ran(monkeypatch):
    """Numbers of replicates that are run from now on, block by block."""
    sizes: list[int] = []
    run_all = _replicates.run_all

    def noted(job, seeds, *rest):
        sizes.append(len(seeds))
        return run_all(job, seeds, *rest)

    monkeypatch.setattr(_blocks, "run_all", noted)
    return sizes


@pytest.mark.parametrize("num_threads", [1, 3])
def test_blocks_and_checkpoints_change_no_bit(tmp_path, monkeypatch, num_threads):
    plain = run()
    sizes = ran(monkeypatch)
    check_same(run(checkpoint=tmp_path / "run.npz", num_threads=num_threads), plain)
    assert sum(sizes) == 12
    assert sizes[0] == num_threads
    check_same(run(progress=True, num_threads=num_threads), plain)


def test_a_finished_checkpoint_is_read_and_nothing_is_run(tmp_path, monkeypatch):
    plain = run(checkpoint=tmp_path / "run.npz")
    sizes = ran(monkeypatch)
    check_same(run(checkpoint=tmp_path / "run.npz"), plain)
    assert sizes == []


@pytest.mark.parametrize("strategy", [None, ft.selection.Proportional(2)], ids=["pow-d", "rand"])
def test_a_run_goes_on_to_the_same_bits_and_computes_what_is_missing_only(tmp_path, monkeypatch, strategy):
    run(5, strategy=strategy, checkpoint=tmp_path / "run.npz")
    sizes = ran(monkeypatch)
    check_same(run(12, strategy=strategy, checkpoint=tmp_path / "run.npz"), run(12, strategy=strategy))
    assert sum(sizes[:-1]) == 7  # the last is the run without a checkpoint
    check_same(run(3, strategy=strategy, checkpoint=tmp_path / "run.npz"), run(3, strategy=strategy))


def test_diverged_replicates_are_kept_as_such(tmp_path):
    diverging = {"step_size": 1e200, "num_rounds": 4}
    check_same(run(3, checkpoint=tmp_path / "run.npz", **diverging), run(3, **diverging))
    again = run(3, checkpoint=tmp_path / "run.npz", **diverging)
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
    run(2, checkpoint=tmp_path / "run.npz")
    with pytest.raises(ValueError, match="checkpoint must be of this run, got that of another in") as refused:
        run(2, checkpoint=tmp_path / "run.npz", **change)
    assert "\n" not in str(refused.value)


def test_a_checkpoint_of_another_fedtheory_and_a_damaged_one_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    run(2, checkpoint=path)
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", b"no archive"):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"checkpoint must be one that a run wrote, got .*, which cannot be read"):
            run(2, checkpoint=path)
    path.write_bytes(whole)
    monkeypatch.setattr(_checkpoints, "made_by", lambda: "0.0.1 (abc)")
    with pytest.raises(ValueError, match=r"checkpoint must be of fedtheory 0\.0\.1 \(abc\), got that of"):
        run(2, checkpoint=path)


def test_strategies_of_somebody_else_are_told_apart_by_what_their_rules_do(tmp_path):
    def first(round_index, table, memory, weights, candidates, losses, rng, chosen):
        chosen[0] = 0
        return 1

    def last(round_index, table, memory, weights, candidates, losses, rng, chosen):
        chosen[0] = 2
        return 1

    class Mine:
        def __init__(self, rule):
            self.rule = rule

        def rules(self, weights, num_rounds):
            return ft.selection.Rules(select=self.rule, max_selected=1)

    kept = run(2, strategy=Mine(first), checkpoint=tmp_path / "run.npz", record=("gap",))
    again = run(2, strategy=Mine(first), checkpoint=tmp_path / "run.npz", record=("gap",))
    assert again.gap.tobytes() == kept.gap.tobytes()
    with pytest.raises(ValueError, match="checkpoint must be of this run"):
        run(2, strategy=Mine(last), checkpoint=tmp_path / "run.npz", record=("gap",))


PROGRAM = """
import sys
from tests.engine.test_checkpoints import run
run(
    4000, num_rounds=1500, num_threads=1, checkpoint=sys.argv[1], checkpoint_every=0.02, record=("gap",),
    record_every=500,
)
"""


@pytest.mark.skipif(PLAIN_PYTHON, reason="as plain Python it takes minutes")
def test_a_run_that_is_killed_goes_on_to_the_same_bits(tmp_path):
    path = tmp_path / "run.npz"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "-c", PROGRAM, str(path)], env=environment) as process:
        while not path.exists() and process.poll() is None:
            time.sleep(0.005)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    options = {"num_rounds": 1500, "record": ("gap",), "record_every": 500}
    with np.load(path) as archive:
        left = len(archive["counts"])
    assert 1 <= left < 4000
    check_same(run(left + 3, checkpoint=path, **options), run(left + 3, **options))


@pytest.mark.skipif(PLAIN_PYTHON, reason="as plain Python it takes long to make the schedule")
def test_ctrl_c_leaves_what_is_finished(tmp_path):
    options = {"num_rounds": 20000, "record_every": 20000, "record": ("gap",), "num_threads": 2}
    run(2, **options)  # compiled by now
    sent: list[float] = []
    path, finished_so_far = tmp_path / "run.npz", list[int]()

    def interrupt() -> None:
        # Before the run has begun, the signal would end the tests.
        while len(finished_so_far) < 2 or not path.exists():
            time.sleep(0.005)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=interrupt, daemon=True)
    presser.start()
    with pytest.raises(Interrupted) as stopped:
        run(20000, checkpoint=path, checkpoint_every=0.05, progress=finished_so_far.append, **options)
    assert time.monotonic() - sent[0] < 0.5
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

    monkeypatch.setattr(_blocks, "run_all", pressed)
    with pytest.raises(Interrupted) as stopped:
        run(progress=True)
    assert stopped.value.finished is None


def test_progress_is_shown_after_two_seconds_only(capsys, monkeypatch):
    run(progress=True)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(_blocks, "_PATIENCE", 0.0)
    run(progress=True, num_threads=1)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("replicates: 1 of 12")
    assert lines[-1] == "replicates: 12 of 12"


def test_a_function_is_told_beside_a_checkpoint(tmp_path):
    counted: list[int] = []
    run(checkpoint=tmp_path / "run.npz", progress=counted.append, num_threads=1)
    assert counted == list(range(1, 13))


def test_the_age_of_a_checkpoint_must_be_positive(tmp_path):
    with pytest.raises(ValueError, match=r"checkpoint_every must be finite and positive, got 0\.0"):
        run(checkpoint=tmp_path / "run.npz", checkpoint_every=0.0)
