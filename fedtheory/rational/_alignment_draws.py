"""Random small runs of FedALIGN in rational arithmetic, on which its claims are checked exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.rational._alignment import AlignedRun
from fedtheory.rational._constants import constants_of
from fedtheory.rational._noises import no_noise
from fedtheory.rational._step_sizes import StepSizes, delayed
from fedtheory.rational._words import in_words, run_in_words
from fedtheory.rational.draws import draw_model, draw_noise, pick, whole
from fedtheory.rational.quadratics import RationalQuadratics, prioritized
from fedtheory.rational.vectors import Vector

__all__: list[str] = []


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
