"""Non-convex federations of smooth wells with known constants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.summary import Displayed, Summary
from fedtheory._support.validate import Array
from fedtheory.federation._models import lacking, models_of

__all__ = ["NonconvexFederation"]


@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class NonconvexFederation(Displayed):
    r"""Clients with equal wells at the origin and different tilts, ``F_k(w) = sum_j a_j phi(w_j) + <b_k, w>``.

    Here ``phi(t) = t^2 / (1 + t^2)``, with ``-1/2 <= phi'' <= 2``. The weighted mean of the tilts is subtracted from
    each of them, so that ``F(w) = sum_j a_j phi(w_j)`` has the minimum 0, and Assumption 9 of Optimal Client Sampling
    holds with equality everywhere.

    Parameters
    ----------
    amplitudes
        The a_j, non-negative and not all 0, shape (v,).
    tilts
        The b_k before their mean is subtracted, shape (K, v).
    weights
        Objective weights p_k, shape (K,), of sum 1.

    Examples
    --------
    >>> fed = NonconvexFederation([2.0], [[1.0], [-1.0]], [0.5, 0.5])
    >>> fed.losses([1.0]), fed.gradient([1.0]), fed.smoothness, fed.dissimilarity
    (array([2., 0.]), array([1.]), 4.0, 1.0)
    """

    amplitudes: Array
    tilts: Array
    weights: Array

    def __init__(self, amplitudes: npt.ArrayLike, tilts: npt.ArrayLike, weights: npt.ArrayLike) -> None:
        b = _moderate("tilts", tilts, ndim=2)
        a = validate.nonnegative("amplitudes", _moderate("amplitudes", amplitudes, shape=(b.shape[1],)))
        if not a.any():
            message = f"amplitudes must have a positive entry, got {'zeros' if a.size else 'none'} of shape {a.shape}"
            raise ValueError(message)
        p = validate.probability_vector("weights", weights, size=b.shape[0])
        for name, value in {"amplitudes": a, "tilts": _centered(b, p), "weights": p}.items():
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @property
    def num_clients(self) -> int:
        """Number of clients K."""
        return int(self.tilts.shape[0])

    @property
    def dim(self) -> int:
        """Number of model parameters v."""
        return int(self.tilts.shape[1])

    def losses(self, w: npt.ArrayLike) -> Array:
        """All F_k at models of shape (..., v); returns shape (..., K)."""
        result: Array = np.asarray(self.loss(w))[..., None] + models_of(w, self.dim) @ self.tilts.T
        return result

    def loss(self, w: npt.ArrayLike) -> Any:
        """F at models of shape (..., v); returns shape (...), a float for one model."""
        return np.asarray(np.einsum("...i,i->...", phi(models_of(w, self.dim)), self.amplitudes))[()]

    def gradients(self, w: npt.ArrayLike) -> Array:
        """Gradients of all F_k at models of shape (..., v); returns shape (..., K, v)."""
        return self.gradient(w)[..., None, :] + self.tilts

    def gradient(self, w: npt.ArrayLike) -> Array:
        """Gradient of F at models of shape (..., v); returns shape (..., v)."""
        return self.amplitudes * slope(models_of(w, self.dim))

    def excess(self, w: npt.ArrayLike) -> Array:
        """``F(w) - F*`` at models of shape (..., v); returns shape (...)."""
        return np.asarray(self.loss(w))[()]

    @property
    def minimizer(self) -> Array:
        """Minimizer of F, the origin, shape (v,)."""
        return np.zeros(self.dim)

    @property
    def minimum(self) -> float:
        """Smallest value of F, 0."""
        return 0.0

    local_minimizers = lacking("local minimizers need clients without tilts, which are unbounded below")
    local_minima = lacking("local minima need clients without tilts, which are unbounded below")
    objective_gap = lacking("an objective gap needs clients without tilts, which are unbounded below")
    strong_convexity = lacking("strong convexity needs convex clients")

    @property
    def smoothness(self) -> float:
        """Known smoothness constant L of all clients, ``2 max_j a_j``."""
        return float(2 * self.amplitudes.max())

    @property
    def dissimilarity(self) -> float:
        """``rho = sum_k p_k |grad F_k(w) - grad F(w)|^2`` at every w (Optimal Client Sampling, Assumption 9)."""
        return float((self.weights @ self.tilts**2).sum())

    @property
    def _summary(self) -> Summary:
        return Summary("NonconvexFederation", {"num_clients": self.num_clients, "dim": self.dim})


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
    t = np.where(np.abs(t) < 1e100, t, 0.0)
    result: Array = 2 * t / (1 + t**2) ** 2
    return result
