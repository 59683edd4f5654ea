"""Replicates in blocks, so that long runs show how far they are, and can be interrupted and gone on with."""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fedtheory import _validate
from fedtheory._progress import reported
from fedtheory._wording import short
from fedtheory.engine._checkpoints import keep, kept
from fedtheory.engine._replicates import Job, Replicate, run_all
from fedtheory.engine.interruption import Interrupted
from fedtheory.engine.trajectory import Trajectory

__all__ = ["Pace", "run_in_blocks"]

# Seconds of silence, and of a block without a checkpoint.
_PATIENCE, _BLOCK = 2.0, 1.0
# A block is at most so many times as long as the one before: the first may have waited for a compiler.
_GROWTH = 100

Collect = Callable[[list[Replicate]], Trajectory]


class Pace(NamedTuple):
    """How replicates are run: threads, who is told, and the file that keeps what is finished, and how often."""

    num_threads: int | None
    progress: bool | Callable[[int], Any] | None
    checkpoint: str | Path | None
    every: float


def run_in_blocks(job: Job, seeds: list[np.random.SeedSequence], pace: Pace, collect: Collect) -> Trajectory:
    """Run a replicate per seed, all at once, or in blocks of about a second or as long as the checkpoint may be old.

    Raises
    ------
    Interrupted
        On Ctrl-C, between blocks or within one, whose replicates are lost.
    ValueError
        If the checkpoint is of another run.
    """
    _refuse_others(pace.progress, pace.checkpoint)
    told = pace.progress if callable(pace.progress) else None
    if pace.checkpoint is None and pace.progress is not True:
        return collect(run_all(job, seeds, pace.num_threads, told))
    path = None if pace.checkpoint is None else Path(pace.checkpoint)
    target = (
        _BLOCK
        if path is None
        else _validate.double("checkpoint_every", _validate.positive("checkpoint_every", pace.every))
    )
    finished = [] if path is None else kept(path, job, seeds)
    with reported("replicates", len(seeds), done=len(finished), patience=_PATIENCE) as report:

        def tell(count: int) -> None:
            if told is not None:
                told(count)
            elif pace.progress:
                report(count)

        try:
            _advance(job, seeds, finished, pace.num_threads, target, tell, path)
        except KeyboardInterrupt:
            raise Interrupted(collect(finished) if finished else None) from None
    return collect(finished)


def _refuse_others(progress: Any, checkpoint: Any) -> None:
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        message = f"progress must be True, False or a function, got {short(progress)}"
        raise TypeError(message)
    if not (checkpoint is None or isinstance(checkpoint, str | os.PathLike)):
        message = f"checkpoint must be the path of a file, got {short(checkpoint)}"
        raise TypeError(message)


def _advance(
    job: Job,
    seeds: Sequence[np.random.SeedSequence],
    finished: list[Replicate],
    num_threads: int | None,
    target: float,
    tell: Callable[[int], None],
    path: Path | None,
) -> None:
    """Append the replicates that are missing, and keep them."""
    size = at_least = os.cpu_count() or 1 if num_threads is None else _validate.count("num_threads", num_threads)
    while len(finished) < len(seeds):
        start, before = time.monotonic(), len(finished)
        block = list(seeds[before : before + size])
        finished += run_all(job, block, num_threads, lambda count, before=before: tell(before + count))  # type: ignore[misc]
        if path is not None:
            keep(path, job, seeds, finished)
        seconds = max(time.monotonic() - start, 1e-9)
        size = max(at_least, min(round(size * target / seconds), _GROWTH * size))
