"""Federations of quadratic losses, with all constants in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn, Self, final

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.cached import cached_property
from fedtheory._support.summary import Displayed, Summary
from fedtheory._support.threads import pinned
from fedtheory._support.validate import Array
from fedtheory.federation._models import models_of

__all__ = ["QuadraticFederation"]

_BLOCK = 8192


@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class QuadraticFederation(Displayed):
    """Clients with quadratic objectives, ``F_k(w) = 1/2 (w - c_k)' H_k (w - c_k) + F_k*``.

    Parameters
    ----------
    curvatures
        The H_k, symmetric positive definite, from 1e-100 to 1e200: shape (K,) for ``h_k I``, (K, v) for diagonal, (K,
        v, v) for full ones.
    centers
        The minimizers c_k, shape (K, v), at most 1e50 in absolute value.
    weights
        Objective weights p_k, shape (K,), of sum 1.
    minima
        The minima F_k*, a scalar or shape (K,), at most 1e100 in absolute value.
    normalize
        Whether to divide the weights by their sum instead of requiring that it is 1.

    Examples
    --------
    Two clients at +1 and -1 with unit curvature: the minimizer is 0 and the objective gap 1/2.

    >>> fed = QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])
    >>> fed.minimizer, fed.objective_gap
    (array([0.]), 0.5)
    """

    curvatures: Array
    centers: Array
    weights: Array
    minima: Array

    def __init__(
        self,
        curvatures: npt.ArrayLike,
        centers: npt.ArrayLike,
        weights: npt.ArrayLike,
        minima: npt.ArrayLike = 0.0,
        *,
        normalize: bool = False,
    ) -> None:
        clean = checked_clients(curvatures, checked_centers(centers), minima)
        p = validate.probability_vector(
            "weights", weights, size=len(clean["centers"]), normalize=validate.boolean("normalize", normalize)
        )
        for name, value in {**clean, "weights": p}.items():
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @classmethod
    def from_linear(
        cls, curvatures: npt.ArrayLike, linear: npt.ArrayLike, weights: npt.ArrayLike, *, normalize: bool = False
    ) -> Self:
        """Build the form of Power-of-Choice, eq. (86): ``1/2 w'H_k w - e_k'w + 1/2 e_k' H_k^-1 e_k`` (all minima 0).

        ``linear`` contains the e_k, shape (K, v).
        """
        e = validate.array("linear", linear, ndim=2)
        h = checked_curvatures(curvatures, *e.shape)
        if h.ndim == 3:
            centers = np.linalg.solve(h, e[..., None])[..., 0]
        else:
            centers = e / (h[:, None] if h.ndim == 1 else h)
        return cls(h, centers, weights, normalize=normalize)

    @property
    def num_clients(self) -> int:
        """Number of clients K."""
        return int(self.centers.shape[0])

    @property
    def dim(self) -> int:
        """Number of model parameters v."""
        return int(self.centers.shape[1])

    @property
    def is_diagonal(self) -> bool:
        """Whether the curvatures were given as multiples of the identity or as diagonals."""
        return self.curvatures.ndim < 3

    @cached_property
    def rows(self) -> Array:
        """Curvature (1, v or v*v numbers), minimum and minimizer of each client in one row per client."""
        return np.hstack([self.curvatures.reshape(self.num_clients, -1), self.minima[:, None], self.centers])

    @cached_property
    def diagonals(self) -> Array:
        """Diagonals of the H_k, shape (K, v)."""
        return self._diagonals_of(slice(None))

    @cached_property
    def matrices(self) -> Array:
        """The H_k as matrices, shape (K, v, v)."""
        return self._matrices_of(slice(None))

    @cached_property
    @pinned
    def mean_curvature(self) -> Array:
        """Curvature of F, ``sum_k p_k H_k``, shape (v, v)."""
        mean = np.zeros((self.dim, self.dim))
        for rows in self._blocks():
            mean += np.einsum("k,kij->ij", self.weights[rows], self._matrices_of(rows))
        return mean

    def losses(self, w: npt.ArrayLike) -> Array:
        """All F_k at models of shape (..., v); returns shape (..., K)."""
        return self.excesses(w) + self.minima

    def excesses(self, w: npt.ArrayLike) -> Array:
        """All ``F_k(w) - F_k*`` at models of shape (..., v), without cancellation; returns shape (..., K)."""
        offsets = self._offsets(w)
        result: Array = 0.5 * np.einsum("...ki,...ki->...k", offsets, self._curve(offsets))
        return result

    def loss(self, w: npt.ArrayLike) -> Any:
        """F at models of shape (..., v); returns shape (...), a float for one model."""
        return np.asarray(self.losses(w) @ self.weights)[()]

    def gradients(self, w: npt.ArrayLike) -> Array:
        """Gradients of all F_k at models of shape (..., v); returns shape (..., K, v)."""
        return self._curve(self._offsets(w))

    def gradient(self, w: npt.ArrayLike) -> Array:
        """Gradient of F at models of shape (..., v); returns shape (..., v)."""
        result: Array = np.einsum("k,...ki->...i", self.weights, self.gradients(w))
        return result

    def excess(self, w: npt.ArrayLike) -> Array:
        """``F(w) - F*`` at models of shape (..., v), without cancellation; returns shape (...)."""
        distance = models_of(w, self.dim) - self.minimizer
        return np.asarray(0.5 * np.einsum("...i,ij,...j->...", distance, self.mean_curvature, distance))[()]

    @cached_property
    @pinned
    def minimizer(self) -> Array:
        """Minimizer of F, shape (v,)."""
        if self.is_diagonal:
            slope, curvature = np.zeros(self.dim), np.zeros(self.dim)
            for rows in self._blocks():
                diagonals = self._diagonals_of(rows)
                slope += self.weights[rows] @ (diagonals * self.centers[rows])
                curvature += self.weights[rows] @ diagonals
            return slope / curvature
        return np.linalg.solve(self.mean_curvature, np.einsum("k,kij,kj->i", self.weights, self.matrices, self.centers))

    @cached_property
    def minimum(self) -> float:
        """Smallest value of F."""
        return float(self.weights @ np.ascontiguousarray(self.minima)) + self.objective_gap

    @property
    def local_minimizers(self) -> Array:
        """Minimizers of the F_k, shape (K, v)."""
        return self.centers

    @property
    def local_minima(self) -> Array:
        """Smallest values of the F_k, shape (K,)."""
        return self.minima

    @cached_property
    def objective_gap(self) -> float:
        """Local-global objective gap ``F* - sum_k p_k F_k*`` (Power-of-Choice, eq. (4))."""
        total = 0.0
        for rows in self._blocks():
            offsets = self.minimizer - self.centers[rows]
            curved = self._curve(offsets, rows)
            total += float(np.einsum("k,ki,ki->", self.weights[rows], offsets, curved))
        return 0.5 * total

    @cached_property
    def smoothness(self) -> float:
        """Largest eigenvalue of all H_k, a smoothness constant L of every client."""
        return float(self._spectrum.max())

    @cached_property
    def strong_convexity(self) -> float:
        """Smallest eigenvalue of all H_k, a strong convexity constant mu of every client."""
        return float(self._spectrum.min())

    @cached_property
    @pinned
    def _spectrum(self) -> Array:
        # the eigenvalues of a diagonal curvature are its entries
        return self.curvatures if self.is_diagonal else np.asarray(np.linalg.eigvalsh(self.curvatures), np.float64)

    @property
    def _summary(self) -> Summary:
        kind = ("multiples of the identity", "diagonal", "full")[self.curvatures.ndim - 1]
        rows = {"num_clients": self.num_clients, "dim": self.dim, "curvatures": kind}
        if self.is_diagonal:  # otherwise eigenvalues would have to be computed
            rows |= {"strong_convexity": self.strong_convexity, "smoothness": self.smoothness}
        return Summary("QuadraticFederation", rows)

    def _offsets(self, w: npt.ArrayLike) -> Array:
        offsets: Array = models_of(w, self.dim)[..., None, :] - self.centers
        return offsets

    def _curve(self, offsets: Array, rows: slice = slice(None)) -> Array:
        if self.is_diagonal:
            curvatures = self.curvatures[rows]
            return (curvatures[:, None] if curvatures.ndim == 1 else curvatures) * offsets
        curved: Array = np.einsum("kij,...kj->...ki", self.curvatures[rows], offsets)
        return curved

    def _blocks(self) -> list[slice]:
        # Sums over a million clients are computed for some of them at a time.
        return [slice(first, first + _BLOCK) for first in range(0, self.num_clients, _BLOCK)]

    def _diagonals_of(self, rows: slice) -> Array:
        if self.curvatures.ndim == 1:
            repeated: Array = np.repeat(self.curvatures[rows, None], self.dim, axis=1)
            return repeated
        if self.curvatures.ndim == 2:
            return np.ascontiguousarray(self.curvatures[rows])
        return np.diagonal(self.curvatures[rows], axis1=1, axis2=2).copy()

    def _matrices_of(self, rows: slice) -> Array:
        return self._diagonals_of(rows)[:, :, None] * np.eye(self.dim) if self.is_diagonal else self.curvatures[rows]


# Smaller curvatures underflow when they are weighted.
_SMALLEST = 1e-100
# Half a megabyte of centers: a round may copy fewer clients than there are.
_MANY = 2**16


def checked_centers(value: Any) -> Array:
    """Return the minimizers of all clients, shape (K, v)."""
    centers = validate.moderate("centers", validate.array("centers", value, ndim=2), 1e50)
    if 0 in centers.shape:
        message = f"centers must have at least one client and one dimension, got shape {centers.shape}"
        raise ValueError(message)
    return centers


def checked_clients(curvatures: Any, centers: Array, minima: Any) -> dict[str, Array]:
    """Return curvatures, centers and minima by name; for many clients they are views of one array ``rows``.

    A client's numbers are then contiguous, which makes rounds faster. Each array is released before the next is copied,
    since a second copy of a million clients' numbers would take longer than many a run.
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
    """Return the minima of all clients, given as one number or one per client."""
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
