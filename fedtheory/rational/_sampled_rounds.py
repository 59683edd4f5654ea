"""One round of DSGD or FedAvg with independent sampling, followed along every noise path and every set of clients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, NamedTuple, final

from fedtheory.rational.vectors import Vector, added, combination, difference, inner, norm2, scaled
from fedtheory.sampling.cohorts import independent
from fedtheory.sampling.reference import rational_probabilities
from fedtheory.statistics.law import Law

__all__: list[str] = []

SamplingLaw = Callable[[tuple[Vector, ...]], Vector]
"""Inclusion probabilities from the weighted updates ``w_i Delta_i`` of a round."""


def everybody(updates: tuple[Vector, ...]) -> Vector:
    """Full participation.

    >>> everybody(((Fraction(2),), (Fraction(3),)))
    (Fraction(1, 1), Fraction(1, 1))
    """
    return (Fraction(1),) * len(updates)


def uniform_law(probability: Fraction) -> SamplingLaw:
    """Sample every client with the same probability.

    >>> uniform_law(Fraction(1, 3))(((Fraction(2),), (Fraction(5),)))
    (Fraction(1, 3), Fraction(1, 3))
    """
    return lambda updates: (probability,) * len(updates)


def optimal_law(budget: Fraction) -> SamplingLaw:
    """Optimal probabilities for the largest entries of the updates, which are their norms on the line.

    >>> optimal_law(Fraction(2))(((Fraction(1),), (Fraction(1),), (Fraction(4),)))
    (Fraction(1, 2), Fraction(1, 2), Fraction(1, 1))
    """
    return lambda updates: tuple(rational_probabilities([max(map(abs, u)) for u in updates], budget))


def inverse_estimate(updates: tuple[Vector, ...], probabilities: Vector, chosen: tuple[int, ...]) -> Vector:
    """``sum_{i in S} u_i / p_i`` for weighted updates u_i.

    >>> inverse_estimate(((Fraction(2),), (Fraction(3),)), (Fraction(1, 2), Fraction(1, 4)), (1,))
    (Fraction(12, 1),)
    """
    zero = scaled(Fraction(0), updates[0])
    return combination([Fraction(0), *(1 / probabilities[i] for i in chosen)], [zero, *(updates[i] for i in chosen)])


class LocalUpdate(NamedTuple):
    """One way in which a client's local work can go.

    Attributes
    ----------
    model
        Where it ends.
    update
        ``Delta_i``, the mean of the stochastic gradients that were followed.
    mean_gradient
        ``h_i``, the mean of the exact gradients at the same local iterates.
    drift
        Mean squared distance of these iterates from the server's model.
    """

    model: Vector
    update: Vector
    mean_gradient: Vector
    drift: Fraction


class Updates(NamedTuple):
    """One way in which all clients' local work can go: their weighted updates and the inclusion probabilities."""

    weighted: tuple[Vector, ...]
    probabilities: Vector

    @property
    def squares(self) -> list[Fraction]:
        """``w_i^2 |Delta_i|^2``."""
        return [norm2(u) for u in self.weighted]

    @property
    def sampling_variance(self) -> Fraction:
        """``sum_i (1/p_i - 1) w_i^2 |Delta_i|^2``."""
        pairs = zip(self.squares, self.probabilities, strict=True)
        return sum((square * (1 / p - 1) for square, p in pairs if square), start=Fraction(0))


@final
@dataclass(frozen=True)
class SampledRound:
    """A round ``x+ = x - eta sum_{i in S} (w_i / p_i) Delta_i``, ``eta = R eta_l eta_g``; R = 1 is DSGD.

    The noise of a gradient g is ``s |M|^(1/2) g + s' sigma e_1`` with two independent signs s, s', so that Assumptions
    7 and 8 hold with equality.

    Attributes
    ----------
    gradient
        Gradient of a client's objective at a model.
    weights
        The w_i.
    model
        The server's model x.
    law
        The inclusion probabilities, which may depend on the noisy updates; positive wherever the update is not zero.
    step_size
        eta.
    local_steps, server_step_size
        R and eta_g.
    noise_factor, noise_length
        Square roots of M and of sigma2.
    """

    gradient: Callable[[int, Vector], Vector]
    weights: Vector
    model: Vector
    law: SamplingLaw
    step_size: Fraction
    local_steps: int = 1
    server_step_size: Fraction = Fraction(1)
    noise_factor: Fraction = Fraction(0)
    noise_length: Fraction = Fraction(0)

    @property
    def num_clients(self) -> int:
        """Number of clients n."""
        return len(self.weights)

    @property
    def local_step_size(self) -> Fraction:
        """eta_l."""
        return self.step_size / (self.local_steps * self.server_step_size)

    def paths(self, client: int) -> Law[LocalUpdate]:
        """Law of a client's local work."""
        zero = scaled(Fraction(0), self.model)
        law = Law.certain(LocalUpdate(self.model, zero, zero, Fraction(0)))
        for _ in range(self.local_steps):
            law = law.then(partial(self._stepped, client))
        return law

    def _stepped(self, client: int, path: LocalUpdate) -> Law[LocalUpdate]:
        exact, share = self.gradient(client, path.model), Fraction(1, self.local_steps)
        mean_gradient = added(path.mean_gradient, scaled(share, exact))
        drift = path.drift + share * norm2(difference(path.model, self.model))

        def following(noisy: Vector) -> LocalUpdate:
            model = difference(path.model, scaled(self.local_step_size, noisy))
            return LocalUpdate(model, added(path.update, scaled(share, noisy)), mean_gradient, drift)

        return self._noisy(exact).map(following)

    def _noisy(self, gradient: Vector) -> Law[Vector]:
        factors = Law.uniform([-self.noise_factor, self.noise_factor])
        lengths = Law.uniform([-self.noise_length, self.noise_length])
        return Law.product(factors, lengths).map(
            lambda signed: (
                (1 + signed[0]) * gradient[0] + signed[1],
                *((1 + signed[0]) * entry for entry in gradient[1:]),
            )
        )

    @cached_property
    def clients(self) -> tuple[Law[LocalUpdate], ...]:
        """The local work of every client; clients are independent of each other."""
        return tuple(map(self.paths, range(self.num_clients)))

    @cached_property
    def updates(self) -> Law[Updates]:
        """Law of the weighted updates with their inclusion probabilities."""
        return Law.product(*self.clients).map(self._weighted)

    def _weighted(self, joint: tuple[LocalUpdate, ...]) -> Updates:
        weighted = tuple(scaled(w, path.update) for w, path in zip(self.weights, joint, strict=True))
        return Updates(weighted, tuple(self.law(weighted)))

    @cached_property
    def estimates(self) -> Law[Vector]:
        """Law of the estimator G, over all noise paths and all sets of clients."""
        return self.updates.then(lambda at: independent(at.probabilities).map(partial(inverse_estimate, *at)))

    @cached_property
    def models(self) -> Law[Vector]:
        """Law of the next model."""
        return self.estimates.map(lambda estimate: difference(self.model, scaled(self.step_size, estimate)))

    @cached_property
    def second_moment(self) -> Fraction:
        """``E |G|^2``."""
        return Fraction(self.estimates.mean(norm2))

    @cached_property
    def squared_weight_update2(self) -> Fraction:
        """``sum_i w_i^2 E |Delta_i|^2``."""
        return Fraction(self.updates.mean(lambda at: sum(at.squares)))

    @cached_property
    def mean_update2(self) -> Fraction:
        """``E |sum_i w_i Delta_i|^2``."""
        ones = [Fraction(1)] * self.num_clients
        return Fraction(self.updates.mean(lambda at: norm2(combination(ones, at.weighted))))

    @cached_property
    def gamma(self) -> Fraction:
        """Relative improvement factor: variance by sampling is ``(1/gamma - 1) sum_i w_i^2 E |Delta_i|^2``."""
        if not self.squared_weight_update2:
            return Fraction(1)
        return 1 / (1 + Fraction(self.updates.mean(lambda at: at.sampling_variance)) / self.squared_weight_update2)

    @property
    def drift(self) -> Fraction:
        """``(1/R) sum_i sum_{s<R} w_i E |y_{i,s} - x|^2``."""
        return inner(self.weights, [paths.mean(lambda path: path.drift) for paths in self.clients])

    @property
    def constants(self) -> dict[str, Any]:
        """What the bounds call the constants of the weights and of the noise."""
        return {
            "max_weight": max(self.weights),
            "sum_squared_weights": norm2(self.weights),
            "relative_noise": self.noise_factor**2,
            "sigma2": self.noise_length**2,
        }

    def gradients(self) -> tuple[Vector, ...]:
        """Gradients of all clients at the server's model."""
        return tuple(self.gradient(client, self.model) for client in range(self.num_clients))
