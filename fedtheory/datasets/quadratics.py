"""Quadratic federations: the random ones of Power-of-Choice, and least squares on data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.federation.client_data import pairs_of
from fedtheory.federation.quadratic import QuadraticFederation

__all__ = ["least_squares_federation", "power_of_choice_quadratics"]


def power_of_choice_quadratics(num_clients: int = 30, dim: int = 5, rng: validate.RNGLike = 0) -> QuadraticFederation:
    """Draw the federation of Power-of-Choice, Appendix F.

    ``H_k = h_k I`` with h_k uniform on [1, 20]; linear parts ``e_k ~ N(0, 100 I)``, where the paper does not state the
    scale (errors are proportional to its square); weights proportional to draws from the density ``3 x^2`` on (0, 1).

    >>> fed = power_of_choice_quadratics(num_clients=4, dim=2, rng=1)
    >>> fed.centers.shape, fed.smoothness <= 20
    ((4, 2), True)
    """
    num_clients, dim = validate.size("num_clients", num_clients), validate.size("dim", dim)
    streams = [np.random.default_rng(child) for child in validate.seed_sequence(rng).spawn(3)]
    curvatures = 1.0 + 19.0 * streams[0].random(num_clients)
    linear = 10.0 * streams[1].standard_normal((num_clients, dim))
    weights = power_law_weights(num_clients, streams[2])
    return QuadraticFederation.from_linear(curvatures, linear, weights)


def power_law_weights(num_clients: int, rng: validate.RNGLike = 0) -> validate.Array:
    """Weights proportional to draws from the density ``3 x^2`` on (0, 1), shape (num_clients,)."""
    # 1 - U is in (0, 1], so that no client has weight zero.
    sizes = (1.0 - validate.generator(rng).random(validate.size("num_clients", num_clients))) ** (1.0 / 3.0)
    result: validate.Array = sizes / sizes.sum()
    return result


def least_squares_federation(clients: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]], l2: float) -> QuadraticFederation:
    """Ridge regression, ``F_k(w) = 1/(2 n_k) ||X_k w - y_k||^2 + l2/2 ||w||^2``, with weights ``n_k / n``.

    There is one pair (X_k, y_k) per client, of shapes (n_k, v) and (n_k,). ``l2`` is positive, so that clients with
    fewer samples than features are strongly convex as well.

    One sample x = 1, y = 2 and l2 = 1: ``1/2 (w - 2)^2 + 1/2 w^2`` has curvature 2, minimizer 1 and minimum 1.

    >>> fed = least_squares_federation([([[1.0]], [2.0])], l2=1.0)
    >>> fed.smoothness, fed.minimizer, fed.minimum
    (2.0, array([1.]), 1.0)
    """
    l2 = validate.double("l2", validate.positive("l2", l2))
    validate.moderate("l2", l2, 1e200)
    pairs = [_checked(k, *pair) for k, pair in enumerate(pairs_of("clients", clients, "targets"))]
    if not pairs or len({x.shape[1] for x, _ in pairs}) > 1:
        message = f"clients must have equally many features, got {sorted({x.shape[1] for x, _ in pairs})}"
        raise ValueError(message)
    solved = [_ridge(x, y, l2) for x, y in pairs]
    curvatures, centers, minima = (np.array(part) for part in zip(*solved, strict=True))
    counts = np.array([y.size for _, y in pairs], dtype=np.float64)
    return QuadraticFederation(curvatures, centers, counts, minima, normalize=True)


def _checked(k: int, features: Any, targets: Any) -> tuple[Array, Array]:
    x = validate.array(f"features of client {k}", features, ndim=2)
    if 0 in x.shape:
        message = f"features of client {k} must have a sample and a column, got shape {x.shape}"
        raise ValueError(message)
    return x, validate.array(f"targets of client {k}", targets, shape=(x.shape[0],))


def _ridge(x: Array, y: Array, l2: float) -> tuple[Array, Array, float]:
    # The singular values of X are more accurate than their squares from X'X.
    _, s, vt = np.linalg.svd(x, full_matrices=True)
    eigenvalues = np.full(x.shape[1], l2)
    eigenvalues[: s.size] += s**2 / y.size
    curvature = (vt.T * eigenvalues) @ vt
    center = vt.T @ ((vt @ (x.T @ y)) / (y.size * eigenvalues))
    residual = x @ center - y
    return (
        0.5 * (curvature + curvature.T),
        center,
        float(0.5 * residual @ residual / y.size + 0.5 * l2 * center @ center),
    )
