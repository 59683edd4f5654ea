"""FedALIGN on small rational federations, followed along every path, round by round."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, final

from fedtheory.claims._instances import constant_law
from fedtheory.law import Law
from fedtheory.sampling.selections import with_replacement
from fedtheory.verification.rational import RationalQuadratics, Vector, combination, difference, norm2
from fedtheory.verification.runs import Noise, RationalRun, Snapshot, expected

__all__ = ["AlignedRound", "AlignedRun", "drawn_averages"]


class AlignedRound(NamedTuple):
    """One way in which a round can begin.

    Attributes
    ----------
    probability
        Its probability.
    included
        Non-priority clients that match.
    run
        The round alone, all priority clients and the included ones training; its steps are those of the round.
    """

    probability: Fraction
    included: tuple[int, ...]
    run: RationalRun


@final
@dataclass(frozen=True)
class AlignedRun:
    """FedALIGN whose every path is followed with its probability.

    Attributes
    ----------
    federation
        All clients; the weights are p_k for priority clients and 0 for the others.
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
    def num_steps(self) -> int:
        """Number of local steps T."""
        return len(self.thresholds) * self.local_steps

    @property
    def sigma2(self) -> Fraction:
        """Variance of the gradient noise."""
        return sum((probability * norm2(value) for probability, value in self.noise), start=Fraction(0))

    def included(self, w: Vector, eps: Fraction) -> tuple[int, ...]:
        """Non-priority clients whose loss at a model is within eps of F."""
        losses = self.federation.losses(w)
        objective = sum((p * loss for p, loss in zip(self.federation.weights, losses, strict=True)), start=Fraction(0))
        others = set(range(self.federation.num_clients)) - set(self.priority)
        return tuple(k for k in sorted(others) if abs(losses[k] - objective) < eps)

    def weights(self, chosen: tuple[int, ...]) -> Vector:
        """Renormalized weights p'_k of the clients of a round."""
        total = sum((self.shares[k] for k in chosen), start=Fraction(0))
        return tuple(self.shares[k] / total for k in chosen)

    @cached_property
    def rounds(self) -> tuple[tuple[AlignedRound, ...], ...]:
        """For every round, all ways in which it can begin."""
        return tuple(self._walk())

    def _walk(self) -> Iterator[tuple[AlignedRound, ...]]:
        models = {self.initial: Fraction(1)}
        for number, eps in enumerate(self.thresholds):
            beginnings = tuple(
                AlignedRound(probability, included, self._round(number, w, included))
                for w, probability in models.items()
                for included in [self.included(w, eps)]
            )
            yield beginnings
            models = self._ends(beginnings)

    def _round(self, number: int, w: Vector, included: tuple[int, ...]) -> RationalRun:
        first = number * self.local_steps
        return RationalRun(
            federation=self.federation,
            select=constant_law(Law.certain((*self.priority, *included))),
            local_steps=self.local_steps + 1,  # the round stays open, so that its local models can be seen
            step_size=lambda step: self.step_size(first + step),
            initial=w,
            num_steps=self.local_steps,
            noise=self.noise,
            weigh=self.weights,
        )

    def _ends(self, beginnings: tuple[AlignedRound, ...]) -> dict[Vector, Fraction]:
        ends: dict[Vector, Fraction] = {}
        for beginning in beginnings:
            for at in beginning.run.snapshots[-1]:
                for chance, w in drawn_averages(self, at) if self.num_draws else [(Fraction(1), at.average)]:
                    ends[w] = ends.get(w, Fraction(0)) + beginning.probability * at.probability * chance
        return ends

    def standing(self, step: int) -> tuple[Snapshot, ...]:
        """All ways in which the run can stand at a step, the server's model as average at a round's start."""
        number, inside = divmod(step, self.local_steps)
        if number == len(self.thresholds):
            models = self._ends(self.rounds[-1])
            return tuple(Snapshot(chance, w, (), (), (), w) for w, chance in models.items())
        return tuple(
            at._replace(probability=at.probability * beginning.probability)
            for beginning in self.rounds[number]
            for at in beginning.run.snapshots[inside]
        )

    def distance2(self, step: int) -> Fraction:
        """Return ``E |w_t - w*|^2``."""
        best = self.federation.minimizer
        return Fraction(expected(self.standing(step), lambda at: norm2(difference(at.average, best))))

    def gap(self, step: int) -> Fraction:
        """Return ``E F(w_t) - F*``."""
        return Fraction(expected(self.standing(step), lambda at: self.federation.gap(at.average)))

    def elapsed(self, step: int) -> Fraction:
        """Sum of the step sizes that the round has used before a step."""
        return sum((self.step_size(i) for i in range(step - step % self.local_steps, step)), start=Fraction(0))

    def in_round(self, number: int, value: Callable[[tuple[int, ...], Vector], Fraction]) -> Fraction:
        """Average a function of (clients of the round, their weights) over the beginnings of a round."""
        total = Fraction(0)
        for beginning in self.rounds[number]:
            chosen = (*self.priority, *beginning.included)
            total += beginning.probability * value(chosen, self.weights(chosen))
        return total

    def priority_weight(self, number: int) -> Fraction:
        """Return ``E[1/(1 + s)]`` in a round."""
        first = len(self.priority)
        return self.in_round(number, lambda _, weights: sum(weights[:first], start=Fraction(0)))

    def included_gap(self, number: int) -> Fraction:
        """Return ``E[sum_{k not in P} p_k I_k Gamma_k/(1 + s)]`` in a round."""
        first, fed = len(self.priority), self.federation

        def gaps(chosen: tuple[int, ...], weights: Vector) -> Fraction:
            terms = zip(chosen[first:], weights[first:], strict=True)
            return sum((weight * fed.excess(k, fed.minimizer) for k, weight in terms), start=Fraction(0))

        return self.in_round(number, gaps)

    def squared_weights(self, number: int) -> Fraction:
        """Return ``E sum_k p'_k^2 I_k`` in a round."""
        return self.in_round(number, lambda _, weights: norm2(weights))

    def mean_gradient_bound(self, first: int = 0, last: int | None = None) -> Fraction:
        """Return the smallest G2 for which ``E sum_k p'_k I_k |g_k|^2 <= G2`` at the steps first, ..., last - 1."""
        fed = self.federation

        def squares(at: Snapshot) -> Fraction:
            terms = zip(at.coefficients, at.chosen, at.local, strict=True)
            return sum((q * norm2(fed.gradient(k, w)) for q, k, w in terms), start=Fraction(0))

        steps = range(first, self.num_steps if last is None else last)
        return max(Fraction(expected(self.standing(step), squares)) + self.sigma2 for step in steps)

    def gradient_bound(self, fixed: tuple[Vector, ...] = ()) -> Fraction:
        """Return the smallest G2 of Assumption 4 for active clients at their models and for all at fixed models."""
        fed = self.federation
        elsewhere = (norm2(fed.gradient(k, w)) + self.sigma2 for k in range(fed.num_clients) for w in fixed)
        return max(itertools.chain(elsewhere, self._active_gradients()))

    def _active_gradients(self) -> Iterator[Fraction]:
        fed = self.federation
        for beginning in itertools.chain.from_iterable(self.rounds):
            for snapshots in beginning.run.snapshots[: self.local_steps]:
                for place, k in enumerate(snapshots[0].chosen):
                    square = sum(at.probability * norm2(fed.gradient(k, at.local[place])) for at in snapshots)
                    yield Fraction(square) + self.sigma2


def drawn_averages(run: AlignedRun, at: Snapshot) -> list[tuple[Fraction, Vector]]:
    """Law of the drawn average w' of eq. (56), given the models of all clients of the round."""
    first = len(run.priority)
    together = sum(at.coefficients[:first], start=Fraction(0))
    others = list(zip(at.coefficients[first:], at.local[first:], strict=True))
    law = []
    for drawn, chance in with_replacement([run.shares[k] for k in run.priority], run.num_draws).items():
        parts = [(together / run.num_draws, at.local[place]) for place in drawn] + others
        law.append((chance, combination([weight for weight, _ in parts], [w for _, w in parts])))
    return law
