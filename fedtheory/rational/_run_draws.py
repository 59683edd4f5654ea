"""Random runs of federated averaging in rational arithmetic, on which claims are checked exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fedtheory.rational._averaging import RationalRun, constant_law, mean_weights
from fedtheory.rational._constants import constants_of
from fedtheory.rational._noises import no_noise
from fedtheory.rational._step_sizes import StepSizes, decaying
from fedtheory.rational._words import run_in_words
from fedtheory.rational.draws import draw_federation, draw_model, draw_noise, pick, whole
from fedtheory.rational.quadratics import RationalQuadratics
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

# Longer runs, and runs with more ways to stand, take seconds to follow.
_MOST_PATHS = 250
_MOST_STEPS = 24


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
