"""Whether the lower side of a worst case consists of functions of the classes, client by client.

The Gram matrices of a proof are converted to vectors, one for each client and for each of several outcomes of the
noises. Different outcomes are orthogonal, as in the limit of many outcomes. All points of a function, over all
outcomes, must fulfill the interpolation conditions of its class, which are implemented here independently.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from fedtheory.worst_case import Problem
from fedtheory.worst_case.worst_cases import WorstCase

Array = Any
CLOSE = 1e-6
LONG = 1e6
"""Vectors that may be as long as one likes have been taken so long that doubles do not see the others."""


class Space:
    """Vectors of a problem as a feasible point has them, for a client and outcomes of the noises."""

    def __init__(self, problem: Problem, solution: WorstCase, num_clients: int) -> None:
        point, program = solution.deciding.proof.point, solution.deciding.proof.program
        assert point is not None
        self.problem, self.num_clients = problem, num_clients
        self.record = solution.cases[0].record
        self.noises: dict[int, int] = {block: place for place, block in enumerate(self.record.noises)}
        self.crossed = {block: pair for pair, block in self.record.crossings.items()}
        self.factors = [factor(np.array([[float(x) for x in row] for row in gram])) for gram in point.grams]
        self.values = {value: float(point.values[place]) for value, place in program.values.items()}

    def vector(self, vector: Any, client: int, outcomes: Sequence[int]) -> Array:
        """Return a vector in space: each block has a subspace for each client, or for each history of outcomes."""
        sources, centered = self.record.sources, np.eye(self.num_clients) - 1 / self.num_clients
        parts, spots = [], dict[int, Array]()
        for block, rows in enumerate(self.factors[: len(sources)]):  # beyond them, slacks have blocks
            inside = sum(
                (float(c) * rows[place] for (home, place), c in vector.coordinates.items() if home == block),
                0 * rows[0],
            )
            if block in self.noises:
                before = [outcomes[place] for other, place in self.noises.items() if other in sources[block].behind]
                own = client if sources[block].owner in {one.name for one in self.record.declared} else 0
                history = (*before, outcomes[self.noises[block]], own)
                spot = np.zeros((2,) * (len(history) - 1) + (self.num_clients,))
                spot[history] = 1
            elif block in self.crossed:
                spot = np.kron(*(spots[one] for one in self.crossed[block]))
            else:
                spot = centered[client] / np.linalg.norm(centered[client]) if sources[block].owner else np.ones(1)
            spots[block] = spot.ravel()
            parts.append(np.kron(spots[block], inside))
        return np.concatenate(parts)


def factor(gram: Array) -> Array:
    values, vectors = np.linalg.eigh(gram)
    return vectors * np.sqrt(np.maximum(values, 0))


def pooled(space: Space, actor: Any, points: Sequence[Any]) -> Iterator[list[tuple[Array, Array, float]]]:
    """Yield the points of a function, or of each client's function, of all outcomes together."""
    every = range(space.num_clients)
    for clients in [[k] for k in every] if actor.num_clients > 1 else [[*every]]:
        yield [
            (
                space.vector(one.at, k, outcomes),
                space.vector(one.gradient, k, outcomes),
                space.values.get(one.value, 0.0),
            )
            for k in clients
            for outcomes in product((0, 1), repeat=len(space.noises))
            for one in points
        ]


def check_attained(problem: Problem, solution: WorstCase, num_clients: int = 3, floors: Sequence[Any] = ()) -> None:
    """Refuse a lower side whose functions are of no class; values of ``floors`` must be at least 0."""
    space = Space(problem, solution, num_clients)
    if max(float(np.abs(rows).max()) for rows in space.factors) > LONG:
        return
    for actor in space.record.declared:
        for points in pooled(space, actor, actor.calls):
            scale = 1 + max((float(x @ x + g @ g) + abs(f) for x, g, f in points), default=0.0)
            if actor.of.kind == "function":
                off = outside(actor.of, points, actor.minimum)
                assert off <= CLOSE * scale, f"{actor.name} is of no function, by {off / scale:.1e}"
                assert min((f for _, _, f in points), default=0) >= (
                    -CLOSE * scale if actor.name in floors else -np.inf
                )
            else:
                assert operator(actor.of, points) <= CLOSE * scale, f"{actor.name} is of no operator"


def outside(of: Any, points: Sequence[tuple[Array, Array, float]], minimum: int | None) -> float:
    """Return by how much the conditions of a class of functions are broken."""
    mu, L, off = float(of.mu), float(of.parameters.get("L") or np.inf), [0.0]
    lipschitz, diameter = (of.parameters.get(name) for name in ("lipschitz", "diameter"))
    if of.quadratic:
        xs, gs, fs = (np.array(side) for side in zip(*points, strict=True))
        X, Y = xs - xs[0], gs - gs[0]
        off += [
            float(np.abs(X @ Y.T - Y @ X.T).max()),
            -float(np.linalg.eigvalsh(symmetric((Y - mu * X) @ (L * X - Y).T)).min()),
        ]
        off.append(float(np.abs(fs - fs[0] - ((X * (gs + gs[0])).sum(axis=1) / 2)).max()))
    else:
        for (x, g, f), (y, h, e) in product(points, repeat=2):
            steep = (g - mu * x) - (h - mu * y)
            below = e - mu / 2 * y @ y + (h - mu * y) @ (x - y) + steep @ steep / (2 * (L - mu))
            off.append(float(below - (f - mu / 2 * x @ x)))
    for x, g, f in points:
        off += [] if lipschitz is None else [float(np.linalg.norm(g)) - float(lipschitz)]
        if diameter is not None:
            off += [float(np.linalg.norm(x - y)) - float(diameter) for y, _, _ in points]
        if minimum is not None:
            *_, least = points[minimum]
            off.append(least - f + float(g @ g) / (2 * L) * (mu < 0))
    return max(off)


def operator(of: Any, points: Sequence[tuple[Array, Array, float]]) -> float:
    off, (monotone, cocoercive, lipschitz) = [0.0], of.parameters.values()
    for (x, t, _), (y, s, _) in product(points, repeat=2):
        apart, between = x - y, t - s
        if monotone is not None:
            off.append(float(monotone) * apart @ apart - apart @ between)
        if cocoercive is not None:
            off.append(float(cocoercive) * between @ between - apart @ between)
        if lipschitz is not None:
            off.append(between @ between - float(lipschitz) ** 2 * apart @ apart)
    return float(max(off))


def symmetric(matrix: Array) -> Array:
    return (matrix + matrix.T) / 2
