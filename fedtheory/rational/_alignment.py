"""FedALIGN on a small rational federation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import final

from fedtheory.rational._following import follow, snapshots
from fedtheory.rational._noises import Noise, no_noise, variance_of
from fedtheory.rational._rounds import Beginning, Cohort, Snapshot
from fedtheory.rational.quadratics import RationalQuadratics, prioritized
from fedtheory.rational.vectors import Vector, combination, inner, norm2, vector
from fedtheory.sampling.cohorts import Selection, with_replacement
from fedtheory.statistics.law import Law

__all__: list[str] = []


@final
@dataclass(frozen=True)
class AlignedRun:
    """FedALIGN whose every path is followed with its probability.

    Attributes
    ----------
    federation
        All clients, the priority clients first; the weights are p_k for them and 0 for the others.
    shares
        p_k of all clients.
    thresholds
        eps of each round; client k is included if ``|F_k(w) - F(w)| < eps`` at the round's start.
    local_steps, step_size, initial, noise
        As of ``RationalRun``.
    num_draws
        Priority clients drawn per round, or 0 when all take part.
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
        total = sum((self.shares[k] for k in chosen), start=Fraction(0))
        return tuple(self.shares[k] / total for k in chosen)

    def begin(self, number: int, model: Vector) -> Law[Cohort]:
        """Law of who takes part in a round: it is certain, given the server's model."""
        # The round that would come after the last includes nobody.
        eps = (*self.thresholds, Fraction(0))[number]
        chosen = (*self.priority, *self.included(model, eps))
        return Law.certain(Cohort(chosen, self.weights(chosen)))

    def end(self, at: Snapshot) -> Law[Vector]:
        """Return the law of the server's next model, over the draws of priority clients if there are any."""
        return drawn_averages(self, at) if self.num_draws else Law.certain(at.average)

    @cached_property
    def rounds(self) -> tuple[Law[Beginning], ...]:
        """How every round can begin, and the one that would come after the last."""
        return follow(self)

    @cached_property
    def snapshots(self) -> tuple[Law[Snapshot], ...]:
        """The law of the run at each step 0..T, the server's model as average at a round's start."""
        return snapshots(self.rounds, self.local_steps, self.num_steps)

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


def drawn_averages(run: AlignedRun, at: Snapshot) -> Law[Vector]:
    """Law of the drawn average w' of eq. (56), given the models of all clients of the round.

    With the one priority client drawn twice, nothing is random: half of its model 0, half of 1/4.

    >>> run = two_parabolas((Fraction(1),), local_steps=2, num_draws=2)
    >>> [at] = run.snapshots[1]
    >>> drawn_averages(run, at)
    Law({(Fraction(1, 8),): 1})
    """
    first = len(run.priority)
    together = sum(at.coefficients[:first], start=Fraction(0))

    def average(drawn: Selection) -> Vector:
        coefficients = (together / run.num_draws,) * run.num_draws + at.coefficients[first:]
        return combination(coefficients, [*(at.local[place] for place in drawn), *at.local[first:]])

    return with_replacement(run.shares[:first], run.num_draws).map(average)


def two_parabolas(thresholds: Vector, local_steps: int = 1, num_draws: int = 0) -> AlignedRun:
    """Priority client w^2/2, another client (w - 1)^2/2 of the same size, started at w* = 0, gamma = 8 steps.

    The other client's gap is 1/2, so that it is included below the threshold 1: one step of 1/4 takes it to 1/4.

    >>> run = two_parabolas((Fraction(1),))
    >>> run.included(run.initial, Fraction(1)), run.included(run.initial, Fraction(1, 4))
    ((1,), ())
    >>> [at.average for at in run.snapshots[1]] == [(Fraction(1, 4) / 2,)]
    True
    """
    one = vector(1)
    return AlignedRun(
        federation=prioritized((one, one), (vector(0), one), vector(1, 1), 1, vector(0, 0)),
        shares=vector(1, 1),
        thresholds=thresholds,
        local_steps=local_steps,
        step_size=lambda step: Fraction(2, step + 8),
        initial=vector(0),
        noise=no_noise(1),
        num_draws=num_draws,
    )
