"""The one way in which this library compiles: cached, without the GIL, exact IEEE arithmetic."""

from collections.abc import Callable
from typing import Any, TypeVar

import numba

__all__ = ["compiled", "is_compiled"]

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile on first call and keep the machine code in numba's cache (typed, unlike ``numba.njit``)."""
    dispatcher: Function = numba.njit(cache=True, nogil=True)(function)
    return dispatcher


def is_compiled(function: Callable[..., Any]) -> bool:
    """Whether numba compiles this function."""
    return bool(numba.extending.is_jitted(function))
