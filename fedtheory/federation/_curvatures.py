"""What curvatures, centers and minima of quadratics must be, and how they lie in memory."""

from typing import Any, NoReturn

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array

__all__ = ["checked_centers", "checked_clients", "checked_curvatures"]

# Smaller curvatures vanish when they are weighed.
_SMALLEST = 1e-100
# Half a megabyte of centers: a round may copy fewer.
_MANY = 2**16


def checked_centers(value: Any) -> Array:
    """Return the minimizer of every client, shape (K, v)."""
    centers = validate.moderate("centers", validate.array("centers", value, ndim=2), 1e50)
    if 0 in centers.shape:
        message = f"centers must have at least one client and one dimension, got shape {centers.shape}"
        raise ValueError(message)
    return centers


def checked_clients(curvatures: Any, centers: Array, minima: Any) -> dict[str, Array]:
    """Return curvatures, centers and minima by name; of many clients views of one array ``rows``.

    There a client's numbers lie side by side, as a round reads them, and each array is dropped before the next is
    copied: of a million clients' numbers a second copy would take longer than many a run.
    """
    given, (num_clients, dim) = validate.unmasked("curvatures", curvatures), centers.shape
    if centers.size < _MANY or given.shape not in (centers.shape, centers.shape[:1]):
        h = checked_curvatures(given, num_clients, dim)
        return {"curvatures": h, "centers": centers, "minima": _checked_minima(minima, num_clients)}
    width = given[0].size
    rows = np.empty((num_clients, width + 1 + dim))
    rows[:, width + 1 :] = centers
    del centers
    rows[:, :width] = checked_curvatures(given, num_clients, dim).reshape(num_clients, width)
    rows[:, width] = _checked_minima(minima, num_clients)
    h = rows[:, :width] if given.ndim == 2 else rows[:, 0]
    return {"rows": rows, "curvatures": h, "centers": rows[:, width + 1 :], "minima": rows[:, width]}


def _checked_minima(value: Any, num_clients: int) -> Array:
    """Return the minimum of every client, from one number or one per client."""
    minima = validate.moderate("minima", validate.array("minima", value), 1e100)
    if minima.ndim == 0:
        return np.full(num_clients, float(minima))
    return validate.array("minima", minima, shape=(num_clients,))


def checked_curvatures(value: Any, num_clients: int, dim: int) -> Array:
    """Return positive curvatures, given as numbers, diagonals or matrices."""
    h = validate.moderate("curvatures", validate.array("curvatures", value), 1e200)
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
