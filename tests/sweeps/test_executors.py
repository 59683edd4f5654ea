"""Any executor of concurrent.futures may run a sweep: it finds the same, and is its owner's before and after."""

import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import fedtheory as ft
from tests.sweeps import toy

GRID = {"d": [2, 5], "tau": [1, 2, 3]}


class Immediate(Executor):
    """A user's own: it runs what it is given in ``submit``."""

    def __init__(self):
        self.given = 0

    def submit(self, function, /, *arguments, **named):
        self.given += 1
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments, **named))
        except BaseException as error:
            future.set_exception(error)
        return future


@pytest.fixture(scope="module")
def wanted():
    return ft.sweep(toy.noisy, GRID, seeds=2, backend="serial").digest


def processes(workers):
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))


@pytest.mark.parametrize("make", [ThreadPoolExecutor, processes, lambda workers: Immediate()])
def test_every_executor_finds_the_same_and_is_left_open(make, wanted):
    with make(2) as executor:
        found = ft.sweep(toy.noisy, GRID, seeds=2, backend=executor)
        assert executor.submit(max, 3, 5).result() == 5
    assert found.digest == wanted
    assert len(found.failures) == 2  # d = 5 and tau = 2, with both seeds


@pytest.mark.slow  # starts a scheduler and two workers
def test_the_executor_of_a_dask_client_finds_the_same(wanted):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert ft.sweep(toy.noisy, GRID, seeds=2, backend=client.get_executor(pure=False)).digest == wanted


def test_an_executor_is_given_all_at_once_or_twice_as_many_as_workers():
    free = threading.Event()

    class Waiting(ThreadPoolExecutor):
        most = 0
        futures: Any = ()

        def submit(self, *arguments: Any) -> Any:  # type: ignore[override]
            self.futures = (*self.futures, super().submit(*arguments))
            self.most = max(self.most, sum(not future.done() for future in self.futures))
            if self.most == enough:
                free.set()
            return self.futures[-1]

    def waits(d):
        return free.wait(5)

    for workers, enough in ((None, 10), (2, 4)):
        free.clear()
        with Waiting(1) as executor:
            assert ft.sweep(waits, {"d": range(10)}, backend=executor, workers=workers).data["value"].all()
        assert executor.most == enough


def test_threads_of_a_user_have_one_thread_for_linear_algebra_during_the_sweep_alone():
    with threadpool_limits(2, user_api="blas"):
        before = {pool["num_threads"] for pool in threadpool_info()}
        for executor in (ThreadPoolExecutor(1), Immediate()):
            assert ft.sweep(toy.threads, {"d": [1]}, backend=executor).data["value"].item() == 1
            assert {pool["num_threads"] for pool in threadpool_info()} == before


def test_what_is_finished_is_kept_when_somebody_interrupts_and_the_rest_is_cancelled(tmp_path):
    def interrupted(d):
        if d == 3:
            raise KeyboardInterrupt
        return d * 1.5

    executor = Immediate()
    with pytest.raises(KeyboardInterrupt):
        ft.sweep(interrupted, {"d": range(8)}, backend=executor, out=tmp_path)
    assert (executor.given, len(list(tmp_path.glob("parts/*.npz")))) == (4, 3)

    release, begun = threading.Event(), threading.Event()

    def failing(d):
        begun.set()
        return release.wait(5)

    class Ended(ThreadPoolExecutor):
        futures: Any = ()

        def submit(self, *arguments: Any) -> Any:  # type: ignore[override]
            if len(self.futures) == 3:
                begun.wait(5)
                raise KeyboardInterrupt
            self.futures = (*self.futures, super().submit(*arguments))
            return self.futures[-1]

    with Ended(1) as pool:
        with pytest.raises(KeyboardInterrupt):
            ft.sweep(failing, {"d": range(8)}, backend=pool)
        assert [future.cancelled() for future in pool.futures] == [False, True, True]
        release.set()


def test_an_executor_whose_workers_die_ends_the_sweep_in_one_line_and_another_goes_on(tmp_path):
    grid = {"d": range(8), "marker": [str(tmp_path / "marker")]}
    with (
        processes(1) as executor,
        pytest.raises(ValueError, match="an executor's workers must live, got some that died: what is finished is"),
    ):
        ft.sweep(toy.dies_once, grid, backend=executor, out=tmp_path / "out")
    assert len(list(tmp_path.glob("out/parts/*.npz"))) == 3
    found = ft.sweep(toy.dies_once, grid, backend=Immediate(), out=tmp_path / "out")
    assert found.data["value"].values.ravel().tolist() == [d * 1.5 for d in range(8)]


def test_what_is_no_executor_is_refused():
    with pytest.raises(ValueError, match=r"backend must be one of 'serial', .*, or an Executor, got 3"):
        ft.sweep(toy.slow, {"d": [1]}, backend=3)
