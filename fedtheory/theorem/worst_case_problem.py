"""Worst-case problem of a bound."""

from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["WorstCaseProblem"]


class WorstCaseProblem(NamedTuple):
    """The problem of maximizing the quantity that a bound limits over the class of the bound.

    Attributes
    ----------
    solve
        Function of the bound and of a mapping with its rational arguments. It returns a
        ``fedtheory.worst_case.WorstCase``, or a ``Comparison`` if the bound's value has another unit.
    draw
        Function that draws arguments from a ``numpy.random.Generator``, often at the ends of the hypotheses' ranges.
    looseness
        Upper limit of the smallest ratio of bound value to worst case among some draws.
    remark
        Reason why the ratio is not smaller.
    name
        Name in the key of the claim that no problem of the class exceeds the bound; by default the name of the bound.
    """

    solve: Callable[..., Any]
    draw: Callable[[Any], dict[str, Any]]
    looseness: float = 1.01
    remark: str = ""
    num_draws: int = 100
    name: str = ""
