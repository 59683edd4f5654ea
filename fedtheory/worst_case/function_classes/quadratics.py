"""Quadratic functions with eigenvalues in an interval (Bousselmi, Hendrickx, Glineur 2024)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from typing import ClassVar, final

import numpy as np

from fedtheory._support.validate import Array
from fedtheory.worst_case._constants import written
from fedtheory.worst_case._vectors import Form, Vector
from fedtheory.worst_case.function_classes.interface import (
    Called,
    Condition,
    FunctionClass,
    Number,
    Samples,
    Semidefinite,
)
from fedtheory.worst_case.function_classes.nonsmooth_functions import bounded, bounded_text
from fedtheory.worst_case.function_classes.polyak_lojasiewicz import dominated, dominated_text, refuse_large
from fedtheory.worst_case.function_classes.smooth_functions import refuse_empty

__all__: list[str] = []

_NEGLIGIBLE = 1e-5
"""Singular values below this share of the largest one are treated as 0."""


def quadratic(
    mu: Fraction, L: Fraction, *, lipschitz: Fraction | None = None, polyak: Fraction | None = None
) -> FunctionClass:
    """Return the class of quadratic functions with eigenvalues in [mu, L], perhaps with hypotheses of other classes."""
    refuse_empty(mu, L)
    refuse_large(polyak, L)
    if mu < 0 and polyak is not None:
        message = f"mu must be at least 0 for quadratics of Polyak's class, got {written(mu)}"
        raise ValueError(message)

    def conditions(called: Called) -> Iterator[Condition | Semidefinite]:
        for i, one in enumerate(called.calls):
            yield from bounded(i, one, lipschitz)
            yield from dominated(i, called, polyak)
        if called.calls:
            yield from of_quadratic(called, mu, L)

    def text(number: Number) -> str:
        eigenvalues = f"quadratic with eigenvalues from {number(mu)} to {number(L)}"
        return " and ".join([eigenvalues, *bounded_text(lipschitz, number), *dominated_text(polyak, number)])

    def member(points: Array, gradients: Array, values: Array, minimum: int | None) -> Parabola | Samples:
        first = minimum or 0
        if gradients[first].any():
            return Samples(points, gradients, values)
        curvature = completed((points - points[first]).T, (gradients - gradients[first]).T, float(mu), float(L))
        return Parabola(curvature, points[first], float(values[first]))

    return FunctionClass(
        parameters={"mu": mu, "L": L, "lipschitz": lipschitz, "indicator": False, "polyak": polyak, "quadratic": True},
        conditions=conditions,
        text=text,
        exact=lipschitz is None and polyak is None,
        needs_minimizer=polyak is not None,
        compares_outcomes=True,
        shifts="one" if lipschitz is None and polyak is None else "none",
        member=member,
        without_coq="quadratic functions have no formal statement yet",
    )


def of_quadratic(called: Called, mu: Fraction, L: Fraction) -> Iterator[Condition | Semidefinite]:
    """Yield the conditions on the values of one quadratic function with curvatures in [mu, L].

    Let X be the points minus the first one, and Y their gradients minus its gradient. The conditions are
    ``f - f_1 = <x - x_1, y + y_1>/2``, ``X'Y`` is symmetric, and ``(Y - mu X)'(L X - Y)`` is positive semidefinite. The
    matrix of the function is the same for all outcomes of a noise. It therefore maps the part of a point in the block
    of a noise to the part of the gradient in that block. The function's ``own`` blocks belong to one point.
    """
    half, place = Fraction(1, 2), called.minimum or 0
    first = called.calls[place]
    others = [(number, call) for number, call in enumerate(called.calls) if number != place]
    for number, call in others:
        chord = (call.at - first.at) @ (call.gradient + first.gradient)
        yield Condition((number, place), Form.of(call.value) - first.value - half * chord, is_equality=True)
    moved = [(call.at - first.at, call.gradient - first.gradient) for _, call in others]
    every = [(call.at, call.gradient) for call in (first, *(call for _, call in others))]
    for blocks, pairs in _by_source(every, moved, called.own):
        yield from _mapped_symmetrically(blocks, pairs, mu, L)


def _mapped_symmetrically(
    blocks: Sequence[int], pairs: Pairs, mu: Fraction, L: Fraction
) -> Iterator[Condition | Semidefinite]:
    """Yield ``X'Y`` is symmetric, and ``(Y - mu X)'(L X - Y)`` is positive semidefinite."""
    half = Fraction(1, 2)
    xs, ys = ([vector.within(blocks) for vector in side] for side in zip(*pairs, strict=True))
    low = [y - mu * x for x, y in zip(xs, ys, strict=True)]
    high = [L * x - y for x, y in zip(xs, ys, strict=True)]
    upper = combinations_with_replacement(range(len(xs)), 2)
    yield Semidefinite({(i, j): half * (low[i] @ high[j] + low[j] @ high[i]) for i, j in upper})
    for i, j in combinations(range(len(xs)), 2):
        yield Condition((), xs[j] @ ys[i] - xs[i] @ ys[j], is_equality=True)


Pairs = list[tuple[Vector, Vector]]
"""Points, and their images under one linear map."""


def _by_source(pairs: Pairs, moved: Pairs, own: Sequence[int]) -> Iterator[tuple[Sequence[int], Pairs]]:
    """Yield the own blocks with the shifted pairs, and each other block with its nonzero pairs."""
    if moved:
        yield own, moved
    for block in sorted(set().union(*(x.blocks | y.blocks for x, y in pairs)) - {*own}):
        yield [block], [(x, y) for x, y in pairs if block in x.blocks | y.blocks]


@final
@dataclass(frozen=True)
class Parabola:
    """The quadratic loss ``(w - c)' H (w - c) / 2 + minimum``; shapes (v, v) and (v,)."""

    curvature: Array
    center: Array
    minimum: float = 0.0

    has_gradient: ClassVar[bool] = True

    def loss(self, w: Array) -> float:
        away = w - self.center
        return float(away @ self.curvature @ away / 2 + self.minimum)

    def gradient(self, w: Array) -> Array:
        found: Array = self.curvature @ (w - self.center)
        return found


def completed(x: Array, y: Array, low: float, high: float) -> Array:
    """Complete a symmetric matrix H with eigenvalues in [low, high] from ``H x = y``, shapes (v, n)."""
    basis, lengths, rows = np.linalg.svd(x)
    rank = int((lengths > _NEGLIGIBLE * lengths[0]).sum())
    inside, outside = basis[:, :rank], basis[:, rank:]
    image = y @ (rows[:rank].T / lengths[:rank])
    A, B = inside.T @ image, outside.T @ image
    A = (A + A.T) / 2
    # The unknown block lies between two Schur complements; the middle has the largest distance from both.
    least = low * np.eye(len(B)) + B @ np.linalg.pinv(A - low * np.eye(rank), rcond=1e-6) @ B.T
    most = high * np.eye(len(B)) - B @ np.linalg.pinv(high * np.eye(rank) - A, rcond=1e-6) @ B.T
    H = basis @ np.block([[A, B.T], [B, (least + most) / 2]]) @ basis.T
    values, vectors = np.linalg.eigh((H + H.T) / 2)
    found: Array = (vectors * np.clip(values, low, high)) @ vectors.T
    return found
