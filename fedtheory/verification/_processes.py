"""The same work on many items, one after the other or in several processes; the results are the same, in order."""

import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sized
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from fedtheory._support import validate
from fedtheory._support.streams import deaf_to_interrupts
from fedtheory.verification.catalogue import claims_of, known_claims, one_claim
from fedtheory.verification.claims import Claim

__all__ = ["in_order", "number_of_jobs"]

Result = TypeVar("Result")


# Processes that start at once at the very most.
_MOST = 1024


def number_of_jobs(jobs: Any) -> int:
    """Return how many processes are asked for."""
    return validate.size("jobs", jobs, high=_MOST)


def in_order(
    work: Callable[..., Result], items: Iterable[tuple[Claim, *tuple[Any, ...]]], jobs: int
) -> Generator[Result, None, None]:
    """Yield ``work(claim, ...)`` for each claim with its arguments, in order; more jobs than one are so many processes.

    Where it is known how many items there are, there are no more processes.

    Each has one thread for its linear algebra, whose last bits depend on the number of threads. Whoever has enough
    closes the iterator: no other one is started.
    """
    if isinstance(items, Sized):
        jobs = min(jobs, len(items))
    if jobs <= 1:
        for item in items:
            yield _on_one_thread(work, *item)
        return
    from joblib.externals.loky import get_reusable_executor

    # Not the generator of joblib: closed early, it ends processes that have work left, and the thread of loky stumbles.
    executor, waiting = get_reusable_executor(max_workers=jobs, initializer=_ignore_interrupts), deque[Any]()
    known = known_claims()
    try:
        for claim, *arguments in items:
            with deaf_to_interrupts():  # the first ones start the processes
                waiting.append(executor.submit(_on_one_thread, work, _portable(claim, known), *arguments))
            if len(waiting) > jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def _ignore_interrupts() -> None:
    # Ctrl-C on a terminal goes to every process of the program: the one that was started decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _on_one_thread(work: Callable[..., Result], claim: "Claim | _Reference", *arguments: Any) -> Result:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return work(claim if isinstance(claim, Claim) else claim.claim(), *arguments)


class _Reference(NamedTuple):
    """What another process can make a claim of, since checks are functions.

    Its key, the file or module to read it from (nothing for a claim of this package), and when that file was written:
    processes live on, and a file may change.
    """

    key: str
    home: str = ""
    modified: int = 0

    def claim(self) -> Claim:
        """Return the claim that is referred to."""
        return _read(self.home, self.modified)[self.key] if self.home else one_claim(self.key)


def _portable(claim: Claim, known: Mapping[str, Claim]) -> Claim | _Reference:
    """Return a reference where another process can find the claim, else the claim itself."""
    if claim.home:
        file = Path(claim.home)
        return _Reference(claim.key, claim.home, file.stat().st_mtime_ns if file.is_file() else 0)
    return _Reference(claim.key) if known.get(claim.key) is claim else claim


@cache
def _read(home: str, _modified: int) -> dict[str, Claim]:
    return claims_of(home)
