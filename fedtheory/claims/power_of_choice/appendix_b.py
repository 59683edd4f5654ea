"""Power-of-Choice, Appendix B: the steps of the proofs of Lemmas B.1 and B.3, and those of Lemma B.2 at one time."""

import itertools
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.rational._rounds import Snapshot
from fedtheory.rational._words import federation_in_words, in_words
from fedtheory.rational.averaging import mean_weights
from fedtheory.rational.draws import draw_federation, draw_model, whole
from fedtheory.rational.vectors import Vector, combination, difference, inner, norm2
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_least, at_most, equal_to, worst_of

_LEMMA_B2 = "Lemma B.2"


@claim(
    "power-of-choice:equations-10-11",
    "F_k(w) - F_k(v) - <grad F_k(v), w - v> >= |grad F_k(w) - grad F_k(v)|^2/(2 L), and so at the minimizer v = w_k*",
    Statement(poc.PAPER, "Lemma B.1", "eqs. (10)-(11)"),
    hypotheses=("F_k is convex and L-smooth",),
    looseness=1.01,
)
def equations_10_11(rng: np.random.Generator) -> Finding:
    fed = draw_federation(rng)
    k, w = whole(rng, 0, fed.num_clients - 1), draw_model(rng, fed.dim)
    L = max(fed.curvatures[k])

    def step_10(v: Vector) -> Finding:
        above_tangent = fed.excess(k, w) - fed.excess(k, v) - inner(fed.gradient(k, v), difference(w, v))
        apart = norm2(difference(fed.gradient(k, w), fed.gradient(k, v)))
        return at_least(above_tangent, apart / (2 * L), instance={**instance, "v": in_words(v)})

    instance = {**federation_in_words(fed), "client": k, "w": in_words(w)}
    step_11 = at_least(fed.excess(k, w), norm2(fed.gradient(k, w)) / (2 * L), instance=instance)
    return worst_of([step_10(fed.centers[k]), step_10(draw_model(rng, fed.dim)), step_11])


class Cohort(NamedTuple):
    """Models of the active copies, with their average and the sums over pairs of the proof of Lemma B.2."""

    at: Snapshot

    @property
    def from_mean_of_differences(self) -> Fraction:
        """Right side of eq. (13)."""
        share = mean_weights(self.at.chosen)
        toward = ([difference(other, w) for other in self.at.local] for w in self.at.local)
        return inner(share, [norm2(combination(share, differences)) for differences in toward])

    def pairs(self, *, distinct: bool) -> Fraction:
        """Return the sum over pairs of copies of eq. (14), or that over distinct ones of eq. (15)."""
        everybody = enumerate(self.at.local)
        squares = (
            norm2(difference(one, other))
            for (i, one), (j, other) in itertools.product(everybody, repeat=2)
            if i != j or not distinct
        )
        return sum(squares, start=Fraction(0)) / len(self.at.local) ** 2


def draw_cohort(rng: np.random.Generator) -> tuple[Cohort, dict[str, Any]]:
    """Draw one to four models in one or two dimensions."""
    size, dim = whole(rng, 1, 4), whole(rng, 1, 2)
    models = tuple(draw_model(rng, dim) for _ in range(size))
    chosen = tuple(range(size))
    average = combination(mean_weights(chosen), models)
    cohort = Cohort(Snapshot(average, chosen, mean_weights(chosen), models, average))
    return cohort, {"models": "; ".join(map(in_words, models))}


@claim(
    "power-of-choice:equations-13-15",
    "1/m sum_k |w_bar - w_k|^2 = 1/m sum_k |1/m sum_k' (w_k' - w_k)|^2 <= 1/m^2 sum_{k, k'} |w_k' - w_k|^2, k != k'",
    Statement(poc.PAPER, _LEMMA_B2, "eqs. (13)-(15)"),
    looseness=4,
    remark="the right side of (14) is exactly twice the left one, see equation-14-twice",
)
def equations_13_15(rng: np.random.Generator) -> Finding:
    cohort, instance = draw_cohort(rng)
    return worst_of(
        [
            equal_to(cohort.at.drift, cohort.from_mean_of_differences, instance=instance),
            at_most(cohort.from_mean_of_differences, cohort.pairs(distinct=False), instance=instance),
            equal_to(cohort.pairs(distinct=False), cohort.pairs(distinct=True), instance=instance),
        ]
    )


@claim(
    "power-of-choice:equation-14-twice",
    "1/m^2 sum_{k, k'} |w_k' - w_k|^2 = 2/m sum_k |w_bar - w_k|^2, where eq. (14) has at least once",
    Statement(poc.PAPER, _LEMMA_B2, "eq. (14)", form="refined"),
    "identity",
)
def equation_14_twice(rng: np.random.Generator) -> Finding:
    cohort, instance = draw_cohort(rng)
    return equal_to(cohort.pairs(distinct=False), 2 * cohort.at.drift, instance=instance)


@claim(
    "power-of-choice:equations-25-26",
    "|w_bar - w*|^2 = |1/m sum_k (w_k - w*)|^2 <= 1/m sum_k |w_k - w*|^2",
    Statement(poc.PAPER, "Lemma B.3", "eqs. (25)-(26)"),
    looseness=1.01,
)
def equations_25_26(rng: np.random.Generator) -> Finding:
    cohort, instance = draw_cohort(rng)
    at, best = cohort.at, draw_model(rng, len(cohort.at.average))
    squares = [norm2(difference(w, best)) for w in at.local]
    of_mean = norm2(combination(at.coefficients, [difference(w, best) for w in at.local]))
    instance = {**instance, "w*": in_words(best)}
    return worst_of(
        [
            equal_to(norm2(difference(at.average, best)), of_mean, instance=instance),
            at_most(of_mean, at.spread(best), instance=instance),
            equal_to(poc.averaged_distance(list(map(float, squares))), float(at.spread(best)), instance=instance),
        ]
    )
