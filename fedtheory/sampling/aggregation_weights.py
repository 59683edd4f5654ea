r"""Covariances of random aggregation weights: multinomial and uniform sampling.

A round replaces the weights p_k by random weights omega_k with ``E omega_k = p_k``. For given updates U_k the error of
the update of the server has the variance ``sum_kl C_kl <U_k, U_l>``, where C is the covariance of the weights.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory._support import validate
from fedtheory._support.wording import truncate
from fedtheory.sampling.arguments import Numbers, numbers

__all__ = ["multinomial_covariance", "uniform_covariance"]


def multinomial_covariance(weights: Numbers, num_selected: int) -> Any:
    """Covariance of the aggregation weights of m independent draws in proportion to p_k, and a plain mean.

    It is ``(diag(p) - p p') / m``, shape (K, K). The weights, shape (K,), are divided by their sum; fractions stay
    exact.

    >>> multinomial_covariance([Fraction(1), 3], 3)
    array([[Fraction(1, 16), Fraction(-1, 16)],
           [Fraction(-1, 16), Fraction(1, 16)]], dtype=object)
    """
    p, m = _shares(weights), validate.count("num_selected", num_selected)
    return (np.diag(p) - np.outer(p, p)) / m


def uniform_covariance(weights: Numbers, num_selected: int) -> Any:
    """Covariance of the weights ``K p_k / m`` of m of K clients, drawn uniformly without replacement.

    It is ``(K - m)/(m (K - 1)) (K diag(p^2) - p p')``, shape (K, K), with p and m as in ``multinomial_covariance``. The
    sum of these weights is not 1 unless all p_k are equal.

    >>> uniform_covariance([Fraction(1), 3], 1)
    array([[Fraction(1, 16), Fraction(-3, 16)],
           [Fraction(-3, 16), Fraction(9, 16)]], dtype=object)
    """
    p = _shares(weights)
    m = validate.count("num_selected", num_selected, high=p.size)
    share = Fraction(p.size - m, m * max(p.size - 1, 1))
    factor = share if p.dtype.hasobject else float(share)
    return factor * (p.size * np.diag(p * p) - np.outer(p, p))


def _shares(weights: Numbers) -> Any:
    p = numbers("weights", weights)
    if not p.any():
        message = f"weights must have a positive sum, got {truncate(weights)}"
        raise ValueError(message)
    return p / p.sum()
