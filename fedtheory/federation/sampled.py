"""Shared parts of federations of labeled samples: validation, means over a client's samples, accuracy."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.cached import cached_property
from fedtheory._support.summary import Displayed
from fedtheory._support.validate import Array
from fedtheory.federation._cross_entropy import sample_losses
from fedtheory.federation._models import models_of
from fedtheory.federation.client_data import FederatedData, Labels

__all__ = ["Labeled", "at_each", "checked_data", "checked_weights", "client_means", "with_constant"]

_LARGEST_FEATURE = 1e100


def checked_data(data: Any) -> FederatedData:
    """Return samples whose features have finite squares."""
    if not isinstance(data, FederatedData):
        message = f"data must be a FederatedData, got {type(data).__name__}"
        raise TypeError(message)
    if np.abs(data.features).max() > _LARGEST_FEATURE:
        message = (
            f"features must be at most {_LARGEST_FEATURE:g} in absolute value, so that their squares stay finite, "
            f"got {np.abs(data.features).max():g}"
        )
        raise ValueError(message)
    return data


def checked_weights(data: FederatedData, weights: Any) -> Array:
    """Return objective weights, by default proportional to the sample counts; read-only."""
    given = data.weights if weights is None else weights
    clean = validate.probability_vector("weights", given, size=data.num_clients)
    clean.setflags(write=False)
    return clean


def with_constant(features: Array) -> Array:
    """Append the feature 1, whose weights are the biases."""
    return np.column_stack([features, np.ones(len(features))])


def client_means(data: FederatedData, values: Array) -> Array:
    """Mean over each client's samples, shape (K,)."""
    means: Array = np.add.reduceat(values, data.offsets[:-1]) / data.sample_counts
    return means


def at_each(w: npt.ArrayLike, dim: int, function: Callable[[Array], Any], shape: tuple[int, ...]) -> Array:
    """Apply a function of one model to models of shape (..., v); its values have the given shape."""
    models = models_of(w, dim)
    values = [function(one) for one in models.reshape(-1, dim)]
    return np.array(values, dtype=np.float64).reshape((*models.shape[:-1], *shape))


class Labeled(Displayed, Protocol):
    """Clients with the mean of a loss of their labeled samples, as a function of the logits."""

    data: FederatedData
    weights: Array
    l2: float

    @property
    def dim(self) -> int:
        """Number of model parameters v."""

    def _gradients(self, model: Array) -> Array: ...
    def _logits(self, model: Array, inputs: Array) -> Array: ...

    @property
    def num_clients(self) -> int:
        """Number of clients K."""
        return self.data.num_clients

    @property
    def sample_counts(self) -> Labels:
        """Number of training samples of each client, shape (K,)."""
        return self.data.sample_counts

    @cached_property
    def inputs(self) -> Array:
        """Training features with the constant 1 as last column, shape (N, f + 1)."""
        return with_constant(self.data.features)

    def _losses(self, model: Array) -> Array:
        each = sample_losses(self._logits(model, self.inputs), self.data.labels)
        return client_means(self.data, each) + 0.5 * self.l2 * model @ model

    def losses(self, w: npt.ArrayLike) -> Array:
        """All F_k at models of shape (..., v); returns shape (..., K)."""
        return at_each(w, self.dim, self._losses, (self.num_clients,))

    def loss(self, w: npt.ArrayLike) -> Any:
        """F at models of shape (..., v); returns shape (...), a float for one model."""
        return np.asarray(self.losses(w) @ self.weights)[()]

    def gradients(self, w: npt.ArrayLike) -> Array:
        """Gradients of all F_k at models of shape (..., v); returns shape (..., K, v)."""
        return at_each(w, self.dim, self._gradients, (self.num_clients, self.dim))

    def accuracy(self, w: npt.ArrayLike, *, held_out: bool = True) -> Array:
        """Share of the samples whose largest logit is that of their label, at models of shape (..., v); shape (...).

        ValueError if no sample is held out; ``held_out=False`` uses the training samples.
        """
        if not validate.boolean("held_out", held_out):
            features, labels = self.data.features, self.data.labels
        elif self.data.test_labels.size:
            features, labels = self.data.test_features, self.data.test_labels
        else:
            message = "accuracy needs held-out samples (held_out=False uses the training samples), got none"
            raise ValueError(message)
        inputs = with_constant(features)
        shares = at_each(w, self.dim, lambda one: np.mean(np.argmax(self._logits(one, inputs), axis=1) == labels), ())
        return np.asarray(shares)[()]
