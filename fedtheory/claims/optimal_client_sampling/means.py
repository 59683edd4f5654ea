"""Optimal Client Sampling: means of alpha and of gamma that must not be taken, on their smallest instances."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.law import Law
from fedtheory.paper import Statement
from fedtheory.rational.sampled_rounds import SampledRound, optimal_law
from fedtheory.rational.vectors import Vector, vector
from fedtheory.sampling.variances import variance
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most


@claim(
    "optimal-client-sampling:mean-of-alpha",
    "the variance by sampling is (alpha (n - m)/m) E sum_i t_i^2 with the mean of alpha over the updates",
    Statement(ocs.PAPER, "Definition 11", "eq. (15), its alpha averaged", form="variant"),
    "erratum",
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
    "erratum",
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
