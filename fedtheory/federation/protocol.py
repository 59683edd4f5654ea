"""Interface of problem families."""

from __future__ import annotations

from typing import Any, Protocol

import numpy.typing as npt

from fedtheory._support.validate import Array

__all__ = ["Federation"]


class Federation(Protocol):
    """A weighted sum of client objectives, ``F(w) = sum_k p_k F_k(w)``.

    Attributes that a family cannot compute raise ``AssumptionViolated``. For simulations a family must also register
    compiled kernels with ``fedtheory.engine.layout``.
    """

    @property
    def num_clients(self) -> int:
        """Number of clients K."""

    @property
    def dim(self) -> int:
        """Number of model parameters v."""

    @property
    def weights(self) -> Array:
        """Objective weights p, shape (K,), sum 1."""

    @property
    def minimizer(self) -> Array:
        """Minimizer of F, shape (v,)."""

    @property
    def minimum(self) -> float:
        """Smallest value of F."""

    @property
    def local_minimizers(self) -> Array:
        """Minimizers of the F_k, shape (K, v)."""

    @property
    def local_minima(self) -> Array:
        """Smallest values of the F_k, shape (K,)."""

    @property
    def smoothness(self) -> float:
        """Smoothness constant L that holds for every client."""

    @property
    def strong_convexity(self) -> float:
        """Strong convexity constant mu that holds for every client."""

    @property
    def objective_gap(self) -> float:
        """Local-global objective gap ``F* - sum_k p_k F_k*``."""

    def loss(self, w: npt.ArrayLike) -> Any:
        """F at models of shape (..., v), a float for one model."""

    def losses(self, w: npt.ArrayLike) -> Array:
        """All F_k at models of shape (..., v), shape (..., K)."""

    def gradient(self, w: npt.ArrayLike) -> Array:
        """Gradient of F, shape (..., v)."""

    def gradients(self, w: npt.ArrayLike) -> Array:
        """Gradients of all F_k, shape (..., K, v)."""
