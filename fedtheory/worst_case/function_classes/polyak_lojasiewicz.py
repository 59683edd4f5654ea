"""Smooth functions of Polyak's class: the squared gradient bounds the excess over the least value.

The conditions are necessary only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from fedtheory.worst_case._constants import written
from fedtheory.worst_case._vectors import Form
from fedtheory.worst_case.function_classes.interface import Called, Condition, FunctionClass, Number
from fedtheory.worst_case.function_classes.nonsmooth_functions import bounded
from fedtheory.worst_case.function_classes.smooth_functions import above_minimum, between_runs, of_pairs, smooth

__all__: list[str] = []


def polyak_lojasiewicz(
    mu: Fraction, L: Fraction, polyak: Fraction, *, lipschitz: Fraction | None = None
) -> FunctionClass:
    """Return the class of smooth functions with ``f(x) - f* <= |grad f(x)|^2 / (2 polyak)``."""
    every = smooth(mu, L, lipschitz=lipschitz)
    refuse_large(polyak, L)

    def conditions(called: Called) -> Iterator[Condition]:
        yield from of_pairs(called, mu, L)
        for i, one in enumerate(called.calls):
            yield from bounded(i, one, lipschitz)
            yield from above_minimum(i, called, mu, L)
            yield from dominated(i, called, polyak)
        yield from between_runs(called, mu, L)

    return replace(
        every,
        parameters={"mu": mu, "L": L, "lipschitz": lipschitz, "indicator": False, "polyak": polyak, "quadratic": False},
        conditions=conditions,
        text=lambda number: " and ".join([every.text(number), *dominated_text(polyak, number)]),
        exact=False,
        needs_minimizer=True,
        shifts="none",
        member=None,
    )


def refuse_large(polyak: Fraction | None, L: Fraction) -> None:
    """Raise ValueError if no function of the class has a gradient other than 0."""
    if polyak is not None and polyak > L:
        message = f"polyak must be at most {written(L)}, the value of L, got {written(polyak)}"
        raise ValueError(message)


def dominated(number: int, called: Called, polyak: Fraction | None) -> Iterator[Condition]:
    """Yield that the squared gradient bounds the excess, if there is such a hypothesis."""
    if polyak is not None and called.minimum not in (None, number):
        one, best = called.calls[number], called.calls[called.minimum]
        gap = Form.of(one.value) - best.value
        yield Condition((number, called.minimum), gap - 1 / (2 * polyak) * one.gradient.square)


def dominated_text(polyak: Fraction | None, number: Number) -> list[str]:
    """Return the description of the Polyak-Lojasiewicz condition, or nothing without it."""
    return [] if polyak is None else [f"of Polyak's class with constant {number(polyak)}"]
