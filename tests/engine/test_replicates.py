"""Bundles of replicates change only the time of a run."""

import os
import signal
import threading
from dataclasses import dataclass

import pytest
from numba import njit

import fedtheory as ft
from fedtheory.engine._replicates import _is_ours
from tests.environment import PLAIN_PYTHON

# One thread takes 200 replicates in bundles of 3 (the last has 2), four take each on its own.
MANY = 200


def run(num_replicates, num_threads, progress=None):
    fed = ft.QuadraticFederation([1.0, 2.0], [[0.0], [1.0]], [0.5, 0.5])
    return ft.fedavg(
        fed, ft.selection.Proportional(1), num_rounds=3, step_size=0.1, gradient_noise=1.0, rng=5,
        num_replicates=num_replicates, num_threads=num_threads, progress=progress,
    )  # fmt: skip


def test_bundles_of_replicates_give_the_bits_of_single_ones_in_the_order_of_their_seeds():
    assert run(MANY, 1).gap.tobytes() == run(MANY, 4).gap.tobytes()
    assert run(MANY, 1).gap[:5].tobytes() == run(5, 1).gap.tobytes()


@pytest.mark.parametrize(("num_replicates", "num_threads"), [(1, 1), (7, 2), (MANY, 1), (MANY, 4)])
def test_progress_counts_every_replicate_up_to_the_last(num_replicates, num_threads):
    counted: list[int] = []
    run(num_replicates, num_threads, counted.append)
    assert counted == sorted(set(counted))
    assert counted[-1] == num_replicates
    assert len(counted) >= min(num_replicates, 64)


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


@dataclass(frozen=True)
class Mine(ft.selection.Uniform):
    """Somebody's strategy, which has the rules of the package's."""


@dataclass(frozen=True)
class Never:
    """Somebody's transform of losses."""

    def code(self):
        return 0.0, 0.0


UNIFORM, CHOICE, AVAILABLE = ft.selection.Uniform, ft.selection.PowerOfChoice, ft.selection.Available
HALF = ft.selection.BernoulliAvailability(0.5)


@pytest.mark.parametrize("ours", [UNIFORM(2), CHOICE(1, 2), AVAILABLE(UNIFORM(1), HALF)], ids=repr)
def test_strategies_made_of_this_packages_parts_are_not_looked_at_in_every_round(ours):
    assert _is_ours(ours)


@pytest.mark.parametrize("theirs", [Mine(2), CHOICE(1, 2, transform=Never()), AVAILABLE(Mine(1), HALF)], ids=repr)
def test_whatever_has_a_part_of_somebody_else_is_looked_at(theirs):
    assert not _is_ours(theirs)


def test_looking_changes_no_bit():
    fed = ft.QuadraticFederation([1.0, 2.0, 3.0], [[0.0], [1.0], [2.0]], [0.5, 0.25, 0.25])
    trusted, looked_at = (
        ft.fedavg(fed, strategy, num_rounds=20, step_size=0.1, rng=0, num_replicates=3).gap
        for strategy in (UNIFORM(2), Mine(2))
    )
    assert trusted.tobytes() == looked_at.tobytes()


@njit
def first_only(round_index, table, memory, weights, candidates, losses, rng, chosen):
    chosen[0] = 0
    return 1


@njit
def weigh_by_leftovers(round_index, table, memory, weights, chosen, updates, rng, coefficients):
    coefficients[0] = 1.0 + coefficients[1]  # the second place is written by this rule alone
    coefficients[1] += 0.125
    return 0.0


class Leftovers:
    """A rule that reads scratch memory before it is written in this replicate."""

    def rules(self, weights, num_rounds):
        return ft.selection.Rules(select=first_only, weigh=weigh_by_leftovers, max_selected=2)


def test_a_replicate_finds_nothing_of_the_one_before_in_its_scratch():
    fed = ft.QuadraticFederation([1.0, 2.0], [[0.0], [1.0]], [0.5, 0.5])
    run = ft.fedavg(
        fed,
        Leftovers(),
        num_rounds=4,
        step_size=0.1,
        initial=[1.0],
        num_replicates=3,
        num_threads=1,
        record=("models",),
    )
    assert run.models[0].tobytes() == run.models[1].tobytes() == run.models[2].tobytes()
