"""Optimal Client Sampling, Section 2 and Appendix E: identities (3), (6), (39), and samplings under Lemma 1."""

from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from fedtheory.bounds.optimal_client_sampling import PAPER, estimator_error
from fedtheory.claims._comparisons import Chain, step
from fedtheory.claims.optimal_client_sampling._situations import as_floats, draw_budget
from fedtheory.instances.formatting import format_vectors
from fedtheory.instances.sampled_rounds import inverse_estimate
from fedtheory.instances.vectors import Vector, combination, norm2, total, vector
from fedtheory.sampling.cohorts import Selection, independent, uniform_subsets, with_replacement
from fedtheory.sampling.probability_matrices import (
    admissibility_margin,
    estimator_variance,
    smallest_uniform_v,
    variance_bound,
)
from fedtheory.sampling.reference import rational_probabilities
from fedtheory.sampling.variances import variance
from fedtheory.statistics.law import Law
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import whole
from fedtheory.theorem.findings import Finding, at_least, at_most, equal_to, worst_of
from fedtheory.theorem.paper import FEDTHEORY, Statement

source = partial(Statement, PAPER)
_LEMMA_1 = source("Lemma 1", "eqs. (4), (5)")
_INDEPENDENT = "clients are sampled independently given the updates"
_PROPER = "the sampling is proper"
# Directions with rational unit vectors, so that norms of updates are rational as well.
_DIRECTIONS = tuple(vector(x, y) for x, y in ((1, 0), (0, 1), ("3/5", "4/5"), ("-4/5", "3/5"), ("5/13", "-12/13")))


def draw_updates(rng: np.random.Generator, num_clients: int) -> tuple[Vector, tuple[Vector, ...]]:
    """Draw weighted updates in the plane with rational norms; return norms and updates."""
    norms = Vector(Fraction(whole(rng, 0, 8), 4) for _ in range(num_clients))
    directions = (_DIRECTIONS[whole(rng, 0, len(_DIRECTIONS) - 1)] * (1 - 2 * whole(rng, 0, 1)) for _ in norms)
    return norms, tuple(norm * direction for norm, direction in zip(norms, directions, strict=True))


def draw_sampling(rng: np.random.Generator, num_clients: int) -> Law[Selection]:
    """Draw a sampling, possibly correlated, with positive inclusion probabilities."""
    clients = tuple(range(num_clients))
    sets = [clients, *(tuple(i for i in clients if whole(rng, 0, 1)) for _ in range(whole(rng, 1, 4)))]
    shares = [whole(rng, 1, 6) for _ in sets]
    return Law((chosen, Fraction(share, sum(shares))) for share, chosen in zip(shares, sets, strict=True))


def matrix_of(law: Law[Selection], num_clients: int) -> Any:
    """Return the probability matrix of a law as an object array of rationals."""

    def together(chosen: Selection) -> Any:
        drawn = np.array([Fraction(i in chosen) for i in range(num_clients)], dtype=object)
        return np.outer(drawn, drawn)

    return law.mean(together)


def exact(numbers: Any) -> Any:
    """Return an object array, which keeps rationals exact."""
    return np.array(numbers, dtype=object)


def enumerated_error(updates: tuple[Vector, ...], p: Vector, law: Law[Selection], target: Vector) -> Fraction:
    """Return the mean squared distance of the estimator from a target, over all sets of clients."""
    estimates = law.map(partial(inverse_estimate, updates, p))
    return Fraction(estimates.mean(lambda estimate: norm2(estimate - target)))


class Sampling:
    """Weighted updates u_i in the plane with norms t_i, and a sampling with its probability matrix P."""

    def __init__(self, rng: np.random.Generator, most: int) -> None:
        self.t, self.u = draw_updates(rng, whole(rng, 1, most))
        self.law = draw_sampling(rng, len(self.t))
        self.P = matrix_of(self.law, len(self.t))
        self.p = Vector(np.diagonal(self.P))
        self.instance = instance_of(self.u, self.p)

    @property
    def v(self) -> Any:
        """The smallest uniform v of (4) as a float."""
        return np.full(len(self.t), max(0.0, smallest_uniform_v(self.P.astype(float))))

    @property
    def floats(self) -> tuple[list[float], Any]:
        """Norms and marginals as floats."""
        return as_floats(self.t), np.array(self.p, dtype=float)


def instance_of(updates: tuple[Vector, ...], p: Vector) -> dict[str, Any]:
    """Format updates and probabilities."""
    return {"weighted updates": format_vectors(updates), "probabilities": str(p)}


def sampling(rng: np.random.Generator) -> list[Sampling]:
    return [Sampling(rng, most=5)]


@claim(
    "optimal-client-sampling:identity-6",
    "E |G - sum_i w_i U_i|^2 = sum_i (1/p_i - 1) w_i^2 |U_i|^2",
    source("Section 2 and Appendix B", "eqs. (6), (31)"),
    "identity",
    hypotheses=(_INDEPENDENT, "every probability is positive"),
)
def identity_6(rng: np.random.Generator) -> Finding:
    t, u = draw_updates(rng, whole(rng, 1, 5))
    p = Vector(Fraction(whole(rng, 1, 12), 12) for _ in t)
    measured = enumerated_error(u, p, independent(p), total(u))
    return equal_to(measured, Fraction(variance(exact(t), exact(p))), instance=instance_of(u, p))


@claim(
    "optimal-client-sampling:identity-3",
    "the error of G is the variance of the sampling plus the error of the exact average, even if p depends on U",
    estimator_error,
    "identity",
    hypotheses=("E [G | U] = sum_i w_i U_i", "E sum_i w_i U_i = grad f"),
)
def identity_3(rng: np.random.Generator) -> Finding:
    num_clients = whole(rng, 1, 4)
    outcomes = [draw_updates(rng, num_clients) for _ in range(3)]
    chances = vector("1/2", "1/3", "1/6")
    gradient = combination(chances, [total(u) for _, u in outcomes])
    m = draw_budget(rng, num_clients)
    measured = by_sampling = by_noise = Fraction(0)
    for chance, (t, u) in zip(chances, outcomes, strict=True):
        p = Vector(rational_probabilities(t, m))
        measured += chance * enumerated_error(u, p, independent(p), gradient)
        by_sampling += chance * Fraction(variance(exact(t), exact(p)))
        by_noise += chance * norm2(total(u) - gradient)
    predicted = Fraction(estimator_error(sampling_error=by_sampling, update_error=by_noise))
    return equal_to(measured, predicted, instance=instance_of(outcomes[0][1], Vector(())) | {"expected_size": str(m)})


@step(
    "optimal-client-sampling:equation-30",
    source("Appendix A", "eq. (30)"),
    sampling,
    kind="identity",
    hypotheses=(_PROPER,),
)
def equation_30(s: Sampling) -> Chain:
    """E |G - sum_i w_i U_i|^2 = sum_ij (P_ij - p_i p_j) <w_i U_i/p_i, w_j U_j/p_j> for every sampling"""
    return enumerated_error(s.u, s.p, s.law, total(s.u)), "=", Fraction(estimator_variance(s.P, exact(s.u)))


@claim(
    "optimal-client-sampling:lemma-1",
    "if P - p p' <= Diag(p v), the variance is at most sum_i w_i^2 (v_i / p_i) |U_i|^2",
    _LEMMA_1,
    hypotheses=(_PROPER, "v satisfies (4); here the smallest uniform v"),
    looseness=1.01,
)
def lemma_1(rng: np.random.Generator) -> Finding:
    (s,) = sampling(rng)
    (t, p), v = s.floats, s.v
    # For the smallest v an eigenvalue in (4) is zero, up to rounding.
    margin = admissibility_margin(s.P.astype(float), v)
    if margin < -1e-12:
        return at_least(margin, 0.0, instance=s.instance)
    return at_most(float(estimator_variance(s.P, exact(s.u))), variance_bound(t, p, v), instance=s.instance)


@step(
    "optimal-client-sampling:lemma-1-right",
    source("Lemma 1", "eq. (5), right-hand side", form="corrected"),
    sampling,
    kind="optimality",
    hypotheses=(_PROPER, "v satisfies (4)"),
)
def lemma_1_right(s: Sampling) -> Chain:
    """among samplings with given marginals, the independent one has the smallest RIGHT-hand side of (5)"""
    t, p = s.floats
    return variance_bound(t, p, np.maximum(1 - p, 0)), "<=", variance_bound(t, p, s.v)


def counterexamples() -> dict[str, tuple[Vector, Law[Selection]]]:
    """Return, by name, weighted one-dimensional updates and a correlated sampling with variance 0."""
    halves, thirds, unequal = vector("1/2", "1/2"), vector(*["1/3"] * 3), vector("1/2", "1/6", "1/3")
    return {
        "one of two, equal updates": (halves, with_replacement(halves, 1)),
        "one of three, proportional to the updates": (unequal, with_replacement(unequal, 1)),
        "two of three, equal updates": (thirds, uniform_subsets(3, 2)),
    }


@claim(
    "optimal-client-sampling:lemma-1-left",
    "independent sampling minimizes the LEFT-hand side of (5), the variance itself",
    source("Section 2.1", "after eq. (5)"),
    "erratum",
    hypotheses=(_PROPER,),
    remark="independent sampling minimizes the right-hand side, and the worst case over the directions for given norms",
)
def lemma_1_left() -> Finding:
    findings = []
    for name, (u, law) in counterexamples().items():
        P = matrix_of(law, len(u))
        correlated = Fraction(estimator_variance(P, exact([[x] for x in u])))
        best = rational_probabilities(u, Fraction(np.diagonal(P).sum()))
        findings.append(at_most(Fraction(variance(exact(u), exact(best))), correlated, instance={"sampling": name}))
    return worst_of(findings)


@step(
    "optimal-client-sampling:lemma-1-minimax",
    Statement(FEDTHEORY, "", related=(PAPER, "Remark 2"), form="refined"),
    lambda rng: [Sampling(rng, most=4)],
    kind="identity",
    hypotheses=(_PROPER,),
)
def lemma_1_minimax(s: Sampling) -> Chain:
    """averaged over the signs of the updates, every sampling has the variance of the independent one, so that none is
    better in the worst case for given norms"""
    signs = list(product((-1, 1), repeat=len(s.t)))
    flipped = (exact([sign * u for sign, u in zip(pattern, s.u, strict=True)]) for pattern in signs)
    mean = Fraction(sum(estimator_variance(s.P, vectors) for vectors in flipped)) / len(signs)
    return mean, "=", Fraction(variance(exact(s.t), exact(s.p)))


@claim(
    "optimal-client-sampling:identity-39",
    "with random availability the error of G has three parts: sampling, availability, and updates",
    source("Appendix E", "eqs. (39), (40)"),
    "identity",
    hypotheses=("the available set is independent of the updates", "its marginals q_i > 0 are known", _INDEPENDENT),
)
def identity_39(rng: np.random.Generator) -> Finding:
    num_clients = whole(rng, 1, 3)
    outcomes = [draw_updates(rng, num_clients) for _ in range(2)]
    chances, law = vector("1/3", "2/3"), draw_sampling(rng, num_clients)
    P = matrix_of(law, num_clients)
    q = Vector(np.diagonal(P))
    gradient = Vector(Fraction(whole(rng, -8, 8), 4) for _ in range(2))
    m = draw_budget(rng, num_clients)
    measured = by_sampling = by_availability = by_noise = Fraction(0)
    for chance, (t, u) in zip(chances, outcomes, strict=True):
        by_availability += chance * Fraction(estimator_variance(P, exact(u)))
        by_noise += chance * norm2(total(u) - gradient)
        weighted = tuple(x / q_i for x, q_i in zip(u, q, strict=True))
        for here, likelihood in law.items():
            # Eq. (40): the closed form for the norms t_i / q_i of the available clients.
            norms = [t[i] / q[i] if i in here else Fraction(0) for i in range(num_clients)]
            p = Vector(rational_probabilities(norms, m))
            measured += chance * likelihood * enumerated_error(weighted, p, independent(p), gradient)
            by_sampling += chance * likelihood * Fraction(variance(exact(norms), exact(p)))
    parts = by_sampling + by_availability + by_noise
    return equal_to(measured, parts, instance=instance_of(outcomes[0][1], q) | {"expected_size": str(m)})
