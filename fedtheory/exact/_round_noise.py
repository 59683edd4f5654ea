"""What gradient noise adds to the second moment of the server's model in one round."""

from typing import NamedTuple

import numpy as np

from fedtheory._support.validate import Array
from fedtheory.exact._local_work import LocalWork, Spectra, rotated

__all__ = ["RoundNoise", "round_noise"]


class RoundNoise(NamedTuple):
    """Covariance of ``sum_k omega_k noise_k``: a constant, and for relative noise a linear function of the moments.

    Attributes
    ----------
    constant
        The part of sigma^2, shape (v,) for diagonal curvatures and (v, v) for full ones.
    response
        Variance along the eigenvectors of H_k for the squared coordinates of ``x - centers_k``, shape (K, v, v), or
        None without relative noise.
    centers
        The c_k, from where x is measured, shape (K, v).
    vectors
        Eigenvectors of the H_k, shape (K, v, v), or None if they are diagonal.
    """

    constant: Array
    response: Array | None
    centers: Array
    vectors: Array | None

    def covariance(self, mean: Array, second: Array) -> Array:
        """Average over a model x with these moments; shape (v,) or (v, v) as ``constant``."""
        if self.response is None:
            return self.constant
        if self.vectors is None:
            squares = second - 2 * self.centers * mean + self.centers**2
            diagonal: Array = self.constant + np.einsum("kij,kj->i", self.response, squares)
            return diagonal
        means, centers = mean @ self.vectors, np.einsum("ki,kij->kj", self.centers, self.vectors)
        seconds = np.einsum("kij,kij->kj", self.vectors, second @ self.vectors)
        variances = np.einsum("kij,kj->ki", self.response, seconds - 2 * centers * means + centers**2)
        full: Array = self.constant + rotated(variances, self.vectors).sum(axis=0)
        return full


def round_noise(eigen: Spectra, work: LocalWork, factors: Array, sigma2: float, centers: Array) -> RoundNoise:
    """Weigh the noise of each client by its factor, ``E omega_k^2`` for copies that share it; shape (K,)."""
    variances = sigma2 * factors[:, None] * work.variance
    by_client = variances if eigen.vectors is None else rotated(variances, eigen.vectors)
    response = None if work.response is None else factors[:, None, None] * work.response
    return RoundNoise(by_client.sum(axis=0), response, centers, eigen.vectors)
