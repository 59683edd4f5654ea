"""Independent replicates of one simulation on threads: each has its own random streams and its own buffers."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fedtheory import _validate
from fedtheory._validate import Array
from fedtheory.engine._fleet import Fleet
from fedtheory.engine._slots import BoundLoop, bound_loop
from fedtheory.engine.rounds import Family, LocalWork, Recording, Server, Workspace
from fedtheory.selection.rules import Rules

__all__ = ["Job", "Replicate", "run_all"]

_BUNDLES = 64


@dataclass(frozen=True, eq=False)
class Job:
    """All that the replicates share."""

    family: Family
    rules: Rules
    weights: Array
    work: LocalWork
    initial: Array
    step_sizes: Array
    local_steps: int
    own_steps: npt.NDArray[np.int64]
    returned_noise: Array
    server_step_size: float
    record: tuple[str, ...]
    every: int

    @property
    def num_recorded(self) -> int:
        """Recorded rounds, round 0 included."""
        return len(self.step_sizes) // self.local_steps // self.every + 1


@dataclass(frozen=True, eq=False)
class Replicate:
    """What one replicate wrote, how often each client was selected, and the round in which it diverged, or -1."""

    recording: Recording
    counts: npt.NDArray[np.int64]
    diverged_at: int


def run_all(
    job: Job, seeds: list[np.random.SeedSequence], num_threads: int | None, progress: Callable[[int], object] | None
) -> list[Replicate]:
    """Run a replicate per seed; the results come in the order of the seeds.

    Raises
    ------
    ValueError
        If too few clients are available in a round, or the number of threads makes no sense.
    """
    num_threads = _validate.count("num_threads", os.cpu_count() or 1 if num_threads is None else num_threads)
    workers = min(num_threads, len(seeds))
    # Thousands of short replicates go to the threads in bundles: handing over each takes as long as running it.
    size = max(1, len(seeds) // (_BUNDLES * workers))
    bundles = [seeds[first : first + size] for first in range(0, len(seeds), size)]
    loop = bound_loop(job.family, job.rules)
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(lambda some: [_run_one(loop, job, seed) for seed in some], some) for some in bundles]
        finished = 0
        for future in as_completed(futures):
            finished += len(future.result())
            if progress is not None:
                progress(finished)
    return [replicate for future in futures for replicate in future.result()]


def _run_one(loop: BoundLoop, job: Job, seed: np.random.SeedSequence) -> Replicate:
    # Three streams, so that a strategy's draws change neither the noise of training nor who is there.
    selection, training, attendance = seed.spawn(3)
    rngs = [np.random.default_rng(selection), np.random.default_rng(training)]
    # To make a Generator and hand it over takes half as long as a short replicate: none is made that nobody draws from.
    rngs.append(rngs[0] if job.rules.attend is None else np.random.default_rng(attendance))
    server, space, recording = _server(job), _workspace(job), _recording(job)
    ended = loop(
        job.family.own_arrays(), server, space, recording, job.work, _fleet(job),
        job.work.batch_size if job.rules.candidate_loss == "minibatch" else 0,
        job.step_sizes, job.local_steps, job.server_step_size, *rngs,
    )  # fmt: skip
    if ended < -1:
        message = (
            f"at least {job.rules.min_present} clients must be available in every round (shortfall='allow' selects "
            f"fewer), got fewer in round {-2 - ended}"
        )
        raise ValueError(message)
    return Replicate(recording, space.counts, int(ended))


def _server(job: Job) -> Server:
    # the table is only read; memory and weights are this replicate's own
    return Server(job.rules.table, job.rules.memory.copy(), job.weights.copy(), weighs=job.rules.weigh is not None)


def _fleet(job: Job) -> Fleet:
    rules, num_clients = job.rules, job.weights.size
    return Fleet(
        attends=rules.attend is not None,
        table=rules.attend_table,
        memory=rules.attend_memory.copy(),
        present=np.ones(num_clients, dtype=np.bool_),
        objective=job.weights,
        min_present=rules.min_present,
        local_steps=job.own_steps,
        returned_noise=job.returned_noise,
    )


def _workspace(job: Job) -> Workspace:
    most, dim = job.rules.max_selected, job.initial.size
    return Workspace(
        model=job.initial.copy(),
        counts=np.zeros(job.weights.size, dtype=np.int64),
        candidates=np.zeros(job.rules.max_candidates, dtype=np.int64),
        losses=np.zeros(job.rules.max_candidates),
        chosen=np.zeros(most, dtype=np.int64),
        coefficients=np.zeros(most),
        updates=np.zeros((most, dim)),
        change=np.zeros(dim),
        velocity=np.zeros(dim),
        mean_losses=np.zeros(most),
    )


def _recording(job: Job) -> Recording:
    n = job.num_recorded

    def room(*names: str, shape: tuple[int, ...] = (n,)) -> Array:
        wanted = any(name in job.record for name in names)
        return np.full(shape if wanted else (0,) * len(shape), np.nan)

    return Recording(
        every=job.every,
        excess=room("gap", "loss"),
        models=room("models", shape=(n, job.initial.size)),
        uplink=room("uplink"),
        broadcasts=room("broadcasts"),
        evaluations=room("evaluations"),
    )
