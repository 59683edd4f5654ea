"""Selection frequencies as a function of the order of the losses, as needed by bounds and searches."""

from dataclasses import replace

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array, Mask
from fedtheory.selection.laws import Ranked


def among(law: Ranked, busy: Mask) -> Ranked:
    """Restrict a law to the clients of positive weight; it must not select the others."""
    if busy.all():
        return law

    def frequencies(values: Array) -> Array:
        everyone = np.zeros(busy.size)
        everyone[busy] = values
        drawn = law.frequencies(everyone)
        if drawn[~busy].any():
            client = int(np.flatnonzero(~busy & (drawn != 0))[0])
            message = (
                f"strategy must not select clients of weight zero, got frequency {drawn[client]} of client {client}"
            )
            raise ValueError(message)
        return drawn[busy]

    return replace(law, frequencies=frequencies)


def remembering(law: Ranked) -> Ranked:
    """Evaluate a law only once for each order of the clients; a search or a run meets few orders many times."""
    known: dict[bytes, Array] = {}

    def frequencies(losses: Array) -> Array:
        order = losses.argsort(kind="stable")
        ranked = losses[order]
        key = order.tobytes() + (ranked[1:] == ranked[:-1]).tobytes()
        if key not in known:
            known[key] = law.frequencies(losses)
        return known[key]

    return replace(law, frequencies=frequencies)


def largest_product(law: Ranked, values: Array) -> float:
    """Product of the values with the frequencies that rank by them; the largest one if large losses are preferred."""
    return float(law.frequencies(values) @ values)


def largest_totals(law: Ranked, weights: Array) -> Array:
    """Return upper bounds ``g_n``, n = 1, ..., K, of the total frequency of n clients in any order; concave in n."""
    if not law.favors_heavy:
        return np.ones(weights.size)
    heaviest = np.argsort(-weights, kind="stable")
    values = np.empty(weights.size)
    values[heaviest] = -np.arange(float(weights.size))
    totals: Array = np.cumsum(law.frequencies(values)[heaviest])
    return totals


def rearranged(law: Ranked, weights: Array, values: Array) -> float:
    """Return an upper bound of the product of nonnegative values with the frequencies in any order of the clients."""
    if law.prefers_large:
        return largest_product(law, values)
    shares = np.diff(largest_totals(law, weights), prepend=0.0)
    return float(shares @ np.sort(values)[::-1])


def least_skew_over_rankings(totals: Array, least_ratios: Array) -> float:
    r"""Lower bound of rho_bar from ``totals``, at least g_n / m and concave, and ``least_ratios``, at most l_n.

    Sort the ratios ``r_k = (F_k(w') - F_k*) / D(w')`` increasingly. This order gives the smallest skew of all rankings,
    ``sum_n (f(U_n) - f(U_{n-1})) r_(n) / m`` with U_n the first n clients and ``f(U) = E min(m, candidates in U)``.
    f(U_n) is at most its value g_n for the n largest weights, since replacing a member of U by a client that is drawn
    earlier increases the count. Summation by parts with the concave g, ``g_0 = 0``, ``d_n = g_n - g_{n-1}``:

    ``m rho >= sum_n d_n r_(n) = sum_n (d_n - d_{n+1}) (r_(1) + ... + r_(n)) >= sum_n (d_n - d_{n+1}) n l_n``.

    The l_n are those of ``subset_minima``. Both arrays have the shape (K,).
    """
    totals = validate.array("totals", totals, ndim=1)
    least_ratios = validate.array("least_ratios", least_ratios, shape=totals.shape)
    if totals.size == 0:
        message = "totals must have an entry for each client, got none"
        raise ValueError(message)
    increments = np.diff(totals, prepend=0.0, append=totals[-1])
    # decreasing in exact arithmetic; clipping rounding errors only lowers the bound
    drops = np.maximum(increments[:-1] - increments[1:], 0.0)
    sizes = np.arange(1.0, totals.size + 1)
    return float((drops * sizes) @ least_ratios) * (1 - 1e-12)
