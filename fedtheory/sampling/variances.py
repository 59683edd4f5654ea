"""Variance of the independent sampling, and its optimal value."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support.validate import Array
from fedtheory.sampling._arguments import Numbers, checked_budget, checked_norms, numbers
from fedtheory.sampling.optimal import optimal_probabilities

__all__ = ["variance"]


def variance(norms: Numbers, probabilities: Numbers) -> Any:
    r"""Variance ``sum_i t_i^2 (1 / p_i - 1)`` of ``sum_{i in S} (w_i / p_i) U_i`` for an independent sampling S.

    Parameters
    ----------
    norms
        Norms of the weighted updates, ``t_i = w_i |U_i|``, shape (n,); ``fractions.Fraction`` stay exact.
    probabilities
        Inclusion probabilities p_i in [0, 1], shape (n,).

    Returns
    -------
    float or Fraction
        The variance, a squared norm; zero norms add nothing whatever their probability, a positive norm that is
        never sampled makes it infinite.

    Raises
    ------
    ValueError
        If a norm is negative, a probability is outside [0, 1] or the shapes disagree.

    References
    ----------
    Chen, Horvath and Richtarik (2022), eq. (6), for given updates.

    Examples
    --------
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
    r"""Smallest variance of an independent sampling with m clients expected.

    With s the sum of the norms of the clients whose optimal probability is below 1, and r the budget they share, it
    is ``s^2 / r - sum t_i^2`` over these clients; evaluated as ``sum t_i^2 (1 - p_i) / p_i``, which does not cancel.

    Parameters
    ----------
    norms
        Of the weighted updates, shape (n,).
    expected_size
        Budget m, in (0, n].

    References
    ----------
    Chen, Horvath and Richtarik (2022), eqs. (6) and (7).

    Examples
    --------
    For norms 1, 2, 3 nobody is cut: ``6^2 / 2 - 14 = 4``.

    >>> round(optimal_value([1.0, 2.0, 3.0], 2), 12)
    4.0
    """
    t = checked_norms(norms)
    value, exponent = _scaled_value(t, checked_budget(expected_size, t.size))
    with np.errstate(over="ignore", under="ignore"):
        return float(np.ldexp(value, exponent))


def _scaled_value(t: Array, m: float) -> tuple[float, int]:
    # The optimal variance as value * 2**exponent: squares of the norms may leave the range of floats.
    if not t.any():
        return 0.0, 0
    _, exponent = np.frexp(t.max())
    return float(variance(np.ldexp(t, -exponent), optimal_probabilities(t, m))), 2 * int(exponent)
