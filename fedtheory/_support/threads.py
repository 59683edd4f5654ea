"""Linear algebra on one thread, so that its sums, and with them the last bits, do not depend on how many there are."""

import sys
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

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
        with _libraries("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas"):
            return solver(*args, **kwargs)

    return alone


@cache
def _libraries(_with_scipy: bool) -> Any:
    # To find the libraries of the process takes a millisecond, longer than many a solver; SciPy brings one more.
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
