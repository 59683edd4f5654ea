"""Minimizers of cross-entropies with a ridge term to a tiny gradient, and certified infima without one."""

import numpy as np

from fedtheory._support.validate import Array
from fedtheory.errors import OracleError
from fedtheory.federation._cross_entropy import CrossEntropy, class_probabilities
from fedtheory.statistics.interval import Interval

__all__ = ["GRADIENT_TOLERANCE", "infimum", "minimizer"]

GRADIENT_TOLERANCE = 1e-10
_MAX_STEPS, _MAX_HALVINGS = 200, 40
_DENSE = 2000
_RADIUS = 1e6
_EPS = float(np.finfo(np.float64).eps)
_RIDGES = (1e-2, 1e-4, 1e-6, 1e-8)


def minimizer(objective: CrossEntropy, start: Array) -> Array:
    """Model with a gradient of norm at most 1e-10, by Newton's method; needs ``objective.l2 > 0``.

    Steps are halved until the norm of the gradient falls. That norm, unlike the loss, does not drown in rounding near
    the minimizer, and with a positive definite Hessian it has no stationary point but the minimizer.

    Raises
    ------
    OracleError
        If rounding keeps the gradient above the tolerance or hides the ridge term (features of very large scale).
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
        # Beside large features rounding hides the ridge term.
        stiff = _stiffened(hessian, objective.num_classes)
        scales = 1 / np.sqrt(np.diagonal(stiff))
        try:
            step = scales * cho_solve(cho_factor(scales[:, None] * stiff * scales), -scales * gradient)
        except LinAlgError as error:
            message = f"the Hessian must be positive definite, got: {error}: scale the features, or raise l2"
            raise OracleError(message) from error
    return step


def _stiffened(hessian: Array, num_classes: int) -> Array:
    """Add curvature along equal shifts of all classes, which the minimizer has none of: the Newton step is the same.

    The cross-entropy is flat along them, so that only the ridge term is there, and gradients sum to 0 over the classes.
    """
    stiff = hessian.reshape(num_classes, -1, num_classes, hessian.shape[0] // num_classes).copy()
    largest = np.diagonal(hessian).reshape(num_classes, -1).max(axis=0)
    for feature, curvature in enumerate(largest):
        stiff[:, feature, :, feature] += curvature / num_classes
    return stiff.reshape(hessian.shape)


def infimum(objective: CrossEntropy, start: Array) -> Interval[float]:
    """Interval that holds the infimum of the objective, attained or not.

    Both ends allow for rounding. With a ridge term: F at the minimizer w, and ``||grad F(w)||^2 / (2 l2)`` less.
    Without one: the upper end is the loss of a minimizer with a tiny ridge term. The lower end is a dual value: as
    ``logsumexp(z) >= q.z + entropy(q)``,

        F(W) >= sum_i a_i entropy(q_i)   for all W   if   sum_i a_i (q_i - e_{y_i}) x_i' = 0 and every q_i is a law,

    and the softmax at the upper end becomes such a q by one Newton step. Rounding leaves the sum at a norm r > 0, its
    own rounding included, which costs at most ``r ||W||``: the lower end takes that off for ``||W|| = 1e6``. Where the
    step leaves the simplex (samples that are nearly separable) the lower end is 0, which bounds every cross-entropy.
    """
    if objective.l2 > 0:
        w = minimizer(objective, start)
        value, slack = float(objective.loss(w)), _rounding(objective, w)
        short = _largest_gradient(objective, w) ** 2 / (2 * objective.l2)
        return Interval(max(0.0, value - short - slack), value + slack, "strong convexity", "loss of a model")
    lower, upper, w = 0.0, float(objective.loss(start)) + _rounding(objective, start), start
    for l2 in _RIDGES:
        try:
            w = minimizer(objective.with_l2(l2), w)
        except OracleError:
            break
        upper = min(upper, float(objective.loss(w)) + _rounding(objective, w))
        lower = max(lower, _dual_value(objective, w))
    return Interval(lower, upper, "dual point" if lower > 0 else "losses are not negative", "loss of a model")


def _dual_value(objective: CrossEntropy, w: Array) -> float:
    if objective.dim > _DENSE:
        return 0.0
    q = _dual_point(objective, w)
    if q.min() < 0:
        return 0.0
    from scipy.special import entr

    r = q - np.eye(objective.num_classes)[objective.labels]
    missing = np.linalg.norm((objective.sample_weights[:, None] * r).T @ objective.features)
    # A row of q sums to 1 up to rounding, too.
    sizes = (np.linalg.norm(r, axis=1) + np.linalg.norm(q, axis=1)) * np.linalg.norm(objective.features, axis=1)
    cost = _RADIUS * (missing + _num_roundings(objective) * _EPS * (objective.sample_weights @ sizes))
    return float(objective.sample_weights @ entr(q).sum(axis=1) - cost - _rounding(objective, w))


def _dual_point(objective: CrossEntropy, w: Array) -> Array:
    """Laws of the classes at each sample, feasible up to rounding if none is negative; shape (n, num_classes)."""
    gradient = objective.gradient(w)
    # Equal shifts of all classes change nothing: the Hessian is singular, and the gradient lies in its range.
    step = np.linalg.lstsq(objective.hessian(w), -gradient, rcond=1e-13)[0]
    q = class_probabilities(objective.logits(w)) + objective.probability_change(w, step)
    laws: Array = q / q.sum(axis=1, keepdims=True)
    return laws


def _num_roundings(objective: CrossEntropy) -> int:
    # Sums over samples, features and classes, and a few functions.
    return sum(objective.features.shape) + objective.num_classes + 8


def _rounding(objective: CrossEntropy, w: Array) -> float:
    """How far the computed loss at w, or an entropy of the samples, can be from the true one."""
    model = np.abs(w.reshape(objective.num_classes, -1))
    logits = objective.sample_weights @ (np.abs(objective.features) @ model.T).max(axis=1)
    return float(_num_roundings(objective) * _EPS * (1 + 2 * logits + objective.loss(w)))


def _largest_gradient(objective: CrossEntropy, w: Array) -> float:
    """Norm of the computed gradient at w, and how far it can be from the true one."""
    terms = 2 * objective.sample_weights @ np.linalg.norm(objective.features, axis=1) + objective.l2 * np.linalg.norm(w)
    return float(np.linalg.norm(objective.gradient(w)) + _num_roundings(objective) * _EPS * terms)
