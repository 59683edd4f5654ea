"""First and second moments of aggregation coefficients, all that exact expected errors need to know of a strategy."""

from typing import NamedTuple

from fedtheory._validate import Array

__all__ = ["CoefficientMoments"]


class CoefficientMoments(NamedTuple):
    """Moments of the coefficients omega_k of the clients' updates when they do not depend on the model.

    ``E omega_k = mean_k``, ``E omega_k omega_l = alpha mean_k mean_l`` for k != l,
    ``E omega_k^2 = alpha mean_k^2 + delta_k``; ``noise_k`` multiplies the covariance of the client's own gradient noise
    (it is ``E omega_k^2`` unless copies of a client draw noise independently).
    """

    mean: Array
    alpha: float
    delta: Array
    noise: Array
