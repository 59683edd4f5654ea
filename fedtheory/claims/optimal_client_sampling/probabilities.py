"""Optimal Client Sampling: optimal probabilities (Lemma 20), approximate probabilities, and improvement factors."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds.optimal_client_sampling import PAPER
from fedtheory.claims._comparisons import Chain, step
from fedtheory.claims.optimal_client_sampling._situations import PROBLEM, Norms, norms
from fedtheory.instances.vectors import Vector, norm2, vector
from fedtheory.sampling.approximate import approximation_path
from fedtheory.sampling.certificates import certificate
from fedtheory.sampling.optimal import optimal_probabilities
from fedtheory.sampling.reference import rational_probabilities
from fedtheory.sampling.variances import relative_improvement_factor, variance
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import whole
from fedtheory.theorem.findings import Finding, at_most, equal_to, not_applicable, worst_of
from fedtheory.theorem.paper import FEDTHEORY, Statement

LEMMA_20 = Statement(PAPER, "Lemma 20", "eqs. (7), (32), (33)")
_ALGORITHM_2 = Statement(FEDTHEORY, "", related=(PAPER, "Algorithm 2"), form="derived")
_DEFINITION_11 = Statement(PAPER, "Definition 11", "eqs. (15), (16)")
_MANY: dict[str, Any] = {"hypotheses": (PROBLEM,), "instances": (200, 4000)}
_SOME: dict[str, Any] = {"hypotheses": (PROBLEM, "m < n and a norm is positive"), "instances": (200, 4000)}
_OPTIMAL: dict[str, Any] = {"hypotheses": (PROBLEM, "probabilities are the optimal ones"), "instances": (200, 4000)}
# Below this, a probability may have lost digits to underflow.
_TINY = 1e-290


def optimum(s: Norms) -> Vector:
    """The exact optimal probabilities."""
    return Vector(rational_probabilities(s.t, s.m))


@step(
    "optimal-client-sampling:closed-form",
    LEMMA_20,
    norms,
    kind="optimality",
    hypotheses=(PROBLEM,),
    instances=(300, 5000),
)
def closed_form(s: Norms) -> Chain:
    """the closed form satisfies the optimality conditions exactly, for every real budget"""
    return Fraction(certificate(s.array, rational_probabilities(s.t, s.m), s.m).residual), "=", 0


def rounding_check(probabilities: Callable[[Any, float], Any]) -> Callable[[np.random.Generator], Finding]:
    """Return a check that a floating-point function returns the exact optimum up to rounding."""

    def check(rng: np.random.Generator) -> Finding:
        (s,) = norms(rng)
        t, m = s.floats
        # Floats are rationals, so that the exact problem is the one with these inputs.
        exact, rounded = rational_probabilities(t, s.m), probabilities(t, m).tolist()
        pairs = [(a, float(b)) for a, b in zip(rounded, exact, strict=True) if b == 0 or b > _TINY]
        return worst_of([equal_to(0, 0), *(equal_to(a, b, instance=s.instance, rtol=1e-14) for a, b in pairs)])

    return check


rounded = claim(
    "optimal-client-sampling:closed-form-rounded",
    "optimal_probabilities equals the exact optimum to 14 digits, even for norms 500 orders of magnitude apart",
    LEMMA_20,
    "identity",
    hypotheses=(PROBLEM,),
    instances=(300, 5000),
)(rounding_check(optimal_probabilities))


def uniform(s: Norms) -> Vector:
    """Return the probabilities m/n."""
    return Vector([s.m / s.n] * s.n)


def spread(s: Norms, p: Vector) -> Fraction:
    """Return the exact variance of the independent sampling."""
    return Fraction(variance(s.array, np.array(p, dtype=object)))


def unrescaled(s: Norms) -> Chain:
    """Compare the variance of approximate sampling without rescaling with that of uniform sampling."""
    (p,) = map(Vector, approximation_path(s.array, s.m, 0))
    return spread(s, p), "<=", spread(s, uniform(s))


def one_pair_above(_: np.random.Generator) -> list[Norms]:
    return [Norms(vector(*[1] * 6, "199/100", "199/100"), Fraction(7))]


@step(
    "optimal-client-sampling:approximate-unrescaled",
    _ALGORITHM_2,
    one_pair_above,
    kind="refuted conjecture",
    hypotheses=(PROBLEM, "no rescaling is made"),
    instances=(1, 1),
)
def approximate_unrescaled(s: Norms) -> Chain:
    """without rescaling, approximate sampling has at most the variance of uniform sampling"""
    return unrescaled(s)


def moderate_norms(rng: np.random.Generator) -> list[Norms]:
    n = whole(rng, 2, 9)
    return [Norms(Vector(Fraction(whole(rng, 1, 20)) for _ in range(n)), Fraction(whole(rng, 1, 8 * n - 1), 8))]


@step(
    "optimal-client-sampling:approximate-unrescaled-as-stated",
    _ALGORITHM_2,
    moderate_norms,
    kind="refuted conjecture",
    hypotheses=("norms at least 0 and finite, 0 < m < n", "no rescaling is made"),
    remark="norms just below the cutoff lack the probability that is cut off at 1",
)
def approximate_unrescaled_as_stated(s: Norms) -> Chain:
    """without rescaling, approximate sampling has at most the variance of uniform sampling,
    for any norms and m < n"""
    return unrescaled(s)


def alpha(s: Norms) -> Fraction:
    """Return the exact improvement factor, or 0 if uniform sampling has variance 0."""
    most = spread(s, uniform(s))
    return spread(s, optimum(s)) / most if most else Fraction(0)


@step("optimal-client-sampling:improvement-range", _DEFINITION_11, norms, **_OPTIMAL)
def improvement_range(s: Norms) -> Chain:
    """0 <= alpha <= 1"""
    return Fraction(0), "<=", alpha(s), "<=", Fraction(1)


@step("optimal-client-sampling:relative-range", _DEFINITION_11, norms, **_OPTIMAL)
def relative_range(s: Norms) -> Chain:
    """m/n <= gamma <= 1"""
    return s.m / s.n, "<=", relative_improvement_factor(alpha(s), s.n, s.m), "<=", Fraction(1)


def _extreme(rng: np.random.Generator, value: int) -> Finding:
    """Check that alpha is 0 or 1 exactly for the norms for which it should be."""
    (s,) = norms(rng)
    if s.m == s.n or not any(s.t):
        return not_applicable(**s.instance)
    few, same = sum(x > 0 for x in s.t) <= s.m, len(set(s.t)) == 1
    return equal_to(int(alpha(s) == value), int(few if value == 0 else same), instance=s.instance)


improvement_whole = claim(
    "optimal-client-sampling:improvement-zero",
    "alpha = 0 if and only if at most m norms are positive",
    _DEFINITION_11,
    "identity",
    **_SOME,
)(lambda rng: _extreme(rng, 0))

improvement_none = claim(
    "optimal-client-sampling:improvement-one",
    "alpha = 1 if and only if all norms are equal",
    _DEFINITION_11,
    "identity",
    **_SOME,
)(lambda rng: _extreme(rng, 1))


@claim(
    "optimal-client-sampling:improvement-shorthand",
    "((sum t)^2 - m sum t^2) / ((n - m) sum t^2) <= alpha, with equality if no probability is cut off at 1",
    _DEFINITION_11,
    looseness=1.01,
    **_SOME,
)
def improvement_shorthand(rng: np.random.Generator) -> Finding:
    (s,) = norms(rng)
    if s.m == s.n or not any(s.t):
        return not_applicable(**s.instance)
    squares = norm2(s.t)
    shorthand = (sum(s.t) ** 2 - s.m * squares) / ((s.n - s.m) * squares)
    relate = equal_to if all(p < 1 for p in optimum(s)) else at_most
    return relate(shorthand, alpha(s), instance=s.instance)
