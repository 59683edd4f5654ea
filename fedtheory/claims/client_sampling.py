"""Aggregation weights of multinomial, clustered and uniform sampling: covariances and one step, over all outcomes."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import client_sampling as cs
from fedtheory.instances.draws import draw_model, draw_shares
from fedtheory.instances.formatting import format_vectors
from fedtheory.instances.vectors import Vector, combination, norm2
from fedtheory.sampling.aggregation_weights import (
    clustered_covariance,
    clustered_distributions,
    multinomial_covariance,
    uniform_covariance,
)
from fedtheory.sampling.cohorts import uniform_subsets, with_replacement
from fedtheory.statistics.law import Law
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import as_texts, pick, whole
from fedtheory.theorem.findings import Finding, at_least, at_most, equal_to
from fedtheory.theorem.paper import FEDTHEORY, Paper, Statement

CLUSTERED = Paper(
    key="clustered-sampling",
    title="Clustered Sampling: Low-Variance and Improved Representativity for Clients Selection in Federated Learning",
    authors="Fraboni, Vidal, Kameni, Lorenzi",
    year=2021,
    url="https://arxiv.org/abs/2105.05883",
    basis="abstract",
)
_COVARIANCE = Statement(
    FEDTHEORY, "covariance of the aggregation weights", related=(cs.PAPER, "Abstract"), form="derived"
)
_UNIFORM = Statement(FEDTHEORY, "multinomial and uniform sampling", related=(cs.PAPER, "Abstract"), form="derived")
_READING = Statement(FEDTHEORY, "uniform sampling, one reading", related=(cs.PAPER, "Abstract"), form="derived")
_CLUSTERED = Statement(FEDTHEORY, "clustered sampling", related=(CLUSTERED, "Abstract"), form="derived")
_MEAN = ("the mean of the distributions of the draws is p",)


class Draws:
    """Weights p, and m distributions over the clients whose mean is p."""

    def __init__(self, rng: np.random.Generator, weights: Vector | None = None) -> None:
        self.p = draw_shares(rng, whole(rng, 2, 4)) if weights is None else weights
        self.m, how = whole(rng, 1, 3), whole(rng, 0, 2)
        if how == 0:  # multinomial sampling
            self.rows = (self.p,) * self.m
        else:
            self.rows = tuple(map(Vector, clustered_distributions(self.p, self.m)))
        if how == 2:  # a mixture of both
            share = Fraction(whole(rng, 1, 7), 8)
            self.rows = tuple(share * row + (1 - share) * self.p for row in self.rows)

    @property
    def law(self) -> Law[tuple[int, ...]]:
        """Law of the m drawn clients."""
        return Law.product(*(Law(enumerate(row)) for row in self.rows))

    @property
    def instance(self) -> dict[str, Any]:
        """The numbers as text."""
        return {"weights": str(self.p), "distributions": format_vectors(self.rows)}


def _square(x: Vector) -> Any:
    """Return ``x x'``."""
    entries = np.array(x, dtype=object)
    return np.outer(entries, entries)


def _enumerated(law: Law[tuple[int, ...]], factors: Vector) -> Any:
    """Return the covariance of the weights ``factors_k`` times the copies of client k."""
    weights = law.map(lambda chosen: Vector(factor * chosen.count(k) for k, factor in enumerate(factors)))
    mean = combination(list(weights.values()), list(weights))
    return sum(chance * _square(one - mean) for one, chance in weights.items())


@claim(
    "client-sampling:covariances",
    "The covariances of the aggregation weights in closed form are those of all outcomes of the sampling",
    _COVARIANCE,
    "identity",
    hypotheses=("sampling is multinomial, clustered, or uniform without replacement",),
)
def covariances(rng: np.random.Generator) -> Finding:
    s = Draws(rng)
    K, m = len(s.p), s.m
    mean = Vector([Fraction(1, m)] * K)
    match whole(rng, 0, 2):
        case 0:
            how, law, factors, found = "multinomial", with_replacement(s.p, m), mean, multinomial_covariance(s.p, m)
        case 1:
            how, law, factors, found = "clustered", s.law, mean, clustered_covariance(s.rows)
        case _:
            m = min(m, K)
            how, law, factors = "uniform", uniform_subsets(K, m), Fraction(K, m) * s.p
            found = uniform_covariance(s.p, m)
    off = ((found - _enumerated(law, factors)) ** 2).sum()
    return equal_to(Fraction(off), Fraction(0), instance=s.instance | {"sampling": how})


@claim(
    "client-sampling:clustered-gain",
    "Clustered sampling reduces the covariance of multinomial sampling by sum_i (r_i - p)(r_i - p)' / m^2",
    _CLUSTERED,
    "identity",
    hypotheses=_MEAN,
)
def clustered_gain(rng: np.random.Generator) -> Finding:
    s = Draws(rng)
    gain = sum(_square(row - s.p) for row in s.rows) / s.m**2
    off = multinomial_covariance(s.p, s.m) - clustered_covariance(s.rows) - gain
    return equal_to(Fraction((off**2).sum()), Fraction(0), instance=s.instance)


@claim(
    "client-sampling:clustered-variance",
    "The variance of any update is at most that of multinomial sampling",
    _CLUSTERED,
    hypotheses=_MEAN,
    looseness=1.01,
)
def clustered_variance(rng: np.random.Generator) -> Finding:
    s = Draws(rng)
    updates = np.array(draw_model(rng, len(s.p)), dtype=object)
    clustered, multinomial = (
        Fraction(updates @ covariance @ updates)
        for covariance in (clustered_covariance(s.rows), multinomial_covariance(s.p, s.m))
    )
    return at_most(clustered, multinomial, instance=s.instance | {"updates": str(Vector(updates))})


@claim(
    "client-sampling:clustered-inclusion",
    "Each client is sampled with at least the probability that multinomial sampling has, 1 - (1 - p_k)^m",
    _CLUSTERED,
    hypotheses=_MEAN,
    looseness=1.01,
)
def clustered_inclusion(rng: np.random.Generator) -> Finding:
    s = Draws(rng)
    k = whole(rng, 0, len(s.p) - 1)
    included = 1 - math.prod((1 - row[k] for row in s.rows), start=Fraction(1))
    return at_least(included, 1 - (1 - s.p[k]) ** s.m, instance=s.instance | {"client": k})


@claim(
    "client-sampling:uniform-or-multinomial",
    "The variance of the weights of multinomial sampling exceeds that of uniform sampling by (1 - (K - m + 1) |p|^2)/m",
    _UNIFORM,
    "identity",
    hypotheses=("uniform sampling is without replacement, with the weights K p_k / m",),
)
def uniform_or_multinomial(rng: np.random.Generator) -> Finding:
    p = pick(rng, [draw_shares(rng, whole(rng, 2, 5)), Vector([Fraction(1, 4)] * 4)])
    m = whole(rng, 1, len(p))
    more = np.trace(multinomial_covariance(p, m)) - np.trace(uniform_covariance(p, m))
    instance = as_texts({"weights": p, "num_selected": m})
    return equal_to(Fraction(more), (1 - (len(p) - m + 1) * norm2(p)) / m, instance=instance)


@claim(
    "client-sampling:unequal-data-guess",
    "Multinomial weights have at most the variance of uniform ones unless all clients have equally much data",
    _READING,
    "refuted conjecture",
    hypotheses=("uniform sampling is without replacement, with the weights K p_k / m",),
    remark="uniform sampling has the smaller sum of variances whenever |p|^2 < 1/(K - m + 1), also for unequal p",
)
def unequal_data_guess() -> Finding:
    p = Vector([Fraction(3, 10), Fraction(3, 10), Fraction(4, 10)])
    sides = (Fraction(np.trace(one(p, 2))) for one in (multinomial_covariance, uniform_covariance))
    return at_most(*sides, instance={"weights": str(p), "num_selected": "2"})


@claim(
    "client-sampling:sum-of-weights",
    "The sum of the weights of uniform sampling has the variance (K - m)/(m (K - 1)) (K |p|^2 - 1); it is 1 on average",
    _UNIFORM,
    "identity",
    hypotheses=("uniform sampling is without replacement, with the weights K p_k / m",),
)
def sum_of_weights(rng: np.random.Generator) -> Finding:
    p = draw_shares(rng, whole(rng, 2, 5))
    m = whole(rng, 1, len(p))
    law = uniform_subsets(len(p), m).map(lambda chosen: Fraction(len(p), m) * sum(p[k] for k in chosen))
    variance = Fraction(law.mean(lambda total: (total - 1) ** 2))
    expected = Fraction(len(p) - m, m * (len(p) - 1)) * (len(p) * norm2(p) - 1)
    return equal_to(variance, expected, instance=as_texts({"weights": p, "num_selected": m}))
