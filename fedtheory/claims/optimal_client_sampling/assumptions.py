"""Optimal Client Sampling, Section 3: Definitions 5 and 6 and Assumptions 7 and 9, on the problems used here."""

from fractions import Fraction
from functools import partial

import numpy as np

from fedtheory.bounds.optimal_client_sampling import PAPER
from fedtheory.rational._round_draws import draw_phi_round, draw_quadratic_round
from fedtheory.rational._words import federation_in_words, in_words
from fedtheory.rational.draws import draw_federation, draw_model, draw_phi, pick, whole
from fedtheory.rational.vectors import Vector, combination, difference, inner, norm2
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to, worst_of


@claim(
    "optimal-client-sampling:equations-8-9",
    "f_i(y) - f_i(x) - <grad f_i(x), y - x> >= mu/2 |y - x|^2 and |grad f_i(x) - grad f_i(y)| <= L |x - y|: quadratics",
    Statement(PAPER, "Definitions 5 and 6", "eqs. (8)-(9)"),
    looseness=1.01,
)
def equations_8_9(rng: np.random.Generator) -> Finding:
    fed, findings = draw_federation(rng), []
    x, y = draw_model(rng, fed.dim), draw_model(rng, fed.dim)
    instance = {**federation_in_words(fed), "x": in_words(x), "y": in_words(y)}
    for k in range(fed.num_clients):
        step, slopes = difference(y, x), (fed.gradient(k, x), fed.gradient(k, y))
        above = fed.excess(k, y) - fed.excess(k, x) - inner(slopes[0], step)
        findings += [
            at_most(fed.strong_convexity / 2 * norm2(step), above, instance=instance),
            at_most(norm2(difference(*slopes)), fed.smoothness**2 * norm2(step), instance=instance),
        ]
    return worst_of(findings)


@claim(
    "optimal-client-sampling:smooth-wells",
    "|grad f_i(x) - grad f_i(y)| <= L |x - y| with L = 2 max a_i for the wells a_i t^2/(1 + t^2)",
    Statement(PAPER, "Definition 6", "eq. (9)"),
    looseness=1.01,
)
def smooth_wells(rng: np.random.Generator) -> Finding:
    clients, findings = draw_phi(rng, 2), []
    unit = pick(rng, [Fraction(1), Fraction(1, 16)])
    for k, center in enumerate(clients.centers):
        x, y = ((center + unit * Fraction(whole(rng, -8, 8), 4),) for _ in range(2))
        apart = norm2(difference(clients.gradient(k, x), clients.gradient(k, y)))
        words = {"amplitudes": in_words(clients.amplitudes), "client": k, "x, y": f"{x[0]}, {y[0]}"}
        findings.append(at_most(apart, clients.smoothness**2 * norm2(difference(x, y)), instance=words))
    return worst_of(findings)


def _distance2(left: Vector, right: Vector) -> Fraction:
    return norm2(difference(left, right))


@claim(
    "optimal-client-sampling:assumption-7",
    "E g_i = grad f_i and E |g_i - grad f_i|^2 = M |grad f_i|^2 + sigma2; so E |g_i|^2 = (1 + M) |grad f_i|^2 + sigma2",
    Statement(PAPER, "Assumption 7", "eqs. (10)-(11)"),
    "identity",
    hypotheses=("the noise is the one of the rounds that are followed exactly",),
)
def assumption_7(rng: np.random.Generator) -> Finding:
    drawn, _, instance = draw_quadratic_round(rng)
    known, findings = drawn.constants, []
    for law, gradient in zip(drawn.clients, drawn.gradients(), strict=True):
        square, M, sigma2 = norm2(gradient), known["relative_noise"], known["sigma2"]
        mean = combination(list(law.values()), [path.update for path in law])
        noise = law.map(lambda path: path.update).mean(partial(_distance2, gradient))
        findings += [
            equal_to(norm2(difference(mean, gradient)), Fraction(0), instance=instance),
            equal_to(noise, M * square + sigma2, instance=instance),
            equal_to(law.mean(lambda path: norm2(path.update)), (1 + M) * square + sigma2, instance=instance),
        ]
    return worst_of(findings)


@claim(
    "optimal-client-sampling:remark-10",
    "sum_i w_i |grad f_i - grad f|^2 = sum_i w_i |grad f_i|^2 - |grad f|^2, at most rho for the wells",
    Statement(PAPER, "Assumption 9 and Remark 10", "eq. (14)"),
    looseness=1.01,
)
def remark_10(rng: np.random.Generator) -> Finding:
    drawn, clients, instance = draw_phi_round(rng)
    gradients, weights = drawn.gradients(), clients.weights
    mean = combination(weights, gradients)
    apart = inner(weights, [norm2(difference(g, mean)) for g in gradients])
    squares = inner(weights, [norm2(g) for g in gradients])
    return worst_of(
        [
            equal_to(apart, squares - norm2(mean), instance=instance),
            at_most(apart, squares, instance=instance),
            at_most(apart, clients.dissimilarity, instance=instance),
        ]
    )
