"""Exact worst cases of FedALIGN."""

from fractions import Fraction
from typing import Any, Literal

from fedtheory._support import validate
from fedtheory.worst_case.arguments import ERRORS, check_block, constants, nonnegative_number, positive_number
from fedtheory.worst_case.problem import Problem
from fedtheory.worst_case.worst_cases import WorstCase, worst_of

__all__ = ["fedalign"]


@validate.names
def fedalign(
    local_steps: int,
    step_size: Any,
    *,
    mu: Any,
    L: Any,
    distance2: Any,
    objective_gap: Any,
    client_gap: Any,
    share: Any = Fraction(1, 2),
    objective: Literal["distance", "gap"] = "distance",
) -> WorstCase:
    r"""Exact worst case of a round of FedALIGN with two priority clients of equal weight and one other client.

    The largest ``|w_+ - w*|^2``, or ``F(w_+) - F*``, over all L-smooth, mu-strongly convex clients with
    ``|w - w*|^2 <= distance2``, ``F* - mean F_k* <= objective_gap`` for the priority clients, whose mean is F, and
    ``F_3(w*) - F_3* <= client_gap``. The third client is included, and the new model is the average with the weights
    ``1/2, 1/2, share`` over their sum. A constant may be added to the third client's loss, so that every threshold can
    include it. Raises OracleError if no proof was found.

    Parameters
    ----------
    local_steps, step_size, mu, L, distance2, objective_gap
        As in ``fedavg``; one round.
    client_gap
        Gamma_k of the third client; at most this value, or exactly 0.
    share
        Amount of the third client's data relative to that of all priority clients.
    objective
        ``distance``, squared, or ``gap``.

    Examples
    --------
    Including a client whose minimizer is elsewhere is worse than training alone, (1 - 1/40)^2 = 0.9506:

    >>> from fractions import Fraction as Q
    >>> constants = dict(mu=Q(1, 10), L=1, distance2=1, objective_gap=Q(1, 2), client_gap=Q(1, 2))
    >>> round(fedalign(1, Q(1, 4), **constants).value, 4)
    1.03
    """
    steps = validate.count("local_steps", local_steps)
    given = constants(steps, step_size, mu=mu, L=L, distance2=distance2, objective_gap=objective_gap)
    validate.choice("objective", objective, ("distance", "gap"))
    weight, gap = positive_number("share", share), nonnegative_number("client_gap", client_gap)
    check_block(3 * len(given.steps) + 8)
    p = Problem()
    first, second, third = (p.function(given.mu, given.L, minimum=0) for _ in range(3))
    F = p.mean([first, second])
    w_star, w = F.minimizer(p.origin, objective_gap=given.objective_gap), p.point("start")
    third.limit_excess(w_star, gap, "client_gap")
    p.at_most((w - w_star).square, given.distance2, "distance2")
    half, after = Fraction(1, 2), p.origin
    for client, part in ((first, half), (second, half), (third, weight)):
        y = w
        for eta in given.steps:
            y = client.step(y, eta)
        after = after + part / (1 + weight) * y
    p.maximize((after - w_star).square if objective == "distance" else F.value(after) - F.value(w_star))
    return worst_of([p.case()], ERRORS[objective])
