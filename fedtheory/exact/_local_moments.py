"""Local gradient descent on a quadratic as an affine map of the server's model, with the covariance of its noise."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fedtheory._support.validate import Array
from fedtheory.federation.quadratic import QuadraticFederation


class Spectra(NamedTuple):
    """Eigenvalues (K, v) of the curvatures and, unless these are diagonal, their eigenvectors (K, v, v)."""

    values: Array
    vectors: Array | None


class LocalMoments(NamedTuple):
    """All clients' tau steps, ``w_k - w = D_k (c_k - w) + noise``.

    ``pull`` are the D_k, shape (K, v) for diagonal curvatures and (K, v, v) for full ones. The covariance of the noise
    is diagonal in the eigenvectors of H_k. Its diagonal is ``sigma^2 variance_k + response_k y^2``, y^2 the squared
    coordinates of ``w - c_k`` along them; shapes (K, v) and (K, v, v). Without relative noise ``response`` is None.
    """

    pull: Array
    variance: Array
    response: Array | None


def spectra(fed: QuadraticFederation) -> Spectra:
    """Diagonalize the curvatures once; local updates for any step sizes are then diagonal as well."""
    if fed.is_diagonal:
        return Spectra(fed.diagonals, None)
    values, vectors = np.linalg.eigh(fed.matrices)
    return Spectra(values, vectors)


def local_moments(spectra: Spectra, step_sizes: Array, relative_noise: float) -> LocalMoments:
    """Run tau steps with the given step sizes, shape (tau,), and noise of variance ``sigma^2 + M |grad F_k|^2``.

    D is ``I - prod_s (I - eta_s H)``, accumulated in this form so that small steps do not cancel. The noise of a step
    has covariance ``eta^2 / v I`` per unit of total variance and is propagated by the later steps. The relative noise
    depends on the gradients of the mean path and of the earlier noise.
    """
    values, dim = spectra.values, spectra.values.shape[1]
    pull, variance = np.zeros_like(values), np.zeros_like(values)
    response = np.zeros((*values.shape, dim)) if relative_noise else None
    for eta in step_sizes:
        kept, spread = (1.0 - eta * values) ** 2, eta**2 / dim
        of_noise = relative_noise * (values**2 * variance).sum(axis=1, keepdims=True)
        variance = kept * variance + spread * (1.0 + of_noise)
        if response is not None:
            gradient2 = (values * (1.0 - pull)) ** 2 + np.einsum("ki,kij->kj", values**2, response)
            response = kept[:, :, None] * response + spread * relative_noise * gradient2[:, None, :]
        pull = pull + eta * values * (1.0 - pull)
    return LocalMoments(pull if spectra.vectors is None else rotated(pull, spectra.vectors), variance, response)


def works(spectra: Spectra, step_sizes: Array, relative_noise: float) -> Iterator[LocalMoments]:
    """Yield the local update of each round, as the same object while the step sizes, shape (T, tau), do not change."""
    changes = np.ones(len(step_sizes), dtype=np.bool_)
    changes[1:] = (step_sizes[1:] != step_sizes[:-1]).any(axis=1)
    for steps, is_new in zip(step_sizes, changes, strict=True):
        if is_new:
            work = local_moments(spectra, steps, relative_noise)
        yield work


def applied(matrices: Array, x: Array) -> Array:
    """Return products of one matrix, or diagonal (K, v), per client with one vector per client, shape (K, v)."""
    result: Array = matrices * x if matrices.ndim == 2 else np.einsum("kij,kj->ki", matrices, x)
    return result


def rotated(diagonals: Array, vectors: Array) -> Array:
    """Return matrices with the given eigenvalues (..., v) and eigenvectors (..., v, v)."""
    matrices: Array = (vectors * diagonals[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    return matrices
