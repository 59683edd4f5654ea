"""The same work on many items, one after the other or in several processes; the results are the same, in order."""

import warnings
from collections.abc import Callable, Generator, Iterable
from typing import TypeVar

__all__ = ["in_order"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(work: Callable[[Item], Result], items: Iterable[Item], jobs: int) -> Generator[Result, None, None]:
    """Yield ``work(item)`` for each item, in the order of the items; more jobs than one are so many processes.

    Whoever has enough closes the iterator: what is still being worked on is given up.
    """
    if jobs == 1:
        yield from map(work, items)
        return
    from joblib import Parallel, delayed, parallel_config

    with parallel_config(backend="loky", inner_max_num_threads=1):
        results = Parallel(n_jobs=jobs, return_as="generator", pre_dispatch=jobs)(delayed(work)(item) for item in items)
        try:
            # Not `yield from`, which would hand the end on to joblib before the warning is silenced.
            for result in results:  # noqa: UP028
                yield result
        finally:
            with warnings.catch_warnings():
                # joblib warns of work that nobody waits for any more, which here is on purpose.
                warnings.simplefilter("ignore", UserWarning)
                results.close()
