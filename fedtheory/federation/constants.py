"""Proved bounds G2 on stochastic gradients, and the regions on which they hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.errors import AssumptionViolated
from fedtheory.federation.quadratic import QuadraticFederation

__all__ = ["GradientBound", "gradient_bound"]


@final
@dataclass(frozen=True, eq=False)
class Hull:
    """Convex hull of ``vertices``, shape (K + 1, v): the first model and the local minimizers."""

    vertices: Array


@final
@dataclass(frozen=True, eq=False)
class Box:
    """Models between ``lower`` and ``upper``, shape (v,) each: extremes of the first model and the local minimizers."""

    lower: Array
    upper: Array


@final
@dataclass(frozen=True, eq=False)
class Ball:
    """Models within ``radius`` of ``center``, shape (v,)."""

    center: Array
    radius: float


@final
@dataclass(frozen=True, eq=False)
class GradientBound:
    """Bound on the stochastic gradients of every run, with the region on which it holds.

    Attributes
    ----------
    G2
        Bound on ``E |g_k|^2``, averaged over the active clients given the past, at every local step; also on
        ``E |grad F_k(w)|^2`` for every client k at the model w that a round starts from.
    region
        Set that no run leaves, up to ``noise2``: every local and global model is a point of it plus accumulated noise.
    noise2
        Bound on the expected squared norm of the accumulated noise; 0 without gradient noise.
    """

    G2: float
    region: Hull | Box | Ball
    noise2: float


def gradient_bound(
    fed: QuadraticFederation | Any, initial: npt.ArrayLike, step_size: npt.ArrayLike, gradient_noise: float = 0.0
) -> GradientBound:
    """Return a proved G2: a bound on the squared norm of the stochastic gradients of federated averaging.

    It holds for any selection, adaptive ones included, and any non-negative aggregation weights that sum to one.

    The region is a hull for isotropic curvatures, a box for diagonal ones, and a ball about a point that is found
    numerically otherwise. In a step the squared accumulated noise increases to at most ``(1 - eta mu)^2 E |n|^2 + eta^2
    sigma2``. With the largest gradient norm R in the region, ``G2 = (R + L noise2^(1/2))^2 + sigma2``.

    Parameters
    ----------
    fed, initial
        Quadratic clients, and the first model, shape (v,).
    step_size
        Local step size, or those of all local steps, shape (T,); at most 1/L, in any order, otherwise an
        AssumptionViolated is raised.
    gradient_noise
        Total variance sigma2 of the noise added to each gradient.

    Examples
    --------
    Clients at +1 and -1 from w = 3: the largest gradient is that of the client at -1 at the start, 4.

    >>> fed = QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])
    >>> gradient_bound(fed, [3.0], step_size=0.5).G2
    16.0
    """
    if not isinstance(fed, QuadraticFederation):
        message = f"fed must be a QuadraticFederation, got {type(fed).__name__}"
        raise TypeError(message)
    start = validate.array("initial", initial, shape=(fed.dim,))
    sizes = _step_sizes(step_size, fed.smoothness)
    sigma2 = validate.double("gradient_noise", validate.nonnegative("gradient_noise", gradient_noise))
    validate.moderate("gradient_noise", sigma2, 1e300)
    region, largest2 = _region(fed, start)
    noise2 = _accumulated_noise(sizes, fed.strong_convexity, sigma2)
    G2 = largest2 if sigma2 == 0 else (np.sqrt(largest2) + fed.smoothness * np.sqrt(noise2)) ** 2 + sigma2
    return GradientBound(float(G2), region, noise2)


def _step_sizes(step_size: npt.ArrayLike, smoothness: float) -> Array:
    sizes = np.asarray(validate.array("step_size", validate.positive("step_size", step_size)))
    if sizes.ndim > 1:
        message = f"step_size must be a number or have shape (T,), got shape {sizes.shape}"
        raise ValueError(message)
    # 1/L may be rounded up.
    if sizes.size and sizes.max() * smoothness > 1 + 4 * np.finfo(np.float64).eps:
        message = f"the gradient bound needs step_size <= 1/L: got {sizes.max()} > {1 / smoothness}"
        raise AssumptionViolated(message)
    return sizes


def _accumulated_noise(sizes: Array, mu: float, sigma2: float) -> float:
    if sizes.ndim == 0:
        # Fixed point of noise2 = (1 - eta mu)^2 noise2 + eta^2 sigma2, approached from below.
        return float(sizes * sigma2 / (mu * (2 - sizes * mu)))
    noise2, largest = 0.0, 0.0
    for eta in sizes.tolist():
        noise2 = (1 - eta * mu) ** 2 * noise2 + eta**2 * sigma2
        largest = max(largest, noise2)
    return largest


def _region(fed: QuadraticFederation, start: Array) -> tuple[Hull | Box | Ball, float]:
    """Return an invariant region and the largest squared gradient norm of any client in it."""
    diagonals = fed.diagonals
    if not np.array_equal(fed.matrices, diagonals[:, :, None] * np.eye(fed.dim)):
        return _ball(fed, start)
    if np.all(diagonals == diagonals[:, :1]):
        return _hull(fed, start, diagonals[:, 0])
    points = np.vstack([start, fed.centers])
    lower, upper = points.min(axis=0), points.max(axis=0)
    farthest = np.maximum(upper - fed.centers, fed.centers - lower)
    return Box(lower, upper), float(((diagonals * farthest) ** 2).sum(axis=1).max())


def _hull(fed: QuadraticFederation, start: Array, curvatures: Array) -> tuple[Hull, float]:
    vertices = np.vstack([start, fed.centers])
    pairs = zip(curvatures, fed.centers, strict=True)
    # One client at a time, since all differences at once would need K^2 v numbers.
    return Hull(vertices), float(max(h**2 * ((vertices - c) ** 2).sum(axis=1).max() for h, c in pairs))


def _ball(fed: QuadraticFederation, start: Array) -> tuple[Ball, float]:
    eigenvalues, eigenvectors = np.linalg.eigh(fed.matrices)
    scaled = fed.matrices / eigenvalues[:, :1, None]

    def around(center: Array) -> tuple[Ball, float]:
        reach2 = np.sum(np.einsum("kij,kj->ki", scaled, fed.centers - center) ** 2, axis=1).max()
        radius = float(np.sqrt(max(reach2, np.sum((start - center) ** 2))))
        offsets = np.einsum("kji,kj->ki", eigenvectors, center - fed.centers)
        return Ball(center, radius), max(
            _largest_in_ball(h**2, d, radius) for h, d in zip(eigenvalues, offsets, strict=True)
        )

    candidates = [fed.minimizer, _central_point(scaled, fed.centers, start)]
    return min(map(around, candidates), key=lambda found: found[1])


def _central_point(scaled: Array, centers: Array, start: Array) -> Array:
    """Find a point c with small ``max(|start - c|, max_k |A_k (c_k - c)|)``, where ``scaled`` contains the A_k."""
    from scipy.optimize import minimize

    forms = np.concatenate([np.eye(start.size)[None], np.einsum("kji,kjl->kil", scaled, scaled)])
    points = np.vstack([start, centers])
    point = points.mean(axis=0)

    def smoothed(c: Array, sharpness: float) -> tuple[float, Array]:
        pulls = np.einsum("kij,kj->ki", forms, c - points)
        values = np.sum(pulls * (c - points), axis=1)
        shares = np.exp(sharpness * (values - values.max()))
        total = shares.sum()
        return float(values.max() + np.log(total) / sharpness), 2 * (shares / total) @ pulls

    scale = float(smoothed(point, 1.0)[0])
    if scale > 0:
        # The soft maximum is within log(K + 1)/sharpness of the maximum; the sharpness increases in stages.
        for stage in (10.0, 100.0, 1000.0):
            point = minimize(smoothed, point, args=(stage / scale,), jac=True, method="L-BFGS-B").x
    return np.asarray(point, dtype=np.float64)


def _largest_in_ball(squares: Array, offset: Array, radius: float) -> float:
    r"""Bound ``sum_i a_i (y_i + d_i)^2`` over ``|y| <= R`` from above, with the a_i = h_i^2 in ``squares``.

    For every ``lambda > a = max_i a_i`` the maximum is at most ``lambda R^2 + sum_i lambda a_i d_i^2 / (lambda - a_i)``
    (maximize the Lagrangian coordinate by coordinate), so that every lambda gives a valid bound. It equals the maximum
    at the root of the secular equation ``sum_i (a_i d_i / (lambda - a_i))^2 = R^2``, or at lambda = a if there is no
    root.
    """
    from scipy.optimize import brentq

    top = float(squares.max())
    pulls, at_center = squares * offset, float(squares @ offset**2)
    moving = pulls != 0
    gaps, pulls = (top - squares)[moving], pulls[moving]
    if radius == 0 or not moving.any():
        return top * radius**2 + at_center

    def excess(delta: float) -> float:
        return float(np.linalg.norm(pulls / (delta + gaps))) - radius

    low, high = float(np.linalg.norm(pulls[gaps == 0])) / radius, float(np.linalg.norm(pulls)) / radius
    if low == 0 and excess(0.0) <= 0:
        delta = 0.0
    elif low >= high or excess(low) <= 0:
        delta = low if low > 0 else high
    else:
        delta = float(brentq(excess, low, high, xtol=1e-300, rtol=1e-14)) if excess(high) < 0 else high
    return (top + delta) * radius**2 + at_center + float(np.sum(pulls**2 / (delta + gaps)))
