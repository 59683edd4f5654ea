"""Replicates on threads, which show their progress, and whose results are kept while others run."""

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
from fedtheory._support.wording import short
from fedtheory.engine._checkpoints import Checkpoint
from fedtheory.engine._replicates import Job, Replicate, Template, Worker, template_of
from fedtheory.engine.interruption import Interrupted
from fedtheory.engine.trajectory import Trajectory

__all__ = ["execute"]

# Seconds of silence, and between two looks at how far the rounds are.
_QUIET, _POLL = 2.0, 0.2
# Thousands of short replicates are reported in bundles, so many for each thread: to report takes as long as to run one.
_BUNDLES = 64

Seeds = Sequence[np.random.SeedSequence]
Collect = Callable[[list[Replicate]], Trajectory]


@dataclass(frozen=True, eq=False)
class _Run:
    """A run of all replicates, those that are finished and those that are under way, by the places of their seeds."""

    template: Template
    seeds: Seeds
    finished: dict[int, Replicate]
    running: dict[int, Worker] = field(default_factory=dict)

    @property
    def missing(self) -> list[int]:
        """Places of the seeds whose replicates are not finished."""
        return [i for i in range(len(self.seeds)) if i not in self.finished]

    @property
    def num_rounds(self) -> int:
        """Rounds of all replicates so far; one that diverged has no more to run."""
        running = list(self.running.values())  # threads change it meanwhile
        finished = len(self.seeds) - len(self.missing)
        return finished * self.template.job.num_rounds + sum(state.num_rounds for state in running)

    def collected(self, collect: Collect) -> Trajectory | None:
        """Make a trajectory of the replicates up to the first one that is missing."""
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
    """Run a replicate per seed; write what is finished at the end, on Ctrl-C, and when the checkpoint is due.

    Raises
    ------
    Interrupted
        On Ctrl-C, before the next rounds.
    ValueError
        If the checkpoint is of another run, or a replicate cannot go on.
    """
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        message = f"progress must be True, False or a function, got {short(progress)}"
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
    """The file of a run, and when it is to be written again."""

    file: Checkpoint | None
    run: _Run
    every: float
    kept: int = 0
    last: float = field(default_factory=time.monotonic)

    def save(self, *, now: bool = False) -> None:
        """Write what is finished, if that is more than before and, unless it is to be now, enough time has passed."""
        if self.file is None or not (now or time.monotonic() - self.last >= self.every):
            return
        finished = dict(self.run.finished)  # threads change it meanwhile
        if len(finished) > self.kept:
            self.file.save(finished)
            self.kept, self.last = len(finished), time.monotonic()


@contextmanager
def _reporting(run: _Run, progress: Any) -> Iterator[Callable[[int], None]]:
    """Yield what is called with how many more replicates are finished, 0 to say that time has passed."""
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
    with reported("rounds", number * run.template.job.num_rounds, done=run.num_rounds, delay=_QUIET) as report:

        def show(more: int) -> None:
            finished = f"{number - len(run.missing)} of {number} replicates"
            report(run.num_rounds, finished if number > 1 else "")

        yield show


def _run_missing(
    run: _Run, num_threads: int, report: Callable[[int], None], due: _Due, *, listens: bool, wakes: bool
) -> None:
    """Let threads run what is missing, until all is finished, one fails, or Ctrl-C is pressed."""
    missing = run.missing
    workers, messages = min(num_threads, len(missing)), SimpleQueue[Any]()
    # A message wakes this thread, which takes longer than a short replicate: none is sent that nothing waits for.
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
        # After a failure or Ctrl-C the other replicates end before their next round, too, and none begins.
        stop[0] = True
        deque(todo, maxlen=0)
        for thread in threads:
            if thread.ident is not None:  # Ctrl-C can come before it is started
                thread.join()
        due.save(now=True)


def _next_message(messages: SimpleQueue[Any], look: float | None) -> Any:
    try:
        return messages.get(timeout=look)
    except Empty:
        return 0


def _run_replicates(run: _Run, todo: Iterator[int], bundle: int, messages: SimpleQueue[Any]) -> None:
    """Run one replicate after the other, and say how many are finished, what failed, and that this is all."""
    fresh = 0
    try:
        worker = Worker(run.template)
        for i in todo:  # which the threads share
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
    except BaseException as error:  # it is raised where the run was called
        messages.put(error)
    messages.put(None)
