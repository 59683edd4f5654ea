"""Situations of the proofs of Power-of-Choice, in the notation of the paper: a run before a step."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._comparisons import Chain
from fedtheory.instances.draws import draw_model
from fedtheory.instances.federations import opposite_clients
from fedtheory.instances.formatting import format_vectors
from fedtheory.instances.noise import no_noise
from fedtheory.instances.observed import Skews, client_gradient_bound, observed_gradient_bound, observed_skews
from fedtheory.instances.run_draws import WEIGHTED_LAWS, Drawn, draw_run
from fedtheory.instances.runs import RationalRun, Snapshot, constant_law, distance2, elapsed, gap
from fedtheory.instances.step_sizes import decaying, short_steps, weighted_steps
from fedtheory.instances.vectors import Vector, combination, norm2, vector
from fedtheory.sampling.cohorts import Selection
from fedtheory.statistics.law import Law
from fedtheory.theorem.draws import as_texts, whole

CURVATURE = "every F_k is L-smooth and mu-strongly convex"
SMOOTH = "every F_k is L-smooth"
NOISE = "noise of mean zero and variance at most sigma2, independent across active copies and of the selection"
SHORT = "eta <= 1/(4 L)"
BY_ROUND_START = "the selection depends on the past only through the round's starting model"


class Copies:
    """The active copies before a step of a run, on one of its paths, in the notation of Appendix C.

    ``away`` is w_bar - w*, ``g`` the mean of grad F_k(w_k), and ``noises`` the law of g_bar - g.
    """

    def __init__(self, run: RationalRun, at: Snapshot, eta: Fraction, instance: dict[str, Any]) -> None:
        self.run, self.at, self.eta, self.instance = run, at, eta, instance
        self.fed = fed = run.federation
        self.mu, self.L, self.best, self.m = fed.strong_convexity, fed.smoothness, fed.minimizer, len(at.chosen)
        self.mean, self.excess, self.grad = at.mean, fed.excess, fed.gradient
        self.w_bar, self.away, self.g = at.average, at.average - fed.minimizer, at.mean_gradient(fed)
        self.noises: Law[Vector] = (run.noise**self.m).map(partial(combination, at.coefficients))

    def grad2(self, k: int, w: Vector) -> Fraction:
        """``|grad F_k(w)|^2``."""
        return norm2(self.grad(k, w))

    def next_distance2(self, noise: Vector) -> Fraction:
        """``|w_bar - eta g_bar - w*|^2``."""
        return norm2(self.away - self.eta * (self.g + noise))

    def A_1(self) -> Fraction:
        """``-2 eta <w_bar - w*, 1/m sum_k grad F_k(w_k)>``."""
        return -2 * self.eta * (self.away @ self.g)

    def A_2(self, noise: Vector) -> Fraction:
        """``2 eta <w_bar - w* - eta 1/m sum_k grad F_k(w_k), 1/m sum_k grad F_k(w_k) - g_bar>``."""
        return -2 * self.eta * ((self.away - self.eta * self.g) @ noise)

    def A_3(self) -> Fraction:
        """``eta^2 |1/m sum_k grad F_k(w_k)|^2``."""
        return self.eta**2 * norm2(self.g)

    def A_4(self, noise: Vector) -> Fraction:
        """``eta^2 |1/m sum_k grad F_k(w_k) - g_bar|^2``."""
        return self.eta**2 * norm2(noise)


def stopped(rng: np.random.Generator, drawn: Drawn) -> tuple[Drawn, int]:
    """Draw a step t of a run and truncate the run after it."""
    t = whole(rng, 0, drawn.run.num_steps - 1)
    return drawn._replace(run=replace(drawn.run, num_steps=t + 1), instance={**drawn.instance, "step": t}), t


def copies(rng: np.random.Generator) -> Iterator[Copies]:
    """Draw a run and a step, and yield the active copies on every path."""
    (run, _, instance), t = stopped(rng, draw_run(rng, step_size=short_steps(rng), longest_round=4))
    return (Copies(run, at, run.step_size(t), instance) for at in run.snapshots[t])


def any_models(rng: np.random.Generator) -> list[Copies]:
    """Draw active copies of a run with arbitrary models, which need not be reachable by a run."""
    here = next(copies(rng))
    models = tuple(draw_model(rng, here.fed.dim) for _ in here.at.chosen)
    at = replace(here.at, local=models, average=combination(here.at.coefficients, models))
    instance = {**here.instance, "chosen": at.chosen, "models": format_vectors(models)}
    return [Copies(here.run, at, here.eta, instance)]


class Observed:
    """The smallest constants that satisfy the hypotheses on a run, computed on first use."""

    def __init__(self, run: RationalRun) -> None:
        self.run = run

    @cached_property
    def G2(self) -> Fraction:
        """Bound on gradients in the repaired proofs."""
        return observed_gradient_bound(self.run)

    @cached_property
    def client_G2(self) -> Fraction:
        """Bound on ``E |g_k|^2`` for every active client, given the start of its round."""
        return client_gradient_bound(self.run)

    @cached_property
    def skews(self) -> Skews:
        """Extreme skews."""
        return observed_skews(self.run)


class Step:
    """Step t of a run, with expectations over its paths, in the notation of Appendices C and E.

    ``x`` is L eta, ``nu`` is 2 eta (1 - 2 L eta), and ``s`` the sum of the round's step sizes before step t.
    """

    def __init__(self, drawn: Drawn, t: int, observed: Observed | None = None) -> None:
        self.drawn, self.t, self.observed = drawn, t, observed or Observed(drawn.run)
        self.run, self.m = drawn.run, drawn.num_selected
        self.instance = {**drawn.instance, "step": t}
        self.fed = fed = self.run.federation
        self.mu, self.L, self.Gamma, self.best = fed.strong_convexity, fed.smoothness, fed.objective_gap, fed.minimizer
        self.tau, self.eta, self.s = self.run.local_steps, self.run.step_size(t), elapsed(self.run, t)
        self.x = self.L * self.eta
        self.nu = 2 * self.eta * (1 - 2 * self.x)

    @property
    def Delta(self) -> Fraction:
        """``E |w_bar_t - w*|^2``."""
        return distance2(self.run, self.t)

    @property
    def Delta_next(self) -> Fraction:
        """``E |w_bar_{t+1} - w*|^2``."""
        return distance2(self.run, self.t + 1)

    @property
    def gap(self) -> Fraction:
        """``E F(w_bar_t) - F*``."""
        return gap(self.run, self.t)

    def E(self, value: Callable[[Snapshot], Any]) -> Any:
        """Average over the paths of the run."""
        return self.run.snapshots[self.t].mean(value)

    @property
    def drift(self) -> Fraction:
        """``E 1/m sum_k |w_k - w_bar|^2``."""
        return Fraction(self.E(lambda at: at.drift))

    @cached_property
    def excess(self) -> Fraction:
        """``E 1/m sum_k (F_k(w_k) - F_k*)``."""
        return Fraction(self.E(lambda at: at.mean(self.fed.excess)))

    @cached_property
    def excess_at_average(self) -> Fraction:
        """``E 1/m sum_k (F_k(w_bar) - F_k*)``."""
        return Fraction(self.E(lambda at: at.mean(lambda k, _: self.fed.excess(k, at.average))))

    @cached_property
    def excess_at_best(self) -> Fraction:
        """``E 1/m sum_k (F_k(w*) - F_k*)``."""
        return Fraction(self.E(lambda at: at.mean(lambda k, _: self.fed.excess(k, self.best))))

    @property
    def A_5(self) -> Fraction:
        """``E [4 L eta^2/m sum_k (F_k(w_k) - F_k*) - 2 eta/m sum_k (F_k(w_k) - F_k(w*))]``."""
        return self.M(4)

    def M(self, factor: int) -> Fraction:
        """Eq. (75): ``E[factor L eta^2 sum_k q_k (F_k(w_k) - F_k*) - 2 eta sum_k q_k (F_k(w_k) - F_k(w*))]``."""
        return factor * self.x * self.eta * self.excess - 2 * self.eta * (self.excess - self.excess_at_best)

    @property
    def printed_drift(self) -> Fraction:
        """``16 eta^2 tau^2 G2``."""
        return Fraction(poc.client_drift.printed(self.eta, local_steps=self.tau, G2=self.observed.G2))

    @property
    def printed_weighted_drift(self) -> Fraction:
        """``16 eta^2 m (m - 1) tau^2 G2``."""
        return 16 * self.eta**2 * self.m * (self.m - 1) * self.tau**2 * self.observed.client_G2

    @property
    def kept_of_A_7(self) -> Fraction:
        """``nu (1 - eta L) rho_bar``."""
        return self.nu * (1 - self.x) * self.observed.skews.rho_bar


def _step_of(rng: np.random.Generator, **options: Any) -> list[Step]:
    return [Step(*stopped(rng, draw_run(rng, **options)))]


def short_step(rng: np.random.Generator) -> list[Step]:
    """Draw a step of a run whose step sizes are at most 1/(4 L), in any order."""
    return _step_of(rng, step_size=short_steps(rng), longest_round=5)


def decaying_step(rng: np.random.Generator) -> list[Step]:
    """Draw a step of a run with the step sizes of Theorem 3.1."""
    return _step_of(rng, step_size=decaying, longest_round=5)


def weighted_step(rng: np.random.Generator, smallest_cohort: int = 1) -> list[Step]:
    """Draw a step of a run with weights and the step sizes of eq. (85)."""
    laws = WEIGHTED_LAWS[-1:] if whole(rng, 0, 1) else WEIGHTED_LAWS
    options: dict[str, Any] = {"smallest_cohort": smallest_cohort, "step_size": weighted_steps}
    return _step_of(rng, laws=laws, longest_round=4, **options)


def weighted_step_of_several(rng: np.random.Generator) -> list[Step]:
    """Draw a step of a run with weights and at least two clients per round."""
    return weighted_step(rng, smallest_cohort=2)


def all_steps(rng: np.random.Generator, longest_round: int, *, end: bool = False) -> list[Step]:
    """Draw a run and return its steps, with the end of the run if ``end``."""
    drawn = draw_run(rng, step_size=decaying, longest_round=longest_round)
    observed = Observed(drawn.run)
    return [Step(drawn, t, observed) for t in range(drawn.run.num_steps + end)]


def a5_bounded(s: Step, rho: Fraction, drift: Fraction) -> Chain:
    """Compare A_5, plus the contraction of eq. (63), with bias, heterogeneity and a drift."""
    contraction = Fraction(3, 8) * s.eta * s.mu * rho * s.Delta
    bias = 2 * s.eta * s.Gamma * (s.observed.skews.rho_tilde - rho)
    heterogeneity = 6 * s.eta**2 * rho * s.L * s.Gamma
    return s.A_5 + contraction, "<=", bias + heterogeneity + drift


def a5_repaired(s: Step) -> Chain:
    """Compare A_5 with its repaired bound, which holds for any earlier step sizes of the round."""
    rho, G2 = s.observed.skews.rho_diagonal, observed_gradient_bound(s.run, s.t, s.t + 1)
    conversion = Fraction(3, 4) * s.eta * rho * s.s + Fraction(3, 8) * s.eta * s.mu * rho * s.s**2
    return a5_bounded(s, rho, (s.s**2 + conversion) * G2)


def opposite_run(
    law: Law[Selection], local_steps: int, step_size: Callable[[int], Fraction], num_steps: int
) -> RationalRun:
    """Return a run of two opposite clients that starts at 0, halfway between them, without noise."""
    fed = opposite_clients()
    return RationalRun(fed, constant_law(law), local_steps, step_size, vector(0), num_steps, no_noise(1))


class Recursion(NamedTuple):
    """Eq. (65) with equality: ``Delta_{t+1} = (1 - eta_t mu B) Delta_t + eta_t^2 C + eta_t D``, steps beta/(t + gamma).

    ``rate`` is ``beta mu B``, ``start`` is Delta_0, and the other letters are those of eqs. (65) and (66).
    """

    rate: Fraction
    beta: Fraction
    gamma: Fraction
    C: Fraction
    D: Fraction
    start: Fraction
    num_steps: int

    @property
    def instance(self) -> dict[str, str]:
        """The numbers as text."""
        return as_texts(self._asdict())

    def distances2(self) -> Iterator[Fraction]:
        """Yield Delta_1, ..., Delta_T."""
        distance2 = self.start
        for t in range(self.num_steps):
            eta = self.beta / (t + self.gamma)
            distance2 = (1 - self.rate / (t + self.gamma)) * distance2 + eta**2 * self.C + eta * self.D
            yield distance2

    def psi(self, t: int) -> Fraction:
        """Eq. (66)."""
        steady = (self.beta**2 * self.C + self.D * self.beta * (t + self.gamma)) / (self.rate - 1)
        return max(self.gamma * self.start, steady)

    def below_psi(self) -> list[Chain]:
        """Compare the distances with ``psi/(t + gamma)``."""
        return [(distance, "<=", self.psi(t) / (t + self.gamma)) for t, distance in enumerate(self.distances2(), 1)]


def recursion(rng: np.random.Generator) -> list[Recursion]:
    """Draw a recursion with ``1 < beta mu B <= gamma``."""
    rate = 1 + Fraction(whole(rng, 1, 16), 4)
    gamma = rate * 2 ** whole(rng, 0, 4)
    C, D, start = (Fraction(whole(rng, 0, 6), 2) for _ in range(3))
    return [Recursion(rate, Fraction(whole(rng, 1, 8), 4), gamma, C, D, start, whole(rng, 1, 6))]
