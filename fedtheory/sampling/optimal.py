"""Inclusion probabilities with the smallest variance for independent sampling (Optimal Client Sampling)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numpy import empty

from fedtheory._support.validate import Array
from fedtheory.sampling import newton
from fedtheory.sampling.arguments import checked_budget, checked_norms, is_plain
from fedtheory.sampling.newton import FEW, compiled_write_optimal, write_optimal

__all__ = ["optimal_probabilities"]

TOP = 900
SATURATED = 2.0**1000


def optimal_probabilities(norms: npt.ArrayLike, expected_size: float) -> Array:
    r"""Minimizer of ``sum_i t_i^2 / p_i`` over ``0 <= p_i <= 1``, ``sum_i p_i <= m``.

    It is ``p_i = min(1, t_i / x)`` with the threshold x for which the probabilities sum to m. If the norms are in
    increasing order, ``p_i = (m + l - n) t_i / (t_1 + ... + t_l)`` for the l smallest norms, and 1 for the others. Here
    l is the largest number with ``0 < m + l - n`` and ``(m + l - n) t_l <= t_1 + ... + t_l``. The probability of a
    client with norm 0 is 0, although every probability is optimal for it. A probability below 1e-308 may be 0.

    Source: Chen, Horvath and Richtarik (2022), eq. (7) and Lemma 20.

    Parameters
    ----------
    norms
        Norms of the weighted updates, ``t_i = w_i |U_i|``, shape (n,), finite and at least 0.
    expected_size
        Budget m: the expected number of sampled clients, any real number in (0, n].

    Examples
    --------
    With one client expected, probabilities are proportional to the norms; with two, client 3 reaches 1 exactly.

    >>> optimal_probabilities([1.0, 2.0, 5.0], 1)
    array([0.125, 0.25 , 0.625])
    >>> optimal_probabilities([1.0, 1.0, 4.0], 2)
    array([0.5, 0.5, 1. ])
    """
    t: Any = norms if is_plain(norms) else checked_norms(norms)
    budget = checked_budget(expected_size, t.size)
    probabilities = empty(t.size)
    if not _fill(t, budget, probabilities):
        checked_norms(t)  # raises the error
        rescale(t, budget, probabilities)
    return probabilities


def _fill(norms: Array, budget: float, probabilities: Array) -> bool:
    """Few clients need no compilation; both implementations are bit-identical."""
    write = write_optimal if norms.size < FEW else compiled_write_optimal
    with np.errstate(all="ignore"):
        return bool(write(norms, budget, probabilities))


def rescale(norms: Array, budget: float, probabilities: Array) -> None:
    """Write the probabilities for norms whose sums overflow or are subnormal; more norms than the budget are positive.

    The norms are multiplied by a power of two that brings the largest to about 2^900. Only norms of clients with a
    probability below 1e-308 underflow. If only such clients are left after saturation, they are scaled again.
    """
    saturated = np.zeros(norms.size, dtype=bool)
    while True:
        scaled = near_top(norms, saturated)
        total, _ = newton.compiled_below(scaled, np.inf, probabilities)
        first = (SATURATED, 1.0) if saturated.any() else (total, budget)
        rest, room, _ = newton.compiled_saturate(scaled, budget, first, newton.NO_LIMIT, probabilities)
        # Norms below 1 may have lost digits; which of them are saturated is decided after they are scaled again.
        now = scaled >= max(rest / room, 1.0)
        left = scaled[~now].max(initial=0.0)
        if not (left < 1.0 and budget > now.sum()):
            break
        saturated = now
    newton.compiled_write(scaled, rest, room, probabilities)


def near_top(norms: Array, saturated: npt.NDArray[np.bool_]) -> Array:
    """Scale the norms so that the largest one that is not saturated is about 2^900; saturated norms become 2^1000."""
    _, exponent = np.frexp(norms[~saturated].max())
    scaled: Array = np.full(norms.shape, SATURATED)
    scaled[~saturated] = np.ldexp(norms[~saturated], TOP - exponent)
    return scaled
