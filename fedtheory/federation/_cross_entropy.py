"""Weighted mean cross-entropy of a linear softmax model with a ridge term, and its derivatives.

    f(W) = sum_i a_i (logsumexp(W x_i) - (W x_i)_{y_i}) + l2/2 ||W||^2,    a_i >= 0, sum_i a_i = 1.

The softmax q_i of W x_i gives the gradient ``sum_i a_i (q_i - e_{y_i}) x_i' + l2 W`` and the Hessian
``sum_i a_i (diag(q_i) - q_i q_i') (x) x_i x_i' + l2 I``. The functions of logits also accept complex numbers.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory._support.cached import cached_property
from fedtheory._support.validate import Array
from fedtheory.federation.client_data import Labels

_CHUNK = 4096


def sample_losses(logits: Any, labels: Labels) -> Any:
    """``logsumexp(z_i) - z_{i, y_i}`` for logits of shape (n, C), shape (n,); no overflow, no cancellation at 0.

    >>> sample_losses(np.array([[0.0, 0.0], [1000.0, -1000.0]]), np.array([0, 1]))
    array([6.93147181e-01, 2.00000000e+03])
    """
    rows = np.arange(labels.size)
    offsets = logits - logits[rows, labels][:, None]
    top = np.maximum(offsets.real.max(axis=1), 0.0)
    others = np.exp(offsets - top[:, None])
    others[rows, labels] = 0.0
    # log(1 + the sum over the other classes), with logits relative to the label's; log1p keeps small losses accurate.
    return top + np.log1p(others.sum(axis=1) + np.expm1(-top))


def class_probabilities(logits: Any) -> Any:
    """Class probabilities for logits of shape (n, C)."""
    powers = np.exp(logits - logits.real.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def residuals(logits: Any, labels: Labels) -> Any:
    """``q_i - e_{y_i}``, shape (n, C): the gradients of the sample losses with respect to the logits."""
    q = class_probabilities(logits)
    rows = np.arange(labels.size)
    # 1 - q_y as the sum over the other classes, which keeps small residuals accurate.
    q[rows, labels] = 0.0
    q[rows, labels] = -q.sum(axis=1)
    return q


@dataclass(frozen=True, eq=False)
class CrossEntropy:
    """The objective of a client, or of all clients, as a function of flat models of size C d.

    ``features`` (n, d), ``labels`` (n,), ``sample_weights`` (n,) of sum 1.
    """

    features: Array
    labels: Labels
    sample_weights: Array
    num_classes: int
    l2: float

    @property
    def dim(self) -> int:
        """Number of parameters C d."""
        return self.num_classes * int(self.features.shape[1])

    def logits(self, w: Any) -> Any:
        """``W x_i``, shape (n, C)."""
        return self.features @ w.reshape(self.num_classes, -1).T

    def loss(self, w: Any) -> Any:
        """f(W)."""
        return self.sample_weights @ sample_losses(self.logits(w), self.labels) + 0.5 * self.l2 * (w @ w)

    def gradient(self, w: Any) -> Any:
        """Gradient of f, shape (C d,)."""
        weighted = self.sample_weights[:, None] * residuals(self.logits(w), self.labels)
        return (weighted.T @ self.features).ravel() + self.l2 * w

    def product(self, w: Array, direction: Array) -> Array:
        """Product of the Hessian of f and a direction, shape (C d,), without forming the Hessian."""
        q, z = class_probabilities(self.logits(w)), self.logits(direction)
        change = q * (z - (q * z).sum(axis=1, keepdims=True))  # of the q_i along the direction
        curved: Array = ((self.sample_weights[:, None] * change).T @ self.features).ravel() + self.l2 * direction
        return curved

    def hessian(self, w: Array) -> Array:
        """Hessian of f, shape (C d, C d)."""
        classes, width = self.num_classes, self.features.shape[1]
        result = np.zeros((classes, width, classes, width))
        for start in range(0, self.labels.size, _CHUNK):
            rows = slice(start, start + _CHUNK)
            x, a = self.features[rows], self.sample_weights[rows]
            q = class_probabilities(x @ w.reshape(classes, -1).T)
            for c in range(classes):
                result[c, :, c, :] += (x * (a * q[:, c])[:, None]).T @ x
            spread = ((np.sqrt(a)[:, None] * q)[:, :, None] * x[:, None, :]).reshape(x.shape[0], -1)
            result -= (spread.T @ spread).reshape(result.shape)
        return result.reshape(self.dim, self.dim) + self.l2 * np.eye(self.dim)

    @cached_property
    def smoothness(self) -> float:
        """Upper bound of all eigenvalues of all Hessians: ``1/2 lambda_max(sum_i a_i x_i x_i') + l2``.

        ``diag(q) - q q'`` has no eigenvalue above 1/2: its Gershgorin discs have center and radius q_c (1 - q_c), at
        most 1/4. The computed eigenvalue is increased by a bound on its rounding error.
        """
        scaled = np.sqrt(self.sample_weights)[:, None] * self.features
        gram = scaled.T @ scaled if scaled.shape[0] >= scaled.shape[1] else scaled @ scaled.T
        # The error of the entries of the Gram matrix is at most n eps trace; that of its eigenvalues, d times as much.
        slack = (sum(scaled.shape) + 8) * np.finfo(np.float64).eps * np.trace(gram)
        bound = 0.5 * (np.linalg.eigvalsh(gram)[-1] + slack) + self.l2
        return float(np.nextafter(bound, np.inf))  # the last sum may have been rounded down
