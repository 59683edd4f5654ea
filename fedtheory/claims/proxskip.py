"""Steps of Scaffnew on random weighted quadratics, over all outcomes of the coin, in rational arithmetic."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import proxskip as ps
from fedtheory.claims._comparisons import Chain, step
from fedtheory.instances.control_variates import ScaffnewState, mean_potentials, potential, scaffnew_step
from fedtheory.instances.draws import draw_federation, draw_model
from fedtheory.instances.formatting import format_federation, format_vectors
from fedtheory.instances.vectors import combination, norm2
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import as_texts, pick, whole
from fedtheory.theorem.findings import Finding, at_most, equal_to
from fedtheory.theorem.paper import FEDTHEORY, Statement

_STEP = Statement(FEDTHEORY, "a step of Scaffnew", related=(ps.PAPER, "Theorem 3.6"), form="derived")


class Start:
    """Clients, gamma, p, and a state whose control variates have mean 0."""

    def __init__(self, rng: np.random.Generator, *, together: bool, longest: Fraction = Fraction(1)) -> None:
        self.fed = fed = draw_federation(rng)
        share = pick(rng, [longest, *(Fraction(whole(rng, 1, 9), 10) for _ in range(2))])
        self.gamma, self.p = share / fed.smoothness, Fraction(whole(rng, 1, 8), 8)
        raw = [draw_model(rng, fed.dim) for _ in range(fed.num_clients)]
        first, mean = draw_model(rng, fed.dim), combination(fed.weights, raw)
        models = tuple(first if together else draw_model(rng, fed.dim) for _ in range(fed.num_clients))
        self.state = ScaffnewState(models, tuple(h - mean for h in raw))
        self.run: dict[str, Any] = {"step_size": self.gamma, "probability": self.p}

    @property
    def instance(self) -> dict[str, Any]:
        """The numbers as text."""
        variates = {
            "models": format_vectors(self.state.models),
            "control variates": format_vectors(self.state.variates),
        }
        return {**format_federation(self.fed), **as_texts(self.run), **variates}


def _apart(rng: np.random.Generator) -> list[Start]:
    return [Start(rng, together=False, longest=Fraction(3, 2))]


@step(
    "proxskip:step",
    _STEP,
    _apart,
    kind="identity",
    hypotheses=("the control variates have mean 0", "one coin for all clients"),
)
def one_step(s: Start) -> Chain:
    """E Psi+ of Scaffnew is |x - gamma grad f(x) - (x* - gamma h*)|^2 + (1 - p^2)(gamma/p)^2 |h - h*|^2"""
    fed, gamma, p, best, total = s.fed, s.gamma, s.p, s.fed.minimizer, Fraction(0)
    for k, (weight, x, h) in enumerate(zip(fed.weights, s.state.models, s.state.variates, strict=True)):
        moved, goal = x - gamma * fed.gradient(k, x), best - gamma * fed.gradient(k, best)
        error2 = norm2(h - fed.gradient(k, best))
        total += weight * (norm2(moved - goal) + (1 - p**2) * (gamma / p) ** 2 * error2)
    return mean_potentials(fed, s.state, 1, **s.run)[1], "=", total


def _bounded(s: Start, bound: Any, num_steps: int) -> Finding:
    distance2 = norm2(s.state.models[0] - s.fed.minimizer)
    error2 = (potential(s.fed, s.state, **s.run) - distance2) / (s.gamma / s.p) ** 2
    known = {"mu": s.fed.strong_convexity, "L": s.fed.smoothness, "initial_distance2": distance2}
    predicted = bound(num_steps, control_error2=error2, **s.run, **known)
    return at_most(mean_potentials(s.fed, s.state, num_steps, **s.run)[-1], predicted, instance=s.instance)


@claim(
    "proxskip:theorem",
    "Three steps of Scaffnew over all outcomes of the coin, with step sizes up to 1/L",
    ps.fixed_step_potential,
    looseness=1.01,
)
def theorem(rng: np.random.Generator) -> Finding:
    return _bounded(Start(rng, together=True), ps.fixed_step_potential, 3)


@claim(
    "proxskip:mean-stays",
    "The mean of the control variates of Scaffnew never changes",
    _STEP,
    "identity",
    hypotheses=("only the models are averaged",),
)
def mean_stays(rng: np.random.Generator) -> Finding:
    s = Start(rng, together=True)
    off = draw_model(rng, s.fed.dim)
    state = ScaffnewState(s.state.models, tuple(h + off for h in s.state.variates))
    for coin in range(4):
        state = scaffnew_step(s.fed, state, falls=bool(coin % 2), **s.run)
    return equal_to(norm2(combination(s.fed.weights, state.variates) - off), Fraction(0), instance=s.instance)


@claim(
    "proxskip:noise-at-the-minimizer",
    "If E |g(x) - g(x*)|^2 <= 2 A D(x, x*), steps of 1/A have the floor gamma^2 Var g(x*)/min(gamma mu, p^2)",
    Statement(ps.PAPER, "SProxSkip, in arXiv:2207.04338"),
    "erratum",
    hypotheses=("the differences are those of the same stochastic gradient at x and x*",),
    remark="gradients 2 x + 1 and -1 with equal chances, p = 1: from 1 to 5/4 instead of 1; 2 A and 2 Var are right",
)
def noise_at_the_minimizer() -> Finding:
    # F = x^2/2, D(x, 0) = x^2/2 and E |g(x) - g(0)|^2 = 2 x^2, so that A = 2.
    x, gamma, mu, variance = Fraction(1), Fraction(1, 2), 1, 1
    after = ((x - gamma * (2 * x + 1)) ** 2 + (x + gamma) ** 2) / 2
    printed = (1 - gamma * mu) * x**2 + gamma**2 * variance / (gamma * mu)
    return at_most(after, printed, instance={"x": "1", "step_size": "1/2"})
