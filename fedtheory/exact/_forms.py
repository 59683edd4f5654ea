r"""The skew as a quotient of quadratic forms, in coordinates where the denominator is the squared length.

With ``w' = w* + x / tau``, both ``tau^2 (F_k(w') - F_k*)`` and ``tau^2 D(w')``, ``D = F - F* + Gamma``, are
quadratic forms in (x, tau), and infinite models are the points with tau = 0. In coordinates z with
``tau^2 D = |z|^2``, ``(F_k(w') - F_k*) / D(w') = z' N_k z / |z|^2`` with ``sum_k p_k N_k = I``, and the extremes of
the skew over all models are eigenvalues of ``sum_k q_k N_k``.
"""

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
import numpy.typing as npt

from fedtheory._support.validate import Array
from fedtheory.federation.quadratic import QuadraticFederation

_FARTHEST = 1e9
_ROUNDING = 1e-13


class Optimum(NamedTuple):
    """Minimizer w* of F, shape (v,), offsets ``c_k - w*``, shape (K, v), and the objective gap."""

    minimizer: Array
    offsets: Array
    objective_gap: float


def optimum(fed: QuadraticFederation) -> Optimum:
    """Return the minimizer, the offsets from it, and the objective gap, which is exactly 0 for homogeneous clients."""
    gap = 0.0 if is_homogeneous(fed) else fed.objective_gap
    return Optimum(fed.minimizer, fed.centers - fed.minimizer, gap)


@final
@dataclass(frozen=True, eq=False)
class Forms:
    """The N_k, shape (K, n, n), and the map back to models.

    n is v + 1, or v for homogeneous clients, whose ratios are constant along each ray from w*.
    """

    matrices: Array
    optimum: Optimum
    directions: Array
    rounding: float

    def mixture(self, frequencies: Array) -> Array:
        """Matrix of the skew with these frequencies, ``sum_k q_k N_k``."""
        mixed: Array = np.tensordot(frequencies, self.matrices, 1)
        return mixed

    def model(self, z: Array) -> Array:
        """Return the model of z, or one far away in the same direction if z is infinite."""
        center, _, gap = self.optimum
        tau = z[center.size] / np.sqrt(gap) if z.size > center.size else 1.0
        return model_along(center, self.directions @ z[: center.size], float(tau))


def model_along(center: Array, offset: Array, tau: float) -> Array:
    """Return the model ``center + offset / tau``, or one far away in this direction."""
    length = float(np.linalg.norm(offset))
    if abs(tau) * _FARTHEST < length:
        tau = length / _FARTHEST
    result: Array = center + offset / tau if length else center.copy()
    return result


def is_homogeneous(fed: QuadraticFederation) -> bool:
    """Whether all clients of positive weight share their minimizer, up to rounding, so that the objective gap is 0."""
    size = 0.5 * np.einsum("k,ki,kij,kj->", fed.weights, fed.centers, fed.matrices, fed.centers)
    return bool(fed.objective_gap <= (256 * np.finfo(float).eps) ** 2 * size)


def forms(fed: QuadraticFederation, at: Optimum | None = None) -> Forms:
    """Build the quadratic forms of all clients, with a given optimum if it is more accurate than the federation's.

    Whitening loses a multiple of the condition number of the mean curvature. ``rounding`` allows for this in the
    smallest eigenvalue of any sum of the N_k, and for 400 roundings of each summand.
    """
    at = optimum(fed) if at is None else at
    root = np.linalg.cholesky(0.5 * fed.mean_curvature)
    whiten = np.linalg.inv(root)
    curved = whiten @ (0.5 * fed.matrices) @ whiten.T
    matrices = curved if at.objective_gap == 0 else _bordered(fed, at, whiten, curved)
    rounding = _ROUNDING * np.linalg.cond(fed.mean_curvature) * np.trace(matrices, axis1=1, axis2=2).sum()
    return Forms(matrices, at, whiten.T, float(rounding))


def _bordered(fed: QuadraticFederation, at: Optimum, whiten: Array, curved: Array) -> Array:
    pulls = np.einsum("kij,kj->ki", fed.matrices, at.offsets)
    n = fed.dim + 1
    matrices = np.empty((fed.num_clients, n, n))
    matrices[:, :-1, :-1] = curved
    matrices[:, :-1, -1] = -0.5 * (pulls @ whiten.T) / np.sqrt(at.objective_gap)
    matrices[:, -1, :-1] = matrices[:, :-1, -1]
    matrices[:, -1, -1] = 0.5 * np.einsum("ki,ki->k", pulls, at.offsets) / at.objective_gap
    return matrices


def smallest_of_sums(matrices: Array, sets: npt.NDArray[np.int64]) -> Array:
    """Return the smallest eigenvalue of the sum of matrices over each row of ``sets``; shape (num_sets,)."""
    sums = np.zeros((len(sets), *matrices.shape[1:]))
    for column in sets.T:
        sums += matrices[column]
    smallest: Array = np.linalg.eigvalsh(sums)[:, 0]
    return smallest
