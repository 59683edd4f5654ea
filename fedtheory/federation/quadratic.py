"""Federations of quadratics, where every constant of the theory is known in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.cached import cached_property
from fedtheory._support.summary import Summary
from fedtheory._support.threads import pinned
from fedtheory._support.validate import Array
from fedtheory.federation._curvatures import checked_centers, checked_clients, checked_curvatures

__all__ = ["QuadraticFederation"]

_BLOCK = 8192


@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class QuadraticFederation:
    r"""Clients with quadratic objectives, ``F_k(w) = 1/2 (w - c_k)' H_k (w - c_k) + F_k*``.

    Parameters
    ----------
    curvatures
        The H_k, symmetric positive definite: shape (K,) for ``h_k I``, (K, v) for diagonal, (K, v, v) for full ones.
    centers
        The minimizers c_k, shape (K, v).
    weights
        Objective weights p_k, shape (K,), non-negative and of sum 1.
    minima
        The minima F_k*, a scalar or shape (K,).
    normalize
        Divide the weights by their sum instead of requiring that it is 1.

    Raises
    ------
    ValueError
        If shapes disagree, a number is not finite, centers are above 1e50 or minima above 1e100 in absolute value, or a
        curvature is not symmetric positive definite, below 1e-100 or above 1e200.
    TypeError
        If an array does not hold real numbers.

    Examples
    --------
    Two clients at +1 and -1 with unit curvature: the minimizer is 0 and the objective gap 1/2.

    >>> fed = QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])
    >>> fed.minimizer, fed.objective_gap
    (array([0.]), 0.5)
    >>> fed.losses([0.0])
    array([0.5, 0.5])
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
        p = validate.probability_vector("weights", weights, size=len(clean["centers"]), normalize=normalize)
        for name, value in {**clean, "weights": p}.items():
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @classmethod
    def from_linear(
        cls, curvatures: npt.ArrayLike, linear: npt.ArrayLike, weights: npt.ArrayLike, *, normalize: bool = False
    ) -> Self:
        """Build the form of Power-of-Choice, eq. (86): ``1/2 w'H_k w - e_k'w + 1/2 e_k' H_k^-1 e_k`` (all minima 0).

        ``linear`` holds the e_k, shape (K, v).

        >>> QuadraticFederation.from_linear([2.0, 4.0], [[2.0], [2.0]], [0.5, 0.5]).centers
        array([[1. ],
               [0.5]])
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
        """Whether every curvature was given as a multiple of the identity or as a diagonal."""
        return self.curvatures.ndim < 3

    @cached_property
    def rows(self) -> Array:
        """Curvature (1, v or v*v numbers), minimum and minimizer of each client side by side; a row per client."""
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

    def loss(self, w: npt.ArrayLike) -> Array:
        """F at models of shape (..., v); returns shape (...)."""
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
        distance = self._models(w) - self.minimizer
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
        """Largest eigenvalue of any H_k: every client is smooth with this constant L."""
        return float(self._spectrum.max())

    @cached_property
    def strong_convexity(self) -> float:
        """Smallest eigenvalue of any H_k: every client is strongly convex with this constant mu."""
        return float(self._spectrum.min())

    @cached_property
    @pinned
    def _spectrum(self) -> Array:
        # those of a diagonal curvature are its entries, given once each
        return self.curvatures if self.is_diagonal else np.asarray(np.linalg.eigvalsh(self.curvatures), np.float64)

    def __repr__(self) -> str:
        return self._summary.line

    def _repr_html_(self) -> str:
        return self._summary.html

    @property
    def _summary(self) -> Summary:
        kind = ("multiples of the identity", "diagonal", "full")[self.curvatures.ndim - 1]
        rows = {"num_clients": self.num_clients, "dim": self.dim, "curvatures": kind}
        if self.is_diagonal:  # otherwise eigenvalues would have to be computed
            rows |= {"strong_convexity": self.strong_convexity, "smoothness": self.smoothness}
        return Summary("QuadraticFederation", rows)

    def _offsets(self, w: npt.ArrayLike) -> Array:
        offsets: Array = self._models(w)[..., None, :] - self.centers
        return offsets

    def _models(self, w: npt.ArrayLike) -> Array:
        model = validate.array("w", w)
        if model.ndim == 0 or model.shape[-1] != self.dim:
            message = f"w must have shape (..., {self.dim}), got {model.shape}"
            raise ValueError(message)
        return model

    def _curve(self, offsets: Array, rows: slice = slice(None)) -> Array:
        if self.is_diagonal:
            curvatures = self.curvatures[rows]
            return (curvatures[:, None] if curvatures.ndim == 1 else curvatures) * offsets
        curved: Array = np.einsum("kij,...kj->...ki", self.curvatures[rows], offsets)
        return curved

    def _blocks(self) -> list[slice]:
        # What is summed over a million clients is made for some of them at a time.
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
