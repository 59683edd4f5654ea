"""Averaging with a fixed step size and its extrapolation: bias, noise and variance in rational arithmetic."""

from fractions import Fraction

import numpy as np

from fedtheory.claims._comparisons import Chain, step
from fedtheory.claims._hessians import Case
from fedtheory.instances.draws import draw_noise
from fedtheory.instances.stationary_points import StationaryPoints
from fedtheory.instances.vectors import Vector, combination, norm2, vector
from fedtheory.statistics.law import Law
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import pick, whole
from fedtheory.theorem.findings import Finding, at_least, at_most, equal_to
from fedtheory.theorem.paper import FEDTHEORY, Paper, Statement

PAPER = Paper(
    key="constant-steps",
    title="Refined Analysis of Federated Averaging's Bias and Federated Richardson-Romberg Extrapolation",
    authors="Mangold, Durmus, Dieuleveut, Samsonov, Moulines",
    year=2024,
    url="https://arxiv.org/abs/2412.01389",
    basis="abstract",
)
_BIAS = Statement(FEDTHEORY, "bias of constant steps, on quadratics", related=(PAPER, "Abstract"), form="derived")
_ROMBERG = Statement(
    FEDTHEORY, "Richardson-Romberg extrapolation, on quadratics", related=(PAPER, "Abstract"), form="derived"
)
_GUESS = Statement(
    FEDTHEORY, "Richardson-Romberg extrapolation, one reading", related=(PAPER, "Abstract"), form="derived"
)
_LINEAR = ("all clients take part with a fixed step size",)
_INDEPENDENT = (*_LINEAR, "noises have mean 0 and are independent across clients and steps")


def short_case(rng: np.random.Generator) -> list[Case]:
    """Draw clients with a step size of at most 1/(10000 L)."""
    s = Case(rng, equal=True)
    s.eta /= 10_000
    return [s]


@step("constant-steps:extrapolation", _ROMBERG, short_case, kind="rate", hypotheses=_LINEAR)
def extrapolation(s: Case) -> Chain:
    """Extrapolation leaves the bias -2 eta^2 e2: the rest is divided by about 1000 if eta is divided by 10"""
    tau, (_, e2) = s.taus[0], s.fed.bias(s.taus[0])

    def rest(eta: Fraction) -> Fraction:
        return norm2(s.fed.romberg(eta, tau) - s.fed.minimizer + 2 * eta**2 * e2)

    # Squared, a factor 10^-6, plus one percent for the next order, which is about 10^-4 tau of this one.
    return rest(s.eta / 10), "<=", Fraction(101, 100) * rest(s.eta) / 10**6


def _noisy_rounds(s: Case, num_rounds: int, noises: Law[tuple[Vector, ...]]) -> Law[Vector]:
    """Return the law of the model after some rounds in which each client takes one step or more."""

    def after(model: Vector, outcomes: tuple[Vector, ...]) -> Vector:
        left, ends = iter(outcomes), []
        for k, tau in enumerate(s.taus):
            y, hessian, center = model, s.fed.hessians[k], s.fed.centers[k]
            for _ in range(tau):
                y -= s.eta * (Vector(row @ (y - center) for row in hessian) + next(left))
            ends.append(y)
        return combination(s.fed.weights, ends)

    law: Law[Vector] = Law.certain(s.model)
    for _ in range(num_rounds):
        law = law.then(lambda model: noises.map(lambda outcomes: after(model, outcomes)))
    return law


@claim(
    "constant-steps:noise-has-no-bias",
    "On quadratics, gradient noise of mean 0 does not change the expected model of a round of averaging",
    _BIAS,
    "identity",
    instances=(20, 200),
    hypotheses=_INDEPENDENT,
)
def noise_has_no_bias(rng: np.random.Generator) -> Finding:
    s = Case(rng)
    s.taus = tuple(min(tau, 2) for tau in s.taus)
    noise = draw_noise(rng, len(s.model))
    law = _noisy_rounds(s, 1, noise ** sum(s.taus))
    mean = combination(list(law.values()), list(law))
    instance = s.instance | {"noise": str(noise)}
    return equal_to(norm2(mean - s.fed.round(s.model, s.eta, s.taus)), Fraction(0), instance=instance)


@claim(
    "constant-steps:noise-biases",
    "Gradient noise of mean 0 does not change the expected model of a strongly convex client either",
    Statement(FEDTHEORY, "bias of constant steps, without curvature", related=(PAPER, "Abstract"), form="derived"),
    "refuted conjecture",
    hypotheses=("one client, exact minimizer as the first model",),
    remark="with the slope w on the right and w/2 on the left, two steps of size 1/2 and noise +-1 lead to -1/16",
)
def noise_biases() -> Finding:
    law = Law.certain(Fraction(0))
    for _ in range(2):
        law = law.then(
            lambda w: Law.uniform([w - (max(w, Fraction(0)) + min(w, Fraction(0)) / 2 + sign) / 2 for sign in (1, -1)])
        )
    return equal_to(Fraction(law.mean(lambda w: w)), Fraction(0), instance={"step_size": "1/2", "steps": "2"})


def _variance(h: Fraction, eta: Fraction, tau: int) -> Fraction:
    """Return the variance that solves v = q^(2 tau) v + eta^2 (1 + q^2 + ... + q^(2 tau - 2)), q = 1 - eta h."""
    q = 1 - eta * h
    return eta**2 * sum((q ** (2 * s) for s in range(tau)), start=Fraction(0)) / (1 - q ** (2 * tau))


@claim(
    "constant-steps:price-of-extrapolation",
    "With equal curvatures, extrapolation from independent runs has at least six times the variance of averaging",
    _ROMBERG,
    hypotheses=(*_INDEPENDENT, "2 step_size < 2/L"),
    looseness=1.01,
)
def price_of_extrapolation(rng: np.random.Generator) -> Finding:
    h, tau = Fraction(whole(rng, 1, 40), 10), whole(rng, 1, 4)
    eta = pick(rng, [Fraction(whole(rng, 1, 15), 16), Fraction(1, 100)]) / h
    one, other = _variance(h, eta, tau), _variance(h, 2 * eta, tau)
    instance = {"curvature": str(h), "step_size": str(eta), "local_steps": tau}
    return at_least(4 * one + other, 6 * one, instance=instance)


@claim(
    "constant-steps:extrapolation-guess",
    "Extrapolation never increases the bias of averaging",
    _GUESS,
    "refuted conjecture",
    hypotheses=_LINEAR,
    remark="if sum_k p_k H_k h_k = 0, the bias is of order eta^2, and extrapolation multiplies it by about -2",
)
def extrapolation_guess() -> Finding:
    hessians = tuple((vector(h),) for h in (1, 2, 3))
    fed = StationaryPoints(hessians, (vector(-1), vector(1), vector("-1/3")), vector("1/3", "1/3", "1/3"))
    eta = Fraction(1, 100)
    before, after = fed.averaging(eta, (3, 3, 3)), fed.romberg(eta, 3)
    instance = {"curvatures": "1, 2, 3", "gradients": str(fed.gradients), "step_size": str(eta), "local_steps": "3"}
    return at_most(norm2(after - fed.minimizer), norm2(before - fed.minimizer), instance=instance)
