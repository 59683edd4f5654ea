r"""The skew as a quotient of quadratic forms, in coordinates where the denominator is the squared length.

With ``w' = w* + x / tau``, both ``tau^2 (F_k(w') - F_k*)`` and ``tau^2 D(w')``, ``D = F - F* + Gamma``, are
quadratic forms in (x, tau), and infinite models are the points with tau = 0. In coordinates z with
``tau^2 D = |z|^2``, ``(F_k(w') - F_k*) / D(w') = z' N_k z / |z|^2`` with ``sum_k p_k N_k = I``, and the extremes of
the skew over all models are eigenvalues of ``sum_k q_k N_k``.
"""

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from fedtheory._validate import Array
from fedtheory.federation.quadratic import QuadraticFederation

__all__ = ["Forms", "forms", "is_homogeneous", "smallest_of_sums", "without_idle_clients"]

_FARTHEST = 1e9


@final
@dataclass(frozen=True, eq=False)
class Forms:
    """The N_k, shape (K, n, n), and the way back to models.

    n is v + 1; but v for homogeneous clients, whose ratios are the same along each ray from w*.
    """

    matrices: Array
    center: Array
    directions: Array
    objective_gap: float

    def mixture(self, frequencies: Array) -> Array:
        """Matrix of the skew with these frequencies, ``sum_k q_k N_k``."""
        mixed: Array = np.tensordot(frequencies, self.matrices, 1)
        return mixed

    def model(self, z: Array) -> Array:
        """Model of z; one far away in the same direction if z is infinite."""
        dim = self.center.size
        tau = z[dim] / np.sqrt(self.objective_gap) if z.size > dim else 1.0
        offset = self.directions @ z[:dim]
        length = np.linalg.norm(offset)
        if abs(tau) * _FARTHEST < length:
            tau = length / _FARTHEST
        result: Array = self.center + offset / tau if length else self.center.copy()
        return result


def is_homogeneous(fed: QuadraticFederation) -> bool:
    """Whether all clients (of positive weight) share their minimizer, up to rounding: the objective gap is 0."""
    size = 0.5 * np.einsum("k,ki,kij,kj->", fed.weights, fed.centers, fed.matrices, fed.centers)
    return bool(fed.objective_gap <= (256 * np.finfo(float).eps) ** 2 * size)


def forms(fed: QuadraticFederation) -> Forms:
    """Build the quadratic forms of all clients."""
    root = np.linalg.cholesky(0.5 * fed.mean_curvature)
    whiten = np.linalg.inv(root)
    curved = whiten @ (0.5 * fed.matrices) @ whiten.T
    directions = whiten.T
    if is_homogeneous(fed):
        return Forms(curved, fed.minimizer, directions, 0.0)
    offsets = fed.centers - fed.minimizer
    pulls = np.einsum("kij,kj->ki", fed.matrices, offsets)
    n = fed.dim + 1
    matrices = np.empty((fed.num_clients, n, n))
    matrices[:, :-1, :-1] = curved
    matrices[:, :-1, -1] = -0.5 * (pulls @ whiten.T) / np.sqrt(fed.objective_gap)
    matrices[:, -1, :-1] = matrices[:, :-1, -1]
    matrices[:, -1, -1] = 0.5 * np.einsum("ki,ki->k", pulls, offsets) / fed.objective_gap
    return Forms(matrices, fed.minimizer, directions, fed.objective_gap)


def smallest_of_sums(matrices: Array, sets: npt.NDArray[np.int64]) -> Array:
    """Smallest eigenvalue of the sum of the matrices (K, n, n) over each set, a row of ``sets``; shape (num_sets,)."""
    sums = np.zeros((len(sets), *matrices.shape[1:]))
    for column in sets.T:
        sums += matrices[column]
    smallest: Array = np.linalg.eigvalsh(sums)[:, 0]
    return smallest


def without_idle_clients(fed: QuadraticFederation) -> QuadraticFederation:
    """Leave out the clients of weight zero, which neither count in F nor are drawn by weight."""
    busy = fed.weights > 0
    if busy.all():
        return fed
    return QuadraticFederation(fed.curvatures[busy], fed.centers[busy], fed.weights[busy], fed.minima[busy])
