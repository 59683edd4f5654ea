"""Replicates on threads, which show their progress, pause to be saved, and go on after an interruption."""

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

import numpy as np

from fedtheory._support import validate
from fedtheory._support.progress import reported
from fedtheory._support.wording import short
from fedtheory.engine._checkpoints import load_checkpoint, save_checkpoint
from fedtheory.engine._replicates import Job, Replicate, Replicates, Template, advance, start, template_of
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
    """A run of all replicates, what it has, and the file that keeps it, every so many seconds."""

    template: Template
    seeds: Seeds
    replicates: Replicates
    path: Path | None
    every: float

    @property
    def num_rounds(self) -> int:
        """Rounds of all replicates so far; one that diverged has no more to run."""
        running = list(self.replicates.running.values())  # threads change it meanwhile
        return len(self.replicates.finished) * self.template.job.num_rounds + sum(state.num_rounds for state in running)

    def save(self) -> None:
        """Write what there is, if there is a file."""
        if self.path is not None:
            save_checkpoint(self.path, self.template, self.seeds, self.replicates)

    def collected(self, collect: Collect) -> Trajectory | None:
        """Make a trajectory of the replicates up to the first one that is missing."""
        finished = self.replicates.finished
        number = next((i for i in range(len(self.seeds)) if i not in finished), len(self.seeds))
        return collect([finished[i] for i in range(number)]) if number else None


def execute(
    job: Job,
    seeds: Seeds,
    collect: Collect,
    *,
    num_threads: int | None,
    progress: bool | Callable[[int], Any] | None,
    checkpoint: str | Path | None,
    checkpoint_every: float,
) -> Trajectory:
    """Run a replicate per seed; when the checkpoint is due, all pause before their next round.

    Raises
    ------
    Interrupted
        On Ctrl-C, before the next rounds.
    ValueError
        If the checkpoint is of another run, or a replicate cannot go on.
    """
    _refuse_others(progress, checkpoint)
    every = validate.double("checkpoint_every", validate.positive("checkpoint_every", checkpoint_every))
    threads = validate.count("num_threads", os.cpu_count() or 1 if num_threads is None else num_threads)
    path, template = None if checkpoint is None else Path(checkpoint), template_of(job)
    replicates = Replicates({}, {}) if path is None else load_checkpoint(path, template, seeds)
    run = _Run(template, seeds, replicates, path, every)
    with _reporting(run, progress) as report:
        try:
            while len(run.replicates.finished) < len(seeds):
                _run_until_due(run, threads, report, min(_POLL, every) if path or progress is True else None)
                run.save()
        except KeyboardInterrupt:
            run.save()
            raise Interrupted(run.collected(collect)) from None
    return run.collected(collect)  # type: ignore[return-value] # all are finished, and there is one at least


def _refuse_others(progress: Any, checkpoint: Any) -> None:
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        message = f"progress must be True, False or a function, got {short(progress)}"
        raise TypeError(message)
    if not (checkpoint is None or isinstance(checkpoint, str | os.PathLike)):
        message = f"checkpoint must be the path of a file, got {short(checkpoint)}"
        raise TypeError(message)


@contextmanager
def _reporting(run: _Run, progress: Any) -> Iterator[Callable[[int], None]]:
    """Yield what is called with how many more replicates are finished, 0 to say that time has passed."""
    if progress is not True:
        done = len(run.replicates.finished)

        def count(more: int) -> None:
            nonlocal done
            done += more
            if more and progress:
                progress(done)

        yield count
        return
    number = len(run.seeds)
    with reported("rounds", number * run.template.job.num_rounds, done=run.num_rounds, patience=_QUIET) as report:

        def show(more: int) -> None:
            finished = f"{len(run.replicates.finished)} of {number} replicates"
            report(run.num_rounds, finished if number > 1 else "")

        yield show


def _run_until_due(run: _Run, num_threads: int, report: Callable[[int], None], look: float | None) -> None:
    """Let threads run what is missing, until all is finished or the file is due."""
    missing = [i for i in range(len(run.seeds)) if i not in run.replicates.finished]
    workers, messages = min(num_threads, len(missing)), SimpleQueue[Any]()
    todo, bundle = iter(missing), max(1, len(missing) // (_BUNDLES * workers))
    threads = [Thread(target=_run_replicates, args=(run, todo, bundle, messages)) for _ in range(workers)]
    due, stop = time.monotonic() + (run.every if run.path else np.inf), run.template.plan.stop
    stop[0] = False
    try:
        for thread in threads:
            thread.start()
        while workers:
            message = _next_message(messages, look)
            if isinstance(message, BaseException):
                raise message
            if message is None:
                workers -= 1
            else:
                report(message)
            stop[0] |= time.monotonic() >= due
    finally:
        # After a failure or Ctrl-C the other replicates end before their next round, too, and none begins.
        stop[0] = True
        deque(todo, maxlen=0)
        for thread in threads:
            if thread.ident is not None:  # Ctrl-C can come before it is started
                thread.join()


def _next_message(messages: SimpleQueue[Any], look: float | None) -> Any:
    try:
        return messages.get(timeout=look)
    except Empty:
        return 0


def _run_replicates(run: _Run, todo: Iterator[int], bundle: int, messages: SimpleQueue[Any]) -> None:
    """Run one replicate after the other, and say how many are finished, what failed, and that this is all."""
    replicates, fresh = run.replicates, 0
    try:
        for i in todo:  # which the threads share
            if i not in replicates.running:
                replicates.running[i] = start(run.template, run.seeds[i])
            ended = advance(run.template, replicates.running[i])
            if ended is not None:
                del replicates.running[i]
                replicates.finished[i] = ended
                fresh += 1
            if fresh == bundle:
                messages.put(fresh)
                fresh = 0
            if run.template.plan.stop[0]:
                break
        if fresh:
            messages.put(fresh)
    except BaseException as error:  # it is raised where the run was called
        replicates.running.pop(i, None)  # stopped within a round, it cannot go on
        messages.put(error)
    messages.put(None)
