"""Rounds of the skewed class: its constants, its proofs, and the federation that attains several rounds."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.errors import AssumptionViolated
from fedtheory.theorem._comparison import unmet
from fedtheory.worst_case._embedding import Embedding
from fedtheory.worst_case._settings import Setting, rational
from fedtheory.worst_case.enclosures import Proof
from fedtheory.worst_case.instances import ClientFunction, History, Instance, Interpolant, Outcome, Parabola
from fedtheory.worst_case.problem import Problem
from fedtheory.worst_case.worst_cases import Lemma, lemma_of

__all__ = ["Round", "Skews", "attained", "skews"]


class Skews(NamedTuple):
    """Diagonal skew, largest skew at w*, and number of selected clients."""

    rho: Fraction
    rho_tilde: Fraction
    num_selected: int


def skews(given: Setting, rho_diagonal: Any, rho_tilde: Any, num_selected: int) -> Skews:
    """Check the skews, and that there are federations with these constants."""
    rho, tilde = rational("rho_diagonal", rho_diagonal), rational("rho_tilde", rho_tilde)
    broken = [
        unmet("rho_tilde >= rho_diagonal", tilde, ">=", rho),
        unmet("rho_diagonal <= L/mu", rho, "<=", 1 / given.mu),
    ]
    for sentence in filter(None, broken):
        message = f"no federation has these constants: {sentence}"
        raise AssumptionViolated(message)
    return Skews(rho, tilde, validate.count("num_selected", num_selected))


class Round(NamedTuple):
    """A round's class, its problem, what is proved, and how many clients are selected."""

    given: Setting
    problem: Problem
    proof: Proof
    num_selected: int = 1

    @property
    def lemma(self) -> Lemma:
        """The inequality that the multipliers prove."""
        return lemma_of([self.proof], self.given, "distance")


def attained(rounds: Sequence[Round]) -> Instance:
    """Return an instance that gives every round a client of its own, turned so that it starts where the last ended.

    With noise, the only round selects copies of one client, whose noises are independent.
    """
    noisy = bool(rounds[0].problem.noises)
    if noisy and len(rounds) > 1:
        message = f"a worst case with gradient noise has an instance for one round only, got {len(rounds)}"
        raise ValueError(message)
    spaces = [Embedding(one.problem, one.proof, one.given) for one in rounds]
    starts = [space.start for space in spaces]
    dim = 1 + max(start.size for start in starts)
    model = _padded(starts[0], dim)
    clients, given = list[ClientFunction](), rounds[0].given
    for space, one, begin in zip(spaces, rounds, starts, strict=True):
        clients.append(_turned(space.clients[0], _padded(begin, dim), model))
        for eta in one.given.steps:
            model = model - float(eta / given.L) * clients[-1].gradient(model)
    m = rounds[0].num_selected
    if noisy:
        clients *= m
    return Instance(
        clients=(*_population(given, dim), *clients),
        weights=np.array([0.5, 0.5, *(0.0 for _ in clients)]),
        start=_padded(starts[0], dim),
        step_sizes=tuple(float(eta / one.given.L) for one in rounds for eta in one.given.steps),
        num_rounds=len(rounds),
        selection=partial(_copies, m) if noisy else _one_after_the_other,
        noises=tuple(_padded(noise, dim) for noise in spaces[0].noises),
    )


def _population(given: Setting, dim: int) -> list[ClientFunction]:
    """Return two parabolas of curvature mu that are the objective, apart in a direction that nobody else uses."""
    mu = float(given.mu * given.L)
    gap = float(given["objective_gap"] * given.unit("objective_gap"))
    away = np.eye(dim)[-1] * np.sqrt(2 * gap / mu)
    return [Parabola(mu * np.eye(dim), center) for center in (away, -away)]


def _copies(m: int, _losses: Array, _history: History) -> list[Outcome]:
    return [Outcome(1.0, np.array([0.0, 0.0, *(1 / m for _ in range(m))]))]


def _one_after_the_other(losses: Array, history: History) -> list[Outcome]:
    return [Outcome(1.0, np.eye(losses.size)[2 + len(history)])]


def _padded(vectors: Array, dim: int) -> Array:
    """Append zeros to the last axis."""
    missing = [(0, 0)] * (vectors.ndim - 1) + [(0, dim - vectors.shape[-1])]
    found: Array = np.pad(vectors, missing)
    return found


def _turned(client: Interpolant | Parabola, start: Array, goal: Array) -> ClientFunction:
    """Reflect a client's space so that one direction becomes another; the last coordinate stays."""
    lengths = np.linalg.norm(start), np.linalg.norm(goal)
    mirror = np.zeros_like(start)
    if min(lengths) > 0:
        mirror = start / lengths[0] - goal / lengths[1]
    turn = np.eye(start.size)
    if mirror @ mirror > 1e-24:
        turn = turn - 2 * np.outer(mirror, mirror) / (mirror @ mirror)
    if isinstance(client, Parabola):
        # In directions that the client does not know, any of its curvatures will do.
        curvature = np.eye(start.size) * client.curvature[0, 0]
        curvature[: len(client.center), : len(client.center)] = client.curvature
        return Parabola(turn @ curvature @ turn, _padded(client.center, start.size) @ turn, client.minimum)
    points, gradients = (_padded(vectors, start.size) @ turn for vectors in (client.points, client.gradients))
    return replace(client, points=points, gradients=gradients)
