"""Shared parts of federations of labeled samples: validation, means over a client's samples, accuracy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.federation._models import models_of
from fedtheory.federation.client_data import FederatedData

__all__ = ["accuracy", "at_each", "checked_data", "checked_weights", "client_means", "with_constant"]

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


def accuracy(
    data: FederatedData, dim: int, logits: Callable[[Array, Array], Array], w: npt.ArrayLike, *, held_out: bool
) -> Array:
    """Return the share of samples whose label has the largest logit; ``logits(model, inputs)`` have shape (n, C)."""
    if not validate.boolean("held_out", held_out):
        features, labels = data.features, data.labels
    elif data.test_labels.size:
        features, labels = data.test_features, data.test_labels
    else:
        message = "accuracy needs held-out samples (held_out=False uses the training samples), got none"
        raise ValueError(message)
    inputs = with_constant(features)
    shares = at_each(w, dim, lambda model: np.mean(np.argmax(logits(model, inputs), axis=1) == labels), ())
    return np.asarray(shares)[()]
