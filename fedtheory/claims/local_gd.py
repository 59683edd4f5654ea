"""Local gradient descent of convex clients: rounds of quadratics in rational arithmetic, and certified worst cases."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory import worst_case
from fedtheory.bounds import local_gd
from fedtheory.claims._comparisons import Chain, step
from fedtheory.instances.draws import draw_federation, draw_model
from fedtheory.instances.formatting import format_federation
from fedtheory.instances.vectors import Vector, combination, inner, norm2, total
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import as_texts, pick, whole
from fedtheory.theorem.findings import Finding, at_least


class Run:
    """Local steps of all clients: mean models, drifts and gaps before each step, and the constants of the bounds.

    The step size is at most ``longest/(L H)``, or ``longest/L`` if it is about single steps.
    """

    def __init__(
        self, rng: np.random.Generator, longest: Fraction, num_rounds: int = 1, *, steps: bool = False
    ) -> None:
        self.fed = fed = draw_federation(rng, flat=not whole(rng, 0, 2))
        self.H = whole(rng, 1, 4)
        share = pick(rng, [Fraction(1), Fraction(whole(rng, 1, 9), 10), Fraction(1, whole(rng, 2, 99))])
        eta = share * longest / (fed.smoothness * (1 if steps else self.H))
        start = draw_model(rng, fed.dim)
        self.means: list[Vector] = []
        self.drifts: list[Fraction] = []
        models = [start] * fed.num_clients
        for t in range(num_rounds * self.H + steps):
            mean = combination(fed.weights, models)
            models = models if t % self.H else [mean] * fed.num_clients
            self.means.append(mean)
            self.drifts.append(inner(fed.weights, [norm2(w - mean) for w in models]))
            models = [w - eta * fed.gradient(k, w) for k, w in enumerate(models)]
        self.gaps = [fed.gap(w) for w in self.means]
        zeta2 = inner(fed.weights, list(map(norm2, fed.gradients(fed.minimizer))))
        self.of_step = {"step_size": eta, "L": fed.smoothness}
        self.of_round = self.of_step | {"local_steps": self.H, "zeta2": zeta2}
        counts = {"step_size": eta, "local_steps": self.H, "start": start}
        self.instance: dict[str, Any] = format_federation(fed) | as_texts(counts)

    def away2(self, t: int) -> Fraction:
        """``|w_bar_t - w*|^2``."""
        return norm2(self.means[t] - self.fed.minimizer)

    def last_step(self, bound: Any) -> Chain:
        """Compare the distance after the last local step of a round with a bound."""
        *_, drift, _ = self.drifts
        known = self.of_step | {"drift": drift, "gap": self.gaps[-2]}
        return self.away2(-1), "<=", bound(self.away2(-2), **known)


def _long_steps(rng: np.random.Generator) -> list[Run]:
    return [Run(rng, Fraction(3), steps=True)]


def _short_steps(rng: np.random.Generator) -> list[Run]:
    return [Run(rng, Fraction(1, 4), steps=True)]


def _short_rounds(rng: np.random.Generator) -> list[Run]:
    return [Run(rng, Fraction(1, 4), whole(rng, 1, 3))]


@step("local-gd:lemma-1", local_gd.long_step, _long_steps)
def lemma_1(s: Run) -> Chain:
    """A local step of any size, by the drift and the gap of the mean model"""
    return s.last_step(local_gd.long_step)


@step("local-gd:lemma-1-short-steps", local_gd.one_step.printed, _short_steps)
def lemma_1_short_steps(s: Run) -> Chain:
    """A local step of size up to 1/(4 L), by the drift and the gap of the mean model"""
    return s.last_step(local_gd.one_step.printed)


@step("local-gd:lemma-2", local_gd.round_drift.printed, _short_rounds, looseness=16)
def lemma_2(s: Run) -> Chain:
    """The sum of the drifts of a round, with the constants 5 and 8"""
    return sum(s.drifts[: s.H]), "<=", local_gd.round_drift.printed(sum(s.gaps[: s.H]), **s.of_round)


def _averaged(s: Run, bound: Any) -> Chain:
    T = len(s.means)
    known = s.of_round | {"initial_distance2": s.away2(0)}
    return s.fed.gap(total(s.means) / T), "<=", bound(T, **known)


@step("local-gd:theorem-1", local_gd.averaged_gap.printed, _short_rounds, looseness=16)
def theorem_1(s: Run) -> Chain:
    """F - F* at the mean of all models, with the constants 2 and 24"""
    return _averaged(s, local_gd.averaged_gap.printed)


@claim(
    "local-gd:one-step-attained",
    "No smaller multiple of the drift bounds a local step with 2 eta times the gap",
    local_gd.one_step,
    "rate",
    instances=(2, 20),
    remark="two clients in the problem language reach 99.9% of eta L V; the distance from w* is not limited",
)
def one_step_attained(rng: np.random.Generator) -> Finding:
    eta = Fraction(whole(rng, 1, 8), 8)
    p = worst_case.Problem()
    clients = p.clients(2, mu=0, L=1)
    best, w, away = clients.minimizer(p.origin), p.point("start"), clients.deviation(name="drift")
    p.at_most(away.square, 1, "drift")
    after = w - eta * clients.mean(clients.gradient(w + away))
    gap = clients.value(w) - clients.value(best)
    p.maximize(after.square - w.square + 2 * eta * gap)
    return at_least(p.solve().enclosure[0], eta * Fraction(999, 1000), instance={"step_size": str(eta), "L": "1"})
