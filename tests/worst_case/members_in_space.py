"""Random members of every class of functions and operators, in NumPy.

A function is a sum over the coordinates of functions whose derivative is piecewise linear and may be discontinuous:
parabolas, Huber functions, hinges, and indicators of boxes. Arrays have an axis for each source of variation (clients,
noises), and the coordinates last.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction as Q
from itertools import pairwise
from typing import Any

import numpy as np

Array = Any
FAR = 1e3
"""Minimizers are looked for between -FAR and FAR."""


@dataclass(frozen=True)
class Curve:
    """The slope is ``slopes[0] (t - center) + base``; at each knot it jumps, and has the next one of ``slopes``."""

    center: Array
    base: Array
    slopes: Array
    knots: Array
    jumps: Array
    level: float = 0.0
    low: float = -np.inf
    high: float = np.inf

    def slope(self, x: Array, side: int = 1) -> Array:
        """Return the right or the left derivative by coordinate."""
        found = self.slopes[0] * (x - self.center) + self.base
        for knot, jump, (before, after) in zip(self.knots, self.jumps, pairwise(self.slopes), strict=True):
            beyond = x >= knot if side > 0 else x > knot
            found = found + (after - before) * np.maximum(x - knot, 0) + jump * beyond
        if side > 0:
            return np.where(x >= self.high, np.inf, np.where(x < self.low, -np.inf, found))
        return np.where(x <= self.low, -np.inf, np.where(x > self.high, np.inf, found))

    def value(self, x: Array) -> Array:
        t = x - self.center
        found = self.slopes[0] / 2 * t**2 + self.base * t
        for knot, jump, (before, after) in zip(self.knots, self.jumps, pairwise(self.slopes), strict=True):
            beyond = np.maximum(x - knot, 0)
            found = found + (after - before) / 2 * beyond**2 + jump * beyond
        return found.sum(axis=-1) + self.level


@dataclass
class Member:
    """A function, or one for each client along an axis; it remembers which subgradient it took at a point."""

    curves: Sequence[Curve]
    axis: int | None = None

    def __post_init__(self) -> None:
        self.chosen: list[tuple[Array, Array]] = []

    def each(self, x: Array, ask: Callable[[Curve, Array], Array]) -> Array:
        if self.axis is None:
            return ask(self.curves[0], x)
        parts = [ask(curve, np.take(x, k, axis=self.axis)) for k, curve in enumerate(self.curves)]
        return np.stack(parts, axis=self.axis)

    def slope(self, x: Array, side: int = 1) -> Array:
        return self.each(x, lambda curve, at: curve.slope(at, side))

    def value(self, x: Array) -> Array:
        return self.each(x, Curve.value)

    def gradient(self, x: Array) -> Array:
        for at, slope in self.chosen:
            if np.abs(at - x).max() < 1e-9:
                return slope
        left, right = self.slope(x, -1), self.slope(x, 1)
        bounds = np.isfinite(left), np.isfinite(right)
        found = np.where(bounds[1], right, np.where(bounds[0], left, 0.0))
        self.chosen.append((x, found))
        return found

    def knots(self) -> Array:
        found = [
            knot
            for curve in self.curves
            for knot in (*curve.knots, curve.low + 0 * curve.center, curve.high + 0 * curve.center)
        ]
        return np.array(found)


class Nowhere(Exception):
    """A function has no minimizer."""


def snapped(parts: Sequence[Member], y: Array) -> Array:
    """Move coordinates to the knots that they are close to."""
    for part in parts:
        for knot in part.knots():
            y = np.where(np.abs(y - knot) < 1e-9, knot, y)
    return y


def minimum_of(parts: Sequence[tuple[float, Member]], at: Array, pull: float, direction: Array, *, mean: bool) -> Array:
    """Return where a sum plus ``pull/2 |. - at|^2 + <direction, .>`` is least, and take subgradients that add up to 0.

    With ``mean`` the minimizer is one of the mean over clients.
    """

    def whole(y: Array, side: int) -> Array:
        total = pull * (y - at) + direction
        for c, part in parts:
            slope = part.slope(y, side)
            if mean and part.axis is not None:
                slope = slope.mean(axis=part.axis, keepdims=True) + 0 * y
            total = total + c * slope
        return total

    low, high = np.full(at.shape, -FAR), np.full(at.shape, FAR)
    for _ in range(64):
        middle = (low + high) / 2
        rises = whole(middle, 1) > 0
        low, high = np.where(rises, low, middle), np.where(rises, middle, high)
    y = snapped([part for _, part in parts], (low + high) / 2)
    if np.abs(y).max() > FAR / 2:
        raise Nowhere
    left, right = whole(y, -1), whole(y, 1)
    ranged = np.isfinite(left) & np.isfinite(right) & (right > left)
    share = np.where(ranged, -left, 0.0) / np.where(ranged, right - left, 1.0)
    rest, slopes = pull * (y - at) + direction, []
    for c, part in parts:
        one, other = part.slope(y, -1), part.slope(y, 1)
        inside = np.isfinite(one) & np.isfinite(other)
        slope = np.where(inside, one, 0) + share * (np.where(inside, other, 0) - np.where(inside, one, 0))
        slopes.append((c, part, slope, inside))
        rest = rest + c * (slope.mean(axis=part.axis, keepdims=True) if mean and part.axis is not None else slope)
    for c, part, slope, inside in slopes:
        # On the edge of a box the normal vector balances the others.
        part.chosen.append((y, np.where(inside, slope, -rest / c)))
    return y


def curve(rng: np.random.Generator, dim: int, kind: dict[str, Any]) -> Curve:
    """Draw a function of a class, which is given as the arguments of ``Problem.function``."""
    mu, L = float(kind.get("mu", 0)), kind.get("L")
    top = float(L) if L is not None else max(mu, 0) + 2.0
    count = 0 if kind.get("quadratic") else int(rng.integers(0, 4))
    slopes = rng.choice([mu, (mu + top) / 2, top], size=(count + 1, dim))
    knots = np.sort(rng.normal(size=(count, dim)), axis=0)
    jumps = rng.choice([0.0, 0.5, 1.0], size=(count, dim)) * (L is None)
    center, base, level = rng.normal(size=dim), np.zeros(dim), float(rng.normal())
    if mu <= 0 and not kind.get("quadratic"):  # bounded below: convex far away
        slopes[0] = slopes[-1] = top
    if kind.get("polyak") is not None:
        slopes = np.maximum(slopes, float(kind["polyak"]))
    if kind.get("lipschitz") is not None:
        # From -a to a, over jumps or slopes.
        knots, a = np.sort(rng.normal(size=(2, dim)), axis=0), float(kind["lipschitz"]) / dim**0.5
        if L is None:
            slopes, jumps = np.zeros((3, dim)), np.full((2, dim), a)
        else:
            knots[1] = knots[0] + 2 * a / top
            slopes, jumps = np.array([np.zeros(dim), np.full(dim, top), np.zeros(dim)]), np.zeros((2, dim))
        base = np.full(dim, -a)
    return Curve(center, base, slopes, knots, jumps, level)


def box(rng: np.random.Generator, dim: int, diameter: Any) -> Curve:
    """Draw the indicator of a cube."""
    side = float(diameter or 3) / dim**0.5
    low = float(rng.normal())
    zero = np.zeros(dim)
    return Curve(zero, zero, np.zeros((1, dim)), np.zeros((0, dim)), np.zeros((0, dim)), 0.0, low, low + side)


def least(member: Curve) -> Array:
    """Return the least point of a smooth function that need not be convex, coordinate by coordinate."""
    grid = np.linspace(-30, 30, 60_001)[:, None] + 0 * member.center
    start = np.concatenate([grid, member.knots, member.center[None]])
    t = start - member.center
    values = member.slopes[0] / 2 * t**2 + member.base * t
    for knot, (before, after) in zip(member.knots, pairwise(member.slopes), strict=True):
        values = values + (after - before) / 2 * np.maximum(start - knot, 0) ** 2
    found = np.take_along_axis(start, values.argmin(axis=0)[None], axis=0)[0]
    for _ in range(50):  # Newton's method on a piecewise linear slope
        slope = member.slope(found)
        curvature = member.slopes[0] + sum(
            (after - before) * (found > knot)
            for knot, (before, after) in zip(member.knots, pairwise(member.slopes), strict=True)
        )
        found = found - np.where(np.abs(slope) > 1e-13, slope / np.where(curvature > 0, curvature, 1.0), 0)
    return found


@dataclass
class Map:
    """``x -> A x + b``."""

    matrix: Array
    shift: Array

    def __call__(self, x: Array) -> Array:
        return x @ self.matrix.T + self.shift


def operator(rng: np.random.Generator, dim: int, kind: dict[str, Any]) -> Map:
    """Draw an affine operator of a class, given as the arguments of ``Problem.operator``."""
    turn, _ = np.linalg.qr(rng.normal(size=(dim, dim)))
    skew = rng.normal(size=(dim, dim))
    skew = skew - skew.T
    scales = rng.choice([0.0, 0.5, 1.0], size=dim)
    if kind.get("nonexpansive") or (kind.get("lipschitz") is not None and len(kind) == 1):
        matrix = float(kind.get("lipschitz", 1)) * turn * scales
    elif kind.get("cocoercive") is not None:
        matrix = turn @ np.diag(scales) @ turn.T / float(kind["cocoercive"])
    else:
        least = float(kind.get("strongly_monotone", 0))
        matrix = least * np.eye(dim) + turn @ np.diag(scales) @ turn.T + skew
        if kind.get("lipschitz") is not None:
            rest = matrix - least * np.eye(dim)
            matrix = least * np.eye(dim) + rest / np.linalg.norm(rest, 2) * (float(kind["lipschitz"]) - least)
    return Map(matrix, rng.normal(size=dim))


def above(number: float) -> Q:
    """Return a rational that is a little larger."""
    return Q(int(np.floor(number * 10**9)) + 2, 10**9)
