"""Variance of independent sampling, its optimal value, and improvement factors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory.sampling.arguments import Numbers, checked_budget, checked_norms, numbers
from fedtheory.sampling.optimal import optimal_probabilities

__all__ = ["improvement_factor", "relative_improvement_factor", "variance"]


def variance(norms: Numbers, probabilities: Numbers) -> Any:
    r"""Variance ``sum_i t_i^2 (1 / p_i - 1)`` of ``sum_{i in S} (w_i / p_i) U_i`` for an independent sampling S.

    The norms ``t_i = w_i |U_i|`` of the weighted updates and the probabilities p_i in [0, 1] have the shape (n,);
    ``fractions.Fraction`` stay exact. The variance is a squared norm. It is infinite if a positive norm has
    probability 0. Zero norms contribute 0 for any probability.

    Source: Chen, Horvath and Richtarik (2022), eq. (6), for given updates.

    ``1 (6 - 1) + 4 (3 - 1) + 9 (2 - 1) = 22``.

    >>> from fractions import Fraction
    >>> print(variance([Fraction(1), 2, 3], [Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)]))
    22
    """
    t = numbers("norms", norms)
    p = numbers("probabilities", probabilities)
    if t.shape != p.shape:
        message = f"probabilities must have the shape of norms, {t.shape}, got {p.shape}"
        raise ValueError(message)
    if (p > 1).any():
        message = f"probabilities must be in [0, 1], got {p.max()}"
        raise ValueError(message)
    t, p = t[t > 0], p[t > 0]
    if (p == 0).any():
        return float("inf")
    with np.errstate(over="ignore", under="ignore"):
        value = (t * (t / p) * (1 - p)).sum()
    return value if t.dtype.hasobject or p.dtype.hasobject else float(value)


def optimal_value(norms: npt.ArrayLike, expected_size: float) -> float:
    """Smallest variance of independent sampling with m expected clients, for norms of shape (n,); eqs. (6) and (7)."""
    t = checked_norms(norms)
    m = checked_budget(expected_size, t.size)
    if not t.any():
        return 0.0
    # In units of a power of two, since squares of the norms may overflow or underflow.
    _, exponent = np.frexp(t.max())
    value = variance(np.ldexp(t, -exponent), optimal_probabilities(t, m))
    with np.errstate(over="ignore", under="ignore"):
        return float(np.ldexp(value, 2 * int(exponent)))


# Smaller budgets do not change a ratio of variances, since both are inversely proportional to the budget.
_TINY_BUDGET = 2.0**-500


def improvement_factor(norms: npt.ArrayLike, expected_size: float) -> float:
    r"""Optimal over uniform variance for given norms, and the budget m in (0, n]; alpha in [0, 1].

    ``alpha = V* / (((n - m) / m) sum_i t_i^2)`` for norms of shape (n,). For samples of the norms, shape (samples, n),
    it is the alpha of the theorems, the ratio of the expectations, which differs from the mean of the ratios. It is 0
    if and only if at most m norms are positive, and 1 if and only if all norms are equal and m < n. By convention it is
    0 if m = n or all norms are 0, since there is no variance.

    Source: Chen, Horvath and Richtarik (2022), Definition 11, eq. (15).

    For norms 1, 2, 3 and m = 1: ``22 / (2 * 14) = 11/14``. Norms (1, 1, 1) have V* = 6 and the uniform variance 6,
    norms (10, 1, 1) have V* = 42 and the uniform variance 204: the ratio of the expectations is 48 / 210.

    >>> round(improvement_factor([1.0, 2.0, 3.0], 1) * 14, 12)
    11.0
    >>> round(improvement_factor([[1.0, 1.0, 1.0], [10.0, 1.0, 1.0]], 1) * 210, 12)
    48.0
    """
    samples = validate.array("norms", norms)
    validate.nonnegative("norms", samples)
    if samples.ndim not in (1, 2) or samples.size == 0:
        message = f"norms must have shape (n,) or (samples, n), with at least one of each, got {samples.shape}"
        raise ValueError(message)
    samples = np.atleast_2d(samples)
    num_samples, num_clients = samples.shape
    m = checked_budget(expected_size, num_clients)
    weights = np.full(num_samples, 1 / num_samples)
    if m == num_clients or not samples.any():
        return 0.0
    m = max(m, _TINY_BUDGET)
    _, exponent = np.frexp(samples.max())
    scaled = np.ldexp(samples, -exponent)
    values = [optimal_value(t, m) for t in scaled]
    uniform = (num_clients - m) / m * (scaled**2).sum(axis=1)
    return min(1.0, float(weights @ np.asarray(values) / (weights @ uniform)))


def relative_improvement_factor(alpha: Any, num_clients: int, expected_size: Any) -> Any:
    r"""Return ``gamma = m / (alpha (n - m) + m)``, which is in [m/n, 1] if alpha is in [0, 1].

    ``gamma n`` is the effective number of sampled clients: n for alpha = 0, and m for alpha = 1. The improvement factor
    alpha is at least 0 and may be an array or a Fraction; the budget m is in (0, n].

    Source: Chen, Horvath and Richtarik (2022), eq. (16).

    >>> from fractions import Fraction
    >>> print(relative_improvement_factor(Fraction(11, 14), 3, Fraction(1)))
    7/18
    """
    alpha = validate.nonnegative("alpha", alpha)
    n = validate.count("num_clients", num_clients)
    checked_budget(expected_size, n)
    return expected_size / (alpha * (n - expected_size) + expected_size)
