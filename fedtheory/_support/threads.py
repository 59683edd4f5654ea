"""Linear algebra in one thread, so that the last bits of sums do not depend on the number of threads."""

import sys
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def pinned(solver: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """Run a solver with one BLAS thread."""

    @wraps(solver)
    def alone(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        with _libraries("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas"):
            return solver(*args, **kwargs)

    return alone


@cache
def _libraries(_with_scipy: bool) -> Any:
    # Finding the libraries of the process takes a millisecond, longer than many solvers; SciPy adds one more.
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
