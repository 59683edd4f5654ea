"""Runs of federated averaging and of FedALIGN, enumerated over all random outcomes.

A round begins with the selection of its clients, continues with their local steps, and ends with the server's next
model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import NamedTuple, final

from fedtheory.instances.federations import RationalQuadratics, prioritized
from fedtheory.instances.noise import Noise, no_noise, variance_of
from fedtheory.instances.vectors import Vector, combination, inner, norm2, vector
from fedtheory.sampling.cohorts import Selection, with_replacement
from fedtheory.statistics.law import Law

__all__: list[str] = []


class Cohort(NamedTuple):
    """The clients of a round, including copies, with their aggregation coefficients and that of the old model."""

    chosen: Selection
    coefficients: Vector
    kept: Fraction = Fraction(0)


@final
@dataclass(frozen=True, eq=False)
class Snapshot:
    """The state of a run at a step, on one of its paths; states of different paths are different.

    ``anchor`` is the server's model at the start of the round, and ``local`` the model of each active copy.
    """

    anchor: Vector
    chosen: Selection
    coefficients: Vector
    local: tuple[Vector, ...]
    average: Vector

    def mean(self, value: Callable[[int, Vector], Fraction]) -> Fraction:
        """Mean of a function of client and local model over the active copies, with the aggregation coefficients."""
        return inner(self.coefficients, list(map(value, self.chosen, self.local)))

    def mean_gradient(self, fed: RationalQuadratics) -> Vector:
        """Mean of the gradients of the active copies at their local models."""
        return combination(self.coefficients, list(map(fed.gradient, self.chosen, self.local)))

    def spread(self, center: Vector) -> Fraction:
        """Mean squared distance of the active copies' models from a center."""
        return self.mean(lambda _, w: norm2(w - center))

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
    """A possible start of a round, and the law of the run after 0, 1, ... local steps given this start."""

    anchor: Vector
    cohort: Cohort
    snapshots: tuple[Law[Snapshot], ...]


def mean_weights(chosen: Selection) -> Vector:
    """Return the coefficients 1/m of the plain mean."""
    return Vector([Fraction(1, len(chosen))] * len(chosen))


def constant_law(law: Law[Selection]) -> Callable[[Vector], Law[Selection]]:
    """Return a selection with the same law at every model."""
    return lambda _: law


@final
@dataclass(frozen=True)
class RationalRun:
    """Federated averaging (Power-of-Choice, eqs. (2), (3)) with all paths and their probabilities.

    Attributes
    ----------
    select
        The law of the selection at a server's model.
    num_steps
        Number T of local steps; the last round may be shorter.
    noise
        Gradient noise, drawn independently for each copy and step.
    weigh
        Aggregation coefficients of a selection.
    """

    federation: RationalQuadratics
    select: Callable[[Vector], Law[Selection]]
    local_steps: int
    step_size: Callable[[int], Fraction]
    initial: Vector
    num_steps: int
    noise: Noise
    weigh: Callable[[Selection], Vector] = mean_weights

    @property
    def sigma2(self) -> Fraction:
        """Variance of the gradient noise."""
        return variance_of(self.noise)

    def begin(self, _: int, model: Vector) -> Law[Cohort]:
        """Law of the clients of a round, given the server's model."""
        return self.select(model).map(self._cohort)

    def _cohort(self, chosen: Selection) -> Cohort:
        return Cohort(chosen, self.weigh(chosen), Fraction(not chosen))

    def end(self, at: Snapshot) -> Law[Vector]:
        """Return the law of the server's next model, the average."""
        return Law.certain(at.average)

    @cached_property
    def rounds(self) -> tuple[Law[Beginning], ...]:
        """The possible starts of every round, and of the one after the last."""
        return follow(self)

    @cached_property
    def snapshots(self) -> tuple[Law[Snapshot], ...]:
        """The law of the run at each step 0..T; at the start of a round its selection is already drawn."""
        return tuple(_at_step(self, step) for step in range(self.num_steps + 1))


@final
@dataclass(frozen=True)
class AlignedRun:
    """FedALIGN with all paths and their probabilities.

    Attributes
    ----------
    federation
        All clients, the priority clients first; the weights are p_k for them and 0 for the others.
    shares
        p_k of all clients.
    thresholds
        eps of each round; client k is included if ``|F_k(w) - F(w)| < eps`` at the round's start.
    num_draws
        Number of priority clients drawn per round, or 0 if all take part.
    """

    federation: RationalQuadratics
    shares: Vector
    thresholds: Vector
    local_steps: int
    step_size: Callable[[int], Fraction]
    initial: Vector
    noise: Noise
    num_draws: int = 0

    @property
    def priority(self) -> tuple[int, ...]:
        """The priority clients."""
        return tuple(k for k, weight in enumerate(self.federation.weights) if weight)

    @property
    def num_rounds(self) -> int:
        """Number of rounds."""
        return len(self.thresholds)

    @property
    def num_steps(self) -> int:
        """Number of local steps T."""
        return self.num_rounds * self.local_steps

    @property
    def sigma2(self) -> Fraction:
        """Variance of the gradient noise."""
        return variance_of(self.noise)

    def included(self, w: Vector, eps: Fraction) -> tuple[int, ...]:
        """Non-priority clients whose loss at a model is within eps of F."""
        losses = self.federation.losses(w)
        objective = inner(self.federation.weights, losses)
        others = range(len(self.priority), self.federation.num_clients)
        return tuple(k for k in others if abs(losses[k] - objective) < eps)

    def weights(self, chosen: Selection) -> Vector:
        """Renormalized weights p'_k of the clients of a round."""
        shares = Vector(self.shares[k] for k in chosen)
        return shares / sum(shares)

    def begin(self, number: int, model: Vector) -> Law[Cohort]:
        """Return the law of the clients of a round, which are determined by the server's model."""
        # The round after the last one includes no other client.
        eps = (*self.thresholds, Fraction(0))[number]
        chosen = (*self.priority, *self.included(model, eps))
        return Law.certain(Cohort(chosen, self.weights(chosen)))

    def end(self, at: Snapshot) -> Law[Vector]:
        """Return the law of the server's next model, over the draws of priority clients if there are any."""
        return drawn_averages(self, at) if self.num_draws else Law.certain(at.average)

    @cached_property
    def rounds(self) -> tuple[Law[Beginning], ...]:
        """The possible starts of every round, and of the one after the last."""
        return follow(self)

    @cached_property
    def snapshots(self) -> tuple[Law[Snapshot], ...]:
        """The law of the run at each step 0..T; at the start of a round the average is the server's model."""
        return tuple(_at_step(self, step) for step in range(self.num_steps + 1))

    @property
    def priority_weights(self) -> list[Fraction]:
        """``E[1/(1 + s)]`` of every round."""
        return self._in_rounds(lambda _, weights: sum(weights[: len(self.priority)], start=Fraction(0)))

    @property
    def included_gaps(self) -> list[Fraction]:
        """``E[sum_{k not in P} p_k I_k Gamma_k/(1 + s)]`` of every round."""
        first, gaps = len(self.priority), self.federation.excesses(self.federation.minimizer)
        return self._in_rounds(lambda chosen, weights: inner(weights[first:], [gaps[k] for k in chosen[first:]]))

    @property
    def squared_weights(self) -> list[Fraction]:
        """``E sum_k p'_k^2 I_k`` of every round."""
        return self._in_rounds(lambda _, weights: norm2(weights))

    def _in_rounds(self, value: Callable[[Selection, Vector], Fraction]) -> list[Fraction]:
        beginnings = self.rounds[: self.num_rounds]
        return [Fraction(each.mean(lambda at: value(at.cohort.chosen, at.cohort.coefficients))) for each in beginnings]


Run = RationalRun | AlignedRun


def drawn_averages(run: AlignedRun, at: Snapshot) -> Law[Vector]:
    """Law of the drawn average w' of eq. (56), given the models of all clients of the round."""
    first = len(run.priority)
    together = sum(at.coefficients[:first], start=Fraction(0))

    def average(drawn: Selection) -> Vector:
        coefficients = ([together / run.num_draws] * run.num_draws) + list(at.coefficients[first:])
        return combination(coefficients, [*(at.local[place] for place in drawn), *at.local[first:]])

    return with_replacement(run.shares[:first], run.num_draws).map(average)


def two_parabolas(thresholds: Vector, num_draws: int = 0) -> AlignedRun:
    """Priority client w^2/2, another client (w - 1)^2/2 of the same size, started at w* = 0, gamma = 8 steps.

    The other client's gap is 1/2, so that it is included below the threshold 1: one step of 1/4 moves it to 1/4.
    """
    zero, one = vector(0), vector(1)
    return AlignedRun(
        federation=prioritized((one, one), (zero, one), vector(1, 1), 1, vector(0, 0)),
        shares=vector(1, 1),
        thresholds=thresholds,
        local_steps=1,
        step_size=lambda step: Fraction(2, step + 8),
        initial=zero,
        noise=no_noise(1),
        num_draws=num_draws,
    )


def follow(run: Run) -> tuple[Law[Beginning], ...]:
    """Return the possible starts of every round, and of the one after the last."""
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
    cohorts = run.begin(number, model)
    clients = {k for cohort in cohorts for k in cohort.chosen}
    # Given the round's start, copies are independent, so that their paths need not be combined.
    paths = {k: list(_local_models(run, k, model, sizes)) for k in clients}

    def beginning(cohort: Cohort) -> Beginning:
        start = Snapshot(model, cohort.chosen, cohort.coefficients, (model,) * len(cohort.chosen), model)
        after = (Law.product(*(paths[k][step] for k in cohort.chosen)) for step in range(len(sizes)))
        snapshots = (local.map(partial(_snapshot, model, cohort)) for local in after)
        return Beginning(model, cohort, (Law.certain(start), *snapshots))

    return cohorts.map(beginning)


def _local_models(run: Run, client: int, model: Vector, sizes: list[Fraction]) -> Iterator[Law[Vector]]:
    """Yield the law of a copy's model after 1, 2, ... local steps from the server's model."""
    law = Law.certain(model)
    for eta in sizes:
        law = law.then(partial(_stepped, run, client, eta))
        yield law


def _stepped(run: Run, client: int, eta: Fraction, w: Vector) -> Law[Vector]:
    ahead = w - eta * run.federation.gradient(client, w)
    return run.noise.map(lambda noise: ahead - eta * noise)


def _snapshot(anchor: Vector, cohort: Cohort, local: tuple[Vector, ...]) -> Snapshot:
    chosen, coefficients, kept = cohort
    average = combination([kept, *coefficients], [anchor, *local]) if kept else combination(coefficients, local)
    return Snapshot(anchor, chosen, coefficients, local, average)


def _at_step(run: Run, step: int) -> Law[Snapshot]:
    number, inside = divmod(step, run.local_steps)
    return run.rounds[number].then(lambda beginning: beginning.snapshots[inside])


def distance2(run: Run, step: int) -> Fraction:
    """Return ``E |w_t - w*|^2`` of the averaged model."""
    return Fraction(run.snapshots[step].mean(lambda at: norm2(at.average - run.federation.minimizer)))


def gap(run: Run, step: int) -> Fraction:
    """Return ``E F(w_t) - F*`` of the averaged model."""
    return Fraction(run.snapshots[step].mean(lambda at: run.federation.gap(at.average)))


def elapsed(run: Run, step: int) -> Fraction:
    """Return the sum of the round's step sizes before a step."""
    return sum((run.step_size(i) for i in range(step - step % run.local_steps, step)), start=Fraction(0))
