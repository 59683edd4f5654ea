"""A lower bound of the skew over all rankings of the clients and all models."""

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array


def least_skew_over_rankings(totals: Array, least_ratios: Array) -> float:
    r"""Lower bound of rho_bar from the smallest mean excess ratios of n clients.

    Sort the ratios ``r_k = (F_k(w') - F_k*) / D(w')`` increasingly. No ranking gives less than the one in this order,
    ``sum_n (f(U_n) - f(U_{n-1})) r_(n) / m`` with U_n the first n clients and ``f(U) = E min(m, candidates in U)``; and
    f(U_n) is at most its value g_n on the n largest weights, since replacing a member of U by a client that arrives
    earlier makes the count larger. Summing by parts with the concave g, ``g_0 = 0``, ``d_n = g_n - g_{n-1}``:

    ``m rho >= sum_n d_n r_(n) = sum_n (d_n - d_{n+1}) (r_(1) + ... + r_(n)) >= sum_n (d_n - d_{n+1}) n l_n``.

    Parameters
    ----------
    totals
        ``g_n``, or upper bounds of it, divided by m: the largest total frequency of n clients; concave, shape (K,).
    least_ratios
        ``l_n``, or lower bounds of it, shape (K,); see ``subset_minima``.

    Examples
    --------
    Two opposite clients, d = 2, m = 1: one client alone has all frequency, and can be at its optimum.

    >>> least_skew_over_rankings(np.array([1.0, 1.0]), np.array([0.0, 1.0]))
    0.0
    """
    totals = validate.array("totals", totals, ndim=1)
    least_ratios = validate.array("least_ratios", least_ratios, shape=totals.shape)
    if totals.size == 0:
        message = "totals must have an entry for each client, got none"
        raise ValueError(message)
    increments = np.diff(totals, prepend=0.0, append=totals[-1])
    # decreasing in exact arithmetic; clipping what rounding adds only lowers the bound
    drops = np.maximum(increments[:-1] - increments[1:], 0.0)
    sizes = np.arange(1.0, totals.size + 1)
    return float((drops * sizes) @ least_ratios) * (1 - 1e-12)
