"""Averaging with a fixed step size and its extrapolation: two false beliefs about the bias."""

from fractions import Fraction

from fedtheory.instances.stationary_points import StationaryPoints
from fedtheory.instances.vectors import norm2, vector
from fedtheory.statistics.law import Law
from fedtheory.theorem.claims import claim
from fedtheory.theorem.findings import Finding, at_most, equal_to
from fedtheory.theorem.paper import FEDTHEORY, Paper, Statement

PAPER = Paper(
    key="constant-steps",
    title="Refined Analysis of Federated Averaging's Bias and Federated Richardson-Romberg Extrapolation",
    authors="Mangold, Durmus, Dieuleveut, Samsonov, Moulines",
    year=2024,
    url="https://arxiv.org/abs/2412.01389",
    basis="abstract",
)
_GUESS = Statement(
    FEDTHEORY, "Richardson-Romberg extrapolation, one reading", related=(PAPER, "Abstract"), form="derived"
)
_LINEAR = ("all clients take part with a fixed step size",)


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
