"""Random small federations and runs in rational arithmetic, on which the claims are checked exactly."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.law import Law
from fedtheory.sampling.selections import (
    Selection,
    power_of_choice,
    successive,
    uniform_subsets,
    with_replacement,
)
from fedtheory.verification.rational import RationalQuadratics, Vector
from fedtheory.verification.runs import Noise, RationalRun, mean_weights, no_noise, two_point_noise

__all__ = [
    "MEAN_LAWS",
    "WEIGHTED_LAWS",
    "Drawn",
    "StepSizes",
    "constant_law",
    "constants_of",
    "decaying",
    "draw_federation",
    "draw_model",
    "draw_noise",
    "draw_run",
    "federation_in_words",
    "fixed_step",
    "in_words",
    "opposite_clients",
    "short_steps",
    "whole",
]

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


def constants_of(run: Any) -> dict[str, Any]:
    """Return the constants of a run's federation and of its noise, by the names that bounds give them."""
    fed = run.federation
    return {
        "mu": fed.strong_convexity,
        "L": fed.smoothness,
        "sigma2": run.sigma2,
        "objective_gap": fed.objective_gap,
    }


def whole(rng: np.random.Generator, low: int, high: int) -> int:
    """Draw a whole number in low..high."""
    return int(rng.integers(low, high + 1))


def pick(rng: np.random.Generator, options: list[Any]) -> Any:
    """Draw one of the options."""
    return options[whole(rng, 0, len(options) - 1)]


def draw_model(rng: np.random.Generator, dim: int) -> Vector:
    """Draw a model with entries in quarters between -4 and 4."""
    return tuple(Fraction(whole(rng, -16, 16), 4) for _ in range(dim))


def draw_federation(rng: np.random.Generator) -> RationalQuadratics:
    """Draw two or three quadratics in one or two dimensions with condition number at most 16.

    In a quarter of them all clients have the same minimizer, so that the objective gap is 0.
    """
    num_clients, dim = whole(rng, 2, 3), whole(rng, 1, 2)
    sizes = [whole(rng, 1, 5) for _ in range(num_clients)]
    centers = [draw_model(rng, dim) for _ in range(num_clients)]
    return RationalQuadratics(
        curvatures=tuple(tuple(Fraction(2) ** whole(rng, -2, 2) for _ in range(dim)) for _ in range(num_clients)),
        centers=tuple(centers[:1] * num_clients if whole(rng, 0, 3) == 0 else centers),
        weights=tuple(Fraction(size, sum(sizes)) for size in sizes),
        minima=tuple(Fraction(whole(rng, 0, 3)) for _ in range(num_clients)),
    )


def opposite_clients() -> RationalQuadratics:
    """Two equally weighted clients ``1/2 (w - 1)^2`` and ``1/2 (w + 1)^2``: minimizer 0, objective gap 1/2."""
    one, half = Fraction(1), Fraction(1, 2)
    return RationalQuadratics(((one,), (one,)), ((one,), (-one,)), (half, half), (Fraction(0), Fraction(0)))


StepSizes = Callable[[RationalQuadratics, int], Callable[[int], Fraction]]
"""Makes the step sizes eta_t of a run from the federation and the number of clients per round."""


def short_steps(rng: np.random.Generator) -> StepSizes:
    """Draw step sizes in any order up to ``1 / (4 L)``."""
    sizes = [Fraction(whole(rng, 1, 4), 4) for _ in range(8)]
    return lambda fed, _: lambda step: sizes[step % len(sizes)] / (4 * fed.smoothness)


def fixed_step(rng: np.random.Generator) -> StepSizes:
    """Draw one step size up to ``1 / (4 L)`` for all steps."""
    size = Fraction(whole(rng, 1, 4), 4)
    return lambda fed, _: lambda _: size / (4 * fed.smoothness)


def decaying(fed: RationalQuadratics, _: int = 1) -> Callable[[int], Fraction]:
    """Step sizes ``1 / (mu (t + gamma))`` with ``gamma = 4 L / mu``."""
    return lambda step: 1 / (fed.strong_convexity * step + 4 * fed.smoothness)


Select = Callable[[Vector], Law[Selection]]


def constant_law(law: Law[Selection]) -> Select:
    """Select by the same law at every model."""
    return lambda _: law


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
    return Drawn(run, num_selected, _words(run, name, num_selected, num_candidates))


def draw_noise(rng: np.random.Generator, dim: int) -> Noise:
    """Draw a noise of two values in the first coordinate, or none."""
    size = whole(rng, 0, 4)
    if not size:
        return no_noise(dim)
    return two_point_noise((Fraction(size, 2), *(Fraction(0),) * (dim - 1)), Fraction(whole(rng, 1, 3)))


def _words(run: RationalRun, law: str, num_selected: int, num_candidates: int) -> dict[str, Any]:
    return {
        **federation_in_words(run.federation),
        "law": f"{law}, {num_candidates} candidates" if law == "power of choice" else law,
        "num_selected": num_selected,
        "local_steps": run.local_steps,
        "num_steps": run.num_steps,
        "first_step_size": str(run.step_size(0)),
        "initial": in_words(run.initial),
        "noise": "; ".join(f"{in_words(value)} with probability {chance}" for chance, value in run.noise),
    }


def federation_in_words(fed: RationalQuadratics) -> dict[str, str]:
    """Name the numbers that define a federation."""
    return {
        "curvatures": ", ".join(in_words(diagonal) for diagonal in fed.curvatures),
        "centers": ", ".join(in_words(center) for center in fed.centers),
        "weights": in_words(fed.weights),
        "minima": in_words(fed.minima),
    }


def in_words(numbers: Vector) -> str:
    """Write a vector of rationals."""
    return "(" + ", ".join(str(number) for number in numbers) + ")"
