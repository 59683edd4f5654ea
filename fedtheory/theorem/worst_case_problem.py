"""Worst-case problem of a bound."""

import types
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class WorstCaseProblem(NamedTuple):
    """The problem of maximizing the quantity that a bound limits over the class of the bound.

    Attributes
    ----------
    solve
        Function of the bound and of a mapping with its rational arguments. It returns a
        ``fedtheory.worst_case.WorstCase``, or a ``Comparison`` if the bound's value has another unit.
    constants
        Numbers, or functions that draw them, which replace laws of ``fedtheory.instances.constants``.
    looseness, remark
        Upper limit of the smallest ratio of bound value to worst case among some draws, and why it is not smaller.
    name
        Name in the key of the claim that no problem of the class exceeds the bound; by default the name of the bound.
    """

    solve: Callable[..., Any]
    constants: Mapping[str, Any] = types.MappingProxyType({})
    looseness: float = 1.01
    remark: str = ""
    num_draws: int = 100
    name: str = ""
