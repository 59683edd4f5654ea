"""Rounds of federated averaging in rational arithmetic, followed along every path: expectations without sampling.

A round begins with the choice of those who take part, goes on with their local steps, and ends with the server's next
model. What differs between algorithms is the beginning and the end; ``follow`` does the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import NamedTuple, Protocol, final

from fedtheory.law import Law
from fedtheory.rational.noises import Noise
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import Vector, combination, difference, inner, norm2

__all__ = ["Beginning", "Run", "Snapshot", "Team", "distance2", "elapsed", "follow", "gap", "standings"]


class Team(NamedTuple):
    """Who takes part in a round, and how their models are aggregated.

    Attributes
    ----------
    chosen
        The clients, copies included.
    coefficients
        Aggregation coefficient of each of them.
    kept
        That of the server's own model.
    """

    chosen: tuple[int, ...]
    coefficients: Vector
    kept: Fraction = Fraction(0)


@final
@dataclass(frozen=True, eq=False)
class Snapshot:
    """One way in which a run can stand at a step; two ways are two, even where they look alike.

    Attributes
    ----------
    anchor
        The server's model at the start of the round.
    chosen, coefficients
        Who takes part, copies included, with the aggregation coefficients.
    local
        Model of each of them.
    average
        The virtual averaged model.
    """

    anchor: Vector
    chosen: tuple[int, ...]
    coefficients: Vector
    local: tuple[Vector, ...]
    average: Vector

    def mean(self, value: Callable[[int, Vector], Fraction]) -> Fraction:
        """Mean of a function of client and local model over the active copies, weighted as they are aggregated."""
        return inner(self.coefficients, list(map(value, self.chosen, self.local)))

    def spread(self, center: Vector) -> Fraction:
        """Mean squared distance of the active copies' models from a center."""
        return self.mean(lambda _, w: norm2(difference(w, center)))

    @property
    def drift(self) -> Fraction:
        """Mean squared distance of the active copies' models from their average."""
        return self.spread(self.average)

    @property
    def displacement(self) -> Fraction:
        """Mean squared distance of the active copies' models from the round's starting model."""
        return self.spread(self.anchor)


@final
@dataclass(frozen=True, eq=False)
class Beginning:
    """One way in which a round can begin.

    Attributes
    ----------
    anchor
        The server's model.
    team
        Who takes part.
    snapshots
        How the run stands after 0, 1, ... local steps of the round, given this beginning.
    """

    anchor: Vector
    team: Team
    snapshots: tuple[Law[Snapshot], ...]


class Run(Protocol):
    """Some rounds on a rational federation."""

    @property
    def federation(self) -> RationalQuadratics:
        """The clients."""

    @property
    def local_steps(self) -> int:
        """Steps per round, tau."""

    @property
    def num_steps(self) -> int:
        """Number of local steps T; the last round may be cut short."""

    @property
    def step_size(self) -> Callable[[int], Fraction]:
        """eta_t as a function of t."""

    @property
    def initial(self) -> Vector:
        """The server's model at the start."""

    @property
    def noise(self) -> Noise:
        """Gradient noise, drawn afresh for each copy and step."""

    @property
    def rounds(self) -> tuple[Law[Beginning], ...]:
        """How every round can begin, and the one that would come after the last."""

    @property
    def snapshots(self) -> tuple[Law[Snapshot], ...]:
        """The law of the run at each step 0..T; at the start of a round it is known already who takes part."""

    def begin(self, number: int, model: Vector) -> Law[Team]:
        """Law of who takes part in a round, given the server's model."""

    def end(self, at: Snapshot) -> Law[Vector]:
        """Law of the server's next model, given how the round stands after its last step."""


def follow(run: Run) -> tuple[Law[Beginning], ...]:
    """Return, for every round and for the one that would come after the last, how it can begin.

    Parameters
    ----------
    run
        Short enough that all its paths can be listed.

    Returns
    -------
    tuple[Law[Beginning], ...]
        As many laws as rounds, and one more.

    Examples
    --------
    >>> from fedtheory.rational import two_parabolas
    >>> [first, after] = follow(two_parabolas((Fraction(1),)))
    >>> [beginning.anchor for beginning in after]
    [(Fraction(1, 8),)]
    """
    models, rounds = Law.certain(run.initial), []
    for number in range(run.num_steps // run.local_steps + 1):
        beginnings = models.then(partial(_beginnings, run, number))
        rounds.append(beginnings)
        if (number + 1) * run.local_steps <= run.num_steps:
            models = beginnings.then(lambda beginning: beginning.snapshots[-1]).then(run.end)
    return tuple(rounds)


def _beginnings(run: Run, number: int, model: Vector) -> Law[Beginning]:
    first = number * run.local_steps
    sizes = [run.step_size(step) for step in range(first, min(first + run.local_steps, run.num_steps))]
    teams = run.begin(number, model)
    clients = {k for team in teams for k in team.chosen}
    # Given the round's start, copies work independently of each other: no path of one depends on that of another.
    paths = {k: list(_local_models(run, k, model, sizes)) for k in clients}

    def beginning(team: Team) -> Beginning:
        start = Snapshot(model, team.chosen, team.coefficients, (model,) * len(team.chosen), model)
        after = (Law.product(*(paths[k][step] for k in team.chosen)) for step in range(len(sizes)))
        snapshots = (local.map(partial(_snapshot, model, team)) for local in after)
        return Beginning(model, team, (Law.certain(start), *snapshots))

    return teams.map(beginning)


def _local_models(run: Run, client: int, model: Vector, sizes: list[Fraction]) -> Iterator[Law[Vector]]:
    """Yield the law of a copy's model after 1, 2, ... local steps from the server's model."""
    law = Law.certain(model)
    for size in sizes:
        law = law.then(partial(_stepped, run, client, size))
        yield law


def _stepped(run: Run, client: int, size: Fraction, w: Vector) -> Law[Vector]:
    gradient = run.federation.gradient(client, w)
    return run.noise.map(lambda noise: tuple(x - size * (g + n) for x, g, n in zip(w, gradient, noise, strict=True)))


def _snapshot(anchor: Vector, team: Team, local: tuple[Vector, ...]) -> Snapshot:
    chosen, coefficients, kept = team
    average = combination((kept, *coefficients), (anchor, *local)) if kept else combination(coefficients, local)
    return Snapshot(anchor, chosen, coefficients, local, average)


def standings(rounds: tuple[Law[Beginning], ...], local_steps: int, num_steps: int) -> tuple[Law[Snapshot], ...]:
    """Return the law of a run at each step 0..T from its rounds.

    Parameters
    ----------
    rounds
        As ``follow`` returns them.
    local_steps
        tau.
    num_steps
        T.

    Returns
    -------
    tuple[Law[Snapshot], ...]
        T + 1 laws.
    """

    def standing(step: int) -> Law[Snapshot]:
        number, inside = divmod(step, local_steps)
        return rounds[number].then(lambda beginning: beginning.snapshots[inside])

    return tuple(standing(step) for step in range(num_steps + 1))


def distance2(run: Run, step: int) -> Fraction:
    """Return ``E |w_t - w*|^2`` of the averaged model.

    Parameters
    ----------
    run
        A run that is followed along every path.
    step
        t, from 0 to T.

    Returns
    -------
    Fraction
        Squared; exact.

    Examples
    --------
    >>> from fedtheory.rational import two_parabolas
    >>> distance2(two_parabolas((Fraction(1),)), 1)
    Fraction(1, 64)
    """
    best = run.federation.minimizer
    return Fraction(run.snapshots[step].mean(lambda at: norm2(difference(at.average, best))))


def gap(run: Run, step: int) -> Fraction:
    """Return ``E F(w_t) - F*`` of the averaged model.

    Parameters
    ----------
    run
        A run that is followed along every path.
    step
        t, from 0 to T.

    Returns
    -------
    Fraction
        Exact; in units of F.

    Examples
    --------
    >>> from fedtheory.rational import two_parabolas
    >>> gap(two_parabolas((Fraction(1),)), 1)
    Fraction(1, 128)
    """
    return Fraction(run.snapshots[step].mean(lambda at: run.federation.gap(at.average)))


def elapsed(run: Run, step: int) -> Fraction:
    """Sum of the step sizes that the round has used before a step.

    Parameters
    ----------
    run
        Knows the step sizes and the steps per round.
    step
        t.

    Returns
    -------
    Fraction
        0 at the first step of a round.
    """
    return sum((run.step_size(i) for i in range(step - step % run.local_steps, step)), start=Fraction(0))
