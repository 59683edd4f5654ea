"""What a sweep would run, and how long that takes, from a timed sample."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fedtheory._storage.provenance import made_by
from fedtheory._support import validate
from fedtheory.sweeps._backends import known_backend, number_of_workers
from fedtheory.sweeps._grid import Configuration, gridded
from fedtheory.sweeps._outcomes import Outcome
from fedtheory.sweeps._store import Store, inspected
from fedtheory.sweeps._work import attempt, work_of

__all__ = ["plan"]


@dataclass(frozen=True, eq=False)
class Plan:
    """What a sweep would run.

    Attributes
    ----------
    missing
        The configurations that would run.
    complete
        How many are there already.
    sampled
        Seconds that some of the missing took here, one after the other, each run alone in this process.
    cold
        Whether it is one first run, which took so long, perhaps by compiling, that it was not repeated.
    failed
        How many of the sample failed.
    workers
        How many would work at once.
    """

    missing: Sequence[Configuration]
    complete: int
    sampled: Sequence[float]
    cold: bool
    failed: int
    workers: int

    @property
    def seconds(self) -> float:
        """Seconds that the sweep would take: what is missing, at the mean of the sample, shared by the workers."""
        if not self.missing:
            return 0.0
        return sum(self.sampled) / len(self.sampled) * len(self.missing) / min(self.workers, len(self.missing))


def plan(
    function_or_study: Any,
    grid: Mapping[str, Sequence[Any]],
    *,
    seeds: int | Sequence[int] | None = None,
    rng: int = 0,
    backend: str | Executor = "processes",
    workers: int | None = None,
    out: str | Path | None = None,
    quick: bool = False,
    samples: int = 3,
    max_seconds: float = 30.0,
) -> Plan:
    """Say what `sweep` with these arguments would run, and time a sample of it.

    Nothing is written. The sample is spread over what is missing, in the order of the grid; the first of it is run once
    more beforehand, so that compilation does not count, unless it takes longer than ``max_seconds``.

    Parameters
    ----------
    function_or_study, grid, seeds, rng, backend, workers, out, quick
        As for `sweep`.
    samples, max_seconds
        At most so many configurations are timed, and none begun after so many seconds.

    Returns
    -------
    Plan
        What is missing, what is complete, and how many seconds are to be expected.

    Raises
    ------
    ValueError, TypeError
        What `sweep` would raise; or if there are no samples, or max_seconds is negative.

    Examples
    --------
    >>> found = plan(lambda d: 2.0 * d, {"d": [3, 5]}, backend="threads", workers=1)
    >>> len(found.missing), found.complete, len(found.sampled), found.seconds < 1
    (2, 0, 2, True)
    """
    size = number_of_workers(workers, known_backend(backend))
    samples, max_seconds = validate.count("samples", samples), validate.nonnegative("max_seconds", max_seconds)
    work, wanted = work_of(function_or_study, quick=quick), gridded(grid, seeds, rng)
    work.refuse(wanted)
    store = None if out is None else inspected(Path(out), work, wanted)
    missing = [one for one in wanted if not _is_complete(store, one)]
    enough = min(samples, len(missing))
    spread = [missing[i * len(missing) // enough] for i in range(enough)]
    ran: list[Outcome] = []
    for one in spread[:1] + spread:
        if sum(outcome.seconds for outcome in ran) <= max_seconds:
            ran.append(attempt(work, one.point, one.seed, made_by()))
    timed = ran if len(ran) == 1 else ran[1:]
    seconds, failed = [outcome.seconds for outcome in timed], sum(outcome.failed for outcome in timed)
    size = min(size, len(missing)) if missing else size
    return Plan(missing, len(wanted) - len(missing), seconds, len(ran) == 1, failed, size)


def _is_complete(store: Store | None, one: Configuration) -> bool:
    try:
        outcome = None if store is None else store.load(one)
    except ValueError:  # the sweep will say so
        return False
    return outcome is not None and not outcome.failed
