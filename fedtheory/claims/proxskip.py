"""Scaffnew on random weighted quadratics, over all outcomes of the coin, in rational arithmetic."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import proxskip as ps
from fedtheory.instances.control_variates import ScaffnewState, mean_potentials, potential
from fedtheory.instances.draws import draw_federation, draw_model
from fedtheory.instances.formatting import format_federation, format_vectors
from fedtheory.instances.vectors import combination, norm2
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import as_texts, pick, whole
from fedtheory.theorem.findings import Finding, at_most
from fedtheory.theorem.paper import Statement


@claim(
    "proxskip:theorem",
    "Three steps of Scaffnew over all outcomes of the coin, with step sizes up to 1/L",
    ps.fixed_step_potential,
    looseness=1.01,
)
def theorem(rng: np.random.Generator) -> Finding:
    fed = draw_federation(rng)
    share = pick(rng, [Fraction(1), *(Fraction(whole(rng, 1, 9), 10) for _ in range(2))])
    gamma, p = share / fed.smoothness, Fraction(whole(rng, 1, 8), 8)
    raw = [draw_model(rng, fed.dim) for _ in range(fed.num_clients)]
    model, mean = draw_model(rng, fed.dim), combination(fed.weights, raw)
    state = ScaffnewState((model,) * fed.num_clients, tuple(h - mean for h in raw))
    run = {"step_size": gamma, "probability": p}
    distance2 = norm2(model - fed.minimizer)
    error2 = (potential(fed, state, **run) - distance2) / (gamma / p) ** 2
    known = {"mu": fed.strong_convexity, "L": fed.smoothness, "initial_distance2": distance2}
    bound = ps.fixed_step_potential(3, control_error2=error2, **run, **known)
    variates = {"model": str(model), "control variates": format_vectors(state.variates)}
    instance = {**format_federation(fed), **as_texts(run), **variates}
    return at_most(mean_potentials(fed, state, 3, **run)[-1], bound, instance=instance)


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
