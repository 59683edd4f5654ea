"""Federations whose losses are somebody's own: two functions, and the data that they read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.summary import Summary
from fedtheory._support.validate import Array
from fedtheory.errors import AssumptionViolated

__all__ = ["LossFederation"]

# Central differences of so large a step leave ten digits of a smooth function.
_STEP = 2.0**-17


@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class LossFederation:
    """Clients with losses ``F_k(w) = client_loss(data, k, w)`` of your own.

    Parameters
    ----------
    client_loss, client_gradient
        Functions of ``(data, k, w)``: the loss of client k at a model of shape (v,), and its gradient, shape (v,). The
        round loop compiles them with numba, unless they are compiled already.
    data
        What they read: an array, or a tuple of arrays. A first axis of length K is usual, and not asked for.
    weights
        Objective weights p_k, shape (K,), non-negative and of sum 1.
    dim
        Number of model parameters v.
    minimizer
        Where F is smallest, shape (v,), if that is known. Without it runs record ``loss``, and no ``gap``.

    Raises
    ------
    TypeError, ValueError
        If one of the two is no function, or a number makes no sense.

    Examples
    --------
    Two clients ``|w - c_k|``, smoothed; by symmetry the minimum is in the middle:

    >>> def loss(centers, k, w):
    ...     return np.log(np.cosh(w - centers[k])).sum()
    >>> def gradient(centers, k, w):
    ...     return np.tanh(w - centers[k])
    >>> fed = LossFederation(loss, gradient, np.array([[0.0], [2.0]]), [0.5, 0.5], dim=1, minimizer=[1.0])
    >>> fed.gradients([1.0]).ravel().round(6), fed.gradient_error([0.3]) < 1e-9
    (array([ 0.761594, -0.761594]), True)
    """

    client_loss: Callable[[Any, int, Array], float]
    client_gradient: Callable[[Any, int, Array], Array]
    data: Any
    weights: Array
    dim: int
    known_minimizer: Array | None

    def __init__(
        self,
        client_loss: Any,
        client_gradient: Any,
        data: Any,
        weights: npt.ArrayLike,
        *,
        dim: int,
        minimizer: npt.ArrayLike | None = None,
    ) -> None:
        for name, function in (("client_loss", client_loss), ("client_gradient", client_gradient)):
            if not callable(function):
                message = f"{name} must be a function of (data, k, w), got {type(function).__name__}"
                raise TypeError(message)
        size = validate.count("dim", dim)
        p = validate.probability_vector("weights", weights)
        best = None if minimizer is None else validate.array("minimizer", minimizer, shape=(size,))
        p.setflags(write=False)
        if best is not None:
            best.setflags(write=False)
        clean = (client_loss, client_gradient, data, p, size, best)
        for name, value in zip(self.__dataclass_fields__, clean, strict=True):
            object.__setattr__(self, name, value)

    @property
    def num_clients(self) -> int:
        """Number of clients K."""
        return int(self.weights.size)

    @property
    def minimizer(self) -> Array:
        """Minimizer of F, shape (v,); AssumptionViolated if it was not given."""
        if self.known_minimizer is None:
            message = "a minimum of F needs minimizer=, got none: give it, or record=('loss',) in the place of the gap"
            raise AssumptionViolated(message)
        return self.known_minimizer

    @property
    def minimum(self) -> float:
        """Smallest value of F; AssumptionViolated if the minimizer was not given."""
        return float(self.loss(self.minimizer))

    def losses(self, w: npt.ArrayLike) -> Array:
        """All F_k at models of shape (..., v); returns shape (..., K)."""
        return self._of_clients(w, self.client_loss)

    def loss(self, w: npt.ArrayLike) -> Array:
        """F at models of shape (..., v); returns shape (...)."""
        return np.asarray(self.losses(w) @ self.weights)[()]

    def gradients(self, w: npt.ArrayLike) -> Array:
        """Gradients of all F_k at models of shape (..., v); returns shape (..., K, v)."""
        return self._of_clients(w, self.client_gradient)

    def gradient(self, w: npt.ArrayLike) -> Array:
        """Gradient of F at models of shape (..., v); returns shape (..., v)."""
        found: Array = np.einsum("...kv,k->...v", self.gradients(w), self.weights)
        return found

    def gradient_error(self, w: npt.ArrayLike) -> float:
        """Largest difference between gradients and difference quotients of the losses at a model, over their size.

        Near 1e-9 where the one function is the gradient of the other and that is smooth; near 1 where it is not.
        """
        model = validate.array("w", w, shape=(self.dim,))
        steps = _STEP * np.eye(self.dim)
        quotients = (self.losses(model + steps) - self.losses(model - steps)).T / (2 * _STEP)
        size = float(np.abs(quotients).max())
        return float(np.abs(self.gradients(model) - quotients).max()) / (size or 1.0)

    def _of_clients(self, w: npt.ArrayLike, function: Callable[[Any, int, Array], Any]) -> Array:
        models = validate.array("w", w)
        if models.ndim == 0 or models.shape[-1] != self.dim:
            message = f"w must have shape (..., {self.dim}), got {models.shape}"
            raise ValueError(message)
        flat = models.reshape(-1, self.dim)
        found = np.array([[function(self.data, k, one) for k in range(self.num_clients)] for one in flat])
        return found.reshape(*models.shape[:-1], *found.shape[1:])

    def __repr__(self) -> str:
        name = getattr(self.client_loss, "__name__", "")
        return Summary("LossFederation", {"num_clients": self.num_clients, "dim": self.dim, "client_loss": name}).line
