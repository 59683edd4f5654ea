"""FedALIGN, other clients that are included where their loss is close to the objective: its exact worst cases."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.errors import AssumptionViolated
from fedtheory.worst_case._aligned import CELLS, aligned_round
from fedtheory.worst_case._embedding import Embedding
from fedtheory.worst_case._exchangeable import Scene
from fedtheory.worst_case._gram import Program
from fedtheory.worst_case._settings import Setting, check_block, rational, setting
from fedtheory.worst_case.enclosures import Proof, prove
from fedtheory.worst_case.instances import ClientFunction, History, Instance, Outcome
from fedtheory.worst_case.worst_cases import WorstCase, worst_of

__all__ = ["fedalign"]

# Losses that are this close to the threshold, as a share of them, lie on it: the solver's digits.
_TIED = 1e-4


class _Play(NamedTuple):
    """What the other client's loss says, and the program."""

    cell: str
    scene: Scene


class _Rule(NamedTuple):
    """Two priority clients, a third of some share, and what is compared: None where constants decide it."""

    share: Fraction
    threshold: Fraction
    ruled: bool


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
    share: Any = 0.5,
    minima: str = "equal",
    objective: str = "distance",
    cells: Sequence[str] = CELLS,
    max_block: int = 50,
) -> WorstCase:
    r"""Exact worst case of a round of FedALIGN with two priority clients of equal weight and one other client.

    The largest ``|w_+ - w*|^2``, or ``F(w_+) - F*``, over all L-smooth, mu-strongly convex clients with
    ``|w - w*|^2 <= distance2``, ``F* - mean F_k* <= objective_gap`` for the priority clients, whose mean is F, and
    ``F_3(w*) - F_3* <= client_gap``. The third client is included if ``|F_3(w) - F(w)| < threshold``, and the new model
    is then the average with the weights ``1/2, 1/2, share`` over their sum. The comparison has three outcomes, each of
    them linear in the losses and so a program; the largest value counts. Thresholds belong to both sides, which
    federations approach.

    Parameters
    ----------
    local_steps, step_size, mu, L, distance2, objective_gap, max_block
        As in ``fedavg``; one round.
    client_gap
        Gamma_k of the third client, which is imposed exactly where it is 0.
    threshold
        epsilon, the largest difference of the losses with which the third client is included.
    share
        Its data, as a share of all priority clients' data.
    minima
        ``equal``: all clients have the same least loss. ``free``: they need not; then the rule says nothing in one
        round, since constants can be added to the third client's loss.
    objective
        ``distance``, squared, or ``gap``.
    cells
        Which outcomes of the comparison count: ``included``, ``above`` and ``below`` the threshold.

    Returns
    -------
    WorstCase
        Its lemma takes the largest multipliers over the outcomes, and may be looser than the value.

    Raises
    ------
    AssumptionViolated
        If no federation has any of these outcomes.
    ValueError
        If an argument is unsuitable or the program too large.
    OracleError
        If no proof was found.

    Examples
    --------
    Including a client whose minimizer is elsewhere is worse than training alone:

    >>> from fractions import Fraction as Q
    >>> constants = dict(mu=Q(1, 10), L=1, distance2=1, objective_gap=Q(1, 2), client_gap=Q(1, 2), threshold=Q(1, 5))
    >>> [round(fedalign(1, Q(1, 4), **constants, cells=[cell]).value, 4) for cell in ("included", "above")]
    [1.03, 0.9506]
    """
    constants = {"distance2": distance2, "objective_gap": objective_gap}
    constants |= {"client_gap": client_gap, "threshold": threshold}
    given = setting(validate.count("local_steps", local_steps), step_size, mu=mu, L=L, **constants)
    validate.choice("objective", objective, ("distance", "gap"))
    validate.choice("minima", minima, ("equal", "free"))
    for cell in cells:
        validate.choice("cells", cell, CELLS)
    rule = _Rule(rational("share", share, validate.positive), given["threshold"], minima == "equal")
    check_block(3 * len(given.steps) + 8, max_block)
    plays = {play.scene.program: play for play in _plays(given, rule, objective, cells)}
    attain = partial(_instance, plays, given, rule, objective)
    return worst_of([prove(program) for program in plays], given, objective, attain)


def _plays(given: Setting, rule: _Rule, objective: str, cells: Sequence[str]) -> list[_Play]:
    """Write down each outcome's program; no loss is strictly within a threshold of 0."""
    possible = [cell for cell in cells if cell != "included" or rule.threshold]
    if not possible:
        included = "threshold must be positive if the third client is included, got 0"
        reason = included if cells else "cells must hold one or more, got none"
        raise AssumptionViolated(reason)
    return [_Play(cell, aligned_round(given, cell, rule.share, objective, ruled=rule.ruled)) for cell in possible]


def _instance(plays: Mapping[Program, _Play], given: Setting, rule: _Rule, objective: str, proof: Proof) -> Instance:
    play, space, places = plays[proof.program], Embedding(proof, given), {0: np.ones(1)}
    first, second, third = (space.client(points, places) for points in play.scene.points)
    start, threshold = space.place(play.scene.start, places), float(rule.threshold * given.unit("gap"))
    mean = (first.loss(start) + second.loss(start)) / 2
    if not rule.ruled:
        goal = mean + {"included": 0, "above": 2, "below": -2}[play.cell] * threshold
        third = replace(third, values=third.values + goal - third.loss(start))
    clients: tuple[ClientFunction, ...] = (first, second, third)
    return Instance(
        clients=clients,
        weights=np.array([0.5, 0.5, 0.0]),
        start=start,
        step_sizes=tuple(float(eta / given.L) for eta in given.steps),
        num_rounds=1,
        selection=partial(_align, float(rule.share), threshold, play.cell == "included"),
        objective=objective,
    )


def _align(share: float, threshold: float, at_threshold: bool, losses: Array, _: History) -> list[Outcome]:
    """Include the third client where its loss is close; on the threshold, where a worst case may be, as there."""
    apart = abs(losses[2] - losses[:2].mean())
    tied = abs(apart - threshold) <= _TIED * float(np.abs(losses).max())
    weight = share if (at_threshold if tied else apart < threshold) else 0.0
    return [Outcome(1.0, np.array([0.5, 0.5, weight]) / (1 + weight))]
