"""Exact worst cases of FedALIGN."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from fedtheory._support import validate
from fedtheory.errors import AssumptionViolated
from fedtheory.worst_case.arguments import ERRORS, Constants, check_block, constants, listed, rational, spelled
from fedtheory.worst_case.problem import Problem
from fedtheory.worst_case.worst_cases import WorstCase, worst_of

__all__ = ["fedalign"]

CELLS = ("included", "above", "below")
"""Outcomes of the comparison: the third client's loss lies within the threshold, above it, or below it."""


class _Rule(NamedTuple):
    """Share and gap of the third client, the threshold, and whether losses are compared at all."""

    share: Fraction
    client_gap: Fraction
    threshold: Fraction
    compares: bool


@spelled
def fedalign(
    local_steps: int,
    step_size: Any,
    *,
    mu: Any,
    L: Any,
    distance2: Any,
    objective_gap: Any,
    client_gap: Any,
    threshold: Any,
    share: Any = Fraction(1, 2),
    minima: Literal["equal", "free"] = "equal",
    objective: Literal["distance", "gap"] = "distance",
    cells: Sequence[str] = CELLS,
) -> WorstCase:
    r"""Exact worst case of a round of FedALIGN with two priority clients of equal weight and one other client.

    The largest ``|w_+ - w*|^2``, or ``F(w_+) - F*``, over all L-smooth, mu-strongly convex clients with
    ``|w - w*|^2 <= distance2``, ``F* - mean F_k* <= objective_gap`` for the priority clients, whose mean is F, and
    ``F_3(w*) - F_3* <= client_gap``. The third client is included if ``|F_3(w) - F(w)| < threshold``, and the new model
    is then the average with the weights ``1/2, 1/2, share`` over their sum. The comparison has three outcomes, each of
    which is one semidefinite program; the worst case is the largest value. The lemma uses the largest multipliers over
    the outcomes, and may be looser than the value.

    Raises AssumptionViolated if no federation has one of these outcomes. Raises OracleError if no proof was found.

    Parameters
    ----------
    local_steps, step_size, mu, L, distance2, objective_gap
        As in ``fedavg``; one round.
    client_gap
        Gamma_k of the third client; at most this value, or exactly 0.
    threshold
        epsilon, the largest difference of the losses at which the third client is included.
    share
        Amount of the third client's data relative to that of all priority clients.
    minima
        ``equal``: all clients have the same minimum loss. ``free``: minimum losses may differ, and the comparison
        imposes no condition.
    objective
        ``distance``, squared, or ``gap``.
    cells
        Outcomes of the comparison over which the maximum is taken: ``included``, ``above`` and ``below`` the threshold.

    Examples
    --------
    Including a client whose minimizer is elsewhere is worse than training alone:

    >>> from fractions import Fraction as Q
    >>> constants = dict(mu=Q(1, 10), L=1, distance2=1, objective_gap=Q(1, 2), client_gap=Q(1, 2), threshold=Q(1, 5))
    >>> [round(fedalign(1, Q(1, 4), **constants, cells=[cell]).value, 4) for cell in ("included", "above")]
    [1.03, 0.9506]
    """
    steps = validate.count("local_steps", local_steps)
    given = constants(steps, step_size, mu=mu, L=L, distance2=distance2, objective_gap=objective_gap)
    validate.choice("objective", objective, ("distance", "gap"))
    validate.choice("minima", minima, ("equal", "free"))
    cells = listed("cells", cells, "a list of outcomes")
    for cell in cells:
        validate.choice("cells", cell, CELLS)
    numbers = rational("client_gap", client_gap), rational("threshold", threshold)
    rule = _Rule(rational("share", share, validate.positive), *numbers, minima == "equal")
    check_block(3 * len(given.steps) + 8)
    possible = [cell for cell in cells if cell != "included" or rule.threshold]
    if not possible:  # with a threshold of 0, no loss is strictly within it
        included = "threshold must be positive if the third client is included, got 0"
        reason = included if cells else "cells must hold one or more, got none"
        raise AssumptionViolated(reason)
    return worst_of([_round(given, cell, rule, objective).case() for cell in possible], ERRORS[objective])


def _round(given: Constants, cell: str, rule: _Rule, objective: str) -> Problem:
    """Maximize the error after a round with one outcome of the comparison."""
    p = Problem()
    first, second, third = (p.function(given.mu, given.L, minimum=0) for _ in range(3))
    F = p.mean([first, second])
    w_star, w = F.minimizer(p.origin, objective_gap=given.objective_gap), p.point("start")
    third.limit_excess(w_star, rule.client_gap, "client_gap")
    p.at_most((w - w_star).square, given.distance2, "distance2")
    if rule.compares:
        above = third.value(w) - F.value(w)
        for sign, share in {"included": [(1, 1), (-1, 1)], "above": [(-1, -1)], "below": [(1, -1)]}[cell]:
            p.at_most(sign * above, rule.threshold, "threshold", share)
    half, weight = Fraction(1, 2), rule.share if cell == "included" else Fraction(0)
    after = p.origin
    for client, part in ((first, half), (second, half), (third, weight)):
        y = w
        for eta in given.steps if part else ():
            y = client.step(y, eta)
        after = after + part / (1 + weight) * y
    p.maximize((after - w_star).square if objective == "distance" else F.value(after) - F.value(w_star))
    return p
