"""Certificates of optimality for sampling probabilities, from the KKT conditions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.sampling.arguments import Numbers, checked_budget, numbers

__all__ = ["Certificate", "certificate"]


class Certificate(NamedTuple):
    """Residuals of the optimality conditions of ``min sum_i t_i^2 / p_i`` over the budget and the unit box.

    All residuals are 0 if and only if the probabilities are optimal. They are rational if the norms and probabilities
    are.

    Attributes
    ----------
    threshold
        Threshold x for which ``p_i = min(1, t_i / x)`` is tested; ``x^2`` is the multiplier of the budget.
    box
        Largest violation of ``0 <= p_i <= 1``.
    budget
        Violation of ``sum_i p_i <= m``.
    unused
        Unused budget ``min(m, q) - sum_i p_i``, where q clients have positive norms; 0 if negative.
    stationarity
        Largest ``|p_i - min(1, t_i / x)|`` over positive norms.
    relative_gap
        Bound on ``(objective - optimum) / objective`` from the dual problem at x, valid for every feasible p.
    """

    threshold: Any
    box: Any
    budget: Any
    unused: Any
    stationarity: Any
    relative_gap: Any

    @property
    def residual(self) -> Any:
        """Largest of the five residuals."""
        return max(self.box, self.budget, self.unused, self.stationarity, self.relative_gap)

    @property
    def infeasibility(self) -> Any:
        """Largest violation of a constraint."""
        return max(self.box, self.budget)


def certificate(norms: Numbers, probabilities: Numbers, expected_size: float | Fraction) -> Certificate:
    """Residuals of the optimality conditions, and a duality gap, for proposed sampling probabilities.

    The problem is convex, so p is optimal if and only if it is feasible, uses the budget ``min(m, q)`` for the q
    clients with positive norms, and fulfills ``p_i = min(1, t_i / x)`` for some x, which is computed from the clients
    below 1. For any x, the Lagrangian bounds the optimum from below; the gap is a sum without cancellation.

    Source: Chen, Horvath and Richtarik (2022), Lemma 20 and its problem (32).

    Parameters
    ----------
    norms, probabilities
        Norms of the weighted updates, and proposed probabilities, shape (n,) each, finite and at least 0.
    expected_size
        Budget m in (0, n]; a ``Fraction`` or an integer for exact results with rational norms.

    Examples
    --------
    Uniform probabilities are not optimal for norms 1 and 3 and the budget 1. Their objective is 20. The optimum is ``(1
    + 3)^2 = 16``, which the dual problem at x = (1 + 3) / 1 proves.

    >>> from fractions import Fraction
    >>> print(certificate([Fraction(1), 3], [Fraction(1, 2), Fraction(1, 2)], 1).relative_gap)
    1/5
    """
    t = numbers("norms", norms)
    p = numbers("probabilities", probabilities)
    if t.shape != p.shape:
        message = f"probabilities must have the shape of norms, {t.shape}, got {p.shape}"
        raise ValueError(message)
    checked_budget(expected_size, len(t))
    m = Fraction(expected_size) if t.dtype == object else float(expected_size)
    usable = min(m, int((t > 0).sum()))
    box, over = max(p.max() - 1, 0 * m), max(p.sum() - m, 0 * m)
    t, p = t[t > 0], p[t > 0]
    if t.size == 0:
        return Certificate(0 * m, box, over, 0 * m, 0 * m, 0 * m)
    unused = max(usable - p.sum(), 0 * m)
    x = _threshold(t, p)
    if x == 0:
        return Certificate(x, box, over, unused, max(p - 1), _gap(t / t.max(), p, 0 * m, m))
    with np.errstate(over="ignore", under="ignore"):
        y = t / x
    return Certificate(x, box, over, unused, max(abs(p - np.minimum(1, y))), _gap(y, p, 1 + 0 * m, m))


def _threshold(t: Any, p: Any) -> Any:
    below = p < 1
    if not below.any():
        # All probabilities are 1. This is optimal if the budget allows it; the multiplier of the budget is then 0.
        return t.sum() * 0
    while True:
        share = p[below].sum()
        if share == 0:
            return t.max()
        x = t[below].sum() / share
        # A probability of 1 - 1e-13 is treated as 1, since clients above the threshold give no information about it.
        fewer = below & (t < x)
        if (fewer == below).all():
            return x
        below = fewer


def _gap(y: Any, p: Any, x: Any, m: Any) -> Any:
    # Norms in units of the threshold. Norms that underflow in these units are negligible in floating point.
    y, p = y[y > 0], p[y > 0]
    if (p == 0).any():
        return float("inf")
    below = y < x
    low, high = y[below], y[~below]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        objective = (y * (y / p)).sum()
        spread = ((low - x * p[below]) ** 2 / p[below]).sum()
        cut = np.where(p[~below] == 1, 0 * high, (1 - p[~below]) * (high * (high / p[~below]) - x * x)).sum()
        return (spread + cut + x * x * (m - p.sum())) / objective
