"""Where configurations are run: threads of this process, processes on this machine, or anybody's executor."""

import contextlib
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

from fedtheory._support import validate
from fedtheory._support.wording import short
from fedtheory.sweeps._work import Work

__all__ = ["BACKENDS", "Workers", "known_backend", "number_of_workers", "open_workers", "packed", "pinned"]

BACKENDS = ("serial", "threads", "processes", "dask")
# Compilers need deep stacks, and some platforms give threads shallow ones.
_STACK = 64 * 2**20
# Seconds between two looks of a worker at its parent.
_LOOK = 0.5
# Seconds in which a worker of a cluster may finish what it is at, before it is ended.
_LAST_SECONDS = 0.25
# Seconds in which a pool of processes hands over what it was given, at the very most.
_HANDING_OVER = 5


@dataclass(frozen=True, eq=False)
class Workers:
    """Workers: an executor, how many there are, and how to stop them, whatever they are at.

    Those of somebody else, ``foreign``, are not stopped, and others cannot be started in their place. What has not
    begun by then is given to ``cancel``.
    """

    executor: Executor
    size: int
    stop: Callable[[], None]
    foreign: bool = False
    cancel: Callable[[Future[Any]], object] = Future.cancel


def known_backend(backend: Any) -> str | Executor:
    """Return a backend's name, or an executor."""
    if isinstance(backend, Executor) or (isinstance(backend, str) and backend in BACKENDS):
        return backend
    message = f"backend must be one of {', '.join(map(repr, BACKENDS))}, or an Executor, got {short(backend)}"
    raise ValueError(message)


def pinned(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in another process, with one thread for linear algebra from then on.

    The last bits of products depend on the number of threads.
    """
    _pin()
    return function(*arguments)


def _one_thread() -> Any:
    """Limit linear algebra to one thread, for good or in the block of ``with``."""
    # SciPy brings a library of its own, which is to be there by now.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1)


_pin = cache(_one_thread)


def packed(work: Work, backend: str | Executor) -> Work | bytes:
    """Return what is sent to a worker: the work itself within this process, or a pickle of it.

    Raises
    ------
    TypeError
        If it cannot be pickled.
    """
    if backend in ("serial", "threads") or isinstance(backend, ThreadPoolExecutor):
        return work
    import cloudpickle

    try:
        pickled: bytes = cloudpickle.dumps(work)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        message = f"what is swept must be something that can be sent to other processes, got {error}"
        raise TypeError(message) from error
    return pickled


@contextlib.contextmanager
def open_workers(backend: str | Executor, workers: int, scheduler: str | None) -> Iterator[Workers]:
    """Yield workers, and stop them at the end; an executor of somebody else is left as it is."""
    if isinstance(backend, Executor):
        with _one_thread():  # it may compute in this process
            yield Workers(backend, workers, lambda: None, foreign=True)
        return
    with {"serial": _threads, "threads": _threads, "processes": _processes, "dask": _cluster}[backend](
        workers, scheduler
    ) as found:
        try:
            yield found
        finally:
            found.stop()


@contextlib.contextmanager
def _threads(workers: int, scheduler: str | None) -> Iterator[Workers]:  # noqa: ARG001
    previous = threading.stack_size(_STACK)
    executor = ThreadPoolExecutor(workers)
    try:
        with _one_thread():
            # A thread cannot be stopped: after Ctrl-C it ends with what it is at, and nobody waits.
            yield Workers(executor, workers, lambda: executor.shutdown(wait=False, cancel_futures=True))
    finally:
        threading.stack_size(previous)


@contextlib.contextmanager
def _processes(workers: int, scheduler: str | None) -> Iterator[Workers]:  # noqa: ARG001
    from joblib.externals.loky import ProcessPoolExecutor

    executor = ProcessPoolExecutor(workers, initializer=_obey, initargs=(os.getpid(),))
    yield Workers(executor, workers, lambda: executor.shutdown(kill_workers=True), cancel=_handed_over)


def _handed_over(future: Future[Any]) -> None:
    """Wait until a pool has handed this to its workers, who are ended with it.

    When it is shut down, loky fails over what it still has itself, whether or not that is cancelled.
    """
    deadline = time.monotonic() + _HANDING_OVER
    while not (future.running() or future.done()) and time.monotonic() < deadline:
        time.sleep(0.001)


def _obey(parent: int) -> None:
    # Ctrl-C on a terminal goes to every process of the program: the parent alone decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process when its parent has: one that is killed cannot say goodbye, and its workers would wait on."""
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)


@contextlib.contextmanager
def _cluster(workers: int, scheduler: str | None) -> Iterator[Workers]:
    try:
        from distributed import Client
    except ImportError as error:
        message = "the backend dask must have dask[distributed] installed (pip install 'fedtheory[dask]'), got none"
        raise ValueError(message) from error
    with _address(workers, scheduler) as address:
        try:
            client = Client(address, timeout=10)
        except (OSError, ValueError, TimeoutError) as error:
            message = f"scheduler must be the address of a Dask scheduler that answers, got {scheduler}"
            raise ValueError(message) from error
        with client:
            size = sum(client.nthreads().values())
            if not size:
                message = f"a cluster must have workers, got none at {address}"
                raise ValueError(message)
            executor = client.get_executor(pure=False)
            yield Workers(executor, size, lambda: executor.shutdown(wait=False))


@contextlib.contextmanager
def _address(workers: int, scheduler: str | None) -> Iterator[Any]:
    """Yield the address of a running cluster, or a cluster of this machine alone."""
    if scheduler is not None:
        yield scheduler
        return
    import logging
    import tempfile

    from distributed import LocalCluster

    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="fedtheory-dask-"))
        with _children_deaf():
            cluster = LocalCluster(
                n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
                silence_logs=logging.CRITICAL, local_directory=folder,
                # A cluster without a dashboard still asks for its port, and complains where another cluster has it.
                scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
            )  # fmt: skip
        stack.enter_context(cluster)
        stack.callback(_end_workers, cluster)
        yield cluster


def _end_workers(cluster: Any) -> None:
    """End the workers of a cluster of our own; by itself it waits four seconds for what they are at."""
    import asyncio

    async def close() -> None:
        workers = list(cluster.workers.values())
        await asyncio.gather(*(worker.close(timeout=_LAST_SECONDS) for worker in workers), return_exceptions=True)

    cluster.sync(close)


@contextlib.contextmanager
def _children_deaf() -> Iterator[None]:
    """Let processes that are started meanwhile ignore Ctrl-C: what is ignored is inherited."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, heard)


def number_of_workers(workers: int | None, backend: str | Executor) -> int:
    """Return how many work at once: as many as there are processors by default."""
    if backend == "serial":
        return 1
    return os.cpu_count() or 1 if workers is None else validate.count("workers", workers)
