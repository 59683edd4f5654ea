"""Exact worst cases of one step of optimal client sampling."""

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any, Literal

from fedtheory._support import validate
from fedtheory.worst_case._vectors import Form, Vector
from fedtheory.worst_case.arguments import DISTANCE, Constants, check_block, constants, listed, positive_number
from fedtheory.worst_case.problem import Problem
from fedtheory.worst_case.worst_cases import WorstCase, worst_of

__all__ = ["optimal_client_sampling"]


@validate.names
def optimal_client_sampling(
    weights: Sequence[Any],
    expected_size: Any,
    step_size: Any,
    *,
    mu: Any,
    L: Any,
    distance2: Any,
    objective_gap: Any,
    probabilities: Literal["optimal", "uniform"] = "optimal",
) -> WorstCase:
    r"""Exact worst case of one step of DSGD with independent sampling of the clients.

    The largest ``E |w_+ - w*|^2`` for ``w_+ = w - step_size sum_{i in S} (w_i/p_i) grad F_i(w)`` over all L-smooth,
    mu-strongly convex clients with these weights, ``|w - w*|^2 <= distance2`` and
    ``F* - sum w_i F_i* <= objective_gap``. Optimal probabilities minimize the variance for the norms of the current
    gradients. Raises OracleError if no proof was found.

    Parameters
    ----------
    weights
        Weights of the clients, positive, with sum 1.
    expected_size
        Expected number of clients m, ``0 < m <= n``.
    step_size, mu, L, distance2, objective_gap
        As in ``fedavg``; one step.
    probabilities
        ``optimal``, or ``uniform``: m/n for each client.

    Examples
    --------
    With unequal weights, optimal sampling is better than uniform sampling in the worst case:

    >>> from fractions import Fraction as Q
    >>> constants = dict(mu=Q(1, 10), L=1, distance2=1, objective_gap=Q(1, 2))
    >>> weights = [Q(1, 2), Q(1, 4), Q(1, 4)]
    >>> for how in ("optimal", "uniform"):
    ...     print(round(optimal_client_sampling(weights, 1, Q(1, 4), **constants, probabilities=how).value, 5))
    0.99274
    1.0009
    """
    given = constants(1, step_size, mu=mu, L=L, distance2=distance2, objective_gap=objective_gap)
    shares = [positive_number("weights", one) for one in listed("weights", weights, "a list of numbers")]
    if sum(shares) != 1 or len(shares) < 2:
        message = f"weights must be those of two or more clients and sum to 1 exactly, got the sum {float(sum(shares))}"
        raise ValueError(message)
    size = positive_number("expected_size", expected_size)
    if size > len(shares):
        message = f"expected_size must be at most the number of clients {len(shares)}, got {size}"
        raise ValueError(message)
    validate.choice("probabilities", probabilities, ("optimal", "uniform"))
    check_block(3 * len(shares))
    return worst_of([sampled_step(given, shares, size, probabilities).case()], DISTANCE)


def sampled_step(
    given: Constants,
    weights: Sequence[Fraction],
    expected_size: Fraction,
    probabilities: str,
    descent: Fraction = Fraction(0),
) -> Problem:
    """Maximize the expected squared distance after a step with independently sampled, unbiased gradients.

    ``descent`` times ``F(w) - F*``, where w is the model before the step, is added to the objective.
    """
    p, [eta] = Problem(), given.steps
    clients = [p.function(given.mu, given.L, minimum=0) for _ in weights]
    F = p.mean(clients, weights)
    w_star, w = F.minimizer(p.origin, objective_gap=given.objective_gap), p.point("start")
    p.at_most((w - w_star).square, given.distance2, "distance2")
    updates = [weight * client.gradient(w) for weight, client in zip(weights, clients, strict=True)]
    if probabilities == "optimal":
        variance = _least_variance(p, updates, expected_size)
    else:
        variance = (len(weights) / expected_size - 1) * reduce(add, (update.square for update in updates))
    error = (F.step(w, eta) - w_star).square + eta**2 * variance
    p.maximize(error + descent * (F.value(w) - F.value(w_star)))
    return p


def _least_variance(p: Problem, updates: Sequence[Vector], expected_size: Fraction) -> Form:
    """Return the variance under the optimal probabilities.

    Let ``u_i = |w_i g_i|^2``. The least variance ``min_p sum u_i (1/p_i - 1)`` over ``p_i <= 1`` with sum m is a
    minimum of linear functions of u and therefore concave. It is at least t if and only if
    ``t <= sum (2 z_i - nu_i - u_i) - m lambda`` for some ``lambda, nu_i >= 0`` and ``z_i^2 <= u_i (lambda + nu_i)``.
    """
    price = p.number()
    p.at_most(-price, 0)
    total = -expected_size * price
    for update in updates:
        cap = p.number()
        p.at_most(-cap, 0)
        total = total + 2 * p.geometric_mean(update.square, price + cap) - cap - update.square
    return total
