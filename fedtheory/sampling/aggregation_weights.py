r"""Covariances of random aggregation weights: multinomial, clustered and uniform sampling.

A round replaces the weights p_k by random weights omega_k with ``E omega_k = p_k``. For given updates U_k the error of
the update of the server has the variance ``sum_kl C_kl <U_k, U_l>``, where C is the covariance of the weights.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory._support import validate
from fedtheory._support.wording import truncate
from fedtheory.sampling.arguments import Numbers, numbers

# Entries of the distributions that are returned.
_MOST_ENTRIES = 10**7

__all__ = ["clustered_covariance", "clustered_distributions", "multinomial_covariance", "uniform_covariance"]


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


def clustered_covariance(distributions: Any) -> Any:
    """Covariance of the aggregation weights of one draw from each of m distributions r_i, and a plain mean.

    It is ``sum_i (diag(r_i) - r_i r_i') / m^2``, shape (K, K). The distributions have the shape (m, K). The weights p
    of the clients are the mean of the distributions. The covariance is that of multinomial sampling minus ``sum_i (r_i
    - p) (r_i - p)' / m^2``.

    >>> clustered_covariance([[Fraction(1, 2), Fraction(1, 2)], [0, 1]])
    array([[Fraction(1, 16), Fraction(-1, 16)],
           [Fraction(-1, 16), Fraction(1, 16)]], dtype=object)
    """
    rows = validate.exact("distributions", distributions, 2)
    if not rows.size:
        message = f"distributions must have entries, got shape {rows.shape}"
        raise ValueError(message)
    for row in rows:
        validate.probability_vector("each of distributions", [float(share) for share in row])
    total = sum((np.diag(row) - np.outer(row, row) for row in rows), start=np.zeros(2 * rows.shape[1:], rows.dtype))
    return total / len(rows) ** 2


def clustered_distributions(weights: Numbers, num_selected: int) -> Any:
    """Distributions of clustered sampling by weight: clients in decreasing order fill one distribution after another.

    The result has shape (m, K), for p and m as in ``multinomial_covariance``. Rows sum to 1, and column k sums to ``m
    p_k``. At most ``K + m - 1`` entries are positive.

    Twice the weights are 1, 2/3 and 1/3.

    >>> clustered_distributions([Fraction(2), 3, 1], 2)
    array([[Fraction(0, 1), Fraction(1, 1), Fraction(0, 1)],
           [Fraction(2, 3), Fraction(0, 1), Fraction(1, 3)]], dtype=object)
    """
    p = _weights(weights)
    m = validate.size("num_selected", num_selected, high=max(1, _MOST_ENTRIES // p.size))
    exact = [Fraction(weight) for weight in p]
    found = np.full((m, p.size), Fraction(0), dtype=object)
    row, room = 0, Fraction(1)
    for client in sorted(range(p.size), key=lambda k: -exact[k]):
        left = m * exact[client] / sum(exact)
        while left > room:
            found[row, client] = room
            row, left, room = row + 1, left - room, Fraction(1)
        found[row, client] = left
        room -= left
        if not room and row + 1 < m:
            row, room = row + 1, Fraction(1)
    return found if p.dtype.hasobject else found.astype(np.float64)


def _weights(weights: Numbers) -> Any:
    p = numbers("weights", weights)
    if not p.any():
        message = f"weights must have a positive sum, got {truncate(weights)}"
        raise ValueError(message)
    return p


def _shares(weights: Numbers) -> Any:
    p = _weights(weights)
    return p / p.sum()
