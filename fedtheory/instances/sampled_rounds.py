"""One round of DSGD or FedAvg with independent sampling, enumerated over all random outcomes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, final

from fedtheory.instances.draws import draw_federation, draw_model, draw_shares
from fedtheory.instances.federations import RationalQuadratics, Wells
from fedtheory.instances.formatting import format_federation
from fedtheory.instances.vectors import Vector, combination, inner, norm2, total, vector
from fedtheory.sampling.cohorts import independent
from fedtheory.sampling.reference import rational_probabilities
from fedtheory.statistics.law import Law
from fedtheory.theorem.draws import pick, whole

__all__: list[str] = []

if TYPE_CHECKING:
    import numpy as np

SamplingLaw = Callable[[tuple[Vector, ...]], Vector]
"""Function of the weighted updates ``w_i Delta_i`` of a round that returns inclusion probabilities."""


def full_law(updates: tuple[Vector, ...]) -> Vector:
    """Return the probabilities of full participation."""
    return vector(*[1] * len(updates))


def uniform_law(probability: Fraction) -> SamplingLaw:
    """Return a law that samples every client with the same probability."""
    return lambda updates: Vector([probability] * len(updates))


def optimal_law(budget: Fraction) -> SamplingLaw:
    """Return a law with optimal probabilities for the largest entries of the updates, their norms in one dimension."""
    return lambda updates: Vector(rational_probabilities([max(map(abs, u)) for u in updates], budget))


def inverse_estimate(updates: tuple[Vector, ...], probabilities: Vector, chosen: tuple[int, ...]) -> Vector:
    """``sum_{i in S} u_i / p_i`` for weighted updates u_i."""
    if not chosen:
        return 0 * updates[0]
    return combination([1 / probabilities[i] for i in chosen], [updates[i] for i in chosen])


class LocalUpdate(NamedTuple):
    """A path of a client's local updates.

    ``update`` is the mean of the stochastic gradients of its steps, ``mean_gradient`` that of the exact gradients at
    the same iterates, and ``drift`` the mean squared distance of these from the server's model.
    """

    model: Vector
    update: Vector
    mean_gradient: Vector
    drift: Fraction


class Updates(NamedTuple):
    """A joint path of all clients' local updates: weighted updates and inclusion probabilities."""

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

    ``gradient`` is a function of a client and a model. The inclusion probabilities of ``law`` may depend on the noisy
    updates. ``noise_factor`` and ``noise_length`` are the square roots of M and of sigma2.
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
        """Law of a client's local updates."""
        zero = 0 * self.model
        law = Law.certain(LocalUpdate(self.model, zero, zero, Fraction(0)))
        for _ in range(self.local_steps):
            law = law.then(partial(self._stepped, client))
        return law

    def _stepped(self, client: int, path: LocalUpdate) -> Law[LocalUpdate]:
        exact, share = self.gradient(client, path.model), Fraction(1, self.local_steps)
        mean_gradient = path.mean_gradient + share * exact
        drift = path.drift + share * norm2(path.model - self.model)

        def following(noisy: Vector) -> LocalUpdate:
            model = path.model - self.local_step_size * noisy
            return LocalUpdate(model, path.update + share * noisy, mean_gradient, drift)

        return self._noisy(exact).map(following)

    def _noisy(self, gradient: Vector) -> Law[Vector]:
        first = vector(1, *[0] * (len(gradient) - 1))
        factors = Law.uniform([-self.noise_factor, self.noise_factor])
        lengths = Law.uniform([-self.noise_length, self.noise_length])
        return Law.product(factors, lengths).map(lambda signed: (1 + signed[0]) * gradient + signed[1] * first)

    @cached_property
    def clients(self) -> tuple[Law[LocalUpdate], ...]:
        """The local updates of every client; clients are independent of each other."""
        return tuple(map(self.paths, range(self.num_clients)))

    @cached_property
    def updates(self) -> Law[Updates]:
        """Law of the weighted updates with their inclusion probabilities."""
        return Law.product(*self.clients).map(self._weighted)

    def _weighted(self, joint: tuple[LocalUpdate, ...]) -> Updates:
        weighted = tuple(w * path.update for w, path in zip(self.weights, joint, strict=True))
        return Updates(weighted, Vector(self.law(weighted)))

    @cached_property
    def estimates(self) -> Law[Vector]:
        """Law of the estimator G, over all noise paths and all sets of clients."""
        return self.updates.then(lambda at: independent(at.probabilities).map(partial(inverse_estimate, *at)))

    @cached_property
    def models(self) -> Law[Vector]:
        """Law of the next model."""
        return self.estimates.map(lambda estimate: self.model - self.step_size * estimate)

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
        return Fraction(self.updates.mean(lambda at: norm2(total(at.weighted))))

    @cached_property
    def gamma(self) -> Fraction:
        """Relative improvement factor: variance by sampling is ``(1/gamma - 1) sum_i w_i^2 E |Delta_i|^2``."""
        if not self.squared_weight_update2:
            return Fraction(1)
        return 1 / (1 + Fraction(self.updates.mean(lambda at: at.sampling_variance)) / self.squared_weight_update2)

    @cached_property
    def drift(self) -> Fraction:
        """``1/R sum_i sum_{s<R} w_i E |y_{i,s} - x|^2``."""
        return inner(self.weights, [paths.mean(lambda path: path.drift) for paths in self.clients])

    @property
    def constants(self) -> dict[str, Any]:
        """The constants of the weights and the noise under the argument names of the bounds."""
        return {
            "max_weight": max(self.weights),
            "sum_squared_weights": norm2(self.weights),
            "relative_noise": self.noise_factor**2,
            "sigma2": self.noise_length**2,
        }

    def gradients(self) -> tuple[Vector, ...]:
        """Gradients of all clients at the server's model."""
        return tuple(self.gradient(client, self.model) for client in range(self.num_clients))

    @property
    def full_gradient(self) -> Vector:
        """Gradient of the objective at the server's model."""
        return combination(self.weights, self.gradients())


def draw_quadratic_round(
    rng: np.random.Generator, *, longest_round: int = 1
) -> tuple[SampledRound, RationalQuadratics, dict[str, Any]]:
    """Draw a round on quadratics and format it: DSGD with steps up to 10/L, or FedAvg with allowed steps."""
    fed, local_steps = draw_federation(rng), whole(rng, 1, longest_round)
    law = _draw_sampling(rng, fed.num_clients, fed.dim)
    model = fed.minimizer if whole(rng, 0, 4) == 0 else draw_model(rng, fed.dim)
    drawn = _draw_round(rng, fed, model, law, local_steps, longest_round, longest_step=10)
    return drawn, fed, {**format_federation(fed), **_format_round(drawn, law.text)}


def draw_wells_round(rng: np.random.Generator, *, longest_round: int = 1) -> tuple[SampledRound, Wells, dict[str, Any]]:
    """Draw a round on non-convex clients and format it: DSGD with steps up to 4/L, or FedAvg with allowed steps."""
    clients = draw_wells(rng, whole(rng, 2, 3))
    local_steps = whole(rng, 1, longest_round)
    law = _draw_sampling(rng, len(clients.weights))
    model = vector(Fraction(whole(rng, -8, 8), 4))
    drawn = _draw_round(rng, clients, model, law, local_steps, longest_round, longest_step=4)
    numbers = {name: str(getattr(clients, name)) for name in ("amplitudes", "centers", "slopes", "weights")}
    return drawn, clients, {**numbers, **_format_round(drawn, law.text)}


def draw_wells(rng: np.random.Generator, num_clients: int) -> Wells:
    """Draw non-convex clients that differ by a slope (equal Hessians), or by amplitudes and centers."""
    weights, zeros = draw_shares(rng, num_clients), vector(*[0] * num_clients)
    if whole(rng, 0, 1):
        amplitude = Fraction(whole(rng, 1, 4), 2)
        slopes = [Fraction(whole(rng, -6, 6), 4) for _ in weights]
        mean = inner(weights, slopes)
        return Wells(Vector([amplitude] * num_clients), zeros, Vector(b - mean for b in slopes), weights)
    amplitudes = Vector(Fraction(whole(rng, 1, 4), 2) for _ in weights)
    return Wells(amplitudes, Vector(Fraction(whole(rng, -6, 6), 2) for _ in weights), zeros, weights)


class _Sampling(NamedTuple):
    law: SamplingLaw
    smallest_gamma: Fraction
    text: str


def _draw_sampling(rng: np.random.Generator, num_clients: int, dim: int = 1) -> _Sampling:
    budget = Fraction(whole(rng, 1, 2 * num_clients), 2)
    if whole(rng, 0, 2):
        # In one dimension it is no worse than uniform sampling. In the plane a norm is at most sqrt(2) times the
        # largest entry, so that the variance is at most twice that of uniform sampling: 1/gamma - 1 <= 2 (n - m)/m.
        gamma = budget / (dim * (num_clients - budget) + budget)
        return _Sampling(optimal_law(budget), gamma, f"optimal, {budget} expected")
    return _Sampling(uniform_law(budget / num_clients), budget / num_clients, f"uniform, {budget} expected")


_MOST_NOISE_PATHS = 300


def _draw_noise(rng: np.random.Generator, num_clients: int, local_steps: int) -> tuple[Fraction, Fraction]:
    """Draw noise_factor and noise_length; at most one of them if both would give too many paths."""
    factor, length = Fraction(whole(rng, 0, 4), 2), Fraction(whole(rng, 0, 3), 2)
    if num_clients * local_steps > 4 and factor and length:
        factor, length = (factor, Fraction(0)) if whole(rng, 0, 1) else (Fraction(0), length)
    branches = (2 if factor else 1) * (2 if length else 1)
    few = branches ** (num_clients * local_steps) <= _MOST_NOISE_PATHS
    return (factor, length) if few else (Fraction(0), Fraction(0))


def _draw_round(
    rng: np.random.Generator,
    clients: RationalQuadratics | Wells,
    model: Vector,
    sampling: _Sampling,
    local_steps: int,
    longest_round: int,
    longest_step: int,
) -> SampledRound:
    """Draw the noise and the step size of a round: any for DSGD, those of Theorems 17 and 18 for FedAvg."""
    L, weights = clients.smoothness, clients.weights
    factor, length = _draw_noise(rng, len(weights), local_steps)
    if longest_round == 1:
        eta = pick(rng, [Fraction(1, 20), Fraction(1, 4), Fraction(1), Fraction(longest_step)]) / L
    else:
        M, R = factor**2, local_steps
        longest = min(1 / (8 * L * (2 + M / R)), sampling.smallest_gamma / (8 * L * (1 + max(weights) * M / R)))
        eta = longest * Fraction(whole(rng, 1, 4), 4)
    return SampledRound(clients.gradient, weights, model, sampling.law, eta, local_steps, Fraction(2), factor, length)


def _format_round(drawn: SampledRound, law: str) -> dict[str, Any]:
    return {
        "model": str(drawn.model),
        "law": law,
        "step_size": str(drawn.step_size),
        "local_steps": drawn.local_steps,
        "server_step_size": str(drawn.server_step_size),
        "relative_noise": str(drawn.noise_factor**2),
        "sigma2": str(drawn.noise_length**2),
    }
