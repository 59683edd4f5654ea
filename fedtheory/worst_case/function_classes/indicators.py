"""Indicators of closed convex sets: 0 on the set, infinite outside; subgradients are normal vectors.

The conditions are those of Taylor, Hendrickx and Glineur (2017, composite).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations

from fedtheory.worst_case.function_classes.interface import Called, Condition, FunctionClass, Number

__all__: list[str] = []


def indicator(*, diameter: Fraction | None = None) -> FunctionClass:
    """Return the class of indicators of sets no larger than ``diameter``."""

    def conditions(called: Called) -> Iterator[Condition]:
        for (i, one), (j, other) in permutations(enumerate(called.calls), 2):
            yield Condition((i, j), other.gradient @ (one.at - other.at))
            if diameter is not None and i < j:
                yield Condition((i, j), (one.at - other.at).square, diameter**2, "diameter^2")

    def text(number: Number) -> str:
        size = "" if diameter is None else f" of diameter at most {number(diameter)}"
        return f"the indicator of a closed convex set{size}"

    return FunctionClass(
        parameters={"mu": Fraction(0), "indicator": True, "diameter": diameter, "quadratic": False},
        conditions=conditions,
        text=text,
        exact=True,
        shifts="each",
        coq=lambda number: [] if diameter is None else [f"diameter {number(diameter)}"],
    )
