"""Run a function or a study at every point of a grid; what is finished survives whatever happens."""

import contextlib
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from pathlib import Path
from typing import Any

from fedtheory._storage.provenance import made_by
from fedtheory._support.progress import reported
from fedtheory._support.streams import deaf_to_interrupts
from fedtheory.sweeps._backends import Workers, known_backend, number_of_workers, open_workers, packed, pinned
from fedtheory.sweeps._grid import Configuration, Grid, gridded
from fedtheory.sweeps._outcomes import Outcome
from fedtheory.sweeps._store import Store, header_of, opened
from fedtheory.sweeps._work import Work, attempt, work_of
from fedtheory.sweeps.results import Sweep, SweepWarning

__all__ = ["sweep"]

# Seconds after which a waiting parent looks up, so that Ctrl-C is heard.
_GLANCE = 0.1
# Sets of workers in a row that die without finishing anything, before it is taken for their own fault.
_DEATHS = 20

Keep = Callable[[Configuration, Outcome], None]


def sweep(
    function_or_study: Any,
    grid: Mapping[str, Sequence[Any]],
    *,
    seeds: int | Sequence[int] | None = None,
    rng: int = 0,
    backend: str | Executor = "processes",
    workers: int | None = None,
    scheduler: str | None = None,
    out: str | Path | None = None,
    force: bool = False,
    quick: bool = False,
    progress: bool = False,
) -> Sweep:
    """Run a function or a study at every point of a grid, with every seed.

    Each configuration (a point and a seed) has one file in the folder, named by the hash of its canonical form, written
    whole or not at all by this process alone. Started again, the sweep runs what is missing or has failed. What it
    finds does not depend on the backend, the number of workers, or the order in which they finish.

    Parameters
    ----------
    function_or_study
        A function that takes the settings of a point by name, and ``seed`` if there are seeds. It returns a number, a
        mapping from names to numbers or arrays, a `Trajectory` or a Dataset. Or a `Study`, whose configuration the grid
        changes, or a file that has one.
    grid
        Values along each axis, by name: numbers, words, tuples, or dataclasses such as strategies.
    seeds, rng
        A number of seeds, which are derived from ``rng`` and the canonical form of the point, so that points are
        independent; or the seeds themselves, the same at every point, so that differences between points are paired.
    backend, workers
        ``serial``, ``threads``, ``processes`` (loky), or ``dask``; as many workers as processors by default. Each
        computes linear algebra with one thread, on which last bits depend. Or any executor of `concurrent.futures`,
        which is left open; it is given all configurations at once, or twice as many as ``workers``.
    scheduler
        Address of a Dask scheduler; without one ``dask`` starts a cluster on this machine.
    out
        Folder of the sweep; None keeps everything in memory.
    force
        Begin anew in a folder that holds another sweep.
    quick
        Start from the small size of a study.
    progress
        Show on standard error how many are done, how many failed, and the time left.

    Returns
    -------
    Sweep
        One labelled Dataset over the grid, the failures with their tracebacks, a table and a plot.

    Raises
    ------
    ValueError, TypeError
        In one sentence, for a grid or a folder that make no sense, and for workers with another version of fedtheory.
    KeyboardInterrupt
        On Ctrl-C; what is finished is in the folder.

    Examples
    --------
    >>> found = sweep(lambda d, tau: 2.0 * d + tau, {"d": [3, 5], "tau": [1, 7]}, backend="serial")
    >>> found.data["value"].values
    array([[ 7., 13.],
           [11., 17.]])
    """
    backend = known_backend(backend)
    size = number_of_workers(workers, backend)
    work, wanted = work_of(function_or_study, quick=quick), gridded(grid, seeds, rng)
    work.refuse(wanted)
    with _folder(out, work, wanted, force=force) as store:
        found = _kept_of(store, wanted)
        missing = [one for one in wanted if one.name not in found]
        failures = [0]
        with reported("sweep", len(wanted), done=len(found)) if progress else _silence() as report:

            def keep(configuration: Configuration, outcome: Outcome) -> None:
                if outcome.refused:
                    raise ValueError(outcome.refused)
                if store is not None:
                    store.save(configuration, outcome)
                found[configuration.name] = outcome
                failures[0] += outcome.failed
                report(len(found), f"{failures[0]} failed" if failures[0] else "")

            if missing:
                size = len(missing) if isinstance(backend, Executor) and workers is None else min(size, len(missing))
                _work_through(missing, packed(work, backend), lambda: open_workers(backend, size, scheduler), keep)
        result = Sweep.of(wanted, found, None if store is None else store.folder)
        if store is not None:
            store.publish(result)
    return result


def _kept_of(store: Store | None, grid: Grid) -> dict[str, Outcome]:
    """Return what a folder holds of a grid, by name; failures are not kept, so that they are run again."""
    found: dict[str, Outcome] = {}
    damaged: list[str] = []
    for one in grid:
        try:
            outcome = None if store is None else store.load(one)
        except ValueError as error:
            damaged.append(str(error))
            continue
        if outcome is not None and not outcome.failed:
            found[one.name] = outcome
    if damaged:
        others = f" (and {len(damaged) - 1} more)" if len(damaged) > 1 else ""
        warnings.warn(f"{damaged[0]}{others}", SweepWarning, stacklevel=3)
    others = ", ".join(sorted({outcome.made_by for outcome in found.values()} - {made_by()}))
    if others:
        text = f"parts that are kept were computed by fedtheory {others}, this is {made_by()}"
        warnings.warn(text, SweepWarning, stacklevel=3)
    return found


@contextlib.contextmanager
def _folder(out: str | Path | None, work: Work, grid: Grid, *, force: bool) -> Iterator[Store | None]:
    if out is None:
        yield None
        return
    with opened(Path(out), header_of(work, grid), force=force) as store:
        yield store


@contextlib.contextmanager
def _silence() -> Iterator[Callable[..., None]]:
    yield lambda *_: None


def _work_through(
    missing: Sequence[Configuration],
    work: Work | bytes,
    start: Callable[[], contextlib.AbstractContextManager[Workers]],
    keep: Keep,
) -> None:
    """Run all configurations; when a worker dies, those that were under way are run again, one at a time.

    So the one that kills its worker is found: it is recorded as failed, the others are not.
    """
    waiting, suspects = deque(missing), deque[Configuration]()
    in_a_row = 0
    while waiting or suspects:
        alone, before = bool(suspects), len(waiting) + len(suspects)
        with start() as workers:
            lost = _until_broken(suspects if alone else waiting, work, workers, keep, at_once=1 if alone else None)
        in_a_row = in_a_row + 1 if before - len(waiting) - len(suspects) == len(lost) else 0
        if in_a_row > _DEATHS:
            message = f"workers must live, got none that did in {in_a_row} attempts: is it memory, or what they import?"
            raise ValueError(message)
        if not alone:
            suspects.extend(lost)
            continue
        for one in lost:
            keep(one, Outcome(error="its worker died, twice", made_by=made_by()))


def _until_broken(
    queue: deque[Configuration], work: Work | bytes, workers: Workers, keep: Keep, *, at_once: int | None
) -> list[Configuration]:
    """Run what is queued, until all is done or the workers have died; return what was lost with them."""
    running: dict[Future[Outcome], Configuration] = {}
    lost: list[Configuration] = []
    try:
        while queue or running:
            while queue and len(running) < (at_once or 2 * workers.size):
                future = _submitted(workers.executor, work, queue[0])
                running[future] = queue.popleft()
                if workers.foreign and future.done():  # it may run what it is given at once
                    break
            done, _ = wait(running, timeout=_GLANCE, return_when=FIRST_COMPLETED)
            for future in [future for future in running if future in done]:
                outcome, one = _outcome(future, final=at_once == 1 or workers.foreign), running.pop(future)
                if outcome is None:
                    lost.append(one)
                else:
                    keep(one, outcome)
    except BrokenExecutor:
        _harvest(running, keep)
        if workers.foreign:
            message = "an executor's workers must live, got some that died: what is finished is kept"
            raise ValueError(message) from None
        lost += running.values()
    except KeyboardInterrupt:
        _harvest(running, keep)
        raise
    finally:
        for future in running:
            workers.cancel(future)
    return lost


def _submitted(executor: Executor, work: Work | bytes, one: Configuration) -> "Future[Outcome]":
    arguments = (work, one.point, one.seed, made_by())
    with deaf_to_interrupts():  # the first ones start the processes
        if isinstance(work, bytes):
            return executor.submit(pinned, attempt, *arguments)
        return executor.submit(attempt, *arguments)


def _outcome(future: "Future[Outcome]", *, final: bool) -> Outcome | None:
    """Return what a worker reports, None if it died.

    Other than that it can only fail for want of what it needs. But Dask stumbles, with a TypeError of its own, over
    what was just finished where a worker dies: unless that is final, such workers are taken for dead.
    """
    try:
        return future.result()
    except (BrokenExecutor, KeyboardInterrupt):
        raise
    except Exception as error:
        if type(error).__name__ == "KilledWorker":  # what Dask says of all that was queued where workers died
            return None
        if not final:
            raise BrokenExecutor from error
        told = " ".join(f"{type(error).__name__}: {error}".split())
        return Outcome(refused=f"workers must have fedtheory {made_by()}, got one that cannot run it ({told})")


def _harvest(running: "dict[Future[Outcome], Configuration]", keep: Keep) -> None:
    """Keep what is finished but was not looked at yet."""
    for future in [future for future in running if _is_finished(future)]:
        keep(running.pop(future), future.result())


def _is_finished(future: "Future[Outcome]") -> bool:
    return future.done() and not future.cancelled() and future.exception() is None
