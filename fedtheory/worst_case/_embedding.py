"""From a program's solution to vectors of numbers, client by client."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import product

import numpy as np

from fedtheory._support.validate import Array
from fedtheory.arithmetic.matrices import root
from fedtheory.worst_case._actors import Function
from fedtheory.worst_case._classes import Point
from fedtheory.worst_case._gram import Vector
from fedtheory.worst_case._settings import Setting
from fedtheory.worst_case.enclosures import Proof
from fedtheory.worst_case.instances import ClientFunction, History, Instance, Interpolant, Outcome, Parabola
from fedtheory.worst_case.problem import Problem

__all__ = ["Embedding", "Places", "completed", "vertices"]

Places = Mapping[int, Array]
"""Of a client, its vector of places in each block; blocks without places hold none of its vectors."""

# Directions in which nothing is longer than this share of the longest one are left out.
_NEGLIGIBLE = 1e-5


def vertices(num: int) -> Array:
    """Return unit vectors of sum zero, the vertices of a regular simplex, shape (num, num - 1).

    >>> vertices(2) @ vertices(2).T
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    centered = np.eye(num) - 1 / num
    _, _, rows = np.linalg.svd(centered)
    found: Array = centered @ rows[:-1].T * np.sqrt(num / max(num - 1, 1))
    return found


class Embedding:
    """Places of a problem's vectors in space, in the units of its setting.

    A client that is one of several which cannot be told apart has in every block a vector of places: its own vertex for
    deviations, 1 for means. Noises of two outcomes stand for those of many, which they approach: in the block of the
    s-th noise the outcomes before it choose one of ``2^s`` directions, its own outcome the sign.
    """

    def __init__(self, p: Problem, proof: Proof, given: Setting) -> None:
        if proof.point is None:
            message = "a worst case must have a point to have an instance, got none"
            raise ValueError(message)
        factors = [np.array(root(gram)).reshape(len(gram), -1).T for gram in proof.point.grams]
        longest = max(float(np.linalg.norm(factor, 2)) for factor in factors if factor.size)
        self._factors = [_compressed(factor, _NEGLIGIBLE * longest) for factor in factors]
        self._values = dict(zip(proof.program.values, map(float, proof.point.values), strict=True))
        self._noises = {block: s for s, block in enumerate(p.noises)}
        self.problem, self.given = p, given

    def place(self, vector: Vector, places: Places, curvature: int = 0, outcomes: Sequence[int] = ()) -> Array:
        """Return a vector in space, of a client with these places; ``curvature`` is 1 for a gradient."""
        parts = []
        for block, factor in enumerate(self._factors):
            inside = np.zeros(factor.shape[1])
            for (home, number), c in vector.coordinates.items():
                if home == block:
                    inside[number] = float(c)
            spot = _signs(self._noises[block], outcomes) if block in self._noises else places.get(block, np.zeros(0))
            parts.append(np.kron(spot, factor @ inside))
        unit = float(self.given.length2) ** 0.5 * float(self.given.L) ** curvature
        found: Array = unit * np.concatenate(parts)
        return found

    @cached_property
    def _places_of_clients(self) -> list[tuple[Function, Places]]:
        """Every client: those that cannot be told apart are on the vertices of a simplex."""
        functions = [one for one in self.problem.actors if isinstance(one, Function)]
        middle = {b: np.zeros(one.num_clients - 1) for one in functions for b in one.blocks[1:]} | {0: np.ones(1)}
        return [
            (one, middle | dict.fromkeys(one.blocks[1:], vertex))
            for one in functions
            for vertex in vertices(one.num_clients)
        ]

    @property
    def start(self) -> Array:
        """The first model."""
        return self.place(self.problem.points["start"], self._places_of_clients[0][1])

    @cached_property
    def clients(self) -> list[Interpolant | Parabola]:
        """All clients' losses."""
        return [self.client(one, places) for one, places in self._places_of_clients]

    def client(self, function: Function, places: Places) -> Interpolant | Parabola:
        """Return a client's loss, known at all models to which noises may lead."""
        L, unit = float(self.given.L), float(self.given.unit("gap"))
        known = [(point, outcomes) for point in function.points for outcomes in self._outcomes(point)]
        found = Interpolant(
            points=np.array([self.place(point.at, places, 0, outcomes) for point, outcomes in known]),
            gradients=np.array([self.place(point.gradient, places, 1, outcomes) for point, outcomes in known]),
            values=unit * np.array([self._values.get(point.value, 0.0) for point, _ in known]),
            mu=float(self.given.mu) * L,
            L=L,
        )
        if not function.of.quadratic:
            return found
        away = (found.points[1:] - found.points[0]).T
        curvature = completed(away, found.gradients[1:].T, found.mu, L)
        return Parabola(curvature, center=found.points[0], minimum=float(found.values[0]))

    @property
    def noises(self) -> tuple[Array, ...]:
        """The noise of each step by the outcomes so far, shapes (2, ..., 2, v)."""
        found = []
        for block, s in self._noises.items():
            noise = Vector({(block, 0): Fraction(1)})  # the first vector of its block
            placed = [
                self.place(noise, self._places_of_clients[0][1], 1, outcomes)
                for outcomes in product((0, 1), repeat=s + 1)
            ]
            found.append(np.array(placed).reshape((2,) * (s + 1) + (-1,)))
        return tuple(found)

    def federation(
        self,
        selection: Callable[[Array, History], Sequence[Outcome]],
        *,
        clients: Sequence[ClientFunction] | None = None,
        weights: Array | None = None,
        num_rounds: int = 1,
        objective: str = "distance",
    ) -> Instance:
        """Return the federation, by default of all clients with equal weights."""
        clients = self.clients if clients is None else clients
        return Instance(
            clients=tuple(clients),
            weights=np.full(len(clients), 1 / len(clients)) if weights is None else weights,
            start=self.start,
            step_sizes=tuple(float(eta / self.given.L) for eta in self.given.steps),
            num_rounds=num_rounds,
            selection=selection,
            objective=objective,
            noises=self.noises,
        )

    def _outcomes(self, point: Point) -> Iterator[tuple[int, ...]]:
        """Yield the outcomes of the noises that lead to a point."""
        return product((0, 1), repeat=len(point.at.blocks & self._noises.keys()))


def _signs(s: int, outcomes: Sequence[int]) -> Array:
    """Return where something lies in the s-th noise's block; what has fewer outcomes has no part in it."""
    found = np.zeros(2**s)
    if s < len(outcomes):
        found[int("0" + "".join(map(str, outcomes[:s])), 2)] = 1.0 - 2 * outcomes[s]
    return found


def _compressed(factor: Array, negligible: float) -> Array:
    """Turn the space so that it has no more directions than are used."""
    _, lengths, rows = np.linalg.svd(factor)
    used = lengths > negligible
    found: Array = lengths[used, None] * rows[: lengths.size][used]
    return found


def completed(x: Array, y: Array, low: float, high: float) -> Array:
    """Complete a symmetric matrix with eigenvalues in [low, high] of which ``H x = y`` is known, shapes (v, n)."""
    basis, lengths, rows = np.linalg.svd(x)
    rank = int((lengths > _NEGLIGIBLE * lengths[0]).sum())
    inside, outside = basis[:, :rank], basis[:, rank:]
    image = y @ (rows[:rank].T / lengths[:rank])
    A, B = inside.T @ image, outside.T @ image
    A = (A + A.T) / 2
    # What is not known lies between two Schur complements; the middle is farthest from both.
    least = low * np.eye(len(B)) + B @ np.linalg.pinv(A - low * np.eye(rank), rcond=1e-6) @ B.T
    most = high * np.eye(len(B)) - B @ np.linalg.pinv(high * np.eye(rank) - A, rcond=1e-6) @ B.T
    H = basis @ np.block([[A, B.T], [B, (least + most) / 2]]) @ basis.T
    values, vectors = np.linalg.eigh((H + H.T) / 2)
    found: Array = (vectors * np.clip(values, low, high)) @ vectors.T
    return found
