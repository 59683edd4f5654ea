r"""Exact inclusion probabilities of Power-of-Choice, and with as many selected as asked of successive sampling.

Let client i arrive at an exponential time of rate p_i. The order of arrivals is the order of draws without replacement
with probability proportional to p, so the d candidates of a round are the clients that have arrived between the d-th
and the (d+1)-th arrival. Integrating over the time t of the (d+1)-th arrival makes the clients independent given t:
client i is a candidate with probability ``x_i = 1 - exp(-p_i t)``, and what remains is to count the candidates that
rank above and below a client, by dynamic programming. Only positive numbers are added and multiplied, so every
probability is accurate relative to its own size.
"""

from __future__ import annotations

# mypy: allow-untyped-calls
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory._support.wording import shown
from fedtheory.sampling._inclusion_kernels import integrate

__all__ = ["power_of_choice_inclusion"]


def power_of_choice_inclusion(
    weights: npt.ArrayLike, losses: npt.ArrayLike, num_selected: int, num_candidates: int
) -> Array:
    r"""Probability that Power-of-Choice selects each client.

    The server draws d candidates without replacement with probability proportional to the weights and selects the m
    candidates of largest loss, breaking ties at random.

    Parameters
    ----------
    weights
        Non-negative weights of any positive sum, shape (K,); clients of weight zero are never candidates.
    losses
        The losses that rank the clients, shape (K,).
    num_selected, num_candidates
        m and d, with 1 <= m <= d.

    Returns
    -------
    Array
        Inclusion probabilities, shape (K,), of sum m.

    Raises
    ------
    ValueError
        If m > d, or fewer than d clients have a positive weight.

    Notes
    -----
    A node costs about ``K (d + m)`` operations, at most ``d (K - d)`` for each of three passes, and there are about
    ``6 sqrt(d)`` that matter unless weights differ by orders of magnitude. Probabilities below 1e-300 are not accurate.

    Source: the selection rule is Cho, Wang, Joshi (2020), section 4; the law is our own derivation.

    Examples
    --------
    Client 0 has the largest loss, so it is selected whenever it is a candidate; client 1 when 0 is not.

    >>> (power_of_choice_inclusion([1, 2, 3], [3.0, 2.0, 1.0], num_selected=1, num_candidates=2) * 12).round(12)
    array([5., 7., 0.])
    """
    by_losses = inclusion_by_losses(weights, num_selected, num_candidates)
    return by_losses(validate.array("losses", losses, shape=(np.size(weights),)))


def inclusion_by_losses(weights: npt.ArrayLike, num_selected: int, num_candidates: int) -> Callable[[Array], Array]:
    """``power_of_choice_inclusion`` as a function of the losses alone, finite and of shape (K,), which it trusts.

    Parameters
    ----------
    weights
        Shape (K,), not negative, some positive.
    num_selected, num_candidates
        m and d.

    Returns
    -------
    Callable[[Array], Array]
        Takes losses, shape (K,), and returns inclusion probabilities, shape (K,), of sum m.

    Raises
    ------
    ValueError
        If m is above d, d is above the number of positive weights, or a weight is negative.

    Examples
    --------
    >>> (inclusion_by_losses([1, 2, 3], 1, 2)(np.array([3.0, 2.0, 1.0])) * 12).round(12)
    array([5., 7., 0.])
    """
    p = _positive_sum(weights)
    d = validate.count("num_candidates", num_candidates)
    m = validate.count("num_selected", num_selected, high=d)
    return lambda losses: _inclusion(p, losses, m, d)


def _positive_sum(weights: Any) -> Array:
    return validate.probability_vector("weights", weights, normalize=True)


def _inclusion(p: Array, losses: Array, m: int, d: int) -> Array:
    drawable = np.flatnonzero(p)
    if d > drawable.size:
        got = shown(d)
        message = (
            f"num_candidates must be at most the number of clients with positive weight, {drawable.size}, got {got}"
        )
        raise ValueError(message)
    order = drawable[np.argsort(-losses[drawable], kind="stable")]
    ranked = losses[order]
    # With m = d every candidate is selected, so the ranking and its ties do not matter.
    is_new = np.concatenate([[True], (ranked[1:] != ranked[:-1]) | (m == d)])
    starts = np.flatnonzero(is_new)
    ends = np.append(starts[1:], order.size)
    selected = np.empty(order.size)
    if d == order.size:
        _everybody_is_a_candidate(starts, ends, m, selected)
    else:
        times, time_weights = _arrival_nodes(p[order], d)
        integrate(p[order], starts, ends, m, d, times, time_weights, selected)
    probabilities = np.zeros(p.size)
    probabilities[order] = selected
    return probabilities


def _everybody_is_a_candidate(starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64], m: int, out: Array) -> None:
    sizes = ends - starts
    out[:] = np.repeat(np.clip((m - starts) / sizes, 0.0, 1.0), sizes)


def _arrival_nodes(p: Array, d: int) -> tuple[Array, Array]:
    r"""Trapezoidal nodes and weights for the time of the (d+1)-th arrival, ``t = exp(z - exp(-z))``.

    For each candidate set A the integrand is ``prod_A (1 - exp(-p_i t))`` times ``exp(-R t)``, R the rate of the rest.
    At its mode R t <= d + 1, so its curvature in log t is at most 1.42 d + 2 and a step of 0.65 standard deviations
    leaves less than 1e-17 of it. To the right it falls at least like a gamma density of shape d + 1 and rate R, and R
    is at least the sum of the K - d smallest weights. To the left it falls like ``t^(d+1)``, from a mode above t = 1.
    """
    smallest_rate = np.partition(p, p.size - d - 1)[: p.size - d].sum()
    first = _solve_for_z(-1.5 - 46.0 / (d + 1))
    last = np.log((d + 9.0 * np.sqrt(d + 1.0) + 45.0) / smallest_rate) + 0.5
    step = min(0.18, 0.65 / np.sqrt(1.42 * d + 2.0))
    z = np.arange(first, last + step, step)
    times = np.exp(z - np.exp(-z))
    return times, step * times * (1.0 + np.exp(-z))


def _solve_for_z(log_time: float) -> float:
    # Newton's method on the concave function z - exp(-z), from the left of its root.
    z = -np.log1p(-log_time)
    for _ in range(6):
        z -= (z - np.exp(-z) - log_time) / (1.0 + np.exp(-z))
    return float(z)
