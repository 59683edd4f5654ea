"""How a run can stand before a step, and what Appendix C of Power-of-Choice makes of it."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.rational._rounds import Snapshot
from fedtheory.rational._run_draws import MEAN_LAWS, Drawn, draw_run
from fedtheory.rational._step_sizes import short_steps
from fedtheory.rational._words import in_words
from fedtheory.rational.averaging import RationalRun
from fedtheory.rational.draws import draw_model, whole
from fedtheory.rational.vectors import Vector, added, combination, difference, inner, norm2, scaled
from fedtheory.statistics.law import Law
from fedtheory.verification.claims import Check
from fedtheory.verification.findings import Finding, worst_of

__all__ = ["Standing", "draw_standings", "on_any_models", "on_standings", "stopped"]


class Standing(NamedTuple):
    """One way in which a run can stand at a step, with what Appendix C makes of it before the step's noise."""

    run: RationalRun
    at: Snapshot
    step_size: Fraction
    instance: dict[str, Any]

    @property
    def from_best(self) -> Vector:
        """``w_bar_t - w*``."""
        return difference(self.at.average, self.run.federation.minimizer)

    @property
    def gradients(self) -> list[Vector]:
        """``grad F_k(w_k)`` of the active copies."""
        return [self.run.federation.gradient(k, w) for k, w in zip(self.at.chosen, self.at.local, strict=True)]

    @property
    def mean_gradient(self) -> Vector:
        """``1/m sum_k grad F_k(w_k)``."""
        return combination(self.at.coefficients, self.gradients)

    @property
    def noises(self) -> Law[tuple[Vector, ...]]:
        """Law of the noises of all active copies."""
        return self.run.noise ** len(self.at.chosen)

    def noise_of_mean(self, noises: tuple[Vector, ...]) -> Vector:
        """``g_bar_t - 1/m sum_k grad F_k(w_k)``."""
        return combination(self.at.coefficients, noises)

    def next_distance2(self, noises: tuple[Vector, ...]) -> Fraction:
        """``|w_bar_t - eta g_bar_t - w*|^2``."""
        step = added(self.mean_gradient, self.noise_of_mean(noises))
        return norm2(difference(self.from_best, scaled(self.step_size, step)))

    def a1(self) -> Fraction:
        """``|w_bar_t - w*|^2`` and A_1."""
        return norm2(self.from_best) - 2 * self.step_size * inner(self.from_best, self.mean_gradient)

    def a2(self, noises: tuple[Vector, ...]) -> Fraction:
        """``2 eta <w_bar_t - w* - eta 1/m sum_k grad F_k(w_k), 1/m sum_k grad F_k(w_k) - g_bar_t>``."""
        ahead = difference(self.from_best, scaled(self.step_size, self.mean_gradient))
        return -2 * self.step_size * inner(ahead, self.noise_of_mean(noises))

    def a3(self) -> Fraction:
        """``eta^2 |1/m sum_k grad F_k(w_k)|^2``."""
        return self.step_size**2 * norm2(self.mean_gradient)

    def a4(self, noises: tuple[Vector, ...]) -> Fraction:
        """``eta^2 |1/m sum_k grad F_k(w_k) - g_bar_t|^2``."""
        return self.step_size**2 * norm2(self.noise_of_mean(noises))


def stopped(rng: np.random.Generator, drawn: Drawn) -> tuple[Drawn, int]:
    """Draw a step of a run, and stop the run after it: what comes later need not be followed."""
    step = whole(rng, 0, drawn.run.num_steps - 1)
    run = replace(drawn.run, num_steps=step + 1)
    return drawn._replace(run=run, instance={**drawn.instance, "step": step}), step


def draw_standings(rng: np.random.Generator, laws: tuple[str, ...] = MEAN_LAWS) -> Iterator[Standing]:
    """Draw a run and a step, and yield all ways in which the run can stand before it."""
    drawn, step = stopped(rng, draw_run(rng, laws=laws, step_size=short_steps(rng), longest_round=4))
    run, instance = drawn.run, drawn.instance
    for at in run.snapshots[step]:
        yield Standing(run, at, run.step_size(step), instance)


def on_standings(compare: Callable[[Standing], Finding], laws: tuple[str, ...] = MEAN_LAWS) -> Check:
    """Make the check that compares on every way in which a drawn run can stand."""
    return lambda rng: worst_of(map(compare, draw_standings(rng, laws)))


def on_any_models(compare: Callable[[Standing], Finding]) -> Check:
    """Make the check that compares on any models of the active copies, which no run needs to lead to."""

    def check(rng: np.random.Generator) -> Finding:
        here = next(draw_standings(rng))
        models = tuple(draw_model(rng, here.run.federation.dim) for _ in here.at.chosen)
        at = replace(here.at, local=models, average=combination(here.at.coefficients, models))
        words = {**here.instance, "chosen": here.at.chosen, "models": "; ".join(map(in_words, models))}
        return compare(here._replace(at=at, instance=words))

    return check
