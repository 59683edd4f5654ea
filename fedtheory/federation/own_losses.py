"""Federations with user-defined losses."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.cached import cached_property
from fedtheory._support.jit import is_compiled
from fedtheory._support.summary import Displayed, Summary
from fedtheory._support.validate import Array
from fedtheory._support.wording import truncate
from fedtheory.errors import AssumptionViolated
from fedtheory.federation._models import models_of

__all__ = ["LossFederation"]

# Steps of central differences; one of them suits losses with large third derivatives, or losses much larger than their
# gradients.
_STEPS = (2.0**-8, 2.0**-17, 2.0**-26)
# A loss is a sum of many numbers.
_ROUNDINGS = 64


@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class LossFederation(Displayed):
    """Clients with user-defined losses, ``F_k(w) = client_loss(data, k, w)``.

    Parameters
    ----------
    client_loss, client_gradient
        Functions of ``(data, k, w)``: the loss of client k at a model of shape (v,), and its gradient, shape (v,). The
        engine compiles them with numba unless they are compiled already. Before the first run the gradients of up to 16
        clients are compared with difference quotients of the loss; a TypeError or ValueError names a mistake.
    data
        Argument of both functions: an array, a number, None, or a (nested, possibly named) tuple of these.
    weights
        Objective weights p_k, shape (K,), of sum 1.
    minimizer
        Minimizer of F, shape (v,), if it is known. Without it runs record ``loss`` but not ``gap``.
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
        _check_data("data", data)
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
            message = "a minimum of F needs minimizer=, got none: give it, or record=('loss',) in place of the gap"
            raise AssumptionViolated(message)
        return self.known_minimizer

    @property
    def minimum(self) -> float:
        """Smallest value of F; AssumptionViolated if the minimizer was not given."""
        return float(self.loss(self.minimizer))

    def losses(self, w: npt.ArrayLike) -> Array:
        """All F_k at models of shape (..., v); returns shape (..., K)."""
        return self._of_clients(w, self.client_loss)

    def loss(self, w: npt.ArrayLike) -> Any:
        """F at models of shape (..., v); returns shape (...), a float for one model."""
        return np.asarray(self.losses(w) @ self.weights)[()]

    def gradients(self, w: npt.ArrayLike) -> Array:
        """Gradients of all F_k at models of shape (..., v); returns shape (..., K, v)."""
        return self._of_clients(w, self.client_gradient)

    def gradient(self, w: npt.ArrayLike) -> Array:
        """Gradient of F at models of shape (..., v); returns shape (..., v)."""
        found: Array = np.einsum("...kv,k->...v", self.gradients(w), self.weights)
        return found

    @cached_property
    def checked_functions(self) -> tuple[Callable[..., Any], Callable[..., Any]]:
        """Loss and gradient; a ValueError or TypeError names a client for which they do not match."""
        best = () if self.known_minimizer is None else (self.known_minimizer,)
        for k in np.unique(np.linspace(0, self.num_clients - 1, 16).astype(int)).tolist():
            _check_client(self, k, best)
        return self.client_loss, self.client_gradient

    def _of_clients(self, w: npt.ArrayLike, function: Callable[[Any, int, Array], Any]) -> Array:
        models = models_of(w, self.dim)
        flat = models.reshape(-1, self.dim)
        found = np.array([[function(self.data, k, one) for k in range(self.num_clients)] for one in flat])
        return found.reshape(*models.shape[:-1], *found.shape[1:])

    @property
    def _summary(self) -> Summary:
        name = getattr(self.client_loss, "__name__", "")
        return Summary("LossFederation", {"num_clients": self.num_clients, "dim": self.dim, "client_loss": name})


def _check_data(name: str, data: Any) -> None:
    """Raise TypeError unless compiled code can read the data."""
    if isinstance(data, tuple):
        for place, part in enumerate(data):
            _check_data(f"{name}[{place}]", part)
        return
    raw = validate.unmasked(name, data) if isinstance(data, np.ndarray) else data
    fits = raw.dtype.kind in "biufc" if isinstance(raw, np.ndarray) else isinstance(raw, int | float | np.number | None)
    if not fits:
        got = f"an array of {raw.dtype}" if isinstance(raw, np.ndarray) else f"a {type(data).__name__}"
        message = f"{name} must be an array of numbers, a number, or a tuple of these, got {got}"
        raise TypeError(message)


def _check_client(fed: LossFederation, k: int, points: tuple[Array, ...]) -> None:
    """Compare a client's gradient with difference quotients of its loss, at the first model where both are finite."""
    rng = np.random.default_rng(k)
    drawn = rng.normal(size=fed.dim)
    direction = rng.normal(size=fed.dim)
    direction /= np.linalg.norm(direction)
    for model in (drawn, np.abs(drawn), 0.01 * drawn, *points):
        loss, gradient = _loss(fed, k, model), _gradient(fed, k, model)
        if not (np.isfinite(loss) and np.isfinite(gradient).all()):
            continue  # for example a logarithm of a negative number
        slope, quotients = float(gradient @ direction), []
        for step in _STEPS:
            there, back = (_loss(fed, k, model + sign * step * direction) for sign in (1, -1))
            quotients.append((there - back) / (2 * step))
            rounding = _ROUNDINGS * np.finfo(np.float64).eps * max(abs(there), abs(back)) / step
            if abs(quotients[-1] - slope) <= 1e-3 * max(abs(slope), float(np.linalg.norm(gradient))) + rounding:
                return
        if not np.isfinite(quotients).all():
            continue
        message = (
            f"client_gradient must be the gradient of client_loss, got the slope {slope:.6g} for client {k} in a "
            f"direction in which its loss grows by {quotients[1]:.6g}"
        )
        raise ValueError(message)


def _loss(fed: LossFederation, k: int, model: Array) -> float:
    answer = _answer("client_loss", fed.client_loss, fed, k, model)
    if np.ndim(answer) or not isinstance(answer, numbers.Real | np.ndarray):
        message = f"client_loss must return a number, got {truncate(answer)} for client {k}"
        raise TypeError(message)
    return float(answer)


def _gradient(fed: LossFederation, k: int, model: Array) -> Array:
    answer = _answer("client_gradient", fed.client_gradient, fed, k, model)
    if not isinstance(answer, np.ndarray) or answer.dtype.kind not in "iuf" or answer.shape != (fed.dim,):
        got = f"{answer.dtype} of shape {answer.shape}" if isinstance(answer, np.ndarray) else truncate(answer)
        message = (
            f"client_gradient must return an array of real numbers of shape ({fed.dim},), got {got} for client {k}"
        )
        raise TypeError(message)
    return answer.astype(np.float64)


def _answer(name: str, function: Callable[..., Any], fed: LossFederation, k: int, model: Array) -> Any:
    given = model.copy()
    given.setflags(write=False)
    try:
        with np.errstate(all="ignore"):
            plain: Any = function
            return (plain.py_func if is_compiled(plain) else plain)(fed.data, k, given)
    except Exception as error:
        text = " ".join(str(error).split())
        message = (
            f"{name} must return a value for data, a client and a model of shape ({fed.dim},), got "
            f"{type(error).__name__} for client {k}: {text}"
        )
        raise ValueError(message) from error
