"""Exact worst cases of a round with bounded heterogeneity at the minimizer."""

from typing import Any, Literal

from fedtheory._support import validate
from fedtheory.worst_case.arguments import nonnegative_number, positive_number
from fedtheory.worst_case.problem import Problem, counted
from fedtheory.worst_case.worst_cases import WorstCase

__all__ = ["heterogeneous_round"]


@validate.names
def heterogeneous_round(
    local_steps: int,
    step_size: Any,
    *,
    mu: Any,
    L: Any,
    distance2: Any,
    zeta2: Any,
    num_clients: int = 2,
    num_selected: int | None = None,
    sampling: Literal["distinct", "independent"] = "distinct",
) -> WorstCase:
    """Largest ``E |w_+ - w*|^2`` after a round of local steps of K equally weighted clients, or of a sample of them.

    Parameters
    ----------
    local_steps, step_size
        tau and eta.
    mu, L
        Strong convexity and smoothness of every client.
    distance2, zeta2
        Squared distance of w from w*, and the mean of ``|grad F_k(w*)|^2``.
    num_clients, num_selected
        K, and the number of participating clients; all of them by default.
    sampling
        ``distinct`` clients, or ``independent`` draws with replacement.

    Examples
    --------
    One sampled client with ``k = 1/2`` and ``a = 0``: from Delta = 4 with zeta2 = 16 the value is
    ``(1/2 * 2 + 1/2 * 4)^2``.

    >>> from fractions import Fraction as Q
    >>> lower, upper = heterogeneous_round(
    ...     1, Q(1, 2), mu=1, L=3, distance2=4, zeta2=16, num_selected=1, sampling="independent"
    ... ).enclosure
    >>> lower <= 9 <= upper
    True
    """
    num_clients = validate.count("num_clients", num_clients)
    drawn = num_clients if num_selected is None else validate.count("num_selected", num_selected)
    validate.choice("sampling", sampling, ("distinct", "independent"))
    p = Problem()
    clients = p.clients(num_clients, mu=mu, L=positive_number("L", L))
    best = w = clients.minimizer()
    if nonnegative_number("distance2", distance2):
        w = p.point("start")
        p.at_most((w - best).square, distance2, name="distance2")
    clients.heterogeneity(zeta2=zeta2)
    for _ in counted("local_steps", local_steps):
        w = clients.step(w, step_size)
    p.maximize(clients.sample(drawn, sampling).square(w - best))
    return p.solve()
