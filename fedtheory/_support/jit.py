"""Compilation with numba: cached on disk and without the global interpreter lock.

Numba's cache of a function looks at the file of this function only. After a change of a function that it calls in
another file, the cache must be removed (``docs/contributing.md`` says how).
"""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import numba

from fedtheory.errors import CacheWarning

Function = TypeVar("Function", bound=Callable[..., Any])
_ALWAYS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
# Long sums may be reordered and products fused, so that they are vectorized. NaN and infinities keep their meaning.
_REORDERING = {"contract", "reassoc", "nsz", "arcp"}


def compiled(function: Function) -> Function:
    """Compile a function on its first call."""
    return _kept(function)


def inlined(function: Function) -> Function:
    """Compile a small function into each of its callers, which avoids passing arrays."""
    return _kept(function, inline="always")


def compiled_with_reordering(function: Function) -> Function:
    """Compile like ``compiled``, but allow reordered sums and fused products.

    The function is always compiled into its callers. A separate copy would be optimized differently, and which of the
    two is called could depend on the order of compilation.
    """
    return _kept(function, fastmath=_REORDERING, forceinline=True)


def compiled_for(signature: Any, function: Any, *, is_kept: bool = True) -> Any:
    """Compile a function of this package for one signature, or load it from the cache.

    Numba's cache of a function cannot be read by a process that does not have all types in it: code for the types of
    another package must not be kept.
    """
    if not is_compiled(function):
        return function
    return _kept(function.py_func, signature) if is_kept else numba.njit(signature, **_ALWAYS)(function.py_func)


def jitable(function: Function) -> Function:
    """Return a function that runs uncompiled when Python calls it, and compiled when a compiled function calls it."""
    helper: Function = numba.extending.register_jitable(**_ALWAYS)(function)
    return helper


def is_compiled(function: Any) -> bool:
    """Whether numba compiles this function."""
    return bool(numba.extending.is_jitted(function))


def _kept(function: Function, *signature: Any, **options: Any) -> Function:
    made: Function
    try:
        made = numba.njit(*signature, cache=True, **_ALWAYS, **options)(function)
    except RuntimeError:  # no folder for the cache can be written
        _say_that_nothing_is_kept()
        made = numba.njit(*signature, **_ALWAYS, **options)(function)
    return made


@cache
def _say_that_nothing_is_kept() -> None:
    text = (
        "compiled code cannot be cached, since no cache folder can be written: every process compiles again "
        "(NUMBA_CACHE_DIR names another folder)"
    )
    warnings.warn(text, CacheWarning, stacklevel=2)
