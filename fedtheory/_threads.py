"""Linear algebra on one thread, so that its sums, and with them the last bits, do not depend on how many there are."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

__all__ = ["pinned"]

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def pinned(solver: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """Make a solver run with one BLAS thread, whatever the process has otherwise.

    >>> @pinned
    ... def solved(a, b):
    ...     return b / a
    >>> solved(2.0, 3.0)
    1.5
    """

    @wraps(solver)
    def alone(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        # Slow to import, and not needed before something is solved.
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1, user_api="blas"):
            return solver(*args, **kwargs)

    return alone
