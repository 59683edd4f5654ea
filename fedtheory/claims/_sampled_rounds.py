"""One round of DSGD or FedAvg with independent sampling, followed along every noise path and every set of clients."""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, final

from fedtheory.sampling.selections import independent
from fedtheory.verification.rational import Vector, combination, difference, norm2

__all__ = ["LocalPath", "PhiClients", "SampledRound", "SamplingLaw", "uniform_law"]

SamplingLaw = Callable[[tuple[Vector, ...]], Vector]
"""Inclusion probabilities from the weighted updates ``w_i Delta_i`` of a round."""


def uniform_law(probability: Fraction) -> SamplingLaw:
    """Sample every client with the same probability."""
    return lambda updates: (probability,) * len(updates)


class LocalPath(NamedTuple):
    """One way in which a client's local work can go.

    Attributes
    ----------
    probability
        Its probability.
    update
        ``Delta_i``, the mean of the stochastic gradients that were followed.
    mean_gradient
        ``h_i``, the mean of the exact gradients at the same local iterates.
    drift
        Mean squared distance of these iterates from the server's model.
    """

    probability: Fraction
    update: Vector
    mean_gradient: Vector
    drift: Fraction


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

    def _noisy(self, gradient: Vector) -> Iterator[tuple[Fraction, Vector]]:
        factors = [-self.noise_factor, self.noise_factor] if self.noise_factor else [Fraction(0)]
        lengths = [-self.noise_length, self.noise_length] if self.noise_length else [Fraction(0)]
        for factor, length in itertools.product(factors, lengths):
            noisy = ((1 + factor) * gradient[0] + length, *((1 + factor) * entry for entry in gradient[1:]))
            yield Fraction(1, len(factors) * len(lengths)), noisy

    def paths(self, client: int) -> tuple[LocalPath, ...]:
        """All ways in which a client's local work can go."""
        return tuple(self._walk(client, self.local_steps, Fraction(1), self.model))

    def _walk(self, client: int, left: int, probability: Fraction, at: Vector) -> Iterator[LocalPath]:
        exact = self.gradient(client, at)
        moved = norm2(difference(at, self.model))
        share = Fraction(1, self.local_steps)
        for chance, noisy in self._noisy(exact):
            here = LocalPath(probability * chance, _scaled(share, noisy), _scaled(share, exact), share * moved)
            if left == 1:
                yield here
                continue
            following = tuple(x - self.local_step_size * g for x, g in zip(at, noisy, strict=True))
            for rest in self._walk(client, left - 1, here.probability, following):
                yield LocalPath(
                    rest.probability,
                    _added(here.update, rest.update),
                    _added(here.mean_gradient, rest.mean_gradient),
                    here.drift + rest.drift,
                )

    @cached_property
    def clients(self) -> tuple[tuple[LocalPath, ...], ...]:
        """The paths of every client; clients are independent of each other."""
        return tuple(self.paths(client) for client in range(self.num_clients))

    @cached_property
    def outcomes(self) -> tuple[tuple[Fraction, tuple[Vector, ...], Vector], ...]:
        """Triples (probability, weighted updates, their inclusion probabilities) over all noise paths."""
        found = []
        for joint in itertools.product(*self.clients):
            probability = math.prod((path.probability for path in joint), start=Fraction(1))
            updates = tuple(_scaled(w, path.update) for w, path in zip(self.weights, joint, strict=True))
            found.append((probability, updates, tuple(self.law(updates))))
        return tuple(found)

    def steps(self) -> Iterator[tuple[Fraction, Vector]]:
        """Pairs (probability, G) over all noise paths and all sets of clients."""
        zero = tuple(Fraction(0) for _ in self.model)
        for probability, updates, p in self.outcomes:
            for chosen, chance in independent(p).items():
                scales = [1 / p[i] for i in chosen]
                yield probability * chance, combination([Fraction(0), *scales], [zero, *(updates[i] for i in chosen)])

    def models(self) -> dict[Vector, Fraction]:
        """Law of the next model."""
        law: dict[Vector, Fraction] = {}
        for probability, step in self.steps():
            model = tuple(x - self.step_size * g for x, g in zip(self.model, step, strict=True))
            law[model] = law.get(model, Fraction(0)) + probability
        return law

    def expected(self, value: Callable[[Vector], Any]) -> Any:
        """Average a function of the next model over its law."""
        return sum(probability * value(model) for model, probability in self.models().items())

    @cached_property
    def second_moment(self) -> Fraction:
        """``E |G|^2``."""
        return sum((probability * norm2(step) for probability, step in self.steps()), start=Fraction(0))

    @cached_property
    def squared_weight_update2(self) -> Fraction:
        """``sum_i w_i^2 E |Delta_i|^2``."""
        return sum((chance * sum(map(norm2, updates)) for chance, updates, _ in self.outcomes), start=Fraction(0))

    @cached_property
    def mean_update2(self) -> Fraction:
        """``E |sum_i w_i Delta_i|^2``."""
        ones = [Fraction(1)] * self.num_clients
        return sum((chance * norm2(combination(ones, us)) for chance, us, _ in self.outcomes), start=Fraction(0))

    @cached_property
    def gamma(self) -> Fraction:
        """Relative improvement factor: variance by sampling is ``(1/gamma - 1) sum_i w_i^2 E |Delta_i|^2``."""
        if not self.squared_weight_update2:
            return Fraction(1)
        by_sampling = sum(
            (
                chance * sum((norm2(u) * (1 / q - 1) for u, q in zip(updates, p, strict=True) if any(u)), Fraction(0))
                for chance, updates, p in self.outcomes
            ),
            start=Fraction(0),
        )
        return 1 / (1 + by_sampling / self.squared_weight_update2)

    @property
    def drift(self) -> Fraction:
        """``(1/R) sum_i sum_{s<R} w_i E |y_{i,s} - x|^2``."""
        each = (sum(path.probability * path.drift for path in paths) for paths in self.clients)
        return sum((w * moved for w, moved in zip(self.weights, each, strict=True)), start=Fraction(0))

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


def _scaled(factor: Fraction, x: Vector) -> Vector:
    return tuple(factor * entry for entry in x)


def _added(x: Vector, y: Vector) -> Vector:
    return tuple(a + b for a, b in zip(x, y, strict=True))


@final
@dataclass(frozen=True)
class PhiClients:
    r"""Non-convex clients ``f_i(x) = a_i phi(x - c_i) + b_i x`` on the line, ``phi(t) = t^2 / (1 + t^2)``.

    Rational at rational points; ``phi''`` is between -1/2 and 2, so every f_i is L-smooth with ``L = 2 max a_i``.
    """

    amplitudes: Vector
    centers: Vector
    slopes: Vector
    weights: Vector

    def gradient(self, client: int, w: Vector) -> Vector:
        """Gradient of one client's objective."""
        t = w[0] - self.centers[client]
        return (self.amplitudes[client] * 2 * t / (1 + t * t) ** 2 + self.slopes[client],)

    def value(self, w: Vector) -> Fraction:
        """Objective ``sum_i w_i f_i``."""
        offsets = [w[0] - c for c in self.centers]
        losses = [
            a * t * t / (1 + t * t) + b * w[0] for a, t, b in zip(self.amplitudes, offsets, self.slopes, strict=True)
        ]
        return sum((p * loss for p, loss in zip(self.weights, losses, strict=True)), start=Fraction(0))

    @property
    def smoothness(self) -> Fraction:
        """L."""
        return 2 * max(self.amplitudes)

    @property
    def dissimilarity(self) -> Fraction:
        """Bound on ``sum_i w_i |grad f_i - grad f|^2``.

        With equal a_i and equal c_i it is the exact value at every w; otherwise, with slopes 0, it is from
        ``|phi'|^2 <= 27/64``.
        """
        if len(set(self.amplitudes)) == len(set(self.centers)) == 1:
            return sum((w * b * b for w, b in zip(self.weights, self.slopes, strict=True)), start=Fraction(0))
        return Fraction(27, 64) * sum(
            (w * a * a for w, a in zip(self.weights, self.amplitudes, strict=True)), Fraction(0)
        )
