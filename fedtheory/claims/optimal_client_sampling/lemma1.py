"""Optimal Client Sampling, Section 2 and Appendix E: identities (3), (6), (39), and samplings under Lemma 1."""

from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from fedtheory.bounds.optimal_client_sampling import PAPER, estimator_error
from fedtheory.rational._sampled_rounds import inverse_estimate
from fedtheory.rational._words import in_words
from fedtheory.rational.draws import as_floats, draw_budget, draw_law, draw_updates, matrix_of, whole
from fedtheory.rational.vectors import Vector, combination, difference, norm2
from fedtheory.sampling.availability import available_probabilities, error_parts
from fedtheory.sampling.cohorts import Selection, independent, uniform_subsets, with_replacement
from fedtheory.sampling.correlated import JointLaw
from fedtheory.sampling.probability_matrices import (
    admissibility_margin,
    estimator_variance,
    smallest_uniform_v,
    variance_bound,
)
from fedtheory.sampling.reference import rational_probabilities
from fedtheory.sampling.variances import variance
from fedtheory.statistics.law import Law
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_least, at_most, equal_to, worst_of

_LEMMA_1 = Statement(PAPER, "Lemma 1", "eqs. (4), (5)")
_INDEPENDENT = "clients are sampled independently given the updates"


def exact(numbers: Any) -> Any:
    """Make an object array, which keeps rationals exact."""
    return np.array(numbers, dtype=object)


def total(updates: tuple[Vector, ...]) -> Vector:
    """``sum_i u_i``."""
    return combination([Fraction(1)] * len(updates), updates)


def enumerated_error(
    updates: tuple[Vector, ...], probabilities: Vector, law: Law[Selection], target: Vector
) -> Fraction:
    """Mean squared distance of the estimator from a target, over all sets of clients."""
    estimates = law.map(partial(inverse_estimate, updates, probabilities))
    return Fraction(estimates.mean(lambda estimate: norm2(difference(estimate, target))))


@claim(
    "optimal-client-sampling:identity-6",
    "E |G - sum_i w_i U_i|^2 = sum_i (1/p_i - 1) w_i^2 |U_i|^2",
    Statement(PAPER, "Section 2", "eq. (6)"),
    "identity",
    hypotheses=(_INDEPENDENT, "every probability is positive"),
)
def independent_variance(rng: np.random.Generator) -> Finding:
    norms, updates = draw_updates(rng, whole(rng, 1, 5))
    p = tuple(Fraction(whole(rng, 1, 12), 12) for _ in norms)
    measured = enumerated_error(updates, p, independent(p), total(updates))
    return equal_to(measured, Fraction(variance(exact(norms), exact(p))), instance=_words(updates, p))


@claim(
    "optimal-client-sampling:identity-3",
    "the error of G is the variance by sampling plus the error of the exact average, also when p depends on U",
    estimator_error,
    "identity",
    hypotheses=("E [G | U] = sum_i w_i U_i", "E sum_i w_i U_i = grad f"),
)
def decomposition(rng: np.random.Generator) -> Finding:
    num_clients = whole(rng, 1, 4)
    outcomes = [draw_updates(rng, num_clients) for _ in range(3)]
    chances = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6))
    gradient = combination(chances, [total(updates) for _, updates in outcomes])
    budget = draw_budget(rng, num_clients)
    measured = sampling = noise = Fraction(0)
    for chance, (norms, updates) in zip(chances, outcomes, strict=True):
        p = tuple(rational_probabilities(norms, budget))
        measured += chance * enumerated_error(updates, p, independent(p), gradient)
        sampling += chance * Fraction(variance(exact(norms), exact(p)))
        noise += chance * norm2(difference(total(updates), gradient))
    predicted = Fraction(estimator_error(sampling_error=sampling, update_error=noise))
    return equal_to(measured, predicted, instance=_words(outcomes[0][1], ()) | {"expected_size": str(budget)})


@claim(
    "optimal-client-sampling:equation-30",
    "E |G - sum_i w_i U_i|^2 = sum_ij (P_ij - p_i p_j) <w_i U_i/p_i, w_j U_j/p_j> for every sampling",
    Statement(PAPER, "Appendix A", "eq. (30)"),
    "identity",
    hypotheses=("the sampling is proper",),
)
def quadratic_form(rng: np.random.Generator) -> Finding:
    _, updates = draw_updates(rng, whole(rng, 1, 5))
    law = draw_law(rng, len(updates))
    together = matrix_of(law, len(updates))
    p = tuple(np.diagonal(together))
    predicted = Fraction(estimator_variance(together, exact(updates)))
    return equal_to(enumerated_error(updates, p, law, total(updates)), predicted, instance=_words(updates, p))


@claim(
    "optimal-client-sampling:lemma-1",
    "if P - p p' <= Diag(p v), the variance is at most sum_i w_i^2 (v_i / p_i) |U_i|^2",
    _LEMMA_1,
    hypotheses=("the sampling is proper", "v satisfies (4); here the smallest uniform one"),
    looseness=1.01,
)
def lemma_1(rng: np.random.Generator) -> Finding:
    norms, updates = draw_updates(rng, whole(rng, 1, 5))
    law = draw_law(rng, len(norms))
    together = matrix_of(law, len(norms))
    p = np.diagonal(together).astype(float)
    v = np.full(len(norms), max(0.0, smallest_uniform_v(together.astype(float))))
    bound = variance_bound(as_floats(norms), p, v)
    instance = _words(updates, tuple(np.diagonal(together)))
    # The smallest v sits on the edge of (4): an eigenvalue of zero, up to rounding.
    margin = admissibility_margin(together.astype(float), v)
    if margin < -1e-12:
        return at_least(margin, 0.0, instance=instance)
    return at_most(float(estimator_variance(together, exact(updates))), bound, instance=instance)


@claim(
    "optimal-client-sampling:lemma-1-right",
    "among samplings with given marginals the independent one has the least RIGHT-hand side of (5)",
    Statement(PAPER, "Lemma 1", "eq. (5), right-hand side", form="corrected"),
    "optimality",
    hypotheses=("the sampling is proper", "v satisfies (4)"),
)
def right_side(rng: np.random.Generator) -> Finding:
    norms, updates = draw_updates(rng, whole(rng, 1, 5))
    together = matrix_of(draw_law(rng, len(norms)), len(norms))
    p = np.diagonal(together).astype(float)
    v = np.full(len(norms), max(0.0, smallest_uniform_v(together.astype(float))))
    t = as_floats(norms)
    instance = _words(updates, tuple(np.diagonal(together)))
    return at_most(variance_bound(t, p, np.maximum(1 - p, 0)), variance_bound(t, p, v), instance=instance)


def counterexamples() -> dict[str, tuple[Vector, Law[Selection]]]:
    """Weighted one-dimensional updates and a correlated sampling whose variance is 0, by name."""
    half, third = Fraction(1, 2), Fraction(1, 3)
    unequal = (half, Fraction(1, 6), third)
    return {
        "one of two, equal updates": ((half, half), with_replacement((half, half), 1)),
        "one of three, proportional to the updates": (unequal, with_replacement(unequal, 1)),
        "two of three, equal updates": ((third, third, third), uniform_subsets(3, 2)),
    }


@claim(
    "optimal-client-sampling:lemma-1-left",
    "independent sampling minimizes the LEFT-hand side of (5), the variance itself",
    Statement(PAPER, "Section 2.1", "after eq. (5)"),
    "erratum",
    hypotheses=("the sampling is proper",),
    remark="independent sampling minimizes the right-hand side, and the worst case over directions of given norms",
)
def left_side() -> Finding:
    findings = []
    for name, (updates, law) in counterexamples().items():
        together = matrix_of(law, len(updates))
        correlated = Fraction(estimator_variance(together, exact([[u] for u in updates])))
        best = rational_probabilities(updates, Fraction(np.diagonal(together).sum()))
        findings.append(
            at_most(Fraction(variance(exact(updates), exact(best))), correlated, instance={"sampling": name})
        )
    return worst_of(findings)


@claim(
    "optimal-client-sampling:lemma-1-minimax",
    "averaged over the signs of the updates, every sampling has the variance of the independent one: if only "
    "norms are known, none is better in the worst case",
    Statement(PAPER, "Remark 2", form="refined"),
    "identity",
    hypotheses=("the sampling is proper",),
)
def minimax(rng: np.random.Generator) -> Finding:
    norms, updates = draw_updates(rng, whole(rng, 1, 4))
    together = matrix_of(draw_law(rng, len(norms)), len(norms))
    p = tuple(np.diagonal(together))
    signs = list(product((-1, 1), repeat=len(norms)))
    flipped = (exact([[s * x for x in u] for s, u in zip(pattern, updates, strict=True)]) for pattern in signs)
    mean = Fraction(sum(estimator_variance(together, vectors) for vectors in flipped)) / len(signs)
    return equal_to(mean, Fraction(variance(exact(norms), exact(p))), instance=_words(updates, p))


@claim(
    "optimal-client-sampling:identity-39",
    "with random availability the error of G has three parts: sampling, availability, and the updates",
    Statement(PAPER, "Appendix E", "eqs. (39), (40)"),
    "identity",
    hypotheses=("the available set is independent of the updates", "its marginals q_i > 0 are known", _INDEPENDENT),
)
def availability(rng: np.random.Generator) -> Finding:
    num_clients = whole(rng, 1, 3)
    drawn = [draw_updates(rng, num_clients)[1] for _ in range(2)]
    chances = (Fraction(1, 3), Fraction(2, 3))
    law = draw_law(rng, num_clients)
    q = np.diagonal(matrix_of(law, num_clients))
    gradient = tuple(Fraction(whole(rng, -8, 8), 4) for _ in range(2))
    budget = float(draw_budget(rng, num_clients))
    measured = 0.0
    for (chance, updates), (here, likelihood) in product(zip(chances, drawn, strict=True), law.items()):
        weighted = [tuple(x / q[i] for x in u) for i, u in enumerate(updates)]
        lengths = np.sqrt([float(norm2(u)) for u in updates])
        available = np.isin(np.arange(num_clients), here)
        p = available_probabilities(lengths, budget, available, q.astype(float))
        rounded = tuple(Fraction(x) for x in p.tolist())
        measured += float(
            chance * likelihood * enumerated_error(tuple(weighted), rounded, independent(rounded), gradient)
        )
    parts = error_parts(
        np.array(drawn, dtype=float),
        as_floats(chances),
        JointLaw.of(law, num_clients),
        as_floats(gradient),
        partial(_rule, budget, q.astype(float)),
    )
    return equal_to(measured, parts.total, instance=_words(drawn[0], tuple(q)) | {"expected_size": budget})


def _rule(budget: float, q: Any, norms: Any, available: Any) -> Any:
    return available_probabilities(norms, budget, available, q)


def _words(updates: tuple[Vector, ...], probabilities: Vector) -> dict[str, Any]:
    return {
        "weighted updates": ", ".join(in_words(u) for u in updates),
        "probabilities": in_words(probabilities),
    }
