"""Rules in plain Python: their arguments are copied, and their results and random draws are checked at every call."""

import numbers
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fedtheory._support.wording import truncate
from fedtheory.engine._randomness import global_state
from fedtheory.selection.rules import Slot

__all__ = ["RuleFault", "call_plainly"]


class RuleFault(Exception):
    """Error of a rule: the predicate of a sentence whose subject is the rule."""


def call_plainly(slot: Slot, rule: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """Call a rule with copies of the arrays, which it may keep; the arrays of the loop are overwritten and freed.

    Raises
    ------
    RuleFault
        If it draws from NumPy's global generator, or returns or writes a value of the wrong kind.
    """
    own = [_own(name, value, slot) for name, value in zip(slot.arguments, arguments, strict=True)]
    before = global_state()
    answer = rule(*own)
    if global_state() != before:
        raise RuleFault("must draw from its rng only, and drew from NumPy's global generator")
    answer = _answer(slot.returns, answer)
    for name, value, original in zip(slot.arguments, own, arguments, strict=True):
        if name in slot.writes:
            original[...] = value
    return answer


def _own(name: str, value: Any, slot: Slot) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    copy = value.copy()
    if name in slot.writes:
        return copy if copy.dtype.kind == "f" else copy.view(_WholeNumbers)
    copy.flags.writeable = False
    return copy


class _WholeNumbers(np.ndarray[Any, Any]):
    """An integer array that rejects floats, which NumPy would truncate."""

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, self._whole(value))

    def fill(self, value: Any) -> None:
        super().fill(self._whole(value))

    def put(self, indices: Any, values: Any, mode: Any = "raise") -> None:
        super().put(indices, self._whole(values), mode)

    def _whole(self, value: Any) -> Any:
        if self.dtype.kind in "iub" and np.asarray(value).dtype.kind not in "iub" and np.size(value):
            raise RuleFault(f"must write whole numbers into an array of {self.dtype}, and wrote {truncate(value)}")
        return value


def _answer(kind: str, answer: Any) -> Any:
    if kind == "void":
        return None
    number = None
    if kind == "int64" and hasattr(answer, "__index__"):
        number = _tried(operator.index, answer)
    elif kind == "float64" and isinstance(answer, numbers.Real):
        number = _tried(float, answer)
    if number is None or isinstance(answer, bool | np.bool_) or (kind == "int64" and not -(2**63) <= number < 2**63):
        raise RuleFault(f"must return a {'whole ' if kind == 'int64' else ''}number, and returned {truncate(answer)}")
    return number


def _tried(convert: Callable[[Any], Any], answer: Any) -> Any:
    try:
        return convert(answer)
    except (TypeError, OverflowError):
        return None
