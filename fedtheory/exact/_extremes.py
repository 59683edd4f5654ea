"""Extremes of the skew of fixed frequencies over all models, and the location of the smallest one, in doubles."""

from typing import NamedTuple

import numpy as np

from fedtheory._support.validate import Array
from fedtheory.exact._forms import Forms, Optimum, model_along
from fedtheory.federation.quadratic import QuadraticFederation


class Infimum(NamedTuple):
    """Infimum of the skew over all models, up to rounding, and a model where it is attained or nearly attained."""

    value: float
    model: Array


def infimum(fed: QuadraticFederation, ready: Forms, q: Array) -> Infimum:
    """Find the infimum and its location for valid frequencies and existing forms."""
    at = ready.optimum
    if at.objective_gap == 0 and _elsewhere(fed, at, q):
        return _infimum_with_idle_clients(fed, at, q)
    values, vectors = np.linalg.eigh(ready.mixture(q))
    model = ready.model(vectors[:, 0])
    if at.objective_gap > 0 and fed.curvatures.ndim == 1:
        return Infimum(isotropic_extremes(fed, at, q)[0], model)
    return Infimum(max(float(values[0]), 0.0), model)


def isotropic_extremes(fed: QuadraticFederation, at: Optimum, q: Array) -> tuple[float, float]:
    """Return the smallest and the largest skew in closed form."""
    h, offsets, gap = fed.curvatures, at.offsets, at.objective_gap
    H, H_q = fed.weights @ h, q @ h
    shift = (q * h) @ offsets / H_q
    gap_q = 0.5 * (q * h) @ ((offsets - shift) ** 2).sum(axis=1)
    a, g = H_q / H, gap_q / gap
    between = 0.5 * H_q * (shift @ shift) / gap
    e = g + between
    largest = 0.5 * (a + e + np.sqrt((a - e) ** 2 + 4 * a * between))
    return float(a * g / largest), float(largest)


def homogeneous_extremes(fed: QuadraticFederation, ready: Forms, q: Array) -> tuple[float, float]:
    """Return the extremes if w* minimizes all busy clients, from the pencil of the curvatures."""
    if _elsewhere(fed, ready.optimum, q):
        return _infimum_with_idle_clients(fed, ready.optimum, q).value, float("inf")
    eigenvalues = np.linalg.eigvalsh(ready.mixture(q))
    return float(eigenvalues[0]), float(eigenvalues[-1])


def _elsewhere(fed: QuadraticFederation, at: Optimum, q: Array) -> bool:
    """Whether a selected client has a minimizer other than that of all busy clients."""
    at_minimizer = fed.excesses(at.minimizer)
    sizes = 0.5 * np.einsum("ki,kij,kj->k", fed.centers, fed.matrices, fed.centers)
    return bool(q @ np.where(at_minimizer > 1e-24 * sizes, at_minimizer, 0.0))


def _infimum_with_idle_clients(fed: QuadraticFederation, at: Optimum, q: Array) -> Infimum:
    """Smallest N / D with ``D = 1/2 x'Hx``, as the reciprocal of the largest D / N, since N is positive definite."""
    mixed_curvature = np.tensordot(q, fed.matrices, 1)
    pull = np.einsum("k,kij,kj->i", q, fed.matrices, at.offsets)
    shift = np.linalg.solve(mixed_curvature, pull)
    gap_q = q @ fed.excesses(at.minimizer + shift)
    if gap_q <= 0:
        return Infimum(0.0, at.minimizer + shift)
    # relative to its own minimizer, N is 1/2 y'H_q y + tau^2 gap_q, and x = y + tau shift
    whiten = np.linalg.inv(np.linalg.cholesky(0.5 * mixed_curvature))
    back = np.column_stack([whiten.T, shift / np.sqrt(gap_q)])
    values, vectors = np.linalg.eigh(back.T @ (0.5 * fed.mean_curvature) @ back)
    model = model_along(at.minimizer, back @ vectors[:, -1], vectors[-1, -1] / np.sqrt(gap_q))
    return Infimum(float(1.0 / values[-1]), model)
