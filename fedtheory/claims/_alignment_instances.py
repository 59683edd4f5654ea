"""Random small runs of FedALIGN in rational arithmetic, on which its claims are checked exactly."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.claims._aligned_runs import AlignedRun
from fedtheory.claims._instances import (
    StepSizes,
    constants_of,
    draw_model,
    draw_noise,
    federation_in_words,
    in_words,
    pick,
    whole,
)
from fedtheory.verification.rational import RationalQuadratics, Vector
from fedtheory.verification.runs import no_noise

__all__ = ["Delay", "DrawnAlignment", "align", "decaying", "delay", "draw_alignment"]


class DrawnAlignment(NamedTuple):
    """A run with the numbers that define it, in words."""

    run: AlignedRun
    instance: dict[str, Any]

    @property
    def constants(self) -> dict[str, Any]:
        """What the bounds call the constants of the federation and of the noise."""
        return constants_of(self.run)


def align(curvatures: Any, centers: Any, shares: Vector, num_priority: int, minima: Vector) -> RationalQuadratics:
    """Make the federation whose first clients are the priority clients, with weights p_k; the others have weight 0."""
    weights = tuple(share if k < num_priority else Fraction(0) for k, share in enumerate(shares))
    return RationalQuadratics(curvatures, centers, weights, minima)


Delay = Callable[[RationalQuadratics, int], Fraction]
"""gamma of the step sizes, from the federation and the local steps per round."""


def delay(fed: RationalQuadratics, local_steps: int) -> Fraction:
    """``gamma = max(8 L/mu, E)``."""
    return max(8 * fed.smoothness / fed.strong_convexity, Fraction(local_steps))


def decaying(gamma_of: Delay = delay) -> StepSizes:
    """Step sizes ``2/(mu (t + gamma))`` for a rule that says what gamma is."""

    def step_sizes(fed: RationalQuadratics, local_steps: int) -> Callable[[int], Fraction]:
        gamma = gamma_of(fed, local_steps)
        return lambda step: 2 / (fed.strong_convexity * (step + gamma))

    return step_sizes


def draw_alignment(
    rng: np.random.Generator,
    *,
    step_size: StepSizes | None = None,
    shortest_round: int = 1,
    longest_round: int = 4,
    most_draws: int = 0,
    thresholds: tuple[Fraction, ...] = (Fraction(0), Fraction(1, 4), Fraction(1), Fraction(4), Fraction(1000)),
) -> DrawnAlignment:
    """Draw one or two priority clients, one or two others, and a run of one to three rounds."""
    num_priority, num_others, dim = whole(rng, 1, 2), whole(rng, 1, 2), whole(rng, 1, 2)
    num_clients = num_priority + num_others
    sizes = [whole(rng, 1, 4) for _ in range(num_clients)]
    centers = [draw_model(rng, dim) for _ in range(num_clients)]
    fed = align(
        tuple(tuple(Fraction(2) ** whole(rng, -1, 1) for _ in range(dim)) for _ in range(num_clients)),
        tuple(centers[:1] * num_clients if whole(rng, 0, 5) == 0 else centers),
        shares := tuple(Fraction(size, sum(sizes[:num_priority])) for size in sizes),
        num_priority,
        tuple(Fraction(whole(rng, 0, 2)) for _ in range(num_clients)),
    )
    # Draws of a lone priority client cost no paths, and only with many the bounds get tight.
    numbers_of_draws = [*range(1, most_draws + 1), *([256] if num_priority == 1 else [])]
    local_steps, num_rounds = whole(rng, shortest_round, longest_round), whole(rng, 1, 3)
    noisy = num_clients * local_steps <= 4 and num_rounds == 1
    run = AlignedRun(
        federation=fed,
        shares=shares,
        thresholds=tuple(pick(rng, list(thresholds)) for _ in range(num_rounds)),
        local_steps=local_steps,
        step_size=(step_size or decaying())(fed, local_steps),
        # From the minimizer nothing contracts: only noise, drift and the included clients are left to bound.
        initial=fed.minimizer if whole(rng, 0, 2) == 0 else draw_model(rng, dim),
        noise=draw_noise(rng, dim) if noisy else no_noise(dim),
        num_draws=pick(rng, numbers_of_draws) if most_draws else 0,
    )
    return DrawnAlignment(run, _words(run))


def _words(run: AlignedRun) -> dict[str, Any]:
    return {
        **federation_in_words(run.federation),
        "shares": in_words(run.shares),
        "thresholds": in_words(run.thresholds),
        "num_draws": run.num_draws,
        "local_steps": run.local_steps,
        "num_steps": run.num_steps,
        "first_step_size": str(run.step_size(0)),
        "initial": in_words(run.initial),
        "noise": "; ".join(f"{in_words(value)} with probability {chance}" for chance, value in run.noise),
    }
