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

from fedtheory._storage.archives import archive_bytes, archive_content
from fedtheory._storage.digests import digest_of
from fedtheory._storage.files import place, read_bytes, writable
from fedtheory._storage.releases import made_by
from fedtheory._support import validate
from fedtheory._support.progress import reported
from fedtheory._support.wording import short
from fedtheory.engine._replicates import Job, Replicate, Replicates, Running, Template, advance, start, template_of
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
    with reported("rounds", number * run.template.job.num_rounds, done=run.num_rounds, delay=_QUIET) as report:

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


def save_checkpoint(path: Path, template: Template, seeds: Seeds, replicates: Replicates) -> None:
    """Write the replicates of a run, whole or not at all."""
    places = sorted(replicates.finished)
    finished = [replicates.finished[i] for i in places]
    about = {
        "run": _identity(template.job, seeds), "made_by": made_by(), "finished": places,
        "running": {i: [rng.bit_generator.state for rng in state.streams] for i, state in replicates.running.items()},
    }  # fmt: skip
    arrays: dict[str, Any] = {}
    if finished:
        arrays = {name: np.stack([getattr(one.recording, name) for one in finished]) for name in _recorded(template)}
        arrays["counts"] = np.stack([one.counts for one in finished])
        arrays["diverged_at"] = np.array([one.diverged_at for one in finished])
    for i, state in replicates.running.items():
        arrays |= {f"{i}:{j}": written for j, written in enumerate(state.written(template.job))}
    place(path, archive_bytes(about, arrays))


def _recorded(template: Template) -> list[str]:
    return [name for name in template.recording._fields if name != "every"]


def load_checkpoint(path: Path, template: Template, seeds: Seeds) -> Replicates:
    """Return the replicates in a checkpoint that have a seed; none if there is no file."""
    try:
        writable(path)
    except OSError as error:
        message = f"checkpoint must be a file that can be written, got {path} ({error.strerror or error})"
        raise ValueError(message) from error
    if not path.exists():
        return Replicates({}, {})
    with _readable(path):
        about, arrays = archive_content(read_bytes(path))
        found = {name: about[name] for name in ("made_by", "run")}
    for name, wanted in (("made_by", made_by()), ("run", _identity(template.job, seeds))):
        if found[name] != wanted:
            what = f"of fedtheory {wanted}" if name == "made_by" else "of this run"
            got = f"that of {found[name]}" if name == "made_by" else "that of another"
            message = f"checkpoint must be {what}, got {got} in {path}: remove it, or name another file"
            raise ValueError(message)
    with _readable(path):
        running = {int(i): states for i, states in about["running"].items() if int(i) < len(seeds)}
        return Replicates(
            {i: one for i, one in _finished(template, about["finished"], arrays) if i < len(seeds)},
            {i: _restored(start(template, seeds[i]), template.job, i, arrays, states) for i, states in running.items()},
        )


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # whatever archives, JSON and generators say of bytes that are not theirs
        message = f"checkpoint must be one that a run wrote, got {path}, which cannot be read: remove it"
        raise ValueError(message) from error


def _finished(template: Template, places: list[int], arrays: dict[str, Any]) -> Iterator[tuple[int, Replicate]]:
    for row, i in enumerate(places):
        recorded = {name: arrays[name][row] for name in _recorded(template)}
        yield (
            i,
            Replicate(template.recording._replace(**recorded), arrays["counts"][row], int(arrays["diverged_at"][row])),
        )


def _restored(state: Running, job: Job, i: int, arrays: dict[str, Any], states: list[Any]) -> Running:
    """Overwrite all that rounds leave in a replicate that is about to begin."""
    for j, written in enumerate(state.written(job)):
        written[...] = arrays[f"{i}:{j}"]
    for rng, left in zip(state.streams, states, strict=True):
        rng.bit_generator.state = left
    return state


def _identity(job: Job, seeds: Seeds) -> str:
    """Digest of all that the bits of the first replicate depend on; the others follow from the same seed."""
    return digest_of((
        job.family.arrays, job.family.reference, job.family.losses, job.family.train, job.family.excess,
        *(None if family is None else family.arrays for family in (job.validation, job.test)),
        tuple(vars(job.rules).items()), job.weights,
        tuple(job.work), job.initial, job.step_sizes, job.local_steps, job.own_steps, job.returned_noise,
        tuple(vars(job.method_rules).items()) if job.method_rules else None, job.server_step_size,
        job.record, job.every, seeds[0].entropy, seeds[0].spawn_key,
    ))  # fmt: skip
