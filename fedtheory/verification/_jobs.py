"""Processes for verdicts and hunts, by joblib; Ctrl-C is handled by the parent process only."""

import os
import warnings
from collections.abc import Callable, Generator, Iterable
from typing import Any, TypeVar

from fedtheory._support import validate
from fedtheory._support.streams import block_sigint
from fedtheory.claims.catalogue import known_claims, one_claim
from fedtheory.theorem.claims import Claim

Result = TypeVar("Result")

_MOST = 1024


def number_of_jobs(jobs: Any) -> int:
    """Return a validated number of processes."""
    return validate.size("jobs", jobs, high=_MOST)


def in_order(
    work: Callable[..., Result], items: Iterable[tuple[Claim, *tuple[Any, ...]]], jobs: int
) -> Generator[Result, None, None]:
    """Yield ``work(claim, ...)`` for each item in order, computed here or by several processes."""
    items = list(items)
    if min(jobs, len(items)) <= 1:
        yield from (work(*item) for item in items)
        return
    from joblib import Parallel, delayed

    options = {"n_jobs": min(jobs, len(items)), "return_as": "generator", "inner_max_num_threads": 1}
    with warnings.catch_warnings(), Parallel(backend="loky", **options) as run:
        # A worker that imported large libraries is replaced, because joblib mistakes its size for a memory leak.
        warnings.filterwarnings("ignore", message="A worker stopped")
        with block_sigint():  # inherited by the worker processes
            list(run([delayed(os.getpid)()]))
        results = run(delayed(_work_on)(work, _sent(claim), *arguments) for claim, *arguments in items)
        try:
            for result in results:  # noqa: UP028 ("yield from" would close the results itself)
                yield result
        finally:  # if results are left, joblib ends the processes with a warning
            with warnings.catch_warnings(action="ignore", category=UserWarning):
                results.close()


def _sent(claim: Claim) -> Claim | str:
    """Return what is sent to another process: the key of a claim of the package, or else the claim."""
    return claim.key if not claim.home and known_claims().get(claim.key) is claim else claim


def _work_on(work: Callable[..., Result], claim: Claim | str, *arguments: Any) -> Result:
    return work(one_claim(claim) if isinstance(claim, str) else claim, *arguments)
