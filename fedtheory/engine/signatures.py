"""Numba's types of the kernels and rules that the round loop calls.

Each is a ``types.FunctionType``, so that the loop is compiled once for a layout of arrays and not once for each rule.
Only arrays that a slot writes are writable.
"""

from functools import cache, lru_cache
from typing import Any

import numba
import numpy as np
from numba import types

from fedtheory.engine.contract import ARGUMENTS, SLOTS, LocalWork
from fedtheory.selection.rules import Slot

__all__ = ["function_type", "signature_of"]


@cache
def _kinds() -> dict[str, Any]:
    work = LocalWork(0.0, 0.0, 0.0, 0.0, 0, by_epoch=False, track_losses=False, correction=np.empty(0))
    return {
        "int64": types.int64,
        "float64": types.float64,
        "bool": types.boolean,
        "void": types.void,
        "generator": numba.typeof(np.random.default_rng(0)),
        "work": numba.typeof(work),
    }


def function_type(name: str, problem: Any) -> Any:
    """Return the type of a slot for the type of a problem's arrays."""
    return types.FunctionType(signature_of(SLOTS[name], problem))


def signature_of(slot: Slot, problem: Any = None) -> Any:
    """Return numba's signature of a slot for the type of a problem's arrays."""
    return _signature(slot, problem if "problem" in slot.arguments else None)


@lru_cache(maxsize=256)
def _signature(slot: Slot, problem: Any) -> Any:
    return _kinds()[slot.returns](*(_type_of(name, slot, problem) for name in slot.arguments))


def _type_of(name: str, slot: Slot, problem: Any) -> Any:
    argument = ARGUMENTS[name]
    if argument.kind == "problem":
        return problem
    kind = _kinds()[argument.kind]
    if not argument.shape:
        return kind
    return types.Array(kind, len(argument.shape), "C", readonly=name not in slot.writes)
