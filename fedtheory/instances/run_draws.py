"""Random short runs of federated averaging and of FedALIGN."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from fedtheory.instances.draws import draw_federation, draw_model, draw_noise
from fedtheory.instances.federations import RationalQuadratics, prioritized
from fedtheory.instances.formatting import format_run
from fedtheory.instances.noise import no_noise
from fedtheory.instances.observed import constants_of
from fedtheory.instances.runs import AlignedRun, RationalRun, constant_law, mean_weights
from fedtheory.instances.step_sizes import StepSizes, decaying, delayed
from fedtheory.instances.vectors import Vector
from fedtheory.sampling.cohorts import Selection, power_of_choice, successive, uniform_subsets, with_replacement
from fedtheory.statistics.law import Law
from fedtheory.theorem.draws import pick, whole

if TYPE_CHECKING:
    import numpy as np

# Longer runs, and runs with more paths, take seconds to enumerate.
_MOST_PATHS, _MOST_STEPS = 250, 24

_LAWS: dict[str, Callable[[RationalQuadratics, int, int], Callable[[Vector], Law[Selection]]]] = {
    "proportional": lambda fed, m, _: constant_law(with_replacement(fed.weights, m)),
    "uniform": lambda fed, m, _: constant_law(uniform_subsets(fed.num_clients, m)),
    "successive": lambda fed, m, _: constant_law(successive(fed.weights, m)),
    "power of choice": lambda fed, m, d: lambda w: power_of_choice(fed.weights, fed.losses(w), m, d),
    "full, weights p_k": lambda fed, *_: constant_law(uniform_subsets(fed.num_clients, fed.num_clients)),
}
MEAN_LAWS = ("power of choice", "proportional", "uniform", "successive")
WEIGHTED_LAWS = (*MEAN_LAWS, "full, weights p_k")


class Drawn(NamedTuple):
    """A run, the number of clients per round, and the numbers that define it."""

    run: RationalRun
    num_selected: int
    instance: dict[str, Any]

    @property
    def constants(self) -> dict[str, Any]:
        """The constants of the federation and the noise under the argument names of the bounds."""
        return constants_of(self.run)


def draw_run(
    rng: np.random.Generator,
    *,
    laws: tuple[str, ...] = MEAN_LAWS,
    step_size: StepSizes = decaying,
    longest_round: int = 3,
    smallest_cohort: int = 1,
) -> Drawn:
    """Draw a federation and a run on it that is short enough for enumerating all paths.

    The step sizes decay as in Theorem 3.1 unless ``step_size`` returns others for the federation.
    """
    fed = draw_federation(rng)
    name = pick(rng, list(laws))
    weighted = name == "full, weights p_k"
    num_selected = fed.num_clients if weighted else whole(rng, smallest_cohort, 2)
    num_candidates = whole(rng, num_selected, fed.num_clients)
    local_steps = whole(rng, 1, longest_round)
    select = _LAWS[name](fed, num_selected, num_candidates)
    # From the minimizer nothing contracts, so that only noise, drift and bias are bounded.
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
        weigh=(lambda chosen: Vector(fed.weights[k] for k in chosen)) if weighted else mean_weights,
    )
    law = f"{name}, {num_candidates} candidates" if name == "power of choice" else name
    return Drawn(run, num_selected, format_run(run, law=law, num_selected=num_selected))


class DrawnAlignment(NamedTuple):
    """A run of FedALIGN and the numbers that define it."""

    run: AlignedRun
    instance: dict[str, Any]

    @property
    def constants(self) -> dict[str, Any]:
        """The constants of the federation and the noise under the argument names of the bounds."""
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
    """Draw one or two priority clients, one or two others, and a run of one to three rounds."""
    fed, shares = _draw_prioritized(rng)
    num_priority, num_clients, dim = sum(map(bool, fed.weights)), fed.num_clients, fed.dim
    # A single priority client adds no paths, and the bounds are only tight for many draws.
    numbers_of_draws = [*range(1, most_draws + 1), *([256] if num_priority == 1 else [])]
    local_steps, num_rounds = whole(rng, shortest_round, longest_round), whole(rng, 1, 3)
    noisy = num_clients * local_steps <= 4 and num_rounds == 1
    run = AlignedRun(
        federation=fed,
        shares=shares,
        thresholds=Vector(pick(rng, list(thresholds)) for _ in range(num_rounds)),
        local_steps=local_steps,
        step_size=(step_size or delayed())(fed, local_steps),
        # From the minimizer nothing contracts, so that only noise, drift and the included clients are bounded.
        initial=fed.minimizer if whole(rng, 0, 2) == 0 else draw_model(rng, dim),
        noise=draw_noise(rng, dim) if noisy else no_noise(dim),
        num_draws=pick(rng, numbers_of_draws) if most_draws else 0,
    )
    clients = {"shares": str(shares), "thresholds": str(run.thresholds), "num_draws": run.num_draws}
    return DrawnAlignment(run, format_run(run, **clients))


def _draw_prioritized(rng: np.random.Generator) -> tuple[RationalQuadratics, Vector]:
    """Draw the clients and all p_k."""
    num_priority, num_others, dim = whole(rng, 1, 2), whole(rng, 1, 2), whole(rng, 1, 2)
    num_clients = num_priority + num_others
    sizes = [whole(rng, 1, 4) for _ in range(num_clients)]
    shares = Vector(Fraction(size, sum(sizes[:num_priority])) for size in sizes)
    centers = [draw_model(rng, dim) for _ in range(num_clients)]
    fed = prioritized(
        tuple(Vector(Fraction(2) ** whole(rng, -1, 1) for _ in range(dim)) for _ in range(num_clients)),
        tuple(centers[:1] * num_clients if whole(rng, 0, 5) == 0 else centers),
        shares,
        num_priority,
        Vector(Fraction(whole(rng, 0, 2)) for _ in range(num_clients)),
    )
    return fed, shares
