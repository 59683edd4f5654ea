"""Optimal Client Sampling, Section 2 and Appendix B: the closed form of the optimal probabilities, Lemma 20."""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from fedtheory.bounds.optimal_client_sampling import PAPER
from fedtheory.claims.optimal_client_sampling._checks import draw_problem
from fedtheory.errors import OracleError
from fedtheory.rational.draws import as_floats, whole
from fedtheory.rational.vectors import Vector
from fedtheory.sampling.certificates import certificate
from fedtheory.sampling.optimal import optimal_probabilities
from fedtheory.sampling.reference import rational_probabilities, reference_probabilities
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_least, at_most, equal_to, not_applicable, worst_of

LEMMA_20 = Statement(PAPER, "Lemma 20", "eqs. (7), (33)")
_PROBLEM = "norms at least 0 and finite, 0 < m <= n"
# Below this a probability may have lost digits to underflow.
_TINY = 1e-290


def objective(norms: Vector, probabilities: Any) -> Any:
    """``sum_i t_i^2 / p_i`` over positive norms, the objective of (32)."""
    return sum((t * t / p for t, p in zip(norms, probabilities, strict=True) if t), start=Fraction(0))


@claim(
    "optimal-client-sampling:closed-form",
    "the closed form satisfies the optimality conditions exactly, for every real budget",
    LEMMA_20,
    "optimality",
    hypotheses=(_PROBLEM,),
    instances=(300, 5000),
)
def closed_form(rng: np.random.Generator) -> Finding:
    norms, budget, instance = draw_problem(rng)
    found = certificate(np.array(norms, dtype=object), rational_probabilities(norms, budget), budget)
    return equal_to(Fraction(found.residual), Fraction(0), instance=instance)


def rounding_check(probabilities: Callable[[Any, float], Any]) -> Callable[[np.random.Generator], Finding]:
    """Make the check that a function for floats gives the exact optimum up to rounding."""

    def check(rng: np.random.Generator) -> Finding:
        norms, budget, instance = draw_problem(rng)
        # Every float is a rational: the exact problem is the one that the floats pose.
        exact = rational_probabilities(as_floats(norms), budget)
        rounded = probabilities(as_floats(norms), float(budget)).tolist()
        pairs = [(a, float(b)) for a, b in zip(rounded, exact, strict=True) if b == 0 or b > _TINY]
        return worst_of([equal_to(0, 0), *(equal_to(a, b, instance=instance, rtol=1e-14) for a, b in pairs)])

    return check


rounded = claim(
    "optimal-client-sampling:closed-form-rounded",
    "optimal_probabilities equals the exact optimum to 14 digits, for norms 500 orders of magnitude apart",
    LEMMA_20,
    "identity",
    hypotheses=(_PROBLEM,),
    instances=(300, 5000),
)(rounding_check(optimal_probabilities))


@claim(
    "optimal-client-sampling:closed-form-solver",
    "the closed form is not worse than what a convex solver finds",
    LEMMA_20,
    "optimality",
    hypotheses=(_PROBLEM, "the solver's answer passes our certificate"),
    instances=(20, 300),
)
def not_beaten_by_solver(rng: np.random.Generator) -> Finding:
    norms, budget, instance = draw_problem(rng)
    positive = [t for t in norms if t]
    if not positive or max(positive) > 10**6 * min(positive):
        return not_applicable("norms too far apart for a solver", **instance)
    try:
        theirs = reference_probabilities(as_floats(norms), float(budget))
    except OracleError as error:
        return not_applicable(str(error), **instance)
    ours = optimal_probabilities(as_floats(norms), float(budget))
    # The solver may overspend by 1e-8 and gain as much.
    return at_most(
        float(objective(norms, ours.tolist())), float(objective(norms, theirs.tolist())), instance=instance, rtol=2e-8
    )


@claim(
    "optimal-client-sampling:closed-form-moves",
    "moving probability from one client to another never lowers the variance",
    LEMMA_20,
    "optimality",
    hypotheses=(_PROBLEM, "somebody is sampled and somebody not always"),
    instances=(200, 4000),
)
def not_beaten_by_moves(rng: np.random.Generator) -> Finding:
    norms, budget, instance = draw_problem(rng)
    best = rational_probabilities(norms, budget)
    support = [i for i, t in enumerate(norms) if t]
    pairs = [(i, j) for i in support for j in support if i != j and best[i] > 0 and best[j] < 1]
    if not pairs:
        return not_applicable(**instance)
    giver, taker = pairs[whole(rng, 0, len(pairs) - 1)]
    moved = list(best)
    step = min(best[giver], 1 - best[taker]) * Fraction(whole(rng, 1, 9), 10)
    moved[giver] -= step
    moved[taker] += step
    return at_least(objective(norms, moved), objective(norms, best), instance=instance | {"moved": f"{giver}, {taker}"})


def equivariance_check(probabilities: Callable[[Any, float], Any]) -> Callable[[np.random.Generator], Finding]:
    """Make the check that permuting the clients permutes their probabilities."""

    def check(rng: np.random.Generator) -> Finding:
        norms, budget, instance = draw_problem(rng)
        order = np.argsort([rng.random() for _ in norms])
        straight = probabilities(as_floats(norms), float(budget))[order].tolist()
        # Zeros follow any permutation: somebody must have what the largest norm asks for.
        least = min(1.0, float(budget) / len(norms)) if any(norms) else 0.0
        permuted = probabilities(np.array(as_floats(norms))[order], float(budget)).tolist()
        instance |= {"order": order.tolist()}
        pairs = [(a, b) for a, b in zip(permuted, straight, strict=True) if max(a, b) > _TINY]
        return worst_of(
            [at_least(max(straight), least, instance=instance), *(equal_to(a, b, instance=instance) for a, b in pairs)]
        )

    return check


equivariant = claim(
    "optimal-client-sampling:closed-form-equivariant",
    "the optimal probabilities follow a permutation of the clients",
    LEMMA_20,
    "identity",
    hypotheses=(_PROBLEM,),
    instances=(200, 4000),
)(equivariance_check(optimal_probabilities))


@claim(
    "optimal-client-sampling:closed-form-monotone",
    "larger norms and larger budgets never have smaller optimal probabilities",
    LEMMA_20,
    hypotheses=(_PROBLEM,),
    instances=(200, 4000),
    looseness=1.01,
)
def monotone(rng: np.random.Generator) -> Finding:
    norms, budget, instance = draw_problem(rng)
    p = rational_probabilities(norms, budget)
    more = rational_probabilities(norms, (budget + len(norms)) / 2)
    by_norm = [q for _, q in sorted(zip(norms, p, strict=True))]
    pairs = [*pairwise(by_norm), *zip(p, more, strict=True)]
    return worst_of(at_most(low, high, instance=instance) for low, high in pairs)
