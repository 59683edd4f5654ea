"""From a program's solution to vectors of numbers, client by client."""

from collections.abc import Mapping, Sequence

import numpy as np

from fedtheory._support.semidefinite import root
from fedtheory._support.validate import Array
from fedtheory.worst_case._function_classes import Point
from fedtheory.worst_case._gram import Vector
from fedtheory.worst_case._settings import Setting
from fedtheory.worst_case.enclosures import Proof
from fedtheory.worst_case.instances import Interpolant, Parabola

__all__ = ["Embedding", "Places", "completed", "vertices"]

Places = Mapping[int, Array]
"""Of a client, its vector of places in each block."""

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
    """Places of a program's vectors in space, in the units of its setting.

    A client that is one of several which cannot be told apart has in every block a vector of places: its own vertex for
    deviations, 1 for means.
    """

    def __init__(self, proof: Proof, given: Setting) -> None:
        if proof.point is None:
            message = "a worst case must have a point to have an instance, got none"
            raise ValueError(message)
        factors = [np.array(root(gram)).reshape(len(gram), -1).T for gram in proof.point.grams]
        longest = max(float(np.linalg.norm(factor, 2)) for factor in factors if factor.size)
        self._factors = [_compressed(factor, _NEGLIGIBLE * longest) for factor in factors]
        self._values = dict(zip(proof.program.values, map(float, proof.point.values), strict=True))
        self._given = given

    def place(self, vector: Vector, places: Places, curvature: int = 0) -> Array:
        """Return a vector in space, of a client with these places; ``curvature`` is 1 for a gradient."""
        parts = []
        for block, factor in enumerate(self._factors):
            inside = np.zeros(factor.shape[1])
            for (home, number), c in vector.coordinates.items():
                if home == block:
                    inside[number] = float(c)
            parts.append(np.kron(places[block], factor @ inside))
        unit = float(self._given.length2) ** 0.5 * float(self._given.L) ** curvature
        found: Array = unit * np.concatenate(parts)
        return found

    def client(self, points: Sequence[Point], places: Places) -> Interpolant:
        """Return the function of a client."""
        L, unit = float(self._given.L), float(self._given.unit("gap"))
        return Interpolant(
            points=np.array([self.place(point.at, places) for point in points]),
            gradients=np.array([self.place(point.gradient, places, 1) for point in points]),
            values=unit * np.array([self._values.get(point.value, 0.0) for point in points]),
            mu=float(self._given.mu) * L,
            L=L,
        )

    def parabola(self, points: Sequence[Point], places: Places) -> Parabola:
        """Return the quadratic function of a client, whose first point is its minimizer."""
        known = self.client(points, places)
        away = (known.points[1:] - known.points[0]).T
        return Parabola(
            curvature=completed(away, known.gradients[1:].T, known.mu, known.L),
            center=known.points[0],
            minimum=float(known.values[0]),
        )


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
