"""Averaging with a fixed step size on quadratics: drift at the minimizer, bias, variance, and extrapolation."""

from typing import NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory._support.threads import pinned
from fedtheory._support.validate import Array
from fedtheory._support.wording import format_number
from fedtheory.errors import AssumptionViolated
from fedtheory.exact._arguments import quadratic
from fedtheory.exact._local_moments import applied, local_moments, rotated, spectra
from fedtheory.federation.quadratic import QuadraticFederation

# Local steps that are computed one by one within seconds.
_MOST_STEPS = 10**6

__all__ = ["StationaryError", "average_drift", "extrapolated_error", "stationary_error"]


class StationaryError(NamedTuple):
    """Error of a model in the limit of many rounds: a bias and a random part of mean 0.

    Attributes
    ----------
    bias
        ``E w - w*``, shape (v,).
    covariance
        Covariance of w, shape (v, v).
    """

    bias: Array
    covariance: Array

    @property
    def distance2(self) -> float:
        """``E |w - w*|^2``, the squared bias plus the variance."""
        return float(self.bias @ self.bias + np.trace(self.covariance))


@pinned
def stationary_error(
    fed: QuadraticFederation, local_steps: int, step_size: float, gradient_noise: float = 0.0
) -> StationaryError:
    r"""Error of federated averaging with a fixed step size in the limit of many rounds, exact up to rounding.

    All clients take part. Their models have a stationary distribution, to which they converge from any first model.
    The bias does not depend on the noise, and the covariance is proportional to it.

    Parameters
    ----------
    fed
        Quadratic clients with any curvatures.
    local_steps, step_size
        Number tau of local steps per round, and their step size eta, less than 2/L.
    gradient_noise
        Variance sigma^2 of each gradient, summed over its entries, equally in all directions, and independent across
        clients and steps.

    Raises
    ------
    AssumptionViolated
        If the step size is not less than 2/L.

    Notes
    -----
    A round is ``w_+ = w + sum_k p_k (D_k (c_k - w) + noise_k)`` with ``D_k = I - (I - eta H_k)^tau``. The matrix
    ``M = I - sum_k p_k D_k`` is symmetric. If C_0 is the covariance of the noise of a round, that of the model solves
    ``C = M C M + C_0``. In the eigenvectors of M its entries are those of C_0 divided by ``1 - m_i m_j``.

    Examples
    --------
    One client ``w^2/2``, step size 1/2, noise of variance 1: the variance is ``(1/4) / (1 - 1/4)``.

    >>> fed = QuadraticFederation([1.0], [[3.0]], [1.0])
    >>> found = stationary_error(fed, 1, 0.5, gradient_noise=1.0)
    >>> found.bias.tolist(), round(found.distance2, 12)
    ([0.0], 0.333333333333)
    """
    fed = quadratic(fed)
    tau, eta = _steps(local_steps, step_size)
    sigma2 = validate.double("gradient_noise", validate.nonnegative("gradient_noise", gradient_noise))
    if eta * fed.smoothness >= 2:
        message = f"step_size must be less than 2/L = {format_number(2 / fed.smoothness)}, got {format_number(eta)}"
        raise AssumptionViolated(message)
    eigen = spectra(fed)
    work = local_moments(eigen, np.full(tau, eta), 0.0)
    by_client = sigma2 * fed.weights[:, None] ** 2 * work.variance
    if eigen.vectors is None:
        pull, noise = np.diag(fed.weights @ work.pull), np.diag(by_client.sum(axis=0))
    else:
        pull = np.einsum("k,kij->ij", fed.weights, work.pull)
        noise = rotated(by_client, eigen.vectors).sum(axis=0)
    values, vectors = np.linalg.eigh((pull + pull.T) / 2)
    moved = vectors.T @ average_drift(fed, tau, eta) * (eta * tau)
    # 1 - m_i m_j with m = 1 - d is d_i + d_j - d_i d_j.
    left = values[:, None] + values - values[:, None] * values
    with np.errstate(over="ignore", invalid="ignore"):
        covariance = vectors @ (vectors.T @ noise @ vectors / left) @ vectors.T
        return _finite(-vectors @ (moved / values), covariance / 2 + covariance.T / 2, gradient_noise)


def _steps(local_steps: int, step_size: float) -> tuple[int, float]:
    tau = validate.count("local_steps", local_steps, high=_MOST_STEPS)
    return tau, validate.double("step_size", validate.positive("step_size", step_size))


def _finite(bias: Array, covariance: Array, gradient_noise: float) -> StationaryError:
    if not np.isfinite(covariance).all():
        message = f"gradient_noise must give a finite covariance, got {format_number(gradient_noise)}"
        raise ValueError(message)
    return StationaryError(bias, covariance)


def extrapolated_error(
    fed: QuadraticFederation, local_steps: int, step_size: float, gradient_noise: float = 0.0
) -> StationaryError:
    r"""Error of the extrapolation of Richardson and Romberg, ``2 w(eta) - w(2 eta)``, in the limit of many rounds.

    It combines two runs of federated averaging with the step sizes eta and 2 eta and independent noises. The bias of
    first order in eta cancels. The covariance is four times that of the first run plus that of the second.

    Parameters
    ----------
    fed, local_steps, gradient_noise
        As in ``stationary_error``.
    step_size
        The smaller step size eta, less than 1/L.

    Examples
    --------
    For one client ``w^2/2`` with step sizes 1/2 and 1 the variances are 1/3 and 1, and extrapolation has 4/3 + 1.

    >>> fed = QuadraticFederation([1.0], [[3.0]], [1.0])
    >>> round(extrapolated_error(fed, 1, 0.5, gradient_noise=1.0).distance2, 12)
    2.333333333333
    """
    _, eta = _steps(local_steps, step_size)
    one = stationary_error(fed, local_steps, eta, gradient_noise)
    other = stationary_error(fed, local_steps, 2 * eta, gradient_noise)
    with np.errstate(over="ignore"):
        return _finite(2 * one.bias - other.bias, 4 * one.covariance + other.covariance, gradient_noise)


@pinned
def average_drift(fed: QuadraticFederation, local_steps: int, step_size: float) -> Array:
    r"""Average drift at the minimizer, ``sum_k p_k (w* - y_k) / (eta tau)``, shape (v,), in units of a gradient.

    The y_k are the models of the clients after tau steps of gradient descent from w*. A round of federated averaging
    moves the model from w* by ``-eta tau`` times the drift.

    Parameters
    ----------
    fed
        Quadratic clients with any curvatures.
    local_steps, step_size
        Number tau of local steps, and their step size eta.

    Notes
    -----
    The drift is ``sum_k p_k sum_{s<tau} (I - eta H_k)^s h_k / tau`` with ``h_k = grad F_k(w*)``. The mean of the h_k is
    0 and is subtracted from each power, so that small step sizes lose no digits.

    Examples
    --------
    ``w^2/2`` and ``(w - 5)^2`` have w* = 10/3 and h = (10/3, -10/3). With step size 1/4 the second gradients are 3/4
    and 1/2 of the first, so that their mean is 5/12 and the drift of two steps is 5/24.

    >>> fed = QuadraticFederation([1.0, 2.0], [[0.0], [5.0]], [0.5, 0.5])
    >>> average_drift(fed, 2, 0.25).round(12).tolist(), average_drift(fed, 1, 0.25).tolist()
    ([0.208333333333], [0.0])
    """
    fed = quadratic(fed)
    tau, eta = _steps(local_steps, step_size)
    curvatures = fed.diagonals if fed.is_diagonal else fed.matrices
    first = fed.gradients(fed.minimizer)
    lost, total = np.zeros_like(first), np.zeros(fed.dim)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(tau - 1):
            lost = lost + eta * applied(curvatures, first - lost)
            total -= fed.weights @ lost
    if not np.isfinite(total).all():
        message = f"step_size must give a finite drift after {tau} local steps, got {format_number(eta)}"
        raise ValueError(message)
    return total / tau
