"""Smooth functions: strongly convex, convex, weakly convex or not convex, perhaps with bounded gradients.

The conditions are those of Taylor, Hendrickx and Glineur (2017). They are sufficient for ``mu >= 0`` and ``mu = -L``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from typing import ClassVar, final

import numpy as np

from fedtheory._support.validate import Array
from fedtheory.worst_case._constants import vanishes, written
from fedtheory.worst_case._vectors import Form
from fedtheory.worst_case.function_classes.interface import Call, Called, Condition, FunctionClass, Number
from fedtheory.worst_case.function_classes.nonsmooth_functions import bounded, bounded_text, curvature_text

__all__: list[str] = []


def smooth(mu: Fraction, L: Fraction, *, lipschitz: Fraction | None = None) -> FunctionClass:
    """Return the class of functions with curvatures in [mu, L], and gradients no longer than ``lipschitz``."""
    refuse_empty(mu, L)

    def conditions(called: Called) -> Iterator[Condition]:
        yield from of_pairs(called, mu, L)
        for i, one in enumerate(called.calls):
            yield from bounded(i, one, lipschitz)
            yield from above_minimum(i, called, mu, L)
        yield from between_runs(called, mu, L)

    def text(number: Number) -> str:
        curvature = [curvature_text(mu, number)] if mu >= 0 or mu != -L else []
        return " and ".join([*curvature, f"{number(L)}-smooth", *bounded_text(lipschitz, number)])

    def coq(number: Number) -> list[str]:
        if mu < 0:
            return [f"lower {number(mu)}", f"upper {number(L)}"]
        return [f"strongly_convex {number(mu)}" if mu else "convex", f"smooth {number(L)}"]

    return FunctionClass(
        parameters={"mu": mu, "L": L, "lipschitz": lipschitz, "indicator": False, "quadratic": False},
        conditions=conditions,
        text=text,
        exact=lipschitz is None and (mu >= 0 or vanishes(mu + L)),
        distinguishes_minimizer=True,
        compares_outcomes=True,
        shifts="one" if lipschitz is None else "none",
        member=lambda points, gradients, values, _: Interpolant(points, gradients, values, float(mu), float(L)),
        coq=coq,
    )


def refuse_empty(mu: Fraction, L: Fraction) -> None:
    """Raise ValueError unless the least curvature is below the largest."""
    if mu >= L:
        message = f"mu must be below L, got mu={written(mu)} and L={written(L)}"
        raise ValueError(message)


def of_pairs(called: Called, mu: Fraction, L: Fraction) -> Iterator[Condition]:
    """Yield the interpolation condition of each ordered pair of oracle calls."""
    for (i, one), (j, other) in permutations(enumerate(called.calls), 2):
        yield Condition((i, j), of_pair(one, other, mu, L))


def above_minimum(number: int, called: Called, mu: Fraction, L: Fraction) -> Iterator[Condition]:
    """Yield that a gradient step from a point, which may descend below a stationary point, ends above the minimum."""
    if called.minimum not in (None, number) and mu < 0:
        one, best = called.calls[number], called.calls[called.minimum]
        yield Condition((number, called.minimum), 1 / (2 * L) * one.gradient.square - (Form.of(one.value) - best.value))


def between_runs(called: Called, mu: Fraction, L: Fraction) -> Iterator[Condition]:
    """Yield the conditions between points of two runs that share only the first of the noises that both depend on.

    If all noises are shared, both points belong to one run.
    """
    for (s, i), (t, j) in product(enumerate(called.calls), repeat=2):
        one, other = (call.at.blocks | call.gradient.blocks for call in (i, j))
        common = [block for block in called.noises if block in one & other]
        for shared in range(len(common)):
            dropped = common[shared:]
            blocks = one - {*dropped}.union(*(noise.crossed for noise in dropped))
            seen = Call(i.at.within(blocks), i.gradient.within(blocks), i.value)
            yield Condition((s, t), of_pair(i, j, mu, L, seen))


def of_pair(i: Call, j: Call, mu: Fraction, L: Fraction, seen: Call | None = None) -> Form:
    r"""Return the condition of an ordered pair, a form that is at most 0.

    ``seen`` is the part of i that has products with j. The conditions of all pairs hold if and only if an L-smooth,
    mu-strongly convex function takes these values (Taylor, Hendrickx, Glineur 2017, Theorem 4; ``mu < L``)

    .. math::
        f_j-f_i+\langle g_j,x_i-x_j\rangle+\frac1{2(1-\mu/L)}\Big[\frac{\|g_i-g_j\|^2}L+\mu\|x_i-x_j\|^2
        -\frac{2\mu}L\langle g_i-g_j,x_i-x_j\rangle\Big]\le0
    """
    seen = seen or i
    on_gradients, on_points, across = _factors(mu, L)
    terms = (
        ((i.gradient, i.gradient), on_gradients),
        ((j.gradient, j.gradient), on_gradients),
        ((seen.gradient, j.gradient), -2 * on_gradients),
        ((i.at, i.at), on_points),
        ((j.at, j.at), on_points),
        ((seen.at, j.at), -2 * on_points),
        ((i.gradient, i.at), -across),
        ((j.gradient, j.at), -across - 1),
        ((seen.gradient, j.at), across),
        ((j.gradient, seen.at), across + 1),
    )
    return Form.total(terms, ((j.value, Fraction(1)), (i.value, Fraction(-1))))


def _factors(mu: Fraction, L: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    half = L / (2 * (L - mu))
    return half / L, half * mu, half * 2 * mu / L


@final
@dataclass(frozen=True)
class Interpolant:
    r"""The largest L-smooth, mu-strongly convex function with given values and gradients at some points.

    With ``l = L - mu``, ``h_i = f_i - mu/2 |x_i|^2`` and ``s_i = g_i - mu x_i``, it is

    .. math::
        F(x)=\frac\mu2\|x\|^2+\min_a\ \frac l2\Big\|x-\sum_ia_i\big(x_i-\tfrac{s_i}l\big)\Big\|^2
        +\sum_ia_i\big(h_i-\tfrac{\|s_i\|^2}{2l}\big)

    over weights ``a_i >= 0`` of sum 1 (Taylor, Hendrickx, Glineur 2017). Points, gradients and
    values have the shapes (n, v), (n, v) and (n,). The minimizer is one of the points.
    """

    points: Array
    gradients: Array
    values: Array
    mu: float
    L: float

    has_gradient: ClassVar[bool] = True

    @property
    def minimum(self) -> float:
        return float(self.values.min())

    def loss(self, w: Array) -> float:
        bulge, corners, levels = self.L - self.mu, self._corners, self._levels
        weights = self._weights(w)
        away = w - weights @ corners
        return float(self.mu / 2 * w @ w + bulge / 2 * away @ away + weights @ levels)

    def gradient(self, w: Array) -> Array:
        found: Array = self.mu * w + (self.L - self.mu) * (w - self._weights(w) @ self._corners)
        return found

    @property
    def _corners(self) -> Array:
        found: Array = self.points - (self.gradients - self.mu * self.points) / (self.L - self.mu)
        return found

    @property
    def _levels(self) -> Array:
        slopes = self.gradients - self.mu * self.points
        heights = self.values - self.mu / 2 * (self.points**2).sum(axis=1)
        found: Array = heights - (slopes**2).sum(axis=1) / (2 * (self.L - self.mu))
        return found

    def _weights(self, w: Array) -> Array:
        bulge = self.L - self.mu
        away = w - self._corners
        linear = self._levels / bulge
        return _on_simplex(away, linear)


def _on_simplex(vectors: Array, linear: Array) -> Array:
    """Minimize ``|sum a_i v_i|^2 / 2 + sum a_i c_i`` over ``a_i >= 0`` with sum 1 (Wolfe 1976)."""
    inside = [int(np.argmin((vectors**2).sum(axis=1) / 2 + linear))]
    weights = np.zeros(linear.size)
    weights[inside] = 1.0
    for _ in range(50 * linear.size):
        slope = vectors @ (weights @ vectors) + linear
        best = int(np.argmin(slope))
        if best in inside or slope[best] >= slope @ weights:
            break
        inside.append(best)
        inside = _settled(weights, inside, vectors, linear)
    return weights


def _settled(weights: Array, inside: list[int], vectors: Array, linear: Array) -> list[int]:
    """Move to the minimum over a face; leave the face if a weight becomes negative."""
    while True:
        here = weights[inside]
        away, is_whole = _descent(here, vectors[inside], linear[inside])
        below = here + away < 0 if is_whole else away < 0
        share = float((here[below] / -away[below]).min()) if below.any() else 1.0
        weights[inside] = np.where(below & (here + share * away <= 1e-15), 0.0, here + share * away)
        if is_whole and not below.any():
            return inside
        inside = [k for k in inside if weights[k] > 0]


def _descent(here: Array, vectors: Array, linear: Array) -> tuple[Array, bool]:
    """Return the step to the minimum and True; if there is no unique minimum, a direction of descent and False.

    Along a direction of descent the objective is linear, so the step ends when a weight becomes 0.
    """
    edges, rise = vectors[1:] - vectors[0], linear[1:] - linear[0]
    turns, lengths, _ = np.linalg.svd(edges)
    idle = turns[:, np.count_nonzero(lengths > 1e-12 * np.linalg.norm(edges)) :]
    if idle.size:
        down = -idle @ (idle.T @ rise)
        change = down if down.any() else idle[:, 0]
    else:
        slope = edges @ (here @ vectors) + rise
        change = -turns @ (turns.T @ slope / lengths**2)
    return np.append(-change.sum(), change), not idle.size
