"""Power-of-Choice, Appendix B: the steps of the proofs of Lemmas B.1 to B.3, at one time and along a round."""

import itertools
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.rational._averaging import RationalRun, mean_weights
from fedtheory.rational._constants import client_gradient_bound
from fedtheory.rational._noises import no_noise
from fedtheory.rational._paths import LocalPath, first_round
from fedtheory.rational._rounds import Snapshot
from fedtheory.rational._run_draws import draw_run
from fedtheory.rational._words import federation_in_words, in_words
from fedtheory.rational.draws import draw_federation, draw_model, whole
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import Vector, combination, difference, inner, norm2, vector
from fedtheory.sampling.cohorts import power_of_choice
from fedtheory.statistics.law import Law
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


_HALVING = "step sizes do not increase and at most halve within a round"


class Pair(NamedTuple):
    """The first round of a run of two active copies, with the step t that eqs. (16) to (20) speak about."""

    run: RationalRun
    round: Law[tuple[LocalPath, ...]]
    step: int
    instance: dict[str, Any]

    @property
    def sizes(self) -> Vector:
        """Step sizes of the round."""
        return tuple(self.run.step_size(step) for step in range(self.run.local_steps))

    def differences(self, pair: tuple[LocalPath, ...]) -> list[Vector]:
        """Return ``g_k' - g_k`` at all steps of the round."""
        one, other = pair
        return [difference(a, b) for a, b in zip(other.gradients, one.gradients, strict=True)]

    def apart(self, pair: tuple[LocalPath, ...]) -> Vector:
        """Return ``w_k - w_k'`` at step t."""
        one, other = pair
        return difference(one.models[self.step], other.models[self.step])

    def right_of_17(self, pair: tuple[LocalPath, ...]) -> Fraction:
        """Right side of eq. (17) for one of the two pairs."""
        squares = sum(map(norm2, self.differences(pair)), start=Fraction(0))
        return self.sizes[0] ** 2 * self.run.local_steps * squares

    def right_of_18(self, pair: tuple[LocalPath, ...]) -> Fraction:
        """Right side of eq. (18) for one of the two pairs."""
        squares = sum((norm2(g) for work in pair for g in work.gradients), start=Fraction(0))
        return 2 * self.sizes[0] ** 2 * self.run.local_steps * squares


def draw_pair(rng: np.random.Generator) -> Pair:
    """Draw a run of two active copies whose rounds are so short that step sizes at most halve."""
    run, _, instance = draw_run(rng, longest_round=5, smallest_cohort=2)
    step = whole(rng, 0, run.local_steps - 1)
    return Pair(run, first_round(run), step, {**instance, "step": step})


@claim(
    "power-of-choice:equation-16",
    "w_k_t - w_k'_t is the sum of eta_i (g_k' - g_k) over the steps i < t of the round",
    Statement(poc.PAPER, _LEMMA_B2, "eq. (16)", form="corrected"),
    "identity",
)
def equation_16(rng: np.random.Generator) -> Finding:
    drawn = draw_pair(rng)

    def compared(pair: tuple[LocalPath, ...]) -> Finding:
        nowhere = (Fraction(0),) * drawn.run.federation.dim
        used, differences = drawn.sizes[: drawn.step], drawn.differences(pair)[: drawn.step]
        moved = combination((Fraction(0), *used), [nowhere, *differences])
        return equal_to(norm2(difference(drawn.apart(pair), moved)), 0, instance=drawn.instance)

    return worst_of(map(compared, drawn.round))


@claim(
    "power-of-choice:equation-17",
    "|w_k'_t - w_k_t|^2 <= eta_t0^2 tau sum_i |g_k' - g_k|^2 over all steps of the round",
    Statement(poc.PAPER, _LEMMA_B2, "eqs. (16)-(17)", form="corrected"),
    hypotheses=("step sizes do not increase within a round",),
    looseness=1.5,
    remark="by Cauchy-Schwarz from the corrected (16); only t - t0 <= tau - 1 of the tau steps have been made",
)
def equation_17(rng: np.random.Generator) -> Finding:
    drawn = draw_pair(rng)
    return worst_of(
        at_most(norm2(drawn.apart(pair)), drawn.right_of_17(pair), instance=drawn.instance) for pair in drawn.round
    )


@claim(
    "power-of-choice:equation-18",
    "|g_k' - g_k|^2 <= 2 |g_k'|^2 + 2 |g_k|^2, summed as in eqs. (17) and (18)",
    Statement(poc.PAPER, _LEMMA_B2, "eq. (18)"),
    looseness=1.01,
)
def equation_18(rng: np.random.Generator) -> Finding:
    drawn = draw_pair(rng)
    return worst_of(
        at_most(drawn.right_of_17(pair), drawn.right_of_18(pair), instance=drawn.instance) for pair in drawn.round
    )


def right_of_20(sizes: Vector, G2: Fraction, num_selected: int) -> Fraction:
    """Right side of eq. (20), summed over the pairs of distinct copies and the steps of the round."""
    copies = range(num_selected)
    summed = sum((2 * G2 for i, j in itertools.product(copies, repeat=2) if i != j for _ in sizes), start=Fraction(0))
    return 2 * sizes[0] ** 2 * len(sizes) / num_selected**2 * summed


@claim(
    "power-of-choice:equations-19-20",
    "The expected sum over pairs of eq. (18), and so of |w_k'_t - w_k_t|^2, with G2 for each squared gradient",
    Statement(poc.PAPER, _LEMMA_B2, "eqs. (19)-(20)", form="corrected"),
    hypotheses=("E[|g_k|^2 | S] <= G2 for the active copies",),
    looseness=1.01,
)
def equations_19_20(rng: np.random.Generator) -> Finding:
    drawn = draw_pair(rng)
    G2 = client_gradient_bound(replace(drawn.run, num_steps=drawn.run.local_steps))
    # Each of the two ordered pairs of copies counts, with the factor 1/m^2 = 1/4.
    left_of_19 = drawn.round.mean(lambda pair: norm2(drawn.apart(pair))) / 2
    right_of_19 = drawn.round.mean(drawn.right_of_18) / 2
    return worst_of(
        [
            at_most(left_of_19, right_of_19, instance=drawn.instance),
            at_most(right_of_19, right_of_20(drawn.sizes, G2, 2), instance={**drawn.instance, "G2": str(G2)}),
        ]
    )


def second_round() -> tuple[Fraction, Fraction, dict[str, Any]]:
    """Return E|g|^2 of the copies that pow-d selects in round 2, and of the client for whom it is largest."""
    one, half, share = vector(1), Fraction(1, 2), Fraction(1, 4)
    fed = RationalQuadratics((one,) * 4, (one, one, vector(-1), vector(-1)), (share,) * 4, (Fraction(0),) * 4)
    run = RationalRun(
        federation=fed,
        select=lambda w: power_of_choice(fed.weights, fed.losses(w), 2, 4),
        local_steps=1,
        step_size=lambda _: half,
        initial=vector(0),
        num_steps=1,
        noise=no_noise(1),
    )
    second = run.snapshots[1]
    active = Fraction(second.mean(lambda at: at.mean(lambda k, w: norm2(fed.gradient(k, w)))))

    def squared(client: int, at: Snapshot) -> Fraction:
        return norm2(fed.gradient(client, at.average))

    largest = max(second.mean(partial(squared, k)) for k in range(4))
    words = {**federation_in_words(fed), "law": "power of choice, 2 of 4", "step_size": "1/2", "initial": "0"}
    return active, Fraction(largest), words


@claim(
    "power-of-choice:equation-20-marginal",
    "Eq. (20) with G2 as in Assumption 3.4, a bound on E |g_k|^2 for every client that does not condition on S",
    Statement(poc.PAPER, _LEMMA_B2, "eqs. (19)-(20)"),
    "erratum",
    remark="a selection by losses prefers large gradients; G2 has to bound E[|g_k|^2 | S]",
)
def equation_20_marginal() -> Finding:
    active, largest, words = second_round()
    eta = Fraction(1, 2)
    right_of_19 = 2 * eta**2 / 4 * 2 * 2 * active  # two ordered pairs, two squares each
    return at_most(right_of_19, right_of_20((eta,), largest, 2), instance={**words, "G2": str(largest), "step": 1})


class Round(NamedTuple):
    """Step sizes of a round that at most halve, with a bound on gradients and a number of copies."""

    sizes: Vector
    G2: Fraction
    num_selected: int

    @property
    def right_of_21(self) -> Fraction:
        """Right side of eq. (21)."""
        m, tau = self.num_selected, len(self.sizes)
        return 2 * self.sizes[0] ** 2 * tau / m**2 * (m * (m - 1) * 2 * tau * self.G2)

    @property
    def right_of_22(self) -> Fraction:
        """Right side of eq. (22)."""
        m = self.num_selected
        return 16 * self.sizes[-1] ** 2 * (m - 1) * len(self.sizes) ** 2 * self.G2 / m

    @property
    def in_words(self) -> dict[str, Any]:
        """The numbers."""
        return {"step sizes": in_words(self.sizes), "G2": str(self.G2), "num_selected": self.num_selected}


def draw_round(rng: np.random.Generator) -> Round:
    """Draw step sizes from the round's first down to half of it."""
    tau, first = whole(rng, 1, 4), Fraction(whole(rng, 1, 8), 8)
    falls = sorted((whole(rng, 8, 16) for _ in range(tau - 1)), reverse=True)
    sizes = (first, *(first * fall / 16 for fall in falls))
    return Round(sizes, Fraction(whole(rng, 1, 12), 2), whole(rng, 1, 40))


@claim(
    "power-of-choice:equations-21-22",
    "The m (m - 1) pairs with tau steps each, and eta_t0 <= 2 eta_t, give 16 eta_t^2 (m - 1) tau^2 G2/m",
    Statement(poc.PAPER, _LEMMA_B2, "eqs. (21)-(22)"),
    hypotheses=(_HALVING,),
    looseness=1.01,
)
def equations_21_22(rng: np.random.Generator) -> Finding:
    drawn = draw_round(rng)
    counted = right_of_20(drawn.sizes, drawn.G2, min(drawn.num_selected, 3))
    few = drawn._replace(num_selected=min(drawn.num_selected, 3))
    return worst_of(
        [
            equal_to(counted, few.right_of_21, instance=few.in_words),
            at_most(drawn.right_of_21, drawn.right_of_22, instance=drawn.in_words),
        ]
    )


@claim(
    "power-of-choice:equation-23",
    "16 eta_t^2 (m - 1) tau^2 G2/m <= 16 eta_t^2 tau^2 G2",
    Statement(poc.PAPER, _LEMMA_B2, "eq. (23)"),
    looseness=1.05,
    remark="attained for many copies only; Lemma B.2 itself needs 4 (tau - 1)^2 in the place of 16 tau^2",
)
def equation_23(rng: np.random.Generator) -> Finding:
    drawn = draw_round(rng)
    bound = poc.client_drift.printed(drawn.sizes[-1], local_steps=len(drawn.sizes), G2=drawn.G2)
    return at_most(drawn.right_of_22, bound, instance=drawn.in_words)
