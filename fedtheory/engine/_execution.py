"""Run replicates on threads, with a progress report and a checkpoint file."""

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

import numpy as np

from fedtheory._storage.files import as_path
from fedtheory._support import validate
from fedtheory._support.progress import reported
from fedtheory._support.wording import truncate
from fedtheory.engine._checkpoints import Checkpoint
from fedtheory.engine._replicates import Job, Replicate, Template, Worker, template_of
from fedtheory.engine.interruption import Interrupted
from fedtheory.engine.trajectory import Trajectory

__all__ = ["execute"]

# Seconds between two updates of the progress.
_POLL = 0.2
# Short replicates are reported in bundles, since a report takes as long as a short replicate. Bundles per thread:
_BUNDLES = 64

Seeds = Sequence[np.random.SeedSequence]
Collect = Callable[[list[Replicate]], Trajectory]


@dataclass(frozen=True, eq=False)
class _Run:
    """Finished and running replicates of a run, by the index of their seeds."""

    template: Template
    seeds: Seeds
    finished: dict[int, Replicate]
    running: dict[int, Worker] = field(default_factory=dict)

    @property
    def missing(self) -> list[int]:
        """Indices of the seeds whose replicates are not finished."""
        return [i for i in range(len(self.seeds)) if i not in self.finished]

    @property
    def num_rounds(self) -> int:
        """Number of rounds finished in all replicates; a diverged replicate counts as finished."""
        running = list(self.running.values())  # other threads change it meanwhile
        finished = len(self.seeds) - len(self.missing)
        return finished * self.template.job.num_rounds + sum(state.num_rounds for state in running)

    def collected(self, collect: Collect) -> Trajectory | None:
        """Return a trajectory of the replicates before the first missing one."""
        number = min(self.missing, default=len(self.seeds))
        return collect([self.finished[i] for i in range(number)]) if number else None


def execute(
    job: Job,
    seeds: Seeds,
    collect: Collect,
    *,
    num_threads: int | None,
    progress: Any,
    checkpoint: str | Path | None,
    checkpoint_every: float,
) -> Trajectory:
    """Run one replicate per seed; save the finished ones at the end, on Ctrl-C, and at the interval of the checkpoint.

    Raises
    ------
    Interrupted
        On Ctrl-C, before the next rounds.
    ValueError
        If the checkpoint belongs to another run, or a replicate fails.
    """
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        message = f"progress must be True, False or a function, got {truncate(progress)}"
        raise TypeError(message)
    every = validate.double("checkpoint_every", validate.positive("checkpoint_every", checkpoint_every))
    threads = validate.count("num_threads", os.cpu_count() or 1 if num_threads is None else num_threads)
    template = template_of(job)
    file = None
    if checkpoint is not None:
        file = Checkpoint(as_path("checkpoint", checkpoint), job, seeds)
    run = _Run(template, seeds, {} if file is None else file.load())
    wakes = file is not None or progress is True
    with _reporting(run, progress) as report:
        try:
            if run.missing:
                _run_missing(run, threads, report, _Due(file, run, every), listens=wakes or bool(progress), wakes=wakes)
        except KeyboardInterrupt:
            raise Interrupted(run.collected(collect)) from None
    return run.collected(collect)  # type: ignore[return-value] # all are finished, and there is one at least


@dataclass(eq=False)
class _Due:
    """Checkpoint file of a run and the time of its next update."""

    file: Checkpoint | None
    run: _Run
    every: float
    kept: int = 0
    last: float = field(default_factory=time.monotonic)

    def save(self, *, now: bool = False) -> None:
        """Save the finished replicates if there are new ones and either ``now`` is set or the interval has passed."""
        if self.file is None or not (now or time.monotonic() - self.last >= self.every):
            return
        finished = dict(self.run.finished)  # other threads change it meanwhile
        if len(finished) > self.kept:
            self.file.save(finished)
            self.kept, self.last = len(finished), time.monotonic()


@contextmanager
def _reporting(run: _Run, progress: Any) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes the number of newly finished replicates, 0 if only time has passed."""
    number = len(run.seeds)
    done = number - len(run.missing)
    if progress is not True:

        def count(more: int) -> None:
            nonlocal done
            done += more
            if more and progress:
                progress(done)

        yield count
        return
    with reported("rounds", number * run.template.job.num_rounds, done=run.num_rounds) as report:

        def show(more: int) -> None:
            finished = f"{number - len(run.missing)} of {number} replicates"
            report(run.num_rounds, finished if number > 1 else "")

        yield show


def _run_missing(
    run: _Run, num_threads: int, report: Callable[[int], None], due: _Due, *, listens: bool, wakes: bool
) -> None:
    """Run the missing replicates on threads until all are finished, one fails, or Ctrl-C is pressed."""
    missing = run.missing
    workers, messages = min(num_threads, len(missing)), SimpleQueue[Any]()
    # A message wakes this thread, which takes longer than a short replicate, so only needed messages are sent.
    bundle = max(1, len(missing) // (_BUNDLES * workers)) if listens else len(missing)
    todo = iter(missing)
    threads = [Thread(target=_run_replicates, args=(run, todo, bundle, messages)) for _ in range(workers)]
    stop = run.template.stop
    due.kept = len(run.finished)
    try:
        for thread in threads:
            thread.start()
        while workers:
            message = _next_message(messages, min(_POLL, due.every) if wakes else None)
            if isinstance(message, BaseException):
                raise message
            if message is None:
                workers -= 1
            else:
                report(message)
            due.save()
    finally:
        # After a failure or Ctrl-C, running replicates stop before their next round, and no new one starts.
        stop[0] = True
        deque(todo, maxlen=0)
        for thread in threads:
            if thread.ident is not None:  # Ctrl-C can come before the thread is started
                thread.join()
        due.save(now=True)


def _next_message(messages: SimpleQueue[Any], look: float | None) -> Any:
    try:
        return messages.get(timeout=look)
    except Empty:
        return 0


def _run_replicates(run: _Run, todo: Iterator[int], bundle: int, messages: SimpleQueue[Any]) -> None:
    """Run replicates from a shared iterator; send the numbers of finished ones, then any exception, then None."""
    fresh = 0
    try:
        worker = Worker(run.template)
        for i in todo:  # the iterator is shared by all threads
            run.running[i] = worker
            ended = worker.run(run.seeds[i])
            if ended is None:
                break
            run.finished[i] = ended
            del run.running[i]
            fresh += 1
            if fresh == bundle:
                messages.put(fresh)
                fresh = 0
        if fresh:
            messages.put(fresh)
    except BaseException as error:  # raised again in the main thread
        messages.put(error)
    messages.put(None)
