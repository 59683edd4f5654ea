"""Losses of quadratic clients for inner loops, without validation; bit-identical and faster."""

from typing import NamedTuple

import numpy as np

from fedtheory._support.validate import Array
from fedtheory.exact._local_moments import applied
from fedtheory.federation.quadratic import QuadraticFederation

__all__ = ["Parabolas", "parabolas"]


class Parabolas(NamedTuple):
    """``F_k(w) = 1/2 (w - c_k)' H_k (w - c_k) + F_k*``; the H_k of shape (K, v) if diagonal, else (K, v, v)."""

    curvatures: Array
    centers: Array
    minima: Array

    def losses(self, w: Array) -> Array:
        """Return all F_k at a model of shape (v,); shape (K,)."""
        offsets = w - self.centers
        excesses: Array = 0.5 * np.einsum("ki,ki->k", offsets, applied(self.curvatures, offsets))
        return excesses + self.minima

    def gradients(self, w: Array) -> Array:
        """Return the gradients of all F_k at a model of shape (v,); shape (K, v)."""
        return applied(self.curvatures, w - self.centers)

    def minimizer(self, q: Array) -> Array:
        """Return the minimizer of ``sum_k q_k F_k``, shape (v,)."""
        if self.curvatures.ndim == 2:
            lowest: Array = (q @ (self.curvatures * self.centers)) / (q @ self.curvatures)
            return lowest
        mean = np.einsum("k,kij->ij", q, self.curvatures)
        return np.linalg.solve(mean, np.einsum("k,kij,kj->i", q, self.curvatures, self.centers))


def parabolas(fed: QuadraticFederation) -> Parabolas:
    """Prepare the clients for a loop."""
    return Parabolas(fed.diagonals if fed.is_diagonal else fed.matrices, fed.centers, fed.minima)
