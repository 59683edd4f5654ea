"""Operators described by inequalities between differences of values and differences of points.

The conditions of one hypothesis are sufficient (Ryu, Taylor, Bergeling, Giselsson 2020).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from fedtheory.worst_case.function_classes.interface import Called, Condition, FunctionClass, Number

__all__: list[str] = []


def operator_class(
    *, strongly_monotone: Fraction | None = None, cocoercive: Fraction | None = None, lipschitz: Fraction | None = None
) -> FunctionClass:
    """Return the class of operators T with any of three hypotheses, of which monotone is 0-strongly monotone.

    ``<T x - T y, x - y>`` is at least ``strongly_monotone |x - y|^2`` and at least ``cocoercive |T x - T y|^2``, and
    ``|T x - T y|`` is at most ``lipschitz |x - y|``.
    """
    given = [one for one in (strongly_monotone, cocoercive, lipschitz) if one is not None]
    if not given:
        message = "an operator must have a hypothesis, monotone=True for example, got none"
        raise ValueError(message)

    def conditions(called: Called) -> Iterator[Condition]:
        for (i, one), (j, other) in combinations(enumerate(called.calls), 2):
            apart, between = one.at - other.at, one.gradient - other.gradient
            if strongly_monotone is not None:
                yield Condition((i, j), strongly_monotone * apart.square - apart @ between)
            if cocoercive is not None:
                yield Condition((i, j), cocoercive * between.square - apart @ between)
            if lipschitz is not None:
                yield Condition((i, j), between.square - lipschitz**2 * apart.square)

    def text(number: Number) -> str:
        parts = []
        if strongly_monotone is not None:
            parts.append(f"{number(strongly_monotone)}-strongly monotone" if strongly_monotone else "monotone")
        if cocoercive is not None:
            parts.append(f"{number(cocoercive)}-cocoercive")
        if lipschitz is not None:
            parts.append("nonexpansive" if lipschitz == 1 else f"{number(lipschitz)}-Lipschitz")
        return " and ".join(parts)

    return FunctionClass(
        parameters={"strongly_monotone": strongly_monotone, "cocoercive": cocoercive, "lipschitz": lipschitz},
        conditions=conditions,
        text=text,
        exact=len(given) == 1,
        kind="operator",
        shifts="one",
        without_coq="operators have no formal statement",
    )
