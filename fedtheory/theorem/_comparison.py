"""Two sides of a hypothesis, compared: numbers, arrays of them, exact or not."""

import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory._support.wording import told_apart

__all__ = ["Sides", "are_exact", "unmet"]

Sides = tuple[Any, str, Any]

_HOLDS: Mapping[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
}
_OPPOSITE = {"<=": ">", "<": ">=", ">=": "<", ">": "<="}


def unmet(text: str, left: Any, relation: str, right: Any, rtol: float = 0.0) -> str | None:
    """Say how two sides break a relation, at the first entry where they do, or return None."""
    limit = right
    if rtol and not are_exact((left, right)):
        limit = right * (1 + rtol if relation in ("<=", "<") else 1 - rtol)
    holds = _HOLDS[relation](left, limit)
    if np.all(holds) if isinstance(holds, np.ndarray) else holds:
        return None
    broken = np.logical_not(holds)
    left, right = (
        np.broadcast_to(np.asarray(side, dtype=object), np.shape(broken))[broken].flat[0] for side in (left, right)
    )
    first, second = told_apart(left, right)
    return f"{text}: got {first} {_OPPOSITE[relation]} {second}"


def are_exact(numbers: Sequence[Any]) -> bool:
    """Whether numbers are rationals, which are compared without tolerance."""
    return all(isinstance(number, int | Fraction) for number in numbers)
