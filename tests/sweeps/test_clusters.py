"""What is done with a cluster: other people's is left as it was, one of our own is sent home; without starting one."""

import asyncio
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

import fedtheory as ft
from fedtheory.sweeps import _backends
from tests.sweeps import toy


class Fake:
    """A cluster, and a client of it, of so many threads per worker, that start nothing."""

    def __init__(self, *threads):
        self.threads, self.seen = dict(enumerate(threads)), []
        self.closed, self.ended = 0, []
        self.workers = {name: SimpleNamespace(close=self.end) for name in self.threads}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.closed += 1

    def nthreads(self):
        return self.threads

    def get_executor(self, *, pure):
        self.seen.append(pure)
        return ThreadPoolExecutor(1)

    def sync(self, function):
        asyncio.run(function())

    async def end(self, *, timeout):
        self.ended.append((timeout, self.closed))
        raise TimeoutError

    def client(self, address, *, timeout):
        self.seen.append((address, timeout))
        return self

    def cluster(self, **options):
        self.seen.append(options | {"heard": signal.getsignal(signal.SIGINT)})
        return self


def with_cluster(monkeypatch, fake):
    distributed = SimpleNamespace(Client=fake.client, LocalCluster=fake.cluster)
    monkeypatch.setitem(sys.modules, "distributed", distributed)


def test_a_cluster_has_as_many_workers_as_threads_and_is_left_at_the_end(monkeypatch):
    fake = Fake(2, 3)
    with_cluster(monkeypatch, fake)
    with _backends.open_workers("dask", 7, "tcp://there:1") as workers:
        assert (workers.size, fake.closed) == (5, 0)
        assert workers.executor.submit(max, 3, 5).result() == 5
    assert fake.seen == [("tcp://there:1", 10), False]
    assert (fake.closed, fake.ended) == (1, [])  # other people's workers stay
    with pytest.raises(RuntimeError, match="after shutdown"):
        workers.executor.submit(max, 3, 5)


def test_nobody_waits_for_what_a_cluster_is_at_when_it_is_left(monkeypatch):
    with_cluster(monkeypatch, Fake(1))
    free = threading.Event()
    with _backends.open_workers("dask", 1, "tcp://there:1") as workers:
        at = workers.executor.submit(free.wait, 5)
    left = at.done()
    free.set()
    assert (left, at.result()) == (False, True)


def test_a_cluster_of_this_machine_has_one_thread_per_worker_and_does_not_hear_control_c(monkeypatch):
    fake, heard = Fake(1, 1, 1), signal.getsignal(signal.SIGINT)
    with_cluster(monkeypatch, fake)
    with _backends.open_workers("dask", 3, None) as workers:
        assert workers.size == 3
        assert signal.getsignal(signal.SIGINT) is heard
    options, (address, _), _ = fake.seen
    assert (options["n_workers"], options["threads_per_worker"], options["host"]) == (3, 1, "127.0.0.1")
    assert (options["heard"], options["dashboard_address"], address) == (signal.SIG_IGN, None, fake)
    assert not Path(options["local_directory"]).exists()
    assert fake.closed == 2  # the client and the cluster
    assert fake.ended == [(0.25, 1)] * 3  # between the two, and each although the first fails
    with ThreadPoolExecutor(1) as beside, _backends._children_deaf():
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN

        def within():
            with _backends._children_deaf():
                return signal.getsignal(signal.SIGINT)

        assert beside.submit(within).result() is signal.SIG_IGN
    assert signal.getsignal(signal.SIGINT) is heard


def test_a_cluster_without_workers_or_that_does_not_answer_is_refused(monkeypatch):
    with_cluster(monkeypatch, Fake())
    with pytest.raises(ValueError, match="a cluster must have workers, got none at tcp://there:1"):
        ft.sweep(toy.slow, {"d": [1]}, backend="dask", scheduler="tcp://there:1")

    def fail(address, timeout):
        raise TimeoutError

    monkeypatch.setattr(sys.modules["distributed"], "Client", fail)
    with pytest.raises(ValueError, match="scheduler must be the address of a Dask scheduler that answers, got tcp"):
        ft.sweep(toy.slow, {"d": [1]}, backend="dask", scheduler="tcp://there:1")
