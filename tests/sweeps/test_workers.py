"""What becomes of work whose workers die, and what workers do when they start, without a process of either kind."""

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from threadpoolctl import threadpool_info

from fedtheory.sweeps import _backends, run
from fedtheory.sweeps._grid import Configuration, gridded
from fedtheory.sweeps._outcomes import Outcome
from fedtheory.sweeps._work import work_of
from tests.sweeps import toy

GRID = list(gridded({"d": range(8)}))


class KilledWorker(Exception):
    """What Dask raises for work whose workers died."""


class Fragile:
    """An executor that is told what it does with a number, at once; dead workers do nothing more."""

    def __init__(self, answer: Callable[[int], float]) -> None:
        self.answer, self.broken = answer, False

    def submit(self, _: Any, __: Any, point: dict[str, int], *___: Any) -> "Future[Outcome]":
        future: Future[Outcome] = Future()
        try:
            future.set_result(Outcome(seconds=dead(0) if self.broken else self.answer(point["d"])))
        except BaseException as error:
            future.set_exception(error)
            self.broken = self.broken or isinstance(error, BrokenExecutor)
        return future


def dead(d: int) -> float:
    raise BrokenExecutor


def worked_through(
    answer: Callable[[int], float], missing: list[Configuration], opened: list[Any] | None = None
) -> dict[int, Any]:
    """Return what is kept of each number, and add a set of workers to a list for each that it took."""
    kept: dict[int, Any] = {}
    opened = [] if opened is None else opened

    @contextlib.contextmanager
    def start() -> Iterator[Any]:
        opened.append(SimpleNamespace(executor=Fragile(answer), size=2, foreign=False, cancel=Future.cancel))
        yield opened[-1]

    def keep(one: Configuration, outcome: Outcome) -> None:
        assert one.point["d"] not in kept
        kept[one.point["d"]] = outcome.refused or outcome.error or outcome.seconds

    run._work_through(missing, work_of(toy.slow), start, keep)
    return kept


@pytest.mark.parametrize("death", [BrokenExecutor, KilledWorker])
@pytest.mark.parametrize("killer", [0, 3])  # of the four that are under way together, the first and the last
def test_who_kills_workers_twice_is_the_only_one_that_is_given_up(death: type[Exception], killer: int) -> None:
    def answer(d: int) -> float:
        if d == killer:
            raise death
        return d * 1.5

    assert worked_through(answer, GRID) == {d: "its worker died, twice" if d == killer else d * 1.5 for d in range(8)}


def test_a_cluster_that_replaces_its_workers_goes_on_with_any_number_of_killers() -> None:
    def answer(d: int) -> float:
        raise KilledWorker

    opened: list[Any] = []
    many = list(gridded({"d": range(50)}))
    assert set(worked_through(answer, many, opened).values()) == {"its worker died, twice"}
    assert len(opened) < 50


def test_what_others_finished_before_a_worker_died_is_kept() -> None:
    def submit(_: Any, __: Any, point: dict[str, int], *___: Any) -> "Future[Outcome]":
        future: Future[Outcome] = Future()
        if point["d"] == 1:
            future.set_exception(BrokenExecutor())
        elif point["d"] != 2:
            future.set_result(Outcome(seconds=point["d"] * 1.5))
        return future

    kept: list[int] = []
    workers: Any = SimpleNamespace(executor=SimpleNamespace(submit=submit), size=2, foreign=False, cancel=Future.cancel)
    queue = deque(GRID)
    lost = run._until_broken(
        queue, work_of(toy.slow), workers, lambda one, _: kept.append(one.point["d"]), at_once=None
    )
    assert (kept, [one.point["d"] for one in lost]) == ([0, 3], [1, 2])
    assert [one.point["d"] for one in queue] == [4, 5, 6, 7]


def test_all_workers_work_at_once() -> None:
    meeting = threading.Barrier(3, timeout=5)

    def meets_others(d: int) -> int:
        return meeting.wait()

    kept: list[Outcome] = []
    start = partial(_backends.open_workers, "threads", 3, None)
    run._work_through(GRID[:3], work_of(meets_others), start, lambda _, outcome: kept.append(outcome))
    assert sorted(int(outcome.variables["value"].values) for outcome in kept) == [0, 1, 2]


def test_what_is_finished_is_kept_while_what_began_before_it_goes_on() -> None:
    second_is_kept = threading.Event()

    def first_waits(d: int) -> bool:
        return d > 0 or second_is_kept.wait(5)

    found: dict[int, Any] = {}

    def keep(one: Configuration, outcome: Outcome) -> None:
        found[one.point["d"]] = bool(outcome.variables["value"].values)
        if one.point["d"] == 1:
            second_is_kept.set()

    with _backends.open_workers("threads", 2, None) as workers:
        run._until_broken(deque(GRID[:2]), work_of(first_waits), workers, keep, at_once=None)
    assert found == {1: True, 0: True}


# Dask stumbles over a result that is lost with its worker after it was announced.
@pytest.mark.parametrize("loss", [BrokenExecutor, TypeError("cannot unpack non-iterable Outcome object")])
def test_who_is_lost_once_is_run_again_alone(loss: Any) -> None:
    died: list[int] = []

    def answer(d: int) -> float:
        if d == 3 and not died:
            died.append(d)
            raise loss
        return d * 1.5

    opened: list[Any] = []
    assert worked_through(answer, GRID, opened) == {d: d * 1.5 for d in range(8)}
    assert len(opened) == 3  # all, those who were under way, and who was not


def test_workers_that_cannot_run_a_thing_say_so_after_the_second_try() -> None:
    def answer(d: int) -> float:
        if d == 1:
            raise ModuleNotFoundError
        return d * 1.5

    refused = worked_through(answer, GRID[:3]).pop(1)
    assert refused.endswith("got one that cannot run it (ModuleNotFoundError:)")


def test_workers_that_all_die_are_given_up_after_so_many_crews_in_a_row(monkeypatch) -> None:
    monkeypatch.setattr(run, "_DEATHS", 2)
    opened: list[Any] = []
    with pytest.raises(ValueError, match="workers must live, got none that did in 3 attempts"):
        worked_through(dead, GRID, opened)
    assert len(opened) == 3
    assert worked_through(dead, GRID[:1]) == {0: "its worker died, twice"}


def test_crews_that_die_now_and_then_are_not_given_up(monkeypatch) -> None:
    monkeypatch.setattr(run, "_DEATHS", 2)

    def answer(d: int) -> float:
        if d % 4 == 0:
            raise BrokenExecutor
        return d * 1.5

    kept = worked_through(answer, GRID)
    assert {d for d, found in kept.items() if found == "its worker died, twice"} == {0, 4}


def test_control_c_keeps_what_is_finished_and_goes_on_to_the_caller() -> None:
    kept: list[int] = []

    def answer(d: int) -> float:
        if d == 1:
            raise KeyboardInterrupt
        return d * 1.5

    workers: Any = SimpleNamespace(executor=Fragile(answer), size=2, foreign=False, cancel=Future.cancel)
    queue = deque(GRID)
    with pytest.raises(KeyboardInterrupt):
        run._until_broken(queue, work_of(toy.slow), workers, lambda one, _: kept.append(one.point["d"]), at_once=None)
    # Twice as many as workers are under way: 0, 2 and 3 are finished beside the one that is interrupted.
    assert sorted(kept) == [0, 2, 3]


@pytest.fixture
def _hears_control_c() -> Iterator[None]:
    """What a shell runs in the background ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.slow  # starts a process
@pytest.mark.usefixtures("_hears_control_c")
def test_control_c_while_one_more_is_handed_over_leaves_no_error_of_the_pool(monkeypatch) -> None:
    complaints: list[Any] = []
    interrupted: list[Future[Outcome]] = []
    monkeypatch.setattr(threading, "excepthook", complaints.append)

    def interrupt(future: Future[Outcome]) -> None:
        """Press Ctrl-C in the thread that hands things over, which thus is late for the next."""
        if not interrupted and not future.cancelled() and future.exception() is None:
            interrupted.append(future)
            time.sleep(0.3)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.3)

    def keep(*_: Any) -> None: ...

    work = _backends.packed(work_of(toy.slow), "processes")
    with _backends.open_workers("processes", 1, None) as workers:
        hand_in = workers.executor.submit

        def submit(*given: Any) -> "Future[Outcome]":
            future: Future[Outcome] = hand_in(*given)
            future.add_done_callback(interrupt)
            return future

        monkeypatch.setattr(workers.executor, "submit", submit)
        with pytest.raises(KeyboardInterrupt):
            run._until_broken(deque(GRID), work, workers, keep, at_once=None)
    for left in multiprocessing.active_children():  # those of a pool that failed, for whom this process would wait
        left.terminate()
    assert not complaints


def test_deep_stacks_are_for_the_threads_that_compute_alone(monkeypatch) -> None:
    size = [2**16]

    def stack_size(wanted: int) -> int:  # the real one takes 0 where nothing is wanted, and is no way to ask
        before, size[0] = size[0], wanted
        return before

    monkeypatch.setattr(threading, "stack_size", stack_size)
    with _backends.open_workers("threads", 1, None):
        assert size == [64 * 2**20]
        assert {pool["num_threads"] for pool in threadpool_info()} == {1}
    assert size == [2**16]


def test_threads_are_sent_home_with_what_they_are_at_and_nothing_else() -> None:
    begun, free = threading.Event(), threading.Event()

    def busy() -> bool:
        begun.set()
        return free.wait(5)

    with _backends.open_workers("threads", 1, None) as workers:
        at = workers.executor.submit(busy)
        waiting = workers.executor.submit(begun.wait)
        begun.wait(5)
    left = at.done()  # nobody has waited for it
    free.set()
    assert (left, at.result(), waiting.cancelled()) == (False, True, True)


def test_a_process_computes_with_one_thread_from_then_on(monkeypatch) -> None:
    limits: list[int] = []
    monkeypatch.setattr("threadpoolctl.threadpool_limits", limits.append)
    _backends._pin.cache_clear()
    assert [_backends.pinned(max, 3, d) for d in (2, 5)] == [3, 5]
    _backends._pin.cache_clear()
    assert limits == [1]


def test_a_process_is_deaf_to_control_c_and_ends_with_its_parent(monkeypatch) -> None:
    parents, before, gate = [7, 7, 1], threading.enumerate(), threading.Event()
    slept: list[float] = []
    ended: list[int] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        gate.wait(5)

    monkeypatch.setattr(os, "getppid", lambda: parents.pop(0))
    monkeypatch.setattr(os, "_exit", ended.append)
    monkeypatch.setattr(time, "sleep", sleep)
    heard = signal.getsignal(signal.SIGINT)
    try:
        _backends._obey(7)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, heard)
    [watching] = [thread for thread in threading.enumerate() if thread not in before]
    gate.set()
    watching.join(5)
    assert watching.daemon  # it keeps no worker from ending
    assert (slept, ended, parents) == ([_backends._LOOK] * 2, [1], [])
