r"""The selection skew of quadratic federations at a model, and its extremes over all models.

Source: Cho, Wang, Joshi (2020), Definition 3.2, with ``sum_k p_k (F_k(w) - F_k*)`` in the denominator.
"""

import numpy as np
import numpy.typing as npt

from fedtheory import _validate
from fedtheory._validate import Array
from fedtheory.errors import AssumptionViolated
from fedtheory.exact._forms import forms, is_homogeneous
from fedtheory.exact._quadratic import quadratic
from fedtheory.federation.quadratic import QuadraticFederation

__all__ = ["skew", "skew_extremes"]


def skew(fed: QuadraticFederation, frequencies: npt.ArrayLike, w: npt.ArrayLike) -> Array:
    r"""Return the selection skew ``rho(q, w) = sum_k q_k (F_k(w) - F_k*) / sum_k p_k (F_k(w) - F_k*)``.

    Parameters
    ----------
    fed
        The clients, weights p.
    frequencies
        Selection frequencies q, shape (K,), of sum 1.
    w
        Models, shape (..., v).

    Returns
    -------
    Array
        Shape (...).

    Raises
    ------
    AssumptionViolated
        Where the denominator is zero: every client of positive weight has its minimum there, and the skew is 0/0.

    Examples
    --------
    Clients at +1 and -1. At w = 1/2 their losses are 1/8 and 9/8; the skew of the worse one is 9/8 / (5/8) = 9/5.

    >>> fed = QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])
    >>> float(skew(fed, [0.0, 1.0], [0.5]))
    1.8
    """
    fed = quadratic(fed)
    q = _validate.probability_vector("frequencies", frequencies, size=fed.num_clients)
    excess = fed.excesses(w)
    total = excess @ fed.weights
    if np.any(total <= 0):
        message = "the skew needs a positive sum_k p_k (F_k(w) - F_k*), got 0/0 at a model that every client prefers"
        raise AssumptionViolated(message)
    result: Array = np.asarray(excess @ q / total)[()]
    return result


def skew_extremes(fed: QuadraticFederation, frequencies: npt.ArrayLike) -> tuple[float, float]:
    r"""Infimum and supremum of the skew ``rho(q, w)`` over all models w, for fixed frequencies q.

    Parameters
    ----------
    fed
        The clients, weights p.
    frequencies
        Selection frequencies q, shape (K,), of sum 1.

    Returns
    -------
    tuple
        (inf, sup). Each is attained at some model or approached at infinity. The supremum is infinite if
        every client of positive weight prefers one model and a selected client of weight zero does not.

    Notes
    -----
    Numerator and denominator are quadratic forms in (x, tau), w = w* + x/tau; models are dense among these points, so
    the extremes are those of a generalized eigenproblem of size v + 1. For isotropic curvatures two of its eigenvalues
    are the roots of ``lambda^2 - (a + e) lambda + a g`` with ``a = H_q / H``, ``g = Gamma_q / Gamma``,
    ``e = g + H_q |w_q - w*|^2 / (2 Gamma)``, and all others lie between them; the smaller root is taken as
    ``a g / lambda_max``, so that it keeps its digits near 0.
    With objective gap 0 the eigenproblem has size v.

    Examples
    --------
    Clients at +1 and -1: ``(w+1)^2 / (w^2+1)`` runs from 0 at w = -1 to 2 at w = 1.

    >>> fed = QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])
    >>> skew_extremes(fed, [0.0, 1.0])
    (0.0, 2.0)
    """
    fed = quadratic(fed)
    q = _validate.probability_vector("frequencies", frequencies, size=fed.num_clients)
    if is_homogeneous(fed):
        return _homogeneous_extremes(fed, q)
    if fed.curvatures.ndim == 1:
        return _isotropic_extremes(fed, q)
    eigenvalues = np.linalg.eigvalsh(forms(fed).mixture(q))
    return max(float(eigenvalues[0]), 0.0), float(eigenvalues[-1])


def _isotropic_extremes(fed: QuadraticFederation, q: Array) -> tuple[float, float]:
    h, offsets = fed.curvatures, fed.centers - fed.minimizer
    H, H_q = fed.weights @ h, q @ h
    shift = (q * h) @ offsets / H_q
    gap_q = 0.5 * (q * h) @ ((offsets - shift) ** 2).sum(axis=1)
    a, g = H_q / H, gap_q / fed.objective_gap
    between = 0.5 * H_q * (shift @ shift) / fed.objective_gap
    e = g + between
    largest = 0.5 * (a + e + np.sqrt((a - e) ** 2 + 4 * a * between))
    return float(a * g / largest), float(largest)


def _homogeneous_extremes(fed: QuadraticFederation, q: Array) -> tuple[float, float]:
    """With shared minimizer w*: the pencil of the curvatures; a selected idle client may lie elsewhere."""
    at_minimizer = fed.excesses(fed.minimizer)
    sizes = 0.5 * np.einsum("ki,kij,kj->k", fed.centers, fed.matrices, fed.centers)
    elsewhere = q @ np.where(at_minimizer > 1e-24 * sizes, at_minimizer, 0.0)
    if elsewhere == 0:
        eigenvalues = np.linalg.eigvalsh(forms(fed).mixture(q))
        return float(eigenvalues[0]), float(eigenvalues[-1])
    return _infimum_with_idle_clients(fed, q), float("inf")


def _infimum_with_idle_clients(fed: QuadraticFederation, q: Array) -> float:
    """Smallest N / D with ``D = 1/2 x'Hx``: the reciprocal of the largest D / N, since N is positive definite."""
    mixed_curvature = np.tensordot(q, fed.matrices, 1)
    pull = np.einsum("k,kij,kj->i", q, fed.matrices, fed.centers - fed.minimizer)
    shift = np.linalg.solve(mixed_curvature, pull)
    gap_q = q @ fed.excesses(fed.minimizer + shift)
    if gap_q <= 0:
        return 0.0
    # about its own minimizer N is 1/2 y'H_q y + tau^2 gap_q, and x = y + tau shift
    whiten = np.linalg.inv(np.linalg.cholesky(0.5 * mixed_curvature))
    back = np.column_stack([whiten.T, shift / np.sqrt(gap_q)])
    return float(1.0 / np.linalg.eigvalsh(back.T @ (0.5 * fed.mean_curvature) @ back)[-1])
