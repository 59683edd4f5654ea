"""Local gradient descent on a quadratic as an affine map of the server's model, with the covariance of its noise."""

from typing import NamedTuple

import numpy as np

from fedtheory._validate import Array
from fedtheory.federation.quadratic import QuadraticFederation

__all__ = ["LocalWork", "Spectra", "local_work", "spectra"]


class Spectra(NamedTuple):
    """Eigenvalues (K, v) of the curvatures and, unless these are diagonal, their eigenvectors (K, v, v)."""

    values: Array
    vectors: Array | None


class LocalWork(NamedTuple):
    """All clients' tau steps, ``w_k - w = D_k (c_k - w) + noise``.

    ``pull`` holds the D_k and ``covariance`` the noise covariances per unit of gradient variance, shape (K, v) for
    diagonal curvatures and (K, v, v) for full ones.
    """

    pull: Array
    covariance: Array


def spectra(fed: QuadraticFederation) -> Spectra:
    """Diagonalize the curvatures once; the local work of any step sizes is then diagonal too."""
    if fed.is_diagonal:
        return Spectra(fed.diagonals, None)
    values, vectors = np.linalg.eigh(fed.matrices)
    return Spectra(values, vectors)


def local_work(spectra: Spectra, step_sizes: Array) -> LocalWork:
    """Run tau steps with the given step sizes, shape (tau,).

    D is ``I - prod_s (I - eta_s H)``, accumulated as such so that small steps do not cancel. The noise of a step has
    covariance ``eta^2 / v I`` per unit of total variance and passes through the steps after it.
    """
    pull, covariance = np.zeros_like(spectra.values), np.zeros_like(spectra.values)
    dim = spectra.values.shape[1]
    for eta in step_sizes:
        pull = pull + eta * spectra.values * (1.0 - pull)
        covariance = (1.0 - eta * spectra.values) ** 2 * covariance + eta**2 / dim
    if spectra.vectors is None:
        return LocalWork(pull, covariance)
    return LocalWork(_rotated(pull, spectra.vectors), _rotated(covariance, spectra.vectors))


def _rotated(diagonal: Array, vectors: Array) -> Array:
    matrices: Array = (vectors * diagonal[:, None, :]) @ vectors.transpose(0, 2, 1)
    return matrices
