"""What Appendices C and E of Power-of-Choice speak about: a run before a step, expected means there, the recursion."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.claims._comparisons import as_texts
from fedtheory.rational._averaging import RationalRun, constant_law
from fedtheory.rational._constants import client_gradient_bound, observed_gradient_bound, observed_skews
from fedtheory.rational._noises import no_noise
from fedtheory.rational._rounds import Snapshot, distance2, elapsed
from fedtheory.rational._run_draws import MEAN_LAWS, WEIGHTED_LAWS, Drawn, draw_run
from fedtheory.rational._step_sizes import StepSizes, decaying, short_steps, weighted_steps
from fedtheory.rational._words import in_words
from fedtheory.rational.draws import draw_model, whole
from fedtheory.rational.quadratics import opposite_clients
from fedtheory.rational.vectors import Vector, added, combination, difference, inner, norm2, scaled, vector
from fedtheory.sampling.cohorts import Selection
from fedtheory.statistics.law import Law
from fedtheory.verification.claims import Check
from fedtheory.verification.findings import Finding, at_most, worst_of

__all__ = [
    "Means",
    "Recursion",
    "RunAtStep",
    "a5_bounded",
    "a5_repaired",
    "decaying_steps",
    "draw_eta",
    "draw_recursion",
    "draw_runs_at_steps",
    "on_any_models",
    "on_runs_at_steps",
    "on_steps",
    "on_weighted_steps",
    "opposite_run",
    "printed_weighted_drift",
    "stopped",
    "weighted_m",
]


class RunAtStep(NamedTuple):
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


def draw_runs_at_steps(rng: np.random.Generator, laws: tuple[str, ...] = MEAN_LAWS) -> Iterator[RunAtStep]:
    """Draw a run and a step, and yield all ways in which the run can stand before it."""
    drawn, step = stopped(rng, draw_run(rng, laws=laws, step_size=short_steps(rng), longest_round=4))
    run, instance = drawn.run, drawn.instance
    for at in run.snapshots[step]:
        yield RunAtStep(run, at, run.step_size(step), instance)


def on_runs_at_steps(compare: Callable[[RunAtStep], Finding], laws: tuple[str, ...] = MEAN_LAWS) -> Check:
    """Make the check that compares on every way in which a drawn run can stand."""
    return lambda rng: worst_of(map(compare, draw_runs_at_steps(rng, laws)))


def on_any_models(compare: Callable[[RunAtStep], Finding]) -> Check:
    """Make the check that compares on any models of the active copies, which no run needs to lead to."""

    def check(rng: np.random.Generator) -> Finding:
        here = next(draw_runs_at_steps(rng))
        models = tuple(draw_model(rng, here.run.federation.dim) for _ in here.at.chosen)
        at = replace(here.at, local=models, average=combination(here.at.coefficients, models))
        words = {**here.instance, "chosen": here.at.chosen, "models": "; ".join(map(in_words, models))}
        return compare(here._replace(at=at, instance=words))

    return check


class Means(NamedTuple):
    """Expected means over the active copies before one step of a run.

    Attributes
    ----------
    run
        The run.
    step
        The step t.
    """

    run: RationalRun
    step: int

    @property
    def eta(self) -> Fraction:
        """Step size."""
        return self.run.step_size(self.step)

    @property
    def x(self) -> Fraction:
        """``L eta``."""
        return self.run.federation.smoothness * self.eta

    @property
    def nu(self) -> Fraction:
        """``2 eta (1 - 2 L eta)``."""
        return 2 * self.eta * (1 - 2 * self.x)

    def mean(self, value: Callable[[Snapshot], Fraction]) -> Fraction:
        """Average over all ways in which the run can stand."""
        return Fraction(self.run.snapshots[self.step].mean(value))

    def excess(self) -> Fraction:
        """``E 1/m sum_k (F_k(w_k) - F_k*)``."""
        return self.mean(lambda at: at.mean(self.run.federation.excess))

    def excess_at_average(self) -> Fraction:
        """``E 1/m sum_k (F_k(w_bar_t) - F_k*)``."""
        return self.mean(lambda at: at.mean(lambda k, _: self.run.federation.excess(k, at.average)))

    def excess_at_best(self) -> Fraction:
        """``E 1/m sum_k (F_k(w*) - F_k*)``."""
        fed = self.run.federation
        return self.mean(lambda at: at.mean(lambda k, _: fed.excess(k, fed.minimizer)))

    def a5(self) -> Fraction:
        """``E [4 L eta^2/m sum_k (F_k(w_k) - F_k*) - 2 eta/m sum_k (F_k(w_k) - F_k(w*))]``."""
        return 4 * self.x * self.eta * self.excess() - 2 * self.eta * (self.excess() - self.excess_at_best())


def on_steps(compare: Callable[[Drawn, Means], Finding], steps: Callable[[np.random.Generator], StepSizes]) -> Check:
    """Make the check that compares before one step of a drawn run."""

    def check(rng: np.random.Generator) -> Finding:
        drawn, step = stopped(rng, draw_run(rng, step_size=steps(rng), longest_round=5))
        return compare(drawn, Means(drawn.run, step))

    return check


def decaying_steps(_: np.random.Generator) -> StepSizes:
    return decaying


def on_weighted_steps(compare: Callable[[Drawn, Means], Finding], smallest_cohort: int = 1) -> Check:
    """Make the check that compares before one step of a drawn run with weights and the step sizes of eq. (85)."""

    def check(rng: np.random.Generator) -> Finding:
        laws = WEIGHTED_LAWS[-1:] if whole(rng, 0, 1) else WEIGHTED_LAWS
        drawn, step = stopped(
            rng,
            draw_run(rng, laws=laws, longest_round=4, smallest_cohort=smallest_cohort, step_size=weighted_steps),
        )
        return compare(drawn, Means(drawn.run, step))

    return check


def printed_weighted_drift(drawn: Drawn, means: Means) -> Fraction:
    """``16 eta^2 m (m - 1) tau^2 G2``."""
    m, tau, G2 = drawn.num_selected, drawn.run.local_steps, client_gradient_bound(drawn.run)
    return 16 * means.eta**2 * m * (m - 1) * tau**2 * G2


def weighted_m(means: Means, factor: Fraction) -> Fraction:
    """M of eq. (75), ``E[factor L eta^2 sum_k q_k (F_k(w_k) - F_k*) - 2 eta sum_k q_k (F_k(w_k) - F_k(w*))]``."""
    descent = means.excess() - means.excess_at_best()
    return factor * means.x * means.eta * means.excess() - 2 * means.eta * descent


def opposite_run(
    law: Law[Selection], local_steps: int, step_size: Callable[[int], Fraction], num_steps: int
) -> RationalRun:
    """Make a run on two opposite clients from 0 between them, without noise."""
    return RationalRun(
        federation=opposite_clients(),
        select=constant_law(law),
        local_steps=local_steps,
        step_size=step_size,
        initial=vector(0),
        num_steps=num_steps,
        noise=no_noise(1),
    )


def draw_eta(rng: np.random.Generator, L: Fraction) -> Fraction:
    """Draw a step size from 1/(4 L) down to a tiny one."""
    return Fraction(1, 2 ** whole(rng, 2, 10)) / L


def a5_bounded(drawn: Drawn, means: Means, rho: Fraction, drift: Fraction) -> Finding:
    """Compare A_5 and the contraction that eq. (63) takes out of it with bias, heterogeneity and a drift."""
    fed, eta, rho_tilde = drawn.run.federation, means.eta, observed_skews(drawn.run).rho_tilde
    contraction = Fraction(3, 8) * eta * fed.strong_convexity * rho * distance2(drawn.run, means.step)
    bias = 2 * eta * fed.objective_gap * (rho_tilde - rho)
    heterogeneity = 6 * eta**2 * rho * fed.smoothness * fed.objective_gap
    return at_most(means.a5() + contraction, bias + heterogeneity + drift, instance=drawn.instance)


def a5_repaired(drawn: Drawn, means: Means) -> Finding:
    """Compare A_5 with the bound that the repaired step gives, which needs no condition on the step sizes before."""
    run, eta, rho = drawn.run, means.eta, observed_skews(drawn.run).rho_diagonal
    s, G2 = elapsed(run, means.step), observed_gradient_bound(run, means.step, means.step + 1)
    conversion = Fraction(3, 4) * eta * rho * s + Fraction(3, 8) * eta * run.federation.strong_convexity * rho * s**2
    return a5_bounded(drawn, means, rho, (s**2 + conversion) * G2)


class Recursion(NamedTuple):
    """Eq. (65) with equality: ``Delta_{t+1} = (1 - eta_t mu B) Delta_t + eta_t^2 C + eta_t D``, steps beta/(t + gamma).

    Attributes
    ----------
    rate
        ``beta mu B``.
    beta, gamma, C, D, start
        As in eqs. (65) and (66); ``start`` is Delta_0.
    """

    rate: Fraction
    beta: Fraction
    gamma: Fraction
    C: Fraction
    D: Fraction
    start: Fraction

    def distances2(self, num_steps: int) -> list[Fraction]:
        """Delta_0, Delta_1, ..., Delta_T."""
        found = [self.start]
        for t in range(num_steps):
            eta = self.beta / (t + self.gamma)
            found.append((1 - self.rate / (t + self.gamma)) * found[-1] + eta**2 * self.C + eta * self.D)
        return found

    def psi(self, t: int) -> Fraction:
        """Eq. (66)."""
        steady = (self.beta**2 * self.C + self.D * self.beta * (t + self.gamma)) / (self.rate - 1)
        return max(self.gamma * self.start, steady)

    def against_psi(self, num_steps: int) -> Finding:
        """Compare with ``psi/(t + gamma)`` after one step or more."""
        words = as_texts(self._asdict())
        return worst_of(
            at_most(distance, self.psi(t) / (t + self.gamma), instance={**words, "t": t})
            for t, distance in enumerate(self.distances2(num_steps))
            if t
        )


def draw_recursion(rng: np.random.Generator) -> Recursion:
    """Draw a recursion with ``1 < beta mu B <= gamma``."""
    rate = 1 + Fraction(whole(rng, 1, 16), 4)
    gamma = rate * 2 ** whole(rng, 0, 4)
    C, D, start = (Fraction(whole(rng, 0, 6), 2) for _ in range(3))
    return Recursion(rate, Fraction(whole(rng, 1, 8), 4), gamma, C, D, start)
