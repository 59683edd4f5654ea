"""SCAFFOLD: client sampling, and a refuted rate of a round."""

from fractions import Fraction

import numpy as np

from fedtheory import worst_case
from fedtheory.bounds import scaffold as sc
from fedtheory.instances.draws import draw_federation
from fedtheory.instances.formatting import format_federation
from fedtheory.instances.vectors import combination, norm2
from fedtheory.statistics.law import Law
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import as_texts, whole
from fedtheory.theorem.findings import Finding, at_most, equal_to
from fedtheory.theorem.paper import FEDTHEORY, Statement

_GUESS = Statement(
    FEDTHEORY, "the exact rate of a round, suggested by two examples", related=(sc.PAPER, "Algorithm 1"), form="derived"
)


@claim(
    "scaffold:exact-rate-guess",
    "A round of SCAFFOLD contracts by the larger of c^(2 tau) and (1 - C_L/tau)^2, C_L = sum of (1 - eta L)^i",
    _GUESS,
    "refuted conjecture",
    hypotheses=("eta L <= 1",),
    remark="both rates are attained; for eta L <= 1 random programs exceed the larger one by at most half a percent",
)
def exact_rate_guess() -> Finding:
    mu, L, eta, tau = Fraction(1, 2), Fraction(1), Fraction(1, 2), 3
    lower = worst_case.scaffold(tau, eta, mu=mu, L=L).enclosure[0]
    steep = sum(((1 - eta * L) ** i for i in range(tau)), start=Fraction(0))
    guess = max((1 - eta * mu) ** (2 * tau), (1 - steep / tau) ** 2)
    given = {"mu": mu, "L": L, "step_size": eta, "local_steps": tau}
    return at_most(lower, guess, instance=as_texts(given))


@claim(
    "scaffold:client-sampling",
    "SCAFFOLD is not affected by client sampling",
    Statement(sc.PAPER, "Abstract"),
    "erratum",
    remark=(
        "for control variates of 0 the minimizer 1 is a fixed point of both clients together; a round of one of them"
        " moves the model by the step size"
    ),
)
def client_sampling() -> Finding:
    eta, model, centers = Fraction(1, 2), Fraction(1), (0, 2)
    after = Law.uniform(centers).mean(lambda center: (model - eta * (model - center) - 1) ** 2)
    known = {"curvatures": "(1, 1)", "centers": str(centers), "w_0": 1, "step_size": str(eta), "local_steps": 1}
    return at_most(after, Fraction(0), instance=known)


@claim(
    "scaffold:client-sampling-in-the-limit",
    "For control variates grad F_k(w*), no step of any client moves the minimizer, so that sampling has no effect",
    Statement(FEDTHEORY, "any sampling", related=(sc.PAPER, "Algorithm 1"), form="derived"),
    "identity",
)
def client_sampling_in_the_limit(rng: np.random.Generator) -> Finding:
    fed, tau = draw_federation(rng), whole(rng, 1, 4)
    eta = Fraction(whole(rng, 1, 10), 10) / fed.smoothness
    variates = fed.gradients(fed.minimizer)
    mean, moved = combination(fed.weights, variates), Fraction(0)
    for k, variate in enumerate(variates):
        w = fed.minimizer
        for _ in range(tau):
            w -= eta * (fed.gradient(k, w) - variate + mean)
        moved += norm2(w - fed.minimizer)
    run = {"step_size": eta, "local_steps": tau}
    return equal_to(moved, Fraction(0), instance=format_federation(fed) | as_texts(run))
