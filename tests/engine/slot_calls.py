"""Functions and records as compiled code takes them: by address, or directly with numba switched off."""

from typing import Any

from fedtheory._support.compiling import is_compiled
from fedtheory.engine._blocks import address, block_type, written
from fedtheory.engine._rounds import run_rounds
from fedtheory.engine._slots import address_of, signature_of
from fedtheory.engine.contract import SLOTS

__all__ = ["in_memory", "in_slot"]

_KEPT: list[Any] = []  # what is known by its address must live


def in_memory(record: Any) -> Any:
    """Return the address of a NamedTuple of arrays and numbers, which is to live for the session."""
    if not is_compiled(run_rounds):
        return record
    words = written(record, block_type(record))
    _KEPT.extend([record, words])
    return address(words)


def in_slot(name: str, function: Any, record: Any) -> Any:
    """Return the address of a kernel for records of this type."""
    return address_of(function, signature_of(SLOTS[name], block_type(record))) if is_compiled(run_rounds) else function
