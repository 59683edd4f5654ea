"""Federations of multilayer perceptrons."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import prod
from numbers import Integral
from typing import Any, final

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.summary import Summary
from fedtheory._support.validate import Array
from fedtheory.federation._cross_entropy import residuals
from fedtheory.federation._models import lacking
from fedtheory.federation.client_data import FederatedData
from fedtheory.federation.sampled import Labeled, at_each, checked_data, checked_weights, with_constant

__all__ = ["PerceptronFederation"]


@final
@dataclass(frozen=True, eq=False, repr=False)
class PerceptronFederation(Labeled):
    """Clients with the mean cross-entropy of a network, ``F_k(w) = 1/n_k sum_i l(z(x_i), y_i) + l2/2 ||w||^2``.

    Each hidden layer maps its input a to ``max(0, W (a, 1))``, the last layer to the logits ``z = W (a, 1)``, and
    ``l(z, y) = logsumexp(z) - z_y``. A constant 1 is appended to every input, so that the last column of a W contains
    the biases. A model contains the flattened W one after the other; that of h units on i inputs has shape (h, i + 1).
    The slope of a ReLU at 0 is 0.

    With dropout (Srivastava et al., 2014) every hidden value in a training step is set to 0 with the rate q of its
    layer, and otherwise multiplied by ``1/(1 - q)``. Losses, gradients and accuracies of this class are without
    dropout. F is neither convex nor smooth; attributes that need constants or a minimizer raise AssumptionViolated.

    Parameters
    ----------
    data
        The clients' samples; held-out samples are used by ``accuracy`` only.
    hidden
        Number of units of each hidden layer, at least one layer; see ``SoftmaxFederation`` for a model without.
    l2
        Ridge coefficient, at least 0: the weight decay of training programs.
    weights
        Objective weights p_k, shape (K,), of sum 1; by default proportional to the sample counts.
    dropout
        Dropout rate of each hidden layer, in [0, 1); by default 0.
    """

    data: FederatedData
    hidden: tuple[int, ...]
    l2: float = 0.0
    weights: Array = None  # type: ignore[assignment]
    dropout: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        weights = checked_weights(checked_data(self.data), self.weights)
        single = isinstance(self.hidden, Integral)
        units = [self.hidden] if single else validate.sequence("hidden", self.hidden, "units of each layer")
        layers = tuple(validate.size("hidden", width) for width in units)
        if not layers:
            message = "hidden must name at least one layer (SoftmaxFederation is the network without), got none"
            raise ValueError(message)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "hidden", layers)
        object.__setattr__(self, "dropout", _rates(self.dropout, len(layers)))
        object.__setattr__(self, "l2", validate.double("l2", validate.nonnegative("l2", self.l2)))

    @property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """Shapes of the W in the order of the layers."""
        widths = (self.data.num_features, *self.hidden, self.data.num_classes)
        return tuple((outputs, inputs + 1) for inputs, outputs in pairwise(widths))

    @property
    def dim(self) -> int:
        """Number of model parameters v."""
        return sum(prod(shape) for shape in self.shapes)

    def initial(self, rng: int | np.random.SeedSequence | np.random.Generator = 0) -> Array:
        """Draw an initial model, shape (v,); entries of a W on i inputs are uniform in ``[-1/sqrt(i), 1/sqrt(i)]``.

        At the zero model no hidden unit has a slope, so that training from there changes only the last biases.
        """
        generator = validate.generator(rng)
        layers = [generator.uniform(-1.0, 1.0, shape) / np.sqrt(shape[1] - 1) for shape in self.shapes]
        return np.concatenate([layer.ravel() for layer in layers])

    def gradient(self, w: npt.ArrayLike) -> Array:
        """Gradient of F at models of shape (..., v); returns shape (..., v)."""
        return at_each(w, self.dim, lambda model: self.weights @ self._gradients(model), (self.dim,))

    minimizer = lacking("a minimizer needs a convex, smooth objective")
    minimum = lacking("a minimum needs a convex, smooth objective")
    local_minimizers = lacking("local minimizers need a convex, smooth objective")
    local_minima = lacking("local minima need a convex, smooth objective")
    objective_gap = lacking("an objective gap needs a convex, smooth objective")
    smoothness = lacking("a smoothness constant needs a convex, smooth objective")
    strong_convexity = lacking("a strong convexity constant needs a convex, smooth objective")

    @property
    def _summary(self) -> Summary:
        data = self.data
        rows: dict[str, Any] = {
            "num_clients": data.num_clients,
            "num_samples": data.num_samples,
            "num_classes": data.num_classes,
        }
        rows |= {"hidden": self.hidden, "dim": self.dim, "l2": self.l2}
        return Summary("PerceptronFederation", rows | ({"dropout": self.dropout} if any(self.dropout) else {}))

    def _matrices(self, model: Array) -> list[Array]:
        cuts = np.cumsum([prod(shape) for shape in self.shapes])[:-1]
        return [part.reshape(shape) for part, shape in zip(np.split(model, cuts), self.shapes, strict=True)]

    def _forward(self, model: Array, inputs: Array) -> tuple[list[Array], Array]:
        """Compute the inputs of every layer, with their constant, and the logits."""
        *hidden, last = self._matrices(model)
        activations = [inputs]
        for matrix in hidden:
            activations.append(with_constant(np.maximum(activations[-1] @ matrix.T, 0.0)))
        return activations, activations[-1] @ last.T

    def _logits(self, model: Array, inputs: Array) -> Array:
        return self._forward(model, inputs)[1]

    def _gradients(self, model: Array) -> Array:
        activations, logits = self._forward(model, self.inputs)
        matrices, slopes, parts = self._matrices(model), residuals(logits, self.data.labels), list[Array]()
        for matrix, inputs in zip(reversed(matrices), reversed(activations), strict=True):
            cuts = self.data.offsets[1:-1]
            pairs = zip(np.split(slopes, cuts), np.split(inputs, cuts), strict=True)
            parts.insert(0, np.array([(slope.T @ one).ravel() / len(one) for slope, one in pairs]))
            slopes = (slopes @ matrix[:, :-1]) * (inputs[:, :-1] > 0)
        return np.concatenate(parts, axis=1) + self.l2 * model


def _rates(dropout: object, num_layers: int) -> tuple[float, ...]:
    """Return a dropout rate for each hidden layer, by default zeros."""
    given = validate.sequence("dropout", dropout, "rates of the hidden layers")
    rates = tuple(validate.double("dropout", validate.nonnegative("dropout", rate)) for rate in given)
    if len(rates) not in (0, num_layers) or max(rates, default=0.0) >= 1.0:
        message = f"dropout must be a rate in [0, 1) for each of {num_layers} hidden layers, got {rates}"
        raise ValueError(message)
    return rates or (0.0,) * num_layers
