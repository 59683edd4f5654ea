"""Run replicates on threads, with a progress report."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.progress import announced, reported
from fedtheory._support.wording import truncate
from fedtheory.engine.replicates import Functions, Job, Replicate, Worker, functions_of

__all__ = ["execute"]

# Seconds between two updates of the progress.
_POLL = 0.2
_PLAIN = "fedtheory runs rules in plain Python, which takes about twenty times as long as compiled rules"

Seeds = Sequence[np.random.SeedSequence]


@dataclass(frozen=True, eq=False)
class _Run:
    """Finished and running replicates of a run, by the index of their seeds."""

    job: Job
    functions: Functions
    seeds: Seeds
    stop: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(1, dtype=np.bool_))
    finished: dict[int, Replicate] = field(default_factory=dict)
    workers: list[Worker] = field(default_factory=list)

    @property
    def num_rounds(self) -> int:
        """Number of rounds finished in all replicates; a diverged replicate counts as finished."""
        return len(self.finished) * self.job.num_rounds + sum(worker.num_rounds for worker in list(self.workers))


def execute(job: Job, seeds: Seeds, *, num_threads: int | None, progress: Any) -> list[Replicate]:
    """Run one replicate per seed, in the order of the seeds; Ctrl-C ends the run before the next rounds."""
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        message = f"progress must be True, False or a function, got {truncate(progress)}"
        raise TypeError(message)
    threads = validate.count("num_threads", os.cpu_count() or 1 if num_threads is None else num_threads)
    run = _Run(job, functions_of(job), seeds)
    note = announced(_PLAIN) if run.functions.is_plain else nullcontext()
    with _reporting(run, progress) as report, note:
        _run_all(run, threads, report, wakes=progress is True)
    return [run.finished[i] for i in range(len(seeds))]


@contextmanager
def _reporting(run: _Run, progress: Any) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes the number of newly finished replicates, 0 if only time has passed."""
    number, done = len(run.seeds), 0
    if progress is not True:

        def count(more: int) -> None:
            nonlocal done
            done += more
            if more and progress:
                progress(done)

        yield count
        return
    with reported("rounds", number * run.job.num_rounds) as report:

        def show(more: int) -> None:
            report(run.num_rounds, f"{len(run.finished)} of {number} replicates" if number > 1 else "")

        yield show


def _run_all(run: _Run, num_threads: int, report: Callable[[int], None], *, wakes: bool) -> None:
    """Run the replicates on threads until all are finished, one fails, or Ctrl-C is pressed."""
    first = Worker(run.job, run.functions, run.stop)
    first.compile()
    at_once = max(1, min(first.num_at_once, -(-len(run.seeds) // num_threads)))
    parts = iter([range(i, min(i + at_once, len(run.seeds))) for i in range(0, len(run.seeds), at_once)])
    count = min(num_threads, -(-len(run.seeds) // at_once))
    messages = SimpleQueue[Any]()
    threads = [Thread(target=_run_parts, args=(run, first if i == 0 else None, parts, messages)) for i in range(count)]
    try:
        for thread in threads:
            thread.start()
        while count:
            try:
                message = messages.get(timeout=_POLL if wakes else None)
            except Empty:
                message = 0
            if isinstance(message, BaseException):
                raise message
            if message is None:
                count -= 1
            else:
                report(message)
    finally:
        # After a failure or Ctrl-C, running replicates stop before their next round, and no new one starts.
        run.stop[0] = True
        deque(parts, maxlen=0)
        for thread in threads:
            if thread.ident is not None:  # Ctrl-C can come before the thread is started
                thread.join()


def _run_parts(run: _Run, worker: Worker | None, parts: Iterator[range], messages: SimpleQueue[Any]) -> None:
    """Run parts from a shared iterator; send the numbers of finished replicates, then any exception, then None."""
    try:
        worker = worker or Worker(run.job, run.functions, run.stop)
        run.workers.append(worker)
        for part in parts:  # the iterator is shared by all threads
            ended = worker.run([run.seeds[i] for i in part])
            if ended is None:
                break
            run.finished.update(zip(part, ended, strict=True))
            messages.put(len(part))
    except BaseException as error:  # raised again in the main thread
        messages.put(error)
    messages.put(None)
