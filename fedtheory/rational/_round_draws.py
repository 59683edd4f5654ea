"""Random rounds with independent sampling, small enough to be followed exactly."""

from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.rational._sampled_rounds import SampledRound, SamplingLaw, optimal_law, uniform_law
from fedtheory.rational._wells import PhiClients
from fedtheory.rational._words import federation_in_words, in_words, round_in_words
from fedtheory.rational.draws import draw_federation, draw_model, draw_phi, pick, whole
from fedtheory.rational.quadratics import RationalQuadratics

__all__: list[str] = []

# A round with more noise paths takes long to follow.
_MOST_PATHS = 300


class QuadraticRound(NamedTuple):
    """A round on quadratics, with the numbers that define it, in words."""

    round: SampledRound
    federation: RationalQuadratics
    instance: dict[str, Any]


class PhiRound(NamedTuple):
    """A round on non-convex clients, with the numbers that define it, in words."""

    round: SampledRound
    clients: PhiClients
    instance: dict[str, Any]


class _Law(NamedTuple):
    law: SamplingLaw
    smallest_gamma: Fraction
    words: str


def _draw_law(rng: np.random.Generator, num_clients: int, dim: int = 1) -> _Law:
    budget = Fraction(whole(rng, 1, 2 * num_clients), 2)
    if whole(rng, 0, 2):
        # On the line no worse than uniform sampling. In the plane a norm is up to sqrt(2) times the largest entry, so
        # that the variance is at most twice that of uniform sampling: 1/gamma - 1 <= 2 (n - m)/m.
        return _Law(
            optimal_law(budget), budget / (dim * (num_clients - budget) + budget), f"optimal, {budget} expected"
        )
    return _Law(uniform_law(budget / num_clients), budget / num_clients, f"uniform, {budget} expected")


def _draw_noise(rng: np.random.Generator, num_clients: int, local_steps: int) -> tuple[Fraction, Fraction]:
    factor, length = Fraction(whole(rng, 0, 4), 2), Fraction(whole(rng, 0, 3), 2)
    if num_clients * local_steps > 4 and factor and length:
        factor, length = (factor, Fraction(0)) if whole(rng, 0, 1) else (Fraction(0), length)
    branches = (2 if factor else 1) * (2 if length else 1)
    return (factor, length) if branches ** (num_clients * local_steps) <= _MOST_PATHS else (Fraction(0), Fraction(0))


def _longest_step(
    local_steps: int, L: Fraction, smallest_gamma: Fraction, max_weight: Fraction, M: Fraction
) -> Fraction:
    """Longest effective step that Theorems 17 and 18 allow."""
    R = local_steps
    return min(1 / (8 * L * (2 + M / R)), smallest_gamma / (8 * L * (1 + max_weight * M / R)))


def draw_quadratic_round(rng: np.random.Generator, *, longest_round: int = 1, flat: bool = False) -> QuadraticRound:
    """Draw a round on two or three quadratics; DSGD with steps up to 10/L, or FedAvg with steps that are allowed.

    With ``flat`` the first client has no curvature along the first coordinate.

    >>> drawn = draw_quadratic_round(np.random.default_rng(0), flat=True)
    >>> drawn.federation.curvatures[0][0], drawn.round.local_steps
    (Fraction(0, 1), 1)
    """
    fed = draw_federation(rng)
    if flat:
        fed = replace(fed, curvatures=((Fraction(0), *fed.curvatures[0][1:]), *fed.curvatures[1:]))
    local_steps = whole(rng, 1, longest_round)
    law = _draw_law(rng, fed.num_clients, fed.dim)
    model = fed.minimizer if whole(rng, 0, 4) == 0 else draw_model(rng, fed.dim)
    factor, length = _draw_noise(rng, fed.num_clients, local_steps)
    if longest_round == 1:
        step_size = pick(rng, [Fraction(1, 20), Fraction(1, 4), Fraction(1), Fraction(10)]) / fed.smoothness
    else:
        longest = _longest_step(local_steps, fed.smoothness, law.smallest_gamma, max(fed.weights), factor**2)
        step_size = longest * Fraction(whole(rng, 1, 4), 4)
    drawn = SampledRound(fed.gradient, fed.weights, model, law.law, step_size, local_steps, Fraction(2), factor, length)
    return QuadraticRound(drawn, fed, federation_in_words(fed) | round_in_words(drawn, law.words))


def draw_phi_round(rng: np.random.Generator, *, longest_round: int = 1) -> PhiRound:
    """Draw a round on two or three non-convex clients, as ``draw_quadratic_round``.

    >>> drawn = draw_phi_round(np.random.default_rng(0), longest_round=2)
    >>> drawn.round.local_steps <= 2, drawn.clients.smoothness > 0
    (True, True)
    """
    num_clients = whole(rng, 2, 3)
    clients = draw_phi(rng, num_clients)
    local_steps = whole(rng, 1, longest_round)
    law = _draw_law(rng, num_clients)
    model = (Fraction(whole(rng, -8, 8), 4),)
    factor, length = _draw_noise(rng, num_clients, local_steps)
    if longest_round == 1:
        step_size = pick(rng, [Fraction(1, 20), Fraction(1, 4), Fraction(1), Fraction(4)]) / clients.smoothness
    else:
        longest = _longest_step(local_steps, clients.smoothness, law.smallest_gamma, max(clients.weights), factor**2)
        step_size = longest * Fraction(whole(rng, 1, 4), 4)
    drawn = SampledRound(
        clients.gradient, clients.weights, model, law.law, step_size, local_steps, Fraction(2), factor, length
    )
    words = {
        "amplitudes": in_words(clients.amplitudes),
        "centers": in_words(clients.centers),
        "slopes": in_words(clients.slopes),
        "weights": in_words(clients.weights),
    }
    return PhiRound(drawn, clients, words | round_in_words(drawn, law.words))
