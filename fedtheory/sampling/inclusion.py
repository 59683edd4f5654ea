r"""Exact inclusion probabilities of Power-of-Choice and of successive sampling.

Let client i arrive at an exponential time of rate p_i. The order of arrivals has the law of draws without replacement
with probabilities proportional to p, so the d candidates of a round are the first d arrivals. The computation
integrates over the time t of the (d+1)-th arrival. Given t, clients are independent, and client i is a candidate with
probability ``x_i = 1 - exp(-p_i t)``. Dynamic programming then counts the candidates that rank above and below a
client. Only positive numbers are added and multiplied, so every probability has a small relative error.
"""

from __future__ import annotations

# mypy: allow-untyped-calls
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.jit import compiled, compiled_with_reordering
from fedtheory._support.progress import announced
from fedtheory._support.validate import Array
from fedtheory._support.wording import format_number

__all__ = ["power_of_choice_inclusion"]


def power_of_choice_inclusion(
    weights: npt.ArrayLike, losses: npt.ArrayLike, num_selected: int, num_candidates: int
) -> Array:
    """Probability that Power-of-Choice selects each client, shape (K,); the sum is m.

    The server draws d candidates without replacement with probabilities proportional to the weights, and selects the m
    candidates with the largest losses. Ties are broken at random. Probabilities below 1e-300 are not accurate.

    The selection rule is that of Cho, Wang, Joshi (2020), section 4; the law is derived in this library.

    Parameters
    ----------
    weights
        Nonnegative weights with any positive sum, shape (K,), at least d of them positive; clients of weight zero are
        never candidates.
    losses
        Losses that rank the clients, shape (K,).
    num_selected, num_candidates
        m and d, with 1 <= m <= d.

    Examples
    --------
    Client 0 has the largest loss, so it is selected if it is a candidate. Client 1 is selected if client 0 is not a
    candidate.

    >>> (power_of_choice_inclusion([1, 2, 3], [3.0, 2.0, 1.0], num_selected=1, num_candidates=2) * 12).round(12)
    array([5., 7., 0.])
    """
    p, m, d = _arguments(weights, num_selected, num_candidates)
    ranking = validate.array("losses", losses, shape=(np.size(weights),))
    return _inclusion(p, ranking, m, d)


def inclusion_by_losses(weights: npt.ArrayLike, num_selected: int, num_candidates: int) -> Callable[[Array], Array]:
    """Return ``power_of_choice_inclusion`` as a function of the losses, which are not validated."""
    p, m, d = _arguments(weights, num_selected, num_candidates)
    return lambda losses: _inclusion(p, losses, m, d)


def _arguments(weights: Any, num_selected: int, num_candidates: int) -> tuple[Array, int, int]:
    p = validate.probability_vector("weights", weights, normalize=True)
    d = validate.count("num_candidates", num_candidates)
    return p, validate.count("num_selected", num_selected, high=d), d


def _inclusion(p: Array, losses: Array, m: int, d: int) -> Array:
    drawable = np.flatnonzero(p)
    if d > drawable.size:
        got = format_number(d)
        message = (
            f"num_candidates must be at most the number of clients with positive weight, {drawable.size}, got {got}"
        )
        raise ValueError(message)
    order = drawable[np.argsort(-losses[drawable], kind="stable")]
    ranked = losses[order]
    # If m = d, every candidate is selected, so the ranking and its ties do not matter.
    is_new = np.concatenate([[True], (ranked[1:] != ranked[:-1]) | (m == d)])
    starts = np.flatnonzero(is_new)
    ends = np.append(starts[1:], order.size)
    selected = np.empty(order.size)
    if d == order.size:
        _all_are_candidates(starts, ends, m, selected)
    else:
        _compile()
        times, time_weights = _arrival_nodes(p[order], d)
        integrate(p[order], starts, ends, m, d, times, time_weights, selected)
    probabilities = np.zeros(p.size)
    probabilities[order] = selected
    return probabilities


@cache
def _compile() -> None:
    """Compile the integration, with a message if that takes longer than two seconds."""
    with announced("fedtheory compiles inclusion probabilities, in about 8 s of processor time, once on this machine"):
        half, node, places = np.full(2, 0.5), np.ones(1), np.arange(3)
        integrate(half, places[:2], places[1:], 1, 1, node, node, np.empty(2))


def _all_are_candidates(starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64], m: int, out: Array) -> None:
    sizes = ends - starts
    out[:] = np.repeat(np.clip((m - starts) / sizes, 0.0, 1.0), sizes)


def _arrival_nodes(p: Array, d: int) -> tuple[Array, Array]:
    r"""Trapezoidal nodes and weights for the time of the (d+1)-th arrival, ``t = exp(z - exp(-z))``.

    For each candidate set A, the integrand is ``prod_A (1 - exp(-p_i t))`` times ``exp(-R t)``, where R is the rate of
    the other clients. At its mode ``R t <= d + 1``, so its curvature in log t is at most ``1.42 d + 2``, and with a
    step of 0.65 standard deviations the relative error is below 1e-17. For large t, the integrand decreases at least as
    fast as a gamma density of shape d + 1 and rate R, and R is at least the sum of the K - d smallest weights. For
    small t, it decreases like ``t^(d+1)``, and the mode is above t = 1.
    """
    smallest_rate = np.partition(p, p.size - d - 1)[: p.size - d].sum()
    first = _solve_for_z(-1.5 - 46.0 / (d + 1))
    last = np.log((d + 9.0 * np.sqrt(d + 1.0) + 45.0) / smallest_rate) + 0.5
    step = min(0.18, 0.65 / np.sqrt(1.42 * d + 2.0))
    z = np.arange(first, last + step, step)
    times = np.exp(z - np.exp(-z))
    return times, step * times * (1.0 + np.exp(-z))


def _solve_for_z(log_time: float) -> float:
    # Newton's method for the concave function z - exp(-z), starting to the left of its root.
    z = -np.log1p(-log_time)
    for _ in range(6):
        z -= (z - np.exp(-z) - log_time) / (1.0 + np.exp(-z))
    return float(z)


# mypy: allow-untyped-defs, allow-untyped-calls
# (docstrings state the arguments of compiled kernels)


_BLOCK = 16  # number of groups whose laws are kept at a time: 256 kB for a thousand candidates, which fit into a cache


@compiled
def integrate(p, starts, ends, m, d, times, time_weights, out):
    """Sum the selection probabilities over the nodes; p is ranked, starts and ends delimit groups of equal loss.

    Arrays with a last axis called count hold in row 0 the probability that this number of clients arrived before t, and
    in row 1 the expected rate of the other clients on this event. If k of the K clients rank above a place, at most k
    arrive above it and at most K - k below. Of d arrivals, between d - (K - k) and k are therefore above. Laws are
    updated only for these counts; other entries are stale.
    """
    num_clients, num_groups, largest = p.size, starts.size, 1
    for group in range(num_groups):
        largest = max(largest, ends[group] - starts[group])
    above, every = np.zeros((_BLOCK, 2, m)), np.zeros((-(-num_groups // _BLOCK), 2, m))
    inside, outside, below = np.zeros((largest, 2, d)), np.zeros((2, d + 1)), np.zeros((2, d + 1))
    arrived, waiting = np.empty(num_clients), np.empty(num_clients)
    for k in range(num_clients):
        out[k] = 0.0
    for node in range(times.size):
        arrivals, waiters = 0.0, 0.0
        for k in range(num_clients):
            arrived[k], waiting[k] = -np.expm1(-p[k] * times[node]), np.exp(-p[k] * times[node])
            arrivals, waiters = arrivals + arrived[k], waiters + waiting[k]
        if _vanishes(arrivals, waiters, num_clients, d, time_weights[node]):
            continue
        _count_above_blocks(p, arrived, waiting, starts, ends, d, every, above)
        for c in range(d + 1):
            below[0, c], below[1, c] = 0.0, 0.0
        below[0, d - 1] = 1.0
        for group in range(num_groups - 1, -1, -1):
            first, end, place = starts[group], ends[group], group % _BLOCK
            if place == _BLOCK - 1 or group == num_groups - 1:
                law = every[group // _BLOCK]
                _count_above(p, arrived, waiting, starts, ends, group - place, group + 1, d, law, above)
            _value_of_others(above[place], below, first, end, num_clients, outside)
            if end - first == 1:
                out[first] += time_weights[node] * arrived[first] * outside[1, 0]
            else:
                _leave_one_out(p, arrived, waiting, first, end, time_weights[node], inside, outside, out)
            for k in range(end - 1, first - 1, -1):
                _pull_back(p[k], arrived[k], waiting[k], below, max(0, d - 1 - num_clients + k), min(d, k))


@compiled
def _vanishes(arrivals, waiters, num_clients, d, time_weight):
    r"""Whether a node adds less than 1e-320 to every probability, which is negligible for probabilities above 1e-300.

    Given t the arrivals are independent and their expected number a is known; by Hoeffding (1956), d of K arrive with
    probability at most ``(a/d)^d ((K - a)/(K - d))^(K - d)``. Rates sum to 1.
    """
    rest = num_clients - d
    log_bound = d * np.log(arrivals / d) + rest * np.log(max(waiters, 1e-300) / rest)
    return log_bound + np.log(time_weight) < -737.0


@compiled
def _copy(law, low, high, kept):
    # Scalar loops, since the checks of slices of different sizes take numba seconds to compile.
    for row in range(law.shape[0]):
        for c in range(low, high):
            kept[row, c] = law[row, c]


@compiled
def _add_client(rate, arrived, waiting, law, low, high):
    """Add one client to the law of (count, waiting rate) for counts above low, and for low if it is 0."""
    probability, waiting_rate = law[0, low:high], law[1, low:high]
    for c in range(probability.size - 1, 0, -1):
        waiting_rate[c] = (waiting_rate[c] + probability[c] * rate) * waiting + waiting_rate[c - 1] * arrived
        probability[c] = probability[c] * waiting + probability[c - 1] * arrived
    waiting_rate[0] = (waiting_rate[0] + probability[0] * rate) * waiting
    probability[0] *= waiting


@compiled
def _count_above_blocks(p, arrived, waiting, starts, ends, d, every, above):
    """Fill ``every[b]`` with the law of the clients ranked above the groups of block b."""
    law = np.zeros((2, every.shape[2]))
    law[0, 0] = 1.0
    for b in range(every.shape[0]):
        _copy(law, 0, law.shape[1], every[b])
        _count_above(p, arrived, waiting, starts, ends, b * _BLOCK, min((b + 1) * _BLOCK, starts.size), d, law, above)


@compiled
def _count_above(p, arrived, waiting, starts, ends, begin, stop, d, law, above):
    """Fill ``above`` with the laws of the clients ranked above each group of a block, for counts below m.

    The law of the clients above the first group, ``begin``, is updated to that of the clients above ``stop``.
    """
    num_clients, m = p.size, law.shape[1]
    for group in range(begin, stop):
        low, high = max(0, d - num_clients + starts[group]), min(m, starts[group] + 1)
        _copy(law, low, high, above[group - begin])
        for k in range(starts[group], ends[group]):
            low, high = max(0, d - num_clients + k), min(m, k + 2)
            if low < high:
                _add_client(p[k], arrived[k], waiting[k], law, low, high)


@compiled_with_reordering
def _value_of_others(above, below, first, end, num_clients, value):
    """Return the value of g other arrivals in a group, g < size, for a member that arrived.

    ``value[0, g]`` is a sum over the number a of arrivals above. Each term is the probability that d - 1 - a - g
    clients arrived below, times the probability min(1, (m - a) / (g + 1)) that the member is selected among clients
    with equal losses. In ``value[1, g]`` the terms are multiplied by the rate of the waiting clients above and below.
    The integrand is ``sum_g P(g) value[1, g] + rate(g) value[0, g]``. All terms are positive, so their order does not
    matter; adding them in parallel halves the time.
    """
    m, d = above.shape[1], below.shape[1] - 1
    for g in range(min(end - first, d)):
        low, high = max(0, d - 1 - g - (num_clients - end)), min(m, d - g, first + 1)
        above_probability, above_rate = above[0, low:high], above[1, low:high]
        below_probability, below_rate = below[0, low + g : high + g], below[1, low + g : high + g]
        probability, rate = 0.0, 0.0
        for i in range(above_probability.size):
            chance = min(1.0, (m - low - i) / (g + 1.0))
            probability += chance * above_probability[i] * below_probability[i]
            rate += chance * (above_probability[i] * below_rate[i] + above_rate[i] * below_probability[i])
        value[0, g], value[1, g] = probability, rate


@compiled
def _leave_one_out(p, arrived, waiting, first, end, time_weight, inside, value, out):
    """Add the selection probabilities of the clients first..end-1, which have equal losses.

    A forward pass stores the law of the members before each client. A backward pass propagates the value through the
    members after it. At each client, ``inside[i]``, the law of the i members before it, is combined with ``value``.
    """
    counts = min(end - first, inside.shape[2])
    inside[0, 0, 0] = 1.0
    for i in range(end - first - 1):
        k, high = first + i, min(counts, i + 2)
        _copy(inside[i], 0, high, inside[i + 1])
        _add_client(p[k], arrived[k], waiting[k], inside[i + 1], 0, high)
    value[0, counts], value[1, counts] = 0.0, 0.0
    for k in range(end - 1, first - 1, -1):
        out[k] += time_weight * arrived[k] * _expected(inside[k - first], value, min(counts, k - first + 1))
        _pull_back(p[k], arrived[k], waiting[k], value, 0, min(counts, k - first))


@compiled_with_reordering
def _expected(law, value, counts):
    probability, rate = law[0, :counts], law[1, :counts]
    value_with_rate, value = value[1, :counts], value[0, :counts]
    integrand = 0.0
    for g in range(counts):
        integrand += probability[g] * value_with_rate[g] + rate[g] * value[g]
    return integrand


@compiled
def _pull_back(rate, arrived, waiting, value, low, high):
    """Propagate the value through one more client that arrives or waits, for counts from low to below high."""
    probability, waiting_rate = value[0, low : high + 1], value[1, low : high + 1]
    for c in range(high - low):
        waiting_rate[c] = waiting * (waiting_rate[c] + rate * probability[c]) + arrived * waiting_rate[c + 1]
    for c in range(high - low):
        probability[c] = waiting * probability[c] + arrived * probability[c + 1]
