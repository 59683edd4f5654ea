"""Federations of softmax (multinomial logistic) regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.cached import cached_property
from fedtheory._support.summary import Summary
from fedtheory._support.threads import pinned
from fedtheory._support.validate import Array
from fedtheory.errors import AssumptionViolated, OracleError
from fedtheory.federation._cross_entropy import CrossEntropy, residuals
from fedtheory.federation.client_data import FederatedData
from fedtheory.federation.sampled import Labeled, at_each, checked_data, checked_weights, client_means

__all__ = ["SoftmaxFederation"]


@final
@dataclass(frozen=True, eq=False, repr=False)
class SoftmaxFederation(Labeled):
    """Clients with the mean cross-entropy of their samples, ``F_k(W) = 1/n_k sum_i l(W x_i, y_i) + l2/2 ||W||^2``.

    Here ``l(z, y) = logsumexp(z) - z_y``. A constant feature 1 is appended to every sample, whose weights are the
    biases. A model is the flattened W, shape (C, f + 1) with the biases as last column: parameter ``c (f + 1) + j``
    multiplies feature j in the logit of class c, and ``v = C (f + 1)``. The ridge term includes the biases, so that it
    makes every client strongly convex.

    Parameters
    ----------
    data
        The clients' samples; held-out samples are used by ``accuracy`` only.
    l2
        Ridge coefficient, at least 0. Without a ridge term the infimum may not be attained: training is possible, but
        attributes that need a minimizer or strong convexity raise AssumptionViolated.
    weights
        Objective weights p_k, shape (K,), of sum 1; by default proportional to the sample counts.

    Examples
    --------
    The zero model gives every class the same probability, so that its loss is log C.

    >>> data = FederatedData.from_clients([([[0.0], [1.0]], [0, 1]), ([[2.0]], [1])])
    >>> fed = SoftmaxFederation(data, l2=0.5)
    >>> fed.dim, fed.losses(np.zeros(4)) / np.log(2)
    (4, array([1., 1.]))
    """

    data: FederatedData
    l2: float = 0.0
    weights: Array = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        weights = checked_weights(checked_data(self.data), self.weights)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "l2", validate.double("l2", validate.nonnegative("l2", self.l2)))

    @property
    def dim(self) -> int:
        """Number of model parameters ``v = C (f + 1)``."""
        return self.data.num_classes * (self.data.num_features + 1)

    def gradient(self, w: npt.ArrayLike) -> Array:
        """Gradient of F at models of shape (..., v); returns shape (..., v)."""
        return at_each(w, self.dim, self._objective.gradient, (self.dim,))

    def excess(self, w: npt.ArrayLike) -> Array:
        """``F(w) - F*`` at models of shape (..., v), at least 0; returns shape (...)."""
        # F* is the loss of a computed minimizer, so that rounding may make the difference slightly negative.
        return np.asarray(np.maximum(self.loss(w) - self.minimum, 0.0))[()]

    @cached_property
    @pinned
    def minimizer(self) -> Array:
        """Minimizer of F, shape (v,), to a gradient of norm at most 1e-10; needs l2 > 0."""
        self._needs_ridge("a minimizer")
        return minimizer(self._objective, np.zeros(self.dim))

    @cached_property
    @pinned
    def minimum(self) -> float:
        """Smallest value of F; needs l2 > 0."""
        return float(self.loss(self.minimizer))

    @cached_property
    @pinned
    def local_minimizers(self) -> Array:
        """Minimizers of the F_k, shape (K, v), to gradients of norm at most 1e-10; needs l2 > 0."""
        self._needs_ridge("local minimizers")
        return np.array([minimizer(self._client(k), np.zeros(self.dim)) for k in range(self.num_clients)])

    @cached_property
    @pinned
    def local_minima(self) -> Array:
        """Smallest values of the F_k, shape (K,); needs l2 > 0."""
        models = self.local_minimizers
        return np.array([self._client(k).loss(models[k]) for k in range(self.num_clients)])

    @cached_property
    def objective_gap(self) -> float:
        """Local-global objective gap ``F* - sum_k p_k F_k*`` (Power-of-Choice, eq. (4)), at least 0; needs l2 > 0."""
        self._needs_ridge("an objective gap")
        return max(0.0, self.minimum - float(self.weights @ self.local_minima))

    @cached_property
    @pinned
    def smoothness(self) -> float:
        """Upper bound L of the smoothness of every client, ``max_k 1/2 lambda_max(1/n_k X_k'X_k) + l2``."""
        return max(self._client(k).smoothness for k in range(self.num_clients))

    @property
    def strong_convexity(self) -> float:
        """Strong convexity constant mu of every client: l2, which must be positive."""
        self._needs_ridge("a strong convexity constant")
        return self.l2

    def minibatch_variance(self, batch_size: int) -> float:
        """Upper bound sigma2 of ``E ||g_k - grad F_k(w)||^2`` for every client and every model w.

        A sample's gradient is ``(q - e_y) x'`` plus the common ridge term, and ``||q - e_y||^2 <= 2``. The variance is
        at most ``max_k (n_k - b) / (b (n_k - 1)) 2/n_k sum_i ||x_i||^2``, where x_i includes the constant feature and b
        is ``min(batch_size, n_k)``.
        """
        counts = self.sample_counts
        size = np.minimum(validate.size("batch_size", batch_size), counts)
        factors = (counts - size) / (size * np.maximum(counts - 1, 1))
        return float(np.max(factors * client_means(self.data, 2.0 * np.sum(self.inputs**2, axis=1))))

    def gradient_bound(self, initial: npt.ArrayLike) -> float:
        """Upper bound G2 of ``E ||g_k||^2``, for every client and batch size, along every run from ``initial``.

        With M = sqrt(2) max_i ||x_i||, a step of size at most 1/l2 maps the ball of radius
        ``R = max(||initial||, M / l2)`` about 0 into itself, and so does averaging; in the ball
        ``E ||g_k||^2 <= (sqrt(2/n_k sum_i ||x_i||^2) + l2 R)^2``. Needs l2 > 0, no proximal term, no momentum, no added
        noise, and a server that averages (weights of sum 1, steps of at most 1).
        """
        self._needs_ridge("a bound of the gradients")
        model = validate.array("initial", initial, shape=(self.dim,))
        norms2 = np.sum(self.inputs**2, axis=1)
        radius = max(float(np.linalg.norm(model)), float(np.sqrt(2 * norms2.max())) / self.l2)
        return float((np.sqrt(client_means(self.data, 2.0 * norms2).max()) + self.l2 * radius) ** 2)

    @property
    def _summary(self) -> Summary:
        data = self.data
        rows = {"num_clients": data.num_clients, "num_samples": data.num_samples, "num_classes": data.num_classes}
        return Summary("SoftmaxFederation", {**rows, "dim": self.dim, "l2": self.l2})

    @cached_property
    def _objective(self) -> CrossEntropy:
        shares = np.repeat(self.weights / self.sample_counts, self.sample_counts)
        return CrossEntropy(self.inputs, self.data.labels, shares, self.data.num_classes, self.l2)

    def _client(self, k: int) -> CrossEntropy:
        rows = slice(self.data.offsets[k], self.data.offsets[k + 1])
        count = int(self.sample_counts[k])
        labels = self.data.labels[rows]
        return CrossEntropy(self.inputs[rows], labels, np.full(count, 1 / count), self.data.num_classes, self.l2)

    def _logits(self, model: Array, inputs: Array) -> Array:
        logits: Array = inputs @ model.reshape(self.data.num_classes, -1).T
        return logits

    def _gradients(self, model: Array) -> Array:
        r = residuals(self._logits(model, self.inputs), self.data.labels)
        cuts = self.data.offsets[1:-1]
        parts = zip(np.split(r, cuts), np.split(self.inputs, cuts), strict=True)
        return np.array([(part.T @ x).ravel() / len(x) for part, x in parts]) + self.l2 * model

    def _needs_ridge(self, wanted: str) -> None:
        if self.l2 == 0:
            message = f"{wanted} needs l2 > 0 (the infimum of a mere cross-entropy may not be attained), got l2 = 0"
            raise AssumptionViolated(message)


GRADIENT_TOLERANCE = 1e-10
_MAX_STEPS, _MAX_HALVINGS = 200, 40
_DENSE = 2000


def minimizer(objective: CrossEntropy, start: Array) -> Array:
    """Return a model with a gradient of norm at most 1e-10, by Newton's method; needs ``objective.l2 > 0``.

    Steps are halved until the norm of the gradient decreases. Unlike the loss, this norm is not dominated by rounding
    near the minimizer, and with a positive definite Hessian its only stationary point is the minimizer.

    OracleError if rounding keeps the gradient above the tolerance, or hides the ridge term (features of very large
    scale).
    """
    w = np.array(start)
    gradient = objective.gradient(w)
    norm = float(np.linalg.norm(gradient))
    for _ in range(_MAX_STEPS):
        if norm <= GRADIENT_TOLERANCE:
            return w
        step, fraction = _newton_step(objective, w, gradient, norm), 1.0
        for _ in range(_MAX_HALVINGS):
            trial = w + fraction * step
            trial_gradient = objective.gradient(trial)
            trial_norm = float(np.linalg.norm(trial_gradient))
            if trial_norm <= (1 - 1e-4 * fraction) * norm:
                break
            fraction *= 0.5
        else:
            break
        w, gradient, norm = trial, trial_gradient, trial_norm
    message = f"the minimizer needs a gradient norm of at most {GRADIENT_TOLERANCE}, got {norm:.3g}: scale the features"
    raise OracleError(message)


def _newton_step(objective: CrossEntropy, w: Array, gradient: Array, norm: float) -> Array:
    if objective.dim <= _DENSE:
        return _dense_step(objective, w, gradient)
    from scipy.sparse.linalg import LinearOperator, cg

    hessian = LinearOperator((w.size, w.size), matvec=lambda v: objective.product(w, v), dtype=np.float64)
    solution: Array = cg(hessian, -gradient, rtol=min(0.1, np.sqrt(norm)), maxiter=20 * w.size)[0]
    return solution


def _dense_step(objective: CrossEntropy, w: Array, gradient: Array) -> Array:
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    hessian = objective.hessian(w)
    try:
        step: Array = cho_solve(cho_factor(hessian), -gradient)
    except LinAlgError:
        # For large features, rounding hides the ridge term.
        stiff = _stiffened(hessian, objective.num_classes)
        scales = 1 / np.sqrt(np.diagonal(stiff))
        try:
            step = scales * cho_solve(cho_factor(scales[:, None] * stiff * scales), -scales * gradient)
        except LinAlgError as error:
            message = f"the Hessian must be positive definite, got: {error}: scale the features, or raise l2"
            raise OracleError(message) from error
    return step


def _stiffened(hessian: Array, num_classes: int) -> Array:
    """Add curvature along equal shifts of all classes, along which the minimizer is 0; the Newton step does not change.

    The cross-entropy is constant along them, so that only the ridge term has curvature there, and gradients sum to 0.
    """
    stiff = hessian.reshape(num_classes, -1, num_classes, hessian.shape[0] // num_classes).copy()
    largest = np.diagonal(hessian).reshape(num_classes, -1).max(axis=0)
    for feature, curvature in enumerate(largest):
        stiff[:, feature, :, feature] += curvature / num_classes
    return stiff.reshape(hessian.shape)
