"""What curvatures and minima of quadratics must be."""

from typing import Any, NoReturn

import numpy as np

from fedtheory import _validate
from fedtheory._validate import Array

__all__ = ["checked_curvatures", "checked_minima"]

# Smaller curvatures vanish when they are weighed.
_SMALLEST = 1e-100


def checked_minima(value: Any, num_clients: int) -> Array:
    """Return the minimum of every client, from one number or one per client."""
    minima = _validate.moderate("minima", _validate.array("minima", value), 1e100)
    if minima.ndim == 0:
        return np.full(num_clients, float(minima))
    return _validate.array("minima", minima, shape=(num_clients,))


def checked_curvatures(value: Any, num_clients: int, dim: int) -> Array:
    """Return positive curvatures, given as numbers, diagonals or matrices."""
    h = _validate.moderate("curvatures", _validate.array("curvatures", value), 1e200)
    shapes = [(num_clients,), (num_clients, dim), (num_clients, dim, dim)]
    if h.shape not in shapes:
        message = f"curvatures must have shape {shapes[0]}, {shapes[1]} or {shapes[2]}, got {h.shape}"
        raise ValueError(message)
    if h.ndim == 3:
        return _symmetric_positive_definite(h)
    bad = np.argwhere(h < _SMALLEST)
    if bad.size:
        _refuse_curvature(h[tuple(bad[0])], bad[0, 0])
    return h


def _symmetric_positive_definite(h: Array) -> Array:
    asymmetry = np.abs(h - h.transpose(0, 2, 1)).max(axis=(1, 2))
    scale = np.abs(h).max(axis=(1, 2))
    for client in np.flatnonzero(asymmetry > 1e-12 * scale):
        message = f"curvatures must be symmetric, got an asymmetry of {asymmetry[client]:.3g} for client {client}"
        raise ValueError(message)
    h = 0.5 * (h + h.transpose(0, 2, 1))
    smallest = np.linalg.eigvalsh(h)[:, 0]
    for client in np.flatnonzero(smallest < _SMALLEST):
        _refuse_curvature(smallest[client], client, "eigenvalue ")
    return h


def _refuse_curvature(value: Any, client: Any, what: str = "") -> NoReturn:
    wanted = "positive definite" if value <= 0 else "at least 1e-100"
    got = f"{what}{value:.3g}" if what else str(value)
    message = f"curvatures must be {wanted}, got {got} for client {client}"
    raise ValueError(message)
