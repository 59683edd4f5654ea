"""Bundles of replicates change only the time of a run."""

import contextlib
import os
import signal
import threading

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.engine import execution, replicates
from fedtheory.engine.loop import BATCH
from tests.environment import PLAIN_PYTHON

# Some bundles of replicates are full, and the last is not.
MANY = 203


def run(num_replicates, num_threads, progress=None):
    fed = ft.QuadraticFederation([1.0, 2.0], [[0.0], [1.0]], [0.5, 0.5])
    return ft.fedavg(
        fed, ft.selection.Proportional(1), num_rounds=3, step_size=0.1, gradient_noise=1.0, rng=5,
        num_replicates=num_replicates, num_threads=num_threads, progress=progress,
    )  # fmt: skip


@pytest.mark.skipif(PLAIN_PYTHON, reason="nothing is compiled")
def test_a_first_run_states_how_long_it_compiles_and_plain_rules_that_they_are_slow(monkeypatch):
    said: list[str] = []

    def announced(text):
        said.append(text)
        return contextlib.nullcontext()

    for module in (execution, replicates):
        monkeypatch.setattr(module, "announced", announced)
    fed = ft.QuadraticFederation([1.0, 2.0], [[0.0], [1.0]], [0.5, 0.5])
    for strategy in (ft.selection.Proportional(1), lambda rng, weights, losses: [0]):
        ft.fedavg(fed, strategy, num_rounds=1, step_size=0.1)
    assert ["about 10 s" in said[0], "plain Python" in said[1], len(said)] == [True, True, 2]


def test_bundles_of_replicates_give_the_bits_of_single_ones_in_the_order_of_their_seeds():
    many = run(MANY, 1).gap
    assert np.isfinite(many).all()  # what no replicate writes is NaN
    assert many.tobytes() == run(MANY, 4).gap.tobytes()
    assert many[:5].tobytes() == run(5, 1).gap.tobytes()


@pytest.mark.parametrize(("num_replicates", "num_threads"), [(1, 1), (7, 2), (MANY, 1), (MANY, 4)])
def test_progress_counts_every_replicate_up_to_the_last(num_replicates, num_threads):
    counted: list[int] = []
    run(num_replicates, num_threads, counted.append)
    assert counted == sorted(set(counted))
    assert counted[-1] == num_replicates
    assert len(counted) >= num_replicates / BATCH


@pytest.mark.skipif(PLAIN_PYTHON, reason="as plain Python it takes long to make the schedule")
@pytest.mark.parametrize("num_threads", [1, 3])
def test_ctrl_c_ends_compiled_replicates_before_their_next_round(num_threads):
    counted: list[int] = []
    has_begun = threading.Event()

    def count(done: int) -> None:
        counted.append(done)
        has_begun.set()

    def interrupt() -> None:
        has_begun.wait()
        os.kill(os.getpid(), signal.SIGINT)  # to the process, as a terminal sends it

    presser = threading.Thread(target=interrupt, daemon=True)
    presser.start()
    fed = ft.QuadraticFederation([1.0, 2.0], [[0.0], [1.0]], [0.5, 0.5])
    with pytest.raises(KeyboardInterrupt):
        # It would take minutes if the signal did not end it.
        ft.fedavg(
            fed, ft.selection.Proportional(1), num_rounds=10**5, step_size=0.1, gradient_noise=1.0,
            num_replicates=4000, num_threads=num_threads, record_every=10**5, progress=count,
        )  # fmt: skip
    presser.join()
    # The replicates under way end before their next round, and no other one begins.
    assert counted[-1] < 400


def test_a_replicate_that_fails_ends_the_others_before_their_next_round():
    calls: list[int] = []

    def five_times(round_index, table, memory, weights, candidates, losses, rng, chosen):
        calls.append(round_index)
        chosen[0] = 0
        return 2 if len(calls) == 5 else 1

    class Failing:
        def rules(self, weights, num_rounds):
            return ft.selection.Rules(select=five_times, max_selected=1)

    fed = ft.QuadraticFederation([1.0, 2.0], [[0.0], [1.0]], [0.5, 0.5])
    with pytest.raises(ValueError, match=r"return a number of clients in 0\.\.1, got 2 in round 4"):
        ft.fedavg(fed, Failing(), num_rounds=50, step_size=0.1, num_replicates=40, num_threads=1)
    assert len(calls) < 1000  # of 1,955
