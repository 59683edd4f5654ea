"""Optimal Client Sampling: the approximate algorithm (AOCS) and the improvement factors alpha and gamma."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np

from fedtheory.bounds.optimal_client_sampling import PAPER
from fedtheory.claims.optimal_client_sampling._checks import draw_problem
from fedtheory.rational.draws import norms_in_words, whole
from fedtheory.rational.vectors import Vector
from fedtheory.sampling.approximate import approximation_path
from fedtheory.sampling.reference import rational_probabilities
from fedtheory.sampling.variances import relative_improvement_factor, variance
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_least, at_most, equal_to, not_applicable, worst_of

_ALGORITHM_2 = Statement(PAPER, "Algorithm 2", form="derived")
_DEFINITION_11 = Statement(PAPER, "Definition 11", "eqs. (15), (16)")
_PROBLEM = "norms at least 0 and finite, 0 < m <= n"


def enough_rescalings(norms: Vector, budget: Fraction) -> int:
    """Rescalings after which the approximate probabilities are the optimal ones."""
    num_positive = sum(t > 0 for t in norms)
    return math.ceil(budget) - 1 if num_positive > budget else max(num_positive - 1, 0)


def _path(norms: Vector, budget: Fraction, extra: int = 0) -> list[list[Fraction]]:
    steps = approximation_path(np.array(norms, dtype=object), budget, enough_rescalings(norms, budget) + extra)
    return [[Fraction(p) for p in probabilities] for probabilities in steps]


@claim(
    "optimal-client-sampling:approximate-budget",
    "the approximate probabilities never sum to more than m, after any number of rescalings",
    _ALGORITHM_2,
    hypotheses=(_PROBLEM,),
    instances=(200, 4000),
    looseness=1.01,
)
def approximate_budget(rng: np.random.Generator) -> Finding:
    norms, budget, instance = draw_problem(rng)
    sums = [sum(p, start=Fraction(0)) for p in _path(norms, budget)]
    return worst_of(at_most(spent, budget, instance=instance) for spent in sums)


@claim(
    "optimal-client-sampling:approximate-increasing",
    "every rescaling brings every approximate probability nearer to its optimal value, from below",
    _ALGORITHM_2,
    hypotheses=(_PROBLEM,),
    instances=(200, 4000),
    looseness=1.01,
)
def approximate_increasing(rng: np.random.Generator) -> Finding:
    norms, budget, instance = draw_problem(rng)
    path = [*_path(norms, budget), rational_probabilities(norms, budget)]
    return worst_of(
        at_most(before, after, instance=instance)
        for low, high in pairwise(path)
        for before, after in zip(low, high, strict=True)
    )


@claim(
    "optimal-client-sampling:approximate-exact",
    "ceil(m) - 1 rescalings make the approximate probabilities optimal (q - 1 if only q <= m norms are positive)",
    _ALGORITHM_2,
    "identity",
    hypotheses=(_PROBLEM,),
    instances=(200, 4000),
)
def approximate_exact(rng: np.random.Generator) -> Finding:
    norms, budget, instance = draw_problem(rng)
    pairs = zip(_path(norms, budget)[-1], rational_probabilities(norms, budget), strict=True)
    return worst_of(equal_to(found, best, instance=instance) for found, best in pairs)


@claim(
    "optimal-client-sampling:approximate-attained",
    "for norms 1, 10^6, 10^12, ... and a whole m, m - 1 rescalings are needed",
    _ALGORITHM_2,
    "identity",
    hypotheses=("norms t_i = 10^(6 i), m whole, n > m",),
)
def approximate_attained(rng: np.random.Generator) -> Finding:
    budget = whole(rng, 2, 10)
    norms = tuple(Fraction(10) ** (6 * i) for i in range(budget + whole(rng, 1, 4)))
    best = rational_probabilities(norms, budget)
    needed = next(j for j, p in enumerate(_path(norms, Fraction(budget), extra=2)) if p == best)
    return equal_to(needed, budget - 1, instance=norms_in_words(norms, Fraction(budget)))


def uniform(norms: Vector, budget: Fraction) -> Vector:
    """Probabilities m/n."""
    return (budget / len(norms),) * len(norms)


def spread(norms: Vector, probabilities: Vector | list[Fraction]) -> Fraction:
    """Variance of the independent sampling, exactly."""
    exact = variance(np.array(norms, dtype=object), np.array(probabilities, dtype=object))
    return Fraction(exact)


@claim(
    "optimal-client-sampling:approximate-unrescaled",
    "without rescaling, the approximate sampling has at most the variance of the uniform one",
    _ALGORITHM_2,
    "refuted conjecture",
    hypotheses=(_PROBLEM, "no rescaling is made"),
)
def approximate_unrescaled() -> Finding:
    norms = (Fraction(1),) * 6 + (Fraction(199, 100),) * 2
    start = [Fraction(p) for p in approximation_path(np.array(norms, dtype=object), 7, 0)[0]]
    budget = Fraction(7)
    return at_most(spread(norms, start), spread(norms, uniform(norms, budget)), instance=norms_in_words(norms, budget))


@claim(
    "optimal-client-sampling:approximate-unrescaled-as-stated",
    "without rescaling, the approximate sampling has at most the variance of the uniform one, for any norms and m < n",
    _ALGORITHM_2,
    "refuted conjecture",
    hypotheses=("norms at least 0 and finite, 0 < m < n", "no rescaling is made"),
    remark="what a cut at 1 takes away is missing where the norms are just below",
)
def approximate_unrescaled_as_stated(rng: np.random.Generator) -> Finding:
    num_clients = whole(rng, 2, 9)
    norms = tuple(Fraction(whole(rng, 1, 20)) for _ in range(num_clients))
    budget = Fraction(whole(rng, 1, 8 * num_clients - 1), 8)
    start = [Fraction(p) for p in approximation_path(np.array(norms, dtype=object), budget, 0)[0]]
    return at_most(spread(norms, start), spread(norms, uniform(norms, budget)), instance=norms_in_words(norms, budget))


def improvement(norms: Vector, budget: Fraction) -> Fraction:
    """Improvement factor alpha, exactly; 0 where nothing can be improved."""
    most = spread(norms, uniform(norms, budget))
    return spread(norms, rational_probabilities(norms, budget)) / most if most else Fraction(0)


@claim(
    "optimal-client-sampling:improvement-range",
    "0 <= alpha <= 1",
    _DEFINITION_11,
    hypotheses=(_PROBLEM, "probabilities are the optimal ones"),
    instances=(200, 4000),
    looseness=1.01,
)
def improvement_range(rng: np.random.Generator) -> Finding:
    norms, budget, instance = draw_problem(rng)
    alpha = improvement(norms, budget)
    return worst_of([at_most(Fraction(0), alpha, instance=instance), at_most(alpha, Fraction(1), instance=instance)])


@claim(
    "optimal-client-sampling:relative-range",
    "m/n <= gamma <= 1",
    _DEFINITION_11,
    hypotheses=(_PROBLEM, "probabilities are the optimal ones"),
    instances=(200, 4000),
    looseness=1.01,
)
def relative_range(rng: np.random.Generator) -> Finding:
    norms, budget, instance = draw_problem(rng)
    gamma = relative_improvement_factor(improvement(norms, budget), len(norms), budget)
    lower = at_least(gamma, budget / len(norms), instance=instance)
    return worst_of([lower, at_most(gamma, Fraction(1), instance=instance)])


def _equality(rng: np.random.Generator, *, value: int) -> Finding:
    norms, budget, instance = draw_problem(rng)
    if budget == len(norms) or not any(norms):
        return not_applicable(**instance)
    few, same = sum(t > 0 for t in norms) <= budget, len(set(norms)) == 1
    reached = improvement(norms, budget) == value
    return equal_to(int(reached), int(few if value == 0 else same), instance=instance)


improvement_whole = claim(
    "optimal-client-sampling:improvement-zero",
    "alpha = 0 exactly when at most m norms are positive",
    _DEFINITION_11,
    "identity",
    hypotheses=(_PROBLEM, "m < n and a norm is positive"),
    instances=(200, 4000),
)(lambda rng: _equality(rng, value=0))

improvement_none = claim(
    "optimal-client-sampling:improvement-one",
    "alpha = 1 exactly when all norms are equal",
    _DEFINITION_11,
    "identity",
    hypotheses=(_PROBLEM, "m < n and a norm is positive"),
    instances=(200, 4000),
)(lambda rng: _equality(rng, value=1))


@claim(
    "optimal-client-sampling:improvement-shorthand",
    "((sum t)^2 - m sum t^2) / ((n - m) sum t^2) <= alpha, with equality when no probability is cut at 1",
    _DEFINITION_11,
    hypotheses=(_PROBLEM, "m < n and a norm is positive"),
    instances=(200, 4000),
    looseness=1.01,
)
def improvement_shorthand(rng: np.random.Generator) -> Finding:
    norms, budget, instance = draw_problem(rng)
    if budget == len(norms) or not any(norms):
        return not_applicable(**instance)
    squares = sum((t * t for t in norms), start=Fraction(0))
    shorthand = (sum(norms, start=Fraction(0)) ** 2 - budget * squares) / ((len(norms) - budget) * squares)
    alpha = improvement(norms, budget)
    if all(p < 1 for p in rational_probabilities(norms, budget)):
        return equal_to(shorthand, alpha, instance=instance)
    return at_most(shorthand, alpha, instance=instance)
