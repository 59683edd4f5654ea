"""Worst quadratic clients in exact rationals: curvatures read off a solution, and everything computed from them anew.

A matrix is rounded to a rational one of eigenvalues in [mu, L] through its eigenvectors (Cayley's rational orthogonal
matrices) and eigenvalues ``h = mu + (L - mu)/(1 + t^2)``, for which ``((h - mu)(L - h))^(1/2)`` is rational, too.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from fedtheory._validate import Array
from fedtheory.worst_case._embedding import completed
from fedtheory.worst_case._exchangeable import Scene
from fedtheory.worst_case._rational import rounded
from fedtheory.worst_case._settings import Setting
from fedtheory.worst_case.certificates import FeasiblePoint
from fedtheory.worst_case.function_classes import Point
from fedtheory.worst_case.gram import Vector
from fedtheory.worst_case.solver import Solution

__all__ = ["exact_parabolas"]

Exact = Any
"""Array of rationals."""
_BITS = 40
# Lengths shrink by so much, to stay within the bounds in spite of rounding.
_SHRUNK = 1 - Fraction(1, 10**8)
_NEGLIGIBLE = 1e-8


class Curvature(NamedTuple):
    """A symmetric matrix H, its inverse, and the root of ``(H - mu)(1 - H)``."""

    matrix: Exact
    inverse: Exact
    root: Exact


def exact_parabolas(scene: Scene, given: Setting, solution: Solution) -> FeasiblePoint:
    """Return a feasible point of quadratic clients close to a solution."""
    num_slacks = len(scene.points)
    spaces = [_factor(gram) for gram in solution.grams[: len(solution.grams) - num_slacks]]
    curvatures = [_curvature(points, spaces, given.mu) for points in scene.points]
    places = _Places(spaces)
    _begin(scene, places, curvatures)
    news = True
    while news:
        found = [places.follow(points, known) for points, known in zip(scene.points, curvatures, strict=True)]
        news = any(found)
    return _feasible(scene, places, curvatures, solution)


def _factor(gram: Array) -> Array:
    values, vectors = np.linalg.eigh(gram)
    used = values > _NEGLIGIBLE * max(values[-1], 1e-300)
    found: Array = np.sqrt(values[used])[:, None] * vectors[:, used].T
    return found


def _numbers(vector: Vector, spaces: Sequence[Array]) -> Array:
    parts = [np.zeros(space.shape[0]) for space in spaces]
    for (block, place), c in vector.coordinates.items():
        parts[block] += float(c) * spaces[block][:, place]
    found: Array = np.concatenate(parts)
    return found


def _curvature(points: Sequence[Point], spaces: Sequence[Array], mu: Fraction) -> Curvature:
    minimum = _numbers(points[0].at, spaces)
    x = np.array([_numbers(point.at, spaces) - minimum for point in points[1:]]).T
    y = np.array([_numbers(point.gradient, spaces) for point in points[1:]]).T
    values, vectors = np.linalg.eigh(completed(x, y, float(mu), 1.0))
    return _rational_curvature(values, vectors, mu)


def _rational_curvature(values: Array, vectors: Array, mu: Fraction) -> Curvature:
    size = len(values)
    # Among the signs of the eigenvectors those count whose matrix is farthest from having the eigenvalue -1.
    signs = max(_signs(size), key=lambda s: float(np.linalg.det(np.eye(size) + vectors * s)))
    turn = vectors * signs
    skew = (np.eye(size) - turn) @ np.linalg.inv(np.eye(size) + turn)
    half = [[rounded((skew[i, j] - skew[j, i]) / 2, _BITS) for j in range(size)] for i in range(size)]
    S = np.array(half, dtype=object).reshape(size, size)
    unit = np.array([[Fraction(i == j) for j in range(size)] for i in range(size)], dtype=object).reshape(size, size)
    Q = (unit - S) @ _inverse(unit + S)
    low = float(mu)
    ts = [rounded(float(np.sqrt(max(1 - h, 0.0) / max(h - low, 1e-12))), _BITS) for h in values]
    h = np.array([mu + (1 - mu) / (1 + t**2) for t in ts], dtype=object)
    root = np.array([(1 - mu) * t / (1 + t**2) for t in ts], dtype=object)
    return Curvature(*((Q * diagonal) @ Q.T for diagonal in (h, 1 / h, root)))


def _signs(size: int) -> Iterator[Array]:
    for signs in product((1.0, -1.0), repeat=min(size, 8)):
        yield np.array([*signs, *[1.0] * (size - len(signs))])


def _inverse(matrix: Exact) -> Exact:
    size = len(matrix)
    rows = [[*row, *(Fraction(i == j) for j in range(size))] for i, row in enumerate(matrix)]
    for i in range(size):
        pivot = max(range(i, size), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [entry / rows[i][i] for entry in rows[i]]
        for k in range(size):
            if k != i and rows[k][i]:
                rows[k] = [a - rows[k][i] * b for a, b in zip(rows[k], rows[i], strict=True)]
    return np.array([row[size:] for row in rows], dtype=object).reshape(size, size)


class _Places:
    """Where the basis vectors are, as far as it is known."""

    def __init__(self, spaces: Sequence[Array]) -> None:
        self.spaces = spaces
        self.ends = np.cumsum([0, *(space.shape[0] for space in spaces)])
        self.known: dict[tuple[int, int], Exact] = {}

    def knows(self, vector: Vector) -> bool:
        """Whether all basis vectors of a vector are known."""
        return all(key in self.known for key in vector.coordinates)

    def at(self, vector: Vector) -> Exact:
        """Return a vector whose basis vectors are all known."""
        total = np.array([Fraction(0)] * int(self.ends[-1]), dtype=object)
        for (block, place), c in vector.coordinates.items():
            total[self.ends[block] : self.ends[block + 1]] += c * self.known[block, place]
        return total

    def put(self, vector: Vector, place: Exact) -> None:
        """Say where a vector is that has one basis vector in each of its blocks, which was not known."""
        for (block, number), c in vector.coordinates.items():
            self.known[block, number] = place[self.ends[block] : self.ends[block + 1]] / c

    def start(self, vector: Vector) -> None:
        """Round where a vector is in the solution, a bit nearer to the origin."""
        numbers = _numbers(vector, self.spaces)
        self.put(vector, np.array([_SHRUNK * rounded(c, _BITS) for c in numbers], dtype=object))

    def follow(self, points: Sequence[Point], curvature: Curvature) -> bool:
        """Compute the gradients that have become known; say whether there were any."""
        found, minimum = False, self.at(points[0].at)
        for point in points[1:]:
            if self.knows(point.at) and not self.knows(point.gradient):
                self.put(point.gradient, curvature.matrix @ (self.at(point.at) - minimum))
                found = True
        return found


def _begin(scene: Scene, places: _Places, curvatures: Sequence[Curvature]) -> None:
    """Place the first model, the gradients at w*, and the minimizers that follow from them."""
    places.start(scene.start)
    for points, curvature in zip(scene.points, curvatures, strict=True):
        home = points[1]
        if not points[0].at.coordinates:
            continue
        if not places.knows(home.gradient):
            places.start(home.gradient)
        places.put(points[0].at, -curvature.inverse @ places.at(home.gradient))


def _feasible(scene: Scene, places: _Places, curvatures: Sequence[Curvature], solution: Solution) -> FeasiblePoint:
    values: dict[Any, Fraction] = {}
    factors = []
    for block, (space, gram) in enumerate(zip(places.spaces, solution.grams, strict=False)):
        columns = [places.known[block, place] for place in range(len(gram))]
        factors.append(tuple(tuple(column[row] for column in columns) for row in range(space.shape[0])))
    for points, curvature in zip(scene.points, curvatures, strict=True):
        minimum = places.at(points[0].at)
        away = [places.at(point.at) - minimum for point in points]
        heights = [Fraction(x @ curvature.matrix @ x) / 2 for x in away]
        zeros = [height for point, height in zip(points, heights, strict=True) if point.value in scene.program.zeros]
        for point, height in zip(points, heights, strict=True):
            values[point.value] = height - sum(zeros[:1])
        slack = [curvature.root @ x for x in away[1:]]
        factors.append(tuple(tuple(column[row] for column in slack) for row in range(len(minimum))))
    return FeasiblePoint(tuple(factors), tuple(values[value] for value in scene.program.values))
