"""Non-convex federations of smooth wells with known constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, final, overload

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.cached import cached_property
from fedtheory._support.summary import Summary
from fedtheory._support.validate import Array
from fedtheory.errors import AssumptionViolated
from fedtheory.federation._models import models_of

__all__ = ["NonconvexFederation"]


@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class NonconvexFederation:
    r"""Clients with non-convex objectives, ``F_k(w) = sum_j a_kj phi(w_j - c_kj) + <b_k, w>``.

    Here ``phi(t) = t^2 / (1 + t^2)``, with ``-1/2 <= phi'' <= 2`` and ``phi'^2 <= 27/64``. The weighted mean of the
    tilts is subtracted from each of them, so that ``F(w) = sum_k p_k sum_j a_kj phi(w_j - c_kj)`` is at least 0.

    Parameters
    ----------
    amplitudes
        The a_kj, non-negative and not all 0, shape (K, v).
    centers
        The c_kj, shape (K, v).
    tilts
        The b_k before their mean is subtracted, shape (K, v).
    weights
        Objective weights p_k, shape (K,), of sum 1.

    Examples
    --------
    Wells of depth 1 at -1 and 1. At 0 both losses are 1/2, and the slopes cancel.

    >>> fed = NonconvexFederation.hetero([[1.0], [1.0]], [[-1.0], [1.0]], [0.5, 0.5])
    >>> fed.losses([0.0]), fed.gradients([0.0]).ravel(), fed.gradient([0.0])
    (array([0.5, 0.5]), array([ 0.5, -0.5]), array([0.]))
    """

    amplitudes: Array
    centers: Array
    tilts: Array
    weights: Array

    def __init__(
        self, amplitudes: npt.ArrayLike, centers: npt.ArrayLike, tilts: npt.ArrayLike, weights: npt.ArrayLike
    ) -> None:
        a = validate.nonnegative("amplitudes", _moderate("amplitudes", amplitudes, ndim=2))
        if a.size == 0 or not a.any():
            message = f"amplitudes must have a positive entry, got {'zeros' if a.size else 'none'} of shape {a.shape}"
            raise ValueError(message)
        p = validate.probability_vector("weights", weights, size=a.shape[0])
        c, b = _moderate("centers", centers, shape=a.shape), _moderate("tilts", tilts, shape=a.shape)
        clean = {
            "amplitudes": a,
            "centers": c,
            "tilts": _centered(b, p),
            "weights": p,
        }
        for name, value in clean.items():
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @classmethod
    def tilt(cls, amplitudes: npt.ArrayLike, tilts: npt.ArrayLike, weights: npt.ArrayLike) -> Self:
        """Build clients with equal wells at the origin, of amplitudes (v,), and different tilts (K, v).

        ``F(w) = sum_j a_j phi(w_j)`` has the minimum 0, and Assumption 9 holds with equality everywhere.

        >>> fed = NonconvexFederation.tilt([2.0], [[1.0], [-1.0]], [0.5, 0.5])
        >>> fed.minimum, fed.smoothness, fed.dissimilarity
        (0.0, 4.0, 1.0)
        """
        b = validate.array("tilts", tilts, ndim=2)
        a = validate.array("amplitudes", amplitudes, shape=(b.shape[1],))
        return cls(np.tile(a, (len(b), 1)), np.zeros_like(b), b, weights)

    @classmethod
    def hetero(cls, amplitudes: npt.ArrayLike, centers: npt.ArrayLike, weights: npt.ArrayLike) -> Self:
        """Build clients with different wells, amplitudes and centers (K, v), without tilts.

        Every client has the minimum 0 at its center.

        >>> fed = NonconvexFederation.hetero([[1.0], [1.0]], [[-0.5], [0.5]], [0.5, 0.5])
        >>> round(fed.minimum, 12), fed.local_minima
        (0.2, array([0., 0.]))
        """
        a = validate.array("amplitudes", amplitudes, ndim=2)
        return cls(a, centers, np.zeros_like(a), weights)

    @property
    def num_clients(self) -> int:
        """Number of clients K."""
        return int(self.centers.shape[0])

    @property
    def dim(self) -> int:
        """Number of model parameters v."""
        return int(self.centers.shape[1])

    @cached_property
    def has_common_wells(self) -> bool:
        """Whether all clients have the same wells, so that only their tilts differ."""
        return bool((self.amplitudes == self.amplitudes[0]).all() and (self.centers == self.centers[0]).all())

    def losses(self, w: npt.ArrayLike) -> Array:
        """All F_k at models of shape (..., v); returns shape (..., K)."""
        model = models_of(w, self.dim)
        wells = np.einsum("...ki,ki->...k", phi(model[..., None, :] - self.centers), self.amplitudes)
        result: Array = wells + model @ self.tilts.T
        return result

    @overload
    def loss(self, w: Sequence[float]) -> float: ...
    @overload
    def loss(self, w: npt.ArrayLike) -> Any: ...
    def loss(self, w: npt.ArrayLike) -> Any:
        """F at models of shape (..., v); returns shape (...), a float for one model."""
        amplitudes, centers = self._wells
        offsets = models_of(w, self.dim)[..., None, :] - centers
        return np.asarray(np.einsum("...ki,ki->...", phi(offsets), amplitudes))[()]

    def gradients(self, w: npt.ArrayLike) -> Array:
        """Gradients of all F_k at models of shape (..., v); returns shape (..., K, v)."""
        return self.amplitudes * slope(models_of(w, self.dim)[..., None, :] - self.centers) + self.tilts

    def gradient(self, w: npt.ArrayLike) -> Array:
        """Gradient of F at models of shape (..., v); returns shape (..., v)."""
        amplitudes, centers = self._wells
        result: Array = np.einsum("...ki,ki->...i", slope(models_of(w, self.dim)[..., None, :] - centers), amplitudes)
        return result

    def excess(self, w: npt.ArrayLike) -> Array:
        """``F(w) - F*`` at models of shape (..., v), at least 0; returns shape (...)."""
        return np.asarray(np.maximum(self.loss(w) - self.minimum, 0.0))[()]

    @property
    def minimizer(self) -> Array:
        """A global minimizer of F, shape (v,), from an exhaustive search in each coordinate separately."""
        return self._lowest[0]

    @property
    def minimum(self) -> float:
        """Smallest value of F, certified up to rounding."""
        return self._lowest[1]

    @property
    def local_minimizers(self) -> Array:
        """Minimizers of the F_k, shape (K, v): the centers; AssumptionViolated if a client is tilted."""
        self._must_not_be_tilted("minimizers")
        return self.centers

    @property
    def local_minima(self) -> Array:
        """Smallest values of the F_k, shape (K,): zeros; AssumptionViolated if a client is tilted."""
        self._must_not_be_tilted("minima")
        return np.zeros(self.num_clients)

    @property
    def objective_gap(self) -> float:
        """Local-global objective gap ``F* - sum_k p_k F_k*``; AssumptionViolated if a client has no minimum."""
        self._must_not_be_tilted("an objective gap")
        return self.minimum

    @property
    def smoothness(self) -> float:
        """Known smoothness constant L of all clients, ``2 max_kj a_kj``."""
        return float(2 * self.amplitudes.max())

    @property
    def strong_convexity(self) -> float:
        """Raise AssumptionViolated: no F_k is convex."""
        message = "strong convexity needs convex clients, got wells, whose curvature is negative far from the center"
        raise AssumptionViolated(message)

    @property
    def dissimilarity(self) -> float:
        r"""Bound rho on ``sum_k p_k |grad F_k(w) - grad F(w)|^2`` at every w (Optimal Client Sampling, Assumption 9).

        The sum is ``sum_k p_k |b_k|^2`` for all w if the wells are common. Otherwise the slopes of the wells add at
        most ``s_j^2 = 27/64 sum_k p_k a_kj^2`` in coordinate j, and the root of the sum is subadditive.
        """
        tilting = self.weights @ self.tilts**2
        if self.has_common_wells:
            return float(tilting.sum())
        sloping = LARGEST_SLOPE2 * (self.weights @ self.amplitudes**2)
        return float(((np.sqrt(tilting) + np.sqrt(sloping)) ** 2).sum())

    def __repr__(self) -> str:
        return self._summary.line

    def _repr_html_(self) -> str:
        return self._summary.html

    @property
    def _summary(self) -> Summary:
        wells = "common" if self.has_common_wells else "different for each client"
        return Summary("NonconvexFederation", {"num_clients": self.num_clients, "dim": self.dim, "wells": wells})

    @cached_property
    def _wells(self) -> tuple[Array, Array]:
        """Return amplitudes and centers of the wells whose sum is F; a single row if all clients share their wells."""
        if self.has_common_wells:
            return self.amplitudes[:1], self.centers[:1]
        return self.weights[:, None] * self.amplitudes, self.centers

    @cached_property
    def _lowest(self) -> tuple[Array, float]:
        if self.has_common_wells:
            return np.array(self.centers[0]), 0.0
        points = [lowest_point(a, c) for a, c in zip(self._wells[0].T, self._wells[1].T, strict=True)]
        return np.array([x for x, _ in points]), float(sum(value for _, value in points))

    def _must_not_be_tilted(self, wanted: str) -> None:
        for client in np.flatnonzero(self.tilts.any(axis=1)):
            message = f"{wanted} needs clients without tilts, got client {client}, whose loss is unbounded below"
            raise AssumptionViolated(message)


def _moderate(name: str, value: npt.ArrayLike, **form: Any) -> Array:
    return validate.moderate(name, validate.array(name, value, **form), 1e100)


def _centered(tilts: Array, weights: Array) -> Array:
    """Subtract the weighted mean until only rounding is left, so that centered tilts do not change."""
    for _ in range(3):
        mean = weights @ tilts
        if (np.abs(mean) <= len(weights) * np.finfo(np.float64).eps * (weights @ np.abs(tilts))).all():
            break
        tilts = tilts - mean
    return tilts


LARGEST_SLOPE2 = 27 / 64

_FIRST_CELLS = 64
_HALVINGS = 60


def phi(t: Array) -> Array:
    """``t^2 / (1 + t^2)``.

    >>> phi(np.array([0.0, 1.0, -3.0, 1e200]))
    array([0. , 0.5, 0.9, 1. ])
    """
    near = np.abs(t) < 1e100
    square = np.where(near, t, 0.0) ** 2
    return np.where(near, square / (1 + square), 1.0)


def slope(t: Array) -> Array:
    """``phi'(t) = 2 t / (1 + t^2)^2``.

    >>> slope(np.array([0.0, 1.0, -3.0, 1e200]))
    array([ 0.  ,  0.5 , -0.06,  0.  ])
    """
    near = np.abs(t) < 1e100
    t = np.where(near, t, 0.0)
    result: Array = 2 * t / (1 + t**2) ** 2
    return result


def _curvature(t: Array) -> Array:
    result: Array = (2 - 6 * t**2) / (1 + t**2) ** 3
    return result


def lowest_point(amplitudes: Array, centers: Array) -> tuple[float, float]:
    """Return the global minimizer and the minimum of psi, the latter up to a few rounding errors of ``sum_i a_i``.

    Outside the hull of the centers psi decreases towards it. Inside, ``phi'' >= -1/2`` bounds psi from below on a cell
    of half-width h around m by ``psi(m) - |psi'(m)| h - sum_i a_i h^2 / 4``. Cells whose bound exceeds the best value
    are discarded and the others are halved, until the bound reaches the best value.

    >>> x, value = lowest_point(np.array([1.0, 1.0]), np.array([-0.5, 0.5]))
    >>> abs(x) < 1e-12, round(value, 12)  # two close wells have one minimum, 2 phi(1/2)
    (True, 0.4)
    """
    total = float(amplitudes.sum())
    low, high = float(centers.min()), float(centers.max())
    half = (high - low) / (2 * _FIRST_CELLS)
    cells = low + half * (2 * np.arange(_FIRST_CELLS, dtype=np.float64) + 1)
    # Every center is a candidate as well, since a deep well may be narrower than the first cells.
    best = _best(amplitudes, centers, centers)
    for _ in range(_HALVINGS):
        offsets = cells[:, None] - centers
        values, slopes = phi(offsets) @ amplitudes, slope(offsets) @ amplitudes
        best = min(best, _best(amplitudes, centers, cells), key=lambda point: point[1])
        bounds = values - np.abs(slopes) * half - total * half**2 / 4
        cells = cells[bounds < best[1] - 4 * np.finfo(np.float64).eps * total]
        if not cells.size:
            break
        half /= 2
        cells = np.concatenate([cells - half, cells + half])
    return best


def _best(amplitudes: Array, centers: Array, points: Array) -> tuple[float, float]:
    """Return the point with the smallest psi, after a few descending Newton steps, and psi there."""
    x = points[np.argmin(phi(points[:, None] - centers) @ amplitudes)]
    value = float(phi(x - centers) @ amplitudes)
    for _ in range(4):
        curvature = float(_curvature(x - centers) @ amplitudes)
        moved = x - float(slope(x - centers) @ amplitudes) / curvature if curvature > 0 else x
        below = float(phi(moved - centers) @ amplitudes)
        if below > value:
            break
        x, value = moved, below
    return float(x), value
