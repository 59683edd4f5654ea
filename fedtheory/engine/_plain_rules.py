"""Rules in plain Python within the compiled loop: one bridge per slot, over which copies go both ways."""

# mypy: allow-untyped-decorators

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import numpy as np
from numba import njit, objmode, types

from fedtheory.engine.contract import PLUGGED

__all__ = ["bridge", "running"]

# Each thread has its own, and a rule may run a simulation itself.
_RULES: ContextVar[Mapping[str, Callable[..., Any]]] = ContextVar("rules")


@contextmanager
def running(rules: Mapping[str, Callable[..., Any]]) -> Iterator[None]:
    """Let the bridges lead to these rules in this thread."""
    before = _RULES.set(rules)
    try:
        yield
    finally:
        _RULES.reset(before)


@cache
def bridge(name: str) -> Any:
    """Compile a function that goes back to the interpreter for the rule of a slot, which takes microseconds.

    It is looked up there and not compiled in: machine code is never given back, and a rule may be made for every run.
    """
    if PLUGGED[name].returns == "void":

        @njit
        def call(*arguments: Any) -> None:
            with objmode():
                _handed(name, arguments)

        return call
    kind, convert = (types.int64, operator.index) if PLUGGED[name].returns == "int64" else (types.float64, float)

    @njit
    def call_for_number(*arguments: Any) -> Any:
        with objmode(answer=kind):
            answer = convert(_handed(name, arguments))
        return answer  # noqa: RET504 # numba takes results out of the block by name

    return call_for_number


def _handed(name: str, arguments: tuple[Any, ...]) -> Any:
    """Call a rule with arrays of its own, which it may keep: those of the loop are overwritten, and freed after it."""
    slot = PLUGGED[name]
    own = [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]
    for argument, value in zip(slot.arguments, own, strict=True):
        if isinstance(value, np.ndarray):
            value.flags.writeable = argument in slot.writes
    answer = _RULES.get()[name](*own)
    for argument, value, original in zip(slot.arguments, own, arguments, strict=True):
        if argument in slot.writes:
            original[...] = value
    return answer
