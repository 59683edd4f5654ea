"""Expected means over the active clients before a step, in which Appendix C of Power-of-Choice speaks."""

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fedtheory.claims.power_of_choice._standings import stopped
from fedtheory.rational._constants import client_gradient_bound, observed_gradient_bound, observed_skews
from fedtheory.rational._rounds import Snapshot, distance2, elapsed
from fedtheory.rational._run_draws import WEIGHTED_LAWS, Drawn, draw_run
from fedtheory.rational._step_sizes import StepSizes, decaying, weighted_steps
from fedtheory.rational.averaging import RationalRun
from fedtheory.rational.draws import whole
from fedtheory.verification.claims import Check
from fedtheory.verification.findings import Finding, at_most

__all__ = [
    "Means",
    "a5_bounded",
    "a5_repaired",
    "decaying_steps",
    "draw_eta",
    "on_steps",
    "on_weighted_steps",
    "printed_weighted_drift",
    "weighted_m",
]


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
