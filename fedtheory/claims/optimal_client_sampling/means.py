"""Optimal Client Sampling: means of alpha and of gamma that must not be taken, on their smallest instances."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.claims.optimal_client_sampling._checks import landing
from fedtheory.rational._sampled_rounds import SampledRound, optimal_law, uniform_law
from fedtheory.rational.quadratics import opposite_clients
from fedtheory.rational.vectors import Vector, vector
from fedtheory.sampling.variances import variance
from fedtheory.statistics.law import Law
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most


@claim(
    "optimal-client-sampling:mean-of-alpha",
    "the variance by sampling is (alpha (n - m)/m) E sum_i t_i^2 with the mean of alpha over the updates",
    Statement(ocs.PAPER, "Definition 11", "eq. (15), its alpha averaged", form="variant"),
    "refuted conjecture",
    instances=(1, 1),
    remark="alpha is a ratio of expectations",
)
def mean_of_alpha(_: np.random.Generator) -> Finding:
    # Norms (1, 1) or (1, 0), each with probability 1/2, and m = 1 of n = 2: alpha is 1 or 0.
    cases = (vector(1, 1), vector(1, 0))
    variances = [_variance(norms, optimal_law(Fraction(1))(tuple((t,) for t in norms))) for norms in cases]
    uniform = [_variance(norms, vector("1/2", "1/2")) for norms in cases]
    alpha = sum(least / even for least, even in zip(variances, uniform, strict=True)) / 2
    return at_most(sum(variances) / 2, alpha * sum(uniform) / 2, instance={"norms": "(1, 1) or (1, 0)", "m": 1, "n": 2})


def _variance(norms: Vector, probabilities: Vector) -> Fraction:
    return Fraction(variance(np.array(norms, dtype=object), np.array(probabilities, dtype=object)))


@claim(
    "optimal-client-sampling:mean-of-gamma",
    "over rounds that start from different models E |G|^2 is that of one gamma, the mean of theirs: 1/E[gamma^k]",
    Statement(ocs.PAPER, "Theorem 13", "over several rounds, with 1/E[gamma^k]", form="variant"),
    "refuted conjecture",
    instances=(1, 1),
    remark="E[1/gamma^k] is larger, by Jensen's inequality",
)
def mean_of_gamma(_: np.random.Generator) -> Finding:
    # Weighted updates of lengths (1, 1) or (7/5, 1/5), whose squares sum to 2; m = 1 of n = 2: gamma = 1/2 or 25/32.
    rounds = Law.uniform([_two_updates(vector(1, 1)), _two_updates(vector("7/5", "1/5"))])
    predicted = ocs.estimator_second_moment(
        squared_weight_update2=rounds.mean(lambda each: each.squared_weight_update2),
        mean_update2=rounds.mean(lambda each: each.mean_update2),
        gamma=rounds.mean(lambda each: each.gamma),
    )
    measured = Fraction(rounds.mean(lambda each: each.second_moment))
    return at_most(measured, predicted, instance={"updates": "(1, 1) or (7/5, 1/5)", "m": 1, "n": 2})


def _two_updates(weighted: Vector) -> SampledRound:
    """Return a round of DSGD in which two clients of weight 1/2 have these weighted gradients."""
    return SampledRound(
        lambda client, _: (2 * weighted[client],),
        vector("1/2", "1/2"),
        vector(0),
        optimal_law(Fraction(1)),
        Fraction(1),
    )


@claim(
    "optimal-client-sampling:contraction-mean-of-gamma",
    "Theorem 13, expected over rounds in which gamma^k is random, holds with 1/E[gamma^k] for E[1/gamma^k]",
    Statement(ocs.PAPER, "Theorem 13", "expected over rounds, with 1/E[gamma^k]", form="variant"),
    "refuted conjecture",
    instances=(1, 1),
    remark="the budget is drawn anew in each round; for a fixed one and optimal sampling no instance is known",
)
def contraction_mean_of_gamma(_: np.random.Generator) -> Finding:
    # From x* = 0 a coin decides whether both opposite clients are sampled (gamma = 1) or one is expected (1/2).
    fed, step_size = opposite_clients(), Fraction(1, 4)
    rounds = Law.uniform(
        SampledRound(fed.gradient, fed.weights, fed.minimizer, uniform_law(p), step_size) for p in vector(1, "1/2")
    )
    predicted = ocs.dsgd_contraction(
        Fraction(0),
        step_size=step_size,
        mu=Fraction(1),
        L=Fraction(1),
        smallest_gamma=Fraction(1, 2),
        mean_inverse_gamma=1 / rounds.mean(lambda each: each.gamma),
        max_weight=Fraction(1, 2),
        sum_squared_weights=Fraction(1, 2),
        relative_noise=Fraction(0),
        sigma2=Fraction(0),
        objective_gap=fed.objective_gap,
    )
    measured = Fraction(rounds.mean(lambda each: landing(each, fed)))
    words = {"clients": "(x - 1)^2/2, (x + 1)^2/2", "x": "0 = x*", "p": "1 or 1/2, by a coin", "step_size": "1/4"}
    return at_most(measured, predicted, instance=words)
