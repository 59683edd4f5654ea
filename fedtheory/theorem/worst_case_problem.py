"""Worst-case problem of a bound."""

from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["WorstCaseProblem"]


class WorstCaseProblem(NamedTuple):
    """The largest value that anything in the class of a bound can reach.

    Attributes
    ----------
    solve
        Returns the worst case from the bound and a mapping of its arguments, which are rational: a
        ``fedtheory.worst_case.WorstCase``, or a ``Comparison`` where the bound's value has another unit.
    draw
        Draws arguments from a ``numpy.random.Generator``, those at the ends of the hypotheses more often than others.
    looseness
        Ratio of the bound's value to the worst case that the closest of some draws stays below.
    remark
        Why the ratio is no smaller.
    num_draws
        Number of draws at the thorough budget.
    name
        The name in the key of the claim that no member of the class exceeds the bound; the bound's own if empty.
    """

    solve: Callable[..., Any]
    draw: Callable[[Any], dict[str, Any]]
    looseness: float = 1.01
    remark: str = ""
    num_draws: int = 100
    name: str = ""
