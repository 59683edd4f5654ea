"""Random runs of federated averaging and of FedALIGN, and rounds of independent sampling, followed exactly."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.rational._alignment import AlignedRun
from fedtheory.rational._averaging import RationalRun, constant_law, mean_weights
from fedtheory.rational._constants import constants_of
from fedtheory.rational._noises import no_noise
from fedtheory.rational._sampled_rounds import SampledRound, SamplingLaw, optimal_law, uniform_law
from fedtheory.rational._step_sizes import StepSizes, decaying, delayed
from fedtheory.rational._wells import PhiClients
from fedtheory.rational._words import federation_in_words, in_words, round_in_words, run_in_words
from fedtheory.rational.draws import draw_federation, draw_model, draw_noise, draw_phi, pick, whole
from fedtheory.rational.quadratics import RationalQuadratics, prioritized
from fedtheory.rational.vectors import Vector
from fedtheory.sampling.cohorts import (
    Selection,
    power_of_choice,
    successive,
    uniform_subsets,
    with_replacement,
)
from fedtheory.statistics.law import Law

__all__: list[str] = []

# Longer runs, and runs with more paths, take seconds to follow.
_MOST_PATHS, _MOST_STEPS = 250, 24
_MOST_NOISE_PATHS = 300
"""Paths of the noises in a round of independent sampling."""


class Drawn(NamedTuple):
    """A run with the number of clients per round and the numbers that define it, in words."""

    run: RationalRun
    num_selected: int
    instance: dict[str, Any]

    @property
    def constants(self) -> dict[str, Any]:
        """What the bounds call the constants of the federation and of the noise."""
        return constants_of(self.run)


Select = Callable[[Vector], Law[Selection]]


def _proportional(fed: RationalQuadratics, num_selected: int, _: int) -> Select:
    return constant_law(with_replacement(fed.weights, num_selected))


def _uniform(fed: RationalQuadratics, num_selected: int, _: int) -> Select:
    return constant_law(uniform_subsets(fed.num_clients, num_selected))


def _successive(fed: RationalQuadratics, num_selected: int, _: int) -> Select:
    return constant_law(successive(fed.weights, num_selected))


def _power_of_choice(fed: RationalQuadratics, num_selected: int, num_candidates: int) -> Select:
    return lambda w: power_of_choice(fed.weights, fed.losses(w), num_selected, num_candidates)


def _full(fed: RationalQuadratics, *_: int) -> Select:
    return constant_law(uniform_subsets(fed.num_clients, fed.num_clients))


_LAWS: dict[str, Callable[[RationalQuadratics, int, int], Select]] = {
    "proportional": _proportional,
    "uniform": _uniform,
    "successive": _successive,
    "power of choice": _power_of_choice,
    "full, weights p_k": _full,
}
MEAN_LAWS = ("power of choice", "proportional", "uniform", "successive")
WEIGHTED_LAWS = (*MEAN_LAWS, "full, weights p_k")


def draw_run(
    rng: np.random.Generator,
    *,
    laws: tuple[str, ...] = MEAN_LAWS,
    step_size: StepSizes = decaying,
    longest_round: int = 3,
    smallest_cohort: int = 1,
) -> Drawn:
    """Draw a federation and a run on it that is short enough to follow along every path.

    The step sizes decay as in Theorem 3.1 unless ``step_size`` makes others from the federation.

    >>> drawn = draw_run(np.random.default_rng(0), longest_round=2)
    >>> drawn.run.local_steps <= 2, drawn.constants["mu"] <= drawn.constants["L"]
    (True, True)
    """
    fed = draw_federation(rng)
    name = pick(rng, list(laws))
    weighted = name == "full, weights p_k"
    num_selected = fed.num_clients if weighted else whole(rng, smallest_cohort, 2)
    num_candidates = whole(rng, num_selected, fed.num_clients)
    local_steps = whole(rng, 1, longest_round)
    select = _LAWS[name](fed, num_selected, num_candidates)
    # From the minimizer nothing contracts: only noise, drift and bias are left to bound.
    initial = fed.minimizer if whole(rng, 0, 3) == 0 else draw_model(rng, fed.dim)
    noise = draw_noise(rng, fed.dim) if num_selected * local_steps <= 4 else no_noise(fed.dim)
    per_round = len(select(initial)) * len(noise) ** (num_selected * local_steps)
    longest = max(1, _MOST_STEPS // local_steps)
    num_rounds = 1 + sum(per_round**rounds <= _MOST_PATHS and rounds <= longest for rounds in (2, 3))
    run = RationalRun(
        federation=fed,
        select=select,
        local_steps=local_steps,
        step_size=step_size(fed, num_selected),
        initial=initial,
        num_steps=num_rounds * local_steps - whole(rng, 0, local_steps - 1),
        noise=noise,
        weigh=(lambda chosen: tuple(fed.weights[k] for k in chosen)) if weighted else mean_weights,
    )
    law = f"{name}, {num_candidates} candidates" if name == "power of choice" else name
    return Drawn(run, num_selected, run_in_words(run, law=law, num_selected=num_selected))


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


class _Sampling(NamedTuple):
    law: SamplingLaw
    smallest_gamma: Fraction
    words: str


def _draw_sampling(rng: np.random.Generator, num_clients: int, dim: int = 1) -> _Sampling:
    budget = Fraction(whole(rng, 1, 2 * num_clients), 2)
    if whole(rng, 0, 2):
        # On the line no worse than uniform sampling. In the plane a norm is up to sqrt(2) times the largest entry, so
        # that the variance is at most twice that of uniform sampling: 1/gamma - 1 <= 2 (n - m)/m.
        return _Sampling(
            optimal_law(budget), budget / (dim * (num_clients - budget) + budget), f"optimal, {budget} expected"
        )
    return _Sampling(uniform_law(budget / num_clients), budget / num_clients, f"uniform, {budget} expected")


def _draw_disturbance(rng: np.random.Generator, num_clients: int, local_steps: int) -> tuple[Fraction, Fraction]:
    factor, length = Fraction(whole(rng, 0, 4), 2), Fraction(whole(rng, 0, 3), 2)
    if num_clients * local_steps > 4 and factor and length:
        factor, length = (factor, Fraction(0)) if whole(rng, 0, 1) else (Fraction(0), length)
    branches = (2 if factor else 1) * (2 if length else 1)
    return (
        (factor, length) if branches ** (num_clients * local_steps) <= _MOST_NOISE_PATHS else (Fraction(0), Fraction(0))
    )


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
    fed = draw_federation(rng, flat=flat)
    local_steps = whole(rng, 1, longest_round)
    law = _draw_sampling(rng, fed.num_clients, fed.dim)
    model = fed.minimizer if whole(rng, 0, 4) == 0 else draw_model(rng, fed.dim)
    factor, length = _draw_disturbance(rng, fed.num_clients, local_steps)
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
    law = _draw_sampling(rng, num_clients)
    model = (Fraction(whole(rng, -8, 8), 4),)
    factor, length = _draw_disturbance(rng, num_clients, local_steps)
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


class DrawnAlignment(NamedTuple):
    """A run with the numbers that define it, in words."""

    run: AlignedRun
    instance: dict[str, Any]

    @property
    def constants(self) -> dict[str, Any]:
        """What the bounds call the constants of the federation and of the noise."""
        return constants_of(self.run)


def draw_alignment(
    rng: np.random.Generator,
    *,
    step_size: StepSizes | None = None,
    shortest_round: int = 1,
    longest_round: int = 4,
    most_draws: int = 0,
    thresholds: tuple[Fraction, ...] = (Fraction(0), Fraction(1, 4), Fraction(1), Fraction(4), Fraction(1000)),
) -> DrawnAlignment:
    """Draw one or two priority clients, one or two others, and a run of one to three rounds.

    >>> drawn = draw_alignment(np.random.default_rng(0), longest_round=2)
    >>> drawn.run.local_steps <= 2, drawn.constants["mu"] <= drawn.constants["L"]
    (True, True)
    """
    fed, shares = _draw_prioritized(rng)
    num_priority, num_clients, dim = sum(map(bool, fed.weights)), fed.num_clients, fed.dim
    # Draws of a lone priority client cost no paths, and only with many the bounds get tight.
    numbers_of_draws = [*range(1, most_draws + 1), *([256] if num_priority == 1 else [])]
    local_steps, num_rounds = whole(rng, shortest_round, longest_round), whole(rng, 1, 3)
    noisy = num_clients * local_steps <= 4 and num_rounds == 1
    run = AlignedRun(
        federation=fed,
        shares=shares,
        thresholds=tuple(pick(rng, list(thresholds)) for _ in range(num_rounds)),
        local_steps=local_steps,
        step_size=(step_size or delayed())(fed, local_steps),
        # From the minimizer nothing contracts: only noise, drift and the included clients are left to bound.
        initial=fed.minimizer if whole(rng, 0, 2) == 0 else draw_model(rng, dim),
        noise=draw_noise(rng, dim) if noisy else no_noise(dim),
        num_draws=pick(rng, numbers_of_draws) if most_draws else 0,
    )
    who = {"shares": in_words(shares), "thresholds": in_words(run.thresholds), "num_draws": run.num_draws}
    return DrawnAlignment(run, run_in_words(run, **who))


def _draw_prioritized(rng: np.random.Generator) -> tuple[RationalQuadratics, Vector]:
    """Draw the clients, and the p_k of all of them."""
    num_priority, num_others, dim = whole(rng, 1, 2), whole(rng, 1, 2), whole(rng, 1, 2)
    num_clients = num_priority + num_others
    sizes = [whole(rng, 1, 4) for _ in range(num_clients)]
    shares = tuple(Fraction(size, sum(sizes[:num_priority])) for size in sizes)
    centers = [draw_model(rng, dim) for _ in range(num_clients)]
    fed = prioritized(
        tuple(tuple(Fraction(2) ** whole(rng, -1, 1) for _ in range(dim)) for _ in range(num_clients)),
        tuple(centers[:1] * num_clients if whole(rng, 0, 5) == 0 else centers),
        shares,
        num_priority,
        tuple(Fraction(whole(rng, 0, 2)) for _ in range(num_clients)),
    )
    return fed, shares
