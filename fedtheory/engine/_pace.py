"""Replicates on threads, which long runs can show, pause to keep what there is, interrupt, and go on with."""

import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory._support.progress import reported
from fedtheory._support.wording import short
from fedtheory.engine._checkpoints import keep, kept
from fedtheory.engine._replicates import Blank, Course, Job, Replicate, advanced, begun, blank_of
from fedtheory.engine.interruption import Interrupted
from fedtheory.engine.trajectory import Trajectory

__all__ = ["Pace", "run_at"]

# Seconds of silence, and between two looks at how far the rounds are.
_PATIENCE, _LOOK = 2.0, 0.2
# Thousands of short replicates are told of in bundles, so many for each thread: to tell takes as long as to run one.
_BUNDLES = 64

Seeds = Sequence[np.random.SeedSequence]
Collect = Callable[[list[Replicate]], Trajectory]


class Pace(NamedTuple):
    """How replicates are run: threads, who is told, and the file that keeps what there is, and how often."""

    num_threads: int | None
    progress: bool | Callable[[int], Any] | None
    checkpoint: str | Path | None
    every: float


@dataclass(frozen=True, eq=False)
class _Run:
    """A run of all replicates, what it has, and the file that keeps it, every so many seconds."""

    blank: Blank
    seeds: Seeds
    course: Course
    path: Path | None
    every: float

    @property
    def num_rounds(self) -> int:
        """Rounds of all replicates so far; one that diverged has no more to run."""
        running = list(self.course.under_way.values())  # threads change it meanwhile
        return len(self.course.finished) * self.blank.job.num_rounds + sum(state.num_rounds for state in running)

    def keep(self) -> None:
        """Write what there is, if there is a file."""
        if self.path is not None:
            keep(self.path, self.blank, self.seeds, self.course)

    def collected(self, collect: Collect) -> Trajectory | None:
        """Make a trajectory of the replicates up to the first one that is missing."""
        finished = self.course.finished
        number = next((i for i in range(len(self.seeds)) if i not in finished), len(self.seeds))
        return collect([finished[i] for i in range(number)]) if number else None


def run_at(pace: Pace, job: Job, seeds: Seeds, collect: Collect) -> Trajectory:
    """Run a replicate per seed; when the checkpoint is due, all pause before their next round.

    Raises
    ------
    Interrupted
        On Ctrl-C, before the next rounds.
    ValueError
        If the checkpoint is of another run, or a replicate cannot go on.
    """
    _refuse_others(pace.progress, pace.checkpoint)
    every = validate.double("checkpoint_every", validate.positive("checkpoint_every", pace.every))
    threads = validate.count("num_threads", os.cpu_count() or 1 if pace.num_threads is None else pace.num_threads)
    path, blank = None if pace.checkpoint is None else Path(pace.checkpoint), blank_of(job)
    run = _Run(blank, seeds, Course({}, {}) if path is None else kept(path, blank, seeds), path, every)
    with _told(run, pace.progress) as tell:
        try:
            while len(run.course.finished) < len(seeds):
                _run_on(run, threads, tell, min(_LOOK, every) if path or pace.progress is True else None)
                run.keep()
        except KeyboardInterrupt:
            run.keep()
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
def _told(run: _Run, progress: Any) -> Iterator[Callable[[int], None]]:
    """Yield what is told how many more replicates are finished, 0 to say that time has passed."""
    if progress is not True:
        done = len(run.course.finished)

        def count(more: int) -> None:
            nonlocal done
            done += more
            if more and progress:
                progress(done)

        yield count
        return
    number = len(run.seeds)
    with reported("rounds", number * run.blank.job.num_rounds, done=run.num_rounds, patience=_PATIENCE) as report:

        def show(more: int) -> None:
            finished = f"{len(run.course.finished)} of {number} replicates"
            report(run.num_rounds, finished if number > 1 else "")

        yield show


def _run_on(run: _Run, num_threads: int, tell: Callable[[int], None], look: float | None) -> None:
    """Let threads run what is missing, until all is finished or the file is due."""
    missing = [i for i in range(len(run.seeds)) if i not in run.course.finished]
    workers, news = min(num_threads, len(missing)), SimpleQueue[Any]()
    todo, bundle = iter(missing), max(1, len(missing) // (_BUNDLES * workers))
    threads = [Thread(target=_work, args=(run, todo, bundle, news)) for _ in range(workers)]
    due, stop = time.monotonic() + (run.every if run.path else np.inf), run.blank.plan.stop
    stop[0] = False
    try:
        for thread in threads:
            thread.start()
        while workers:
            said = _heard(news, look)
            if isinstance(said, BaseException):
                raise said
            if said is None:
                workers -= 1
            else:
                tell(said)
            stop[0] |= time.monotonic() >= due
    finally:
        # After a failure or Ctrl-C the other replicates end before their next round, too, and none begins.
        stop[0] = True
        deque(todo, maxlen=0)
        for thread in threads:
            if thread.ident is not None:  # Ctrl-C can come before it is started
                thread.join()


def _heard(news: SimpleQueue[Any], look: float | None) -> Any:
    try:
        return news.get(timeout=look)
    except Empty:
        return 0


def _work(run: _Run, todo: Iterator[int], bundle: int, news: SimpleQueue[Any]) -> None:
    """Run one replicate after the other, and say how many are finished, what failed, and that this is all."""
    course, fresh = run.course, 0
    try:
        for i in todo:  # which the threads share
            if i not in course.under_way:
                course.under_way[i] = begun(run.blank, run.seeds[i])
            ended = advanced(run.blank, course.under_way[i])
            if ended is not None:
                del course.under_way[i]
                course.finished[i] = ended
                fresh += 1
            if fresh == bundle:
                news.put(fresh)
                fresh = 0
            if run.blank.plan.stop[0]:
                break
        if fresh:
            news.put(fresh)
    except BaseException as error:  # it is raised where the run was called
        course.under_way.pop(i, None)  # stopped within a round, it cannot go on
        news.put(error)
    news.put(None)
