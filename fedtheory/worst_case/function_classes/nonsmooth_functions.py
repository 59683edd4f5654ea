"""Convex functions that need not be smooth: strongly or weakly convex, perhaps with bounded subgradients.

The conditions are those of Taylor, Hendrickx and Glineur (2017, composite).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any, ClassVar, final

from fedtheory._support.validate import Array
from fedtheory.worst_case._constants import vanishes
from fedtheory.worst_case.function_classes.interface import Call, Called, Condition, FunctionClass, Number

__all__: list[str] = []


def nonsmooth(mu: Fraction, *, lipschitz: Fraction | None = None) -> FunctionClass:
    """Return the class of functions whose least curvature is mu, with subgradients no longer than ``lipschitz``."""

    def conditions(called: Called) -> Iterator[Condition]:
        for (i, one), (j, other) in permutations(enumerate(called.calls), 2):
            below = other.gradient @ (one.at - other.at) + other.value - one.value
            if not vanishes(mu):
                below = below + mu / 2 * (one.at - other.at).square
            yield Condition((i, j), below)
        for i, one in enumerate(called.calls):
            yield from bounded(i, one, lipschitz)

    return FunctionClass(
        parameters={"mu": mu, "lipschitz": lipschitz, "indicator": False, "quadratic": False},
        conditions=conditions,
        text=lambda number: " and ".join([curvature_text(mu, number), *bounded_text(lipschitz, number)]),
        exact=lipschitz is None or vanishes(mu),
        shifts="each" if lipschitz is None else "none",
        member=lambda points, gradients, values, _: Envelope(points, gradients, values, float(mu)),
        coq=lambda number: [] if lipschitz is None else [f"lipschitz {number(lipschitz)}"],
    )


def bounded(number: int, call: Call, lipschitz: Fraction | None) -> Iterator[Condition]:
    """Yield that a gradient is not longer than a bound, if there is one."""
    if lipschitz is not None:
        yield Condition((number,), call.gradient.square, lipschitz**2, "lipschitz^2")


def bounded_text(lipschitz: Fraction | None, number: Number) -> list[str]:
    """Return the description of the bound on gradients, or nothing without one."""
    return [] if lipschitz is None else [f"{number(lipschitz)}-Lipschitz"]


def curvature_text(mu: Any, number: Number) -> str:
    """Return the description of the least curvature."""
    if mu > 0:
        return f"{number(mu)}-strongly convex"
    return "convex" if mu >= 0 else f"{number(-mu)}-weakly convex"


@final
@dataclass(frozen=True)
class Envelope:
    r"""The least convex function with given values and subgradients at some points, plus a parabola if mu is not 0.

    With the least curvature mu, which may be negative, it is the maximum of the functions

    .. math::
        f_i+\langle g_i,x-x_i\rangle+\frac\mu2\|x-x_i\|^2

    Points, subgradients and values have the shapes (n, v), (n, v) and (n,).
    """

    points: Array
    gradients: Array
    values: Array
    mu: float

    has_gradient: ClassVar[bool] = False

    @property
    def minimum(self) -> float:
        return float(self.values.min())

    def loss(self, w: Array) -> float:
        return float(self._pieces(w).max())

    def gradient(self, w: Array) -> Array:
        best = int(self._pieces(w).argmax())
        found: Array = self.gradients[best] + self.mu * (w - self.points[best])
        return found

    def _pieces(self, w: Array) -> Array:
        away = w - self.points
        found: Array = self.values + (self.gradients * away).sum(axis=1) + self.mu / 2 * (away**2).sum(axis=1)
        return found
