"""Independent replicates of one simulation on threads: each has its own random streams and its own buffers."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory import _validate
from fedtheory._validate import Array
from fedtheory.engine._binding import BoundLoop, bound_loop
from fedtheory.engine._faults import failures_named, fault
from fedtheory.engine._fleet import Fleet
from fedtheory.engine._round_game import METHODS
from fedtheory.engine.contract import Family, LocalWork, Plan, Server, recording, workspace
from fedtheory.engine.rounds import FAULT, SHORTFALL
from fedtheory.selection.rules import Rules, Strategy

__all__ = ["Job", "Replicate", "run_all"]

_BUNDLES = 64


@dataclass(frozen=True, eq=False)
class Job:
    """All that the replicates share."""

    strategy: Strategy
    family: Family
    validation: Family | None
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

    @cached_property
    def name(self) -> str:
        """What the strategy is called in messages."""
        return repr(self.strategy)

    @property
    def sizes(self) -> dict[str, int]:
        """Clients K, at most d candidates and m chosen clients in a round, v coordinates, and coalitions if valued."""
        most = {"d": self.rules.max_candidates, "m": self.rules.max_selected}
        coalitions = 0 if self.rules.valuation is None else 2**self.rules.max_selected
        return {"K": self.weights.size, **most, "v": self.initial.size, "coalitions": coalitions}

    @property
    def num_recorded(self) -> int:
        """Recorded rounds, round 0 included."""
        return len(self.step_sizes) // self.local_steps // self.every + 1


@dataclass(frozen=True, eq=False)
class Replicate:
    """What one replicate wrote, how often each client was selected, and the round in which it diverged, or -1."""

    recording: Any
    counts: npt.NDArray[np.int64]
    diverged_at: int


class _Blank(NamedTuple):
    """What is made once for all replicates, and copied by each where it writes."""

    loop: BoundLoop
    plan: Plan
    space: Any
    recording: Any


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
    stop = np.zeros(1, dtype=np.bool_)
    # Thousands of short replicates go to the threads in bundles: handing over each takes as long as running it.
    size = max(1, len(seeds) // (_BUNDLES * workers))
    bundles = [seeds[first : first + size] for first in range(0, len(seeds), size)]
    blank = _Blank(
        bound_loop(job.family, job.rules), _plan(job, stop), workspace(job.initial, job.sizes),
        recording(job.record, job.every, job.num_recorded, job.sizes),
    )  # fmt: skip
    pool = ThreadPoolExecutor(workers)
    futures = [pool.submit(lambda some: [_run_one(blank, job, seed) for seed in some], some) for some in bundles]
    finished = 0
    try:
        for future in as_completed(futures):
            finished += len(future.result())
            if progress is not None:
                progress(finished)
    finally:
        # After a failure or Ctrl-C the other replicates end before their next round.
        stop[0] = True
        pool.shutdown(cancel_futures=True)
    return [replicate for future in futures for replicate in future.result()]


def _run_one(blank: _Blank, job: Job, seed: np.random.SeedSequence) -> Replicate:
    # Three streams, so that a strategy's draws change neither the noise of training nor who is there.
    selection, training, attendance = seed.spawn(3)
    rngs = [np.random.default_rng(selection), np.random.default_rng(training)]
    # To make a Generator and hand it over takes half as long as a short replicate: none is made that nobody draws from.
    rngs.append(rngs[0] if job.rules.attend is None else np.random.default_rng(attendance))
    space, written, fleet = _emptied(blank.space, job.initial), _copied(blank.recording), _fleet(job)
    with failures_named(job.name, space):
        problem, judge = job.family.own_arrays(), None if job.validation is None else job.validation.own_arrays()
        ended = blank.loop(problem, judge, _server(job), space, written, job.work, fleet, blank.plan, *rngs)
    if ended == SHORTFALL:
        message = (
            f"at least {job.rules.min_present} clients must be available in every round (shortfall='allow' selects "
            f"fewer), got fewer in round {int(space.report[1])}"
        )
        raise ValueError(message)
    if ended == FAULT:
        raise ValueError(fault(job.name, space, fleet.present))
    return Replicate(written, space.counts, ended)


def _copied(arrays: Any) -> Any:
    return arrays._make(part.copy() if isinstance(part, np.ndarray) else part for part in arrays)


def _emptied(space: Any, initial: Array) -> Any:
    # Zeros that nobody touches take no memory, of a room for a million clients, say.
    return space._make(np.zeros(part.shape, part.dtype) for part in space)._replace(model=initial.copy())


def _server(job: Job) -> Server:
    # the table is only read; memory and weights are this replicate's own
    return Server(_own(job.rules.table), job.rules.memory.copy(), job.weights.copy())


def _own(table: Array) -> Array:
    # the loop is compiled for arrays that can be written, though it does not write into this one
    return np.require(table, requirements=["C", "W"])


def _plan(job: Job, stop: Any) -> Plan:
    batch = job.work.batch_size if job.rules.candidate_loss.startswith("minibatch") else 0
    how = job.rules.valuation
    valuation = (-1, 0.0, 0) if how is None else (METHODS[how.method], float(how.tolerance), how.num_permutations)
    return Plan(
        stop, not _is_ours(job.strategy), batch, job.step_sizes, job.local_steps, job.server_step_size, *valuation
    )


def _fleet(job: Job) -> Fleet:
    rules, num_clients = job.rules, job.weights.size
    return Fleet(
        table=_own(rules.attend_table),
        memory=rules.attend_memory.copy(),
        present=np.ones(num_clients, dtype=np.bool_),
        objective=job.weights,
        min_present=rules.min_present,
        local_steps=job.own_steps,
        returned_noise=job.returned_noise,
    )


def _is_ours(strategy: Any) -> bool:
    """Whether a strategy is made of this package's parts only, whose rules the tests of every strategy look at."""
    if is_dataclass(strategy):
        parts = (getattr(strategy, field.name) for field in fields(strategy))
        return type(strategy).__module__.startswith("fedtheory.") and all(map(_is_ours, parts))
    return strategy is None or isinstance(strategy, bool | int | float | str | np.ndarray | tuple)
