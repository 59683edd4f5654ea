"""Power-of-Choice, Appendix B: Lemmas B.1 to B.3 and the steps of their proofs, at one step and along a round."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._comparisons import Chain, step
from fedtheory.claims._quadratics import Model, any_model
from fedtheory.claims.power_of_choice._situations import CURVATURE, NOISE, Step, all_steps
from fedtheory.instances.draws import draw_federation, draw_model
from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.formatting import format_federation, format_vectors
from fedtheory.instances.noise import no_noise
from fedtheory.instances.observed import client_gradient_bound
from fedtheory.instances.run_draws import draw_run
from fedtheory.instances.runs import RationalRun, Snapshot, mean_weights
from fedtheory.instances.vectors import Vector, average, norm2, vector
from fedtheory.sampling.cohorts import power_of_choice
from fedtheory.statistics.law import Law
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import whole
from fedtheory.theorem.findings import Finding, at_most
from fedtheory.theorem.paper import FEDTHEORY, Statement

lemma = partial(Statement, poc.PAPER)


class TwoModels(NamedTuple):
    """A client and two models."""

    fed: RationalQuadratics
    k: int
    w: Vector
    v: Vector
    instance: dict[str, Any]


def two_models(rng: np.random.Generator) -> list[TwoModels]:
    fed = draw_federation(rng)
    k, w, v = whole(rng, 0, fed.num_clients - 1), draw_model(rng, fed.dim), draw_model(rng, fed.dim)
    return [TwoModels(fed, k, w, v, {**format_federation(fed), "client": k, "w": str(w), "v": str(v)})]


@step(
    "power-of-choice:equations-10-11",
    lemma("Lemma B.1", "eqs. (10)-(11)"),
    two_models,
    hypotheses=("F_k is convex and L-smooth",),
)
def equations_10_11(s: TwoModels) -> list[Chain]:
    """F_k(w) - F_k(v) - <grad F_k(v), w - v> >= |grad F_k(w) - grad F_k(v)|^2/(2 L),
    and so at the minimizer v = w_k*"""
    F, grad, k, w, L = s.fed.excess, s.fed.gradient, s.k, s.w, max(s.fed.curvatures[s.k])

    def line_10(v: Vector) -> Chain:
        return F(k, w) - F(k, v) - grad(k, v) @ (w - v), ">=", norm2(grad(k, w) - grad(k, v)) / (2 * L)

    return [line_10(s.fed.centers[k]), line_10(s.v), (F(k, w), ">=", norm2(grad(k, w)) / (2 * L))]


@step("power-of-choice:lemma-b1", poc.gradient_norm, any_model)
def lemma_b1(s: Model) -> list[Chain]:
    """|grad F_k(w)|^2 <= 2 L (F_k(w) - F_k*)"""
    fed, w = s.fed, s.w
    return [
        (norm2(fed.gradient(k, w)), "<=", poc.gradient_norm(fed.excess(k, w), L=max(fed.curvatures[k])))
        for k in range(fed.num_clients)
    ]


class Cohort(NamedTuple):
    """Models of the active copies, sums over pairs from the proof of Lemma B.2, and an arbitrary w*."""

    at: Snapshot
    best: Vector
    instance: dict[str, Any]

    @property
    def from_mean_of_differences(self) -> Fraction:
        """``1/m sum_k |1/m sum_k' (w_k' - w_k)|^2``."""
        return self.at.mean(lambda _, w: norm2(average([other - w for other in self.at.local])))

    def pairs(self, *, distinct: bool) -> Fraction:
        """``1/m^2 sum_{k, k'} |w_k' - w_k|^2``, over all pairs of copies or over distinct ones."""
        copies = product(enumerate(self.at.local), repeat=2)
        squares = (norm2(one - other) for (i, one), (j, other) in copies if i != j or not distinct)
        return sum(squares, start=Fraction(0)) / len(self.at.local) ** 2


def cohort(rng: np.random.Generator) -> list[Cohort]:
    """Draw one to four models in one or two dimensions."""
    size, dim = whole(rng, 1, 4), whole(rng, 1, 2)
    models, chosen = tuple(draw_model(rng, dim) for _ in range(size)), tuple(range(size))
    best = draw_model(rng, dim)
    at = Snapshot(average(models), chosen, mean_weights(chosen), models, average(models))
    return [Cohort(at, best, {"models": format_vectors(models), "w*": str(best)})]


@step(
    "power-of-choice:equations-13-15",
    lemma("Lemma B.2", "eqs. (13)-(15)"),
    cohort,
    looseness=4,
    remark="the right-hand side of (14) is exactly twice the left-hand side, see equation-14-twice",
)
def equations_13_15(s: Cohort) -> Chain:
    """1/m sum_k |w_bar - w_k|^2 = 1/m sum_k |1/m sum_k' (w_k' - w_k)|^2 <= 1/m^2 sum_{k, k'} |w_k' - w_k|^2, k != k'"""
    all_pairs, distinct_pairs = s.pairs(distinct=False), s.pairs(distinct=True)
    return s.at.drift, "=", s.from_mean_of_differences, "<=", all_pairs, "=", distinct_pairs


@step(
    "power-of-choice:equation-14-twice",
    Statement(FEDTHEORY, "", related=(poc.PAPER, "Lemma B.2, eq. (14)"), form="refined"),
    cohort,
    kind="identity",
)
def equation_14_twice(s: Cohort) -> Chain:
    """1/m^2 sum_{k, k'} |w_k' - w_k|^2 = 2/m sum_k |w_bar - w_k|^2, where eq. (14) has a factor of at least 1"""
    return s.pairs(distinct=False), "=", 2 * s.at.drift


@step("power-of-choice:equations-25-26", lemma("Lemma B.3", "eqs. (25)-(26)"), cohort)
def equations_25_26(s: Cohort) -> list[Chain]:
    """|w_bar - w*|^2 = |1/m sum_k (w_k - w*)|^2 <= 1/m sum_k |w_k - w*|^2"""
    away = [w - s.best for w in s.at.local]
    spread = s.at.spread(s.best)
    return [
        (norm2(s.at.average - s.best), "=", norm2(average(away)), "<=", spread),
        (poc.averaged_distance([float(norm2(each)) for each in away]), "=", float(spread)),
    ]


class LocalPath(NamedTuple):
    """Models of a copy of a client after 0, 1, ... steps of a round, and the gradients of these steps."""

    models: tuple[Vector, ...]
    gradients: tuple[Vector, ...]


def first_round(run: RationalRun) -> Law[tuple[LocalPath, ...]]:
    """Return the law of the local updates of all active copies in the first round."""

    def work(client: int) -> Law[LocalPath]:
        law = Law.certain(LocalPath((run.initial,), ()))
        for t in range(run.local_steps):
            law = law.then(partial(_one_more, run, client, t))
        return law

    return run.select(run.initial).then(lambda chosen: Law.product(*map(work, chosen)))


def _one_more(run: RationalRun, client: int, t: int, before: LocalPath) -> Law[LocalPath]:
    w = before.models[-1]

    def after(noise: Vector) -> LocalPath:
        g = run.federation.gradient(client, w) + noise
        return LocalPath((*before.models, w - run.step_size(t) * g), (*before.gradients, g))

    return run.noise.map(after)


@dataclass(frozen=True)
class Pair:
    """The first round of a run with two active copies k and k', on all paths, and one of its steps t."""

    run: RationalRun
    paths: Law[tuple[LocalPath, ...]]
    t: int
    instance: dict[str, Any]

    @property
    def eta(self) -> Vector:
        """Step sizes of the round."""
        return Vector(self.run.step_size(t) for t in range(self.run.local_steps))

    def apart(self, path: tuple[LocalPath, ...]) -> Vector:
        """``w_k - w_k'`` at step t."""
        k, other = path
        return k.models[self.t] - other.models[self.t]

    def differences(self, path: tuple[LocalPath, ...]) -> list[Vector]:
        """``g_k' - g_k`` at all steps of the round."""
        k, other = path
        return [h - g for g, h in zip(k.gradients, other.gradients, strict=True)]

    def right_of_17(self, path: tuple[LocalPath, ...]) -> Fraction:
        """``eta_t0^2 tau sum_i |g_k' - g_k|^2``."""
        return self.eta[0] ** 2 * self.run.local_steps * sum(map(norm2, self.differences(path)))

    def right_of_18(self, path: tuple[LocalPath, ...]) -> Fraction:
        """``2 eta_t0^2 tau sum_i (|g_k'|^2 + |g_k|^2)``."""
        return 2 * self.eta[0] ** 2 * self.run.local_steps * sum(norm2(g) for work in path for g in work.gradients)


def pair(rng: np.random.Generator) -> list[Pair]:
    """Draw a run with two active copies and rounds that are short enough for step sizes to halve at most."""
    run, _, instance = draw_run(rng, longest_round=5, smallest_cohort=2)
    t = whole(rng, 0, run.local_steps - 1)
    return [Pair(run, first_round(run), t, {**instance, "step": t})]


@step("power-of-choice:equation-16", lemma("Lemma B.2", "eq. (16)", form="corrected"), pair, kind="identity")
def equation_16(s: Pair) -> list[Chain]:
    """w_k_t - w_k'_t is the sum of eta_i (g_k' - g_k) over the steps i < t of the round"""
    made = slice(s.t)

    def moved(path: tuple[LocalPath, ...]) -> Vector:
        pairs = zip(s.eta[made], s.differences(path)[made], strict=True)
        return sum((eta * difference for eta, difference in pairs), start=0 * s.run.initial)

    return [(norm2(s.apart(path) - moved(path)), "=", 0) for path in s.paths]


@step(
    "power-of-choice:equation-17",
    lemma("Lemma B.2", "eqs. (16)-(17)", form="corrected"),
    pair,
    hypotheses=("step sizes do not increase within a round",),
    looseness=1.5,
    remark="by Cauchy-Schwarz from the corrected (16); only t - t0 <= tau - 1 of the tau steps have been taken",
)
def equation_17(s: Pair) -> list[Chain]:
    """|w_k'_t - w_k_t|^2 <= eta_t0^2 tau sum_i |g_k' - g_k|^2 over all steps of the round"""
    return [(norm2(s.apart(path)), "<=", s.right_of_17(path)) for path in s.paths]


@step("power-of-choice:equation-18", lemma("Lemma B.2", "eq. (18)"), pair)
def equation_18(s: Pair) -> list[Chain]:
    """|g_k' - g_k|^2 <= 2 |g_k'|^2 + 2 |g_k|^2, summed as in eqs. (17) and (18)"""
    return [(s.right_of_17(path), "<=", s.right_of_18(path)) for path in s.paths]


def right_of_20(eta: Vector, G2: Fraction, m: int) -> Fraction:
    """``2 eta_t0^2 tau/m^2`` times 2 G2 for every pair of distinct copies and every step of the round."""
    pairs = [(i, j) for i, j in product(range(m), repeat=2) if i != j]
    return 2 * eta[0] ** 2 * len(eta) / m**2 * sum((2 * G2 for _ in pairs for _ in eta), start=Fraction(0))


@step(
    "power-of-choice:equations-19-20",
    lemma("Lemma B.2", "eqs. (19)-(20)", form="corrected"),
    pair,
    hypotheses=("E[|g_k|^2 | S] <= G2 for the active copies",),
)
def equations_19_20(s: Pair) -> Chain:
    """The expected sum over pairs of eq. (18), hence also of |w_k'_t - w_k_t|^2, with G2 for each squared gradient"""
    G2 = client_gradient_bound(replace(s.run, num_steps=s.run.local_steps))
    # The two ordered pairs of copies are counted with the factor 1/m^2 = 1/4.
    left = s.paths.mean(lambda path: norm2(s.apart(path))) / 2
    return left, "<=", s.paths.mean(s.right_of_18) / 2, "<=", right_of_20(s.eta, G2, 2)


@claim(
    "power-of-choice:equation-20-marginal",
    "Eq. (20) with the G2 of Assumption 3.4, which bounds E |g_k|^2 for every client without conditioning on S",
    lemma("Lemma B.2", "eqs. (19)-(20)"),
    "erratum",
    remark="a selection by losses prefers large gradients; G2 must bound E[|g_k|^2 | S]",
)
def equation_20_marginal() -> Finding:
    one, eta = vector(1), Fraction(1, 2)
    fed = RationalQuadratics((one,) * 4, (one, one, vector(-1), vector(-1)), vector(*["1/4"] * 4), vector(0, 0, 0, 0))
    run = RationalRun(
        fed, lambda w: power_of_choice(fed.weights, fed.losses(w), 2, 4), 1, lambda _: eta, vector(0), 1, no_noise(1)
    )
    second = run.snapshots[1]
    active = Fraction(second.mean(lambda at: at.mean(lambda k, w: norm2(fed.gradient(k, w)))))
    largest = max(second.mean(lambda at: Vector(map(norm2, fed.gradients(at.average)))))
    right_of_19 = 2 * eta**2 / 4 * 2 * 2 * active  # two ordered pairs, two squares each
    words = {"law": "power of choice, 2 of 4", "step_size": "1/2", "initial": "0", "G2": str(largest), "step": 1}
    return at_most(right_of_19, right_of_20(vector(eta), largest, 2), instance={**format_federation(fed), **words})


class Round(NamedTuple):
    """Step sizes of a round that at most halve, a bound on gradients, and the number of copies."""

    eta: Vector
    G2: Fraction
    m: int

    @property
    def instance(self) -> dict[str, Any]:
        """The numbers as text."""
        return {"step sizes": str(self.eta), "G2": str(self.G2), "num_selected": self.m}

    @property
    def right_of_21(self) -> Fraction:
        """``2 eta_t0^2 tau/m^2 (m (m - 1) 2 tau G2)``."""
        m, tau = self.m, len(self.eta)
        return 2 * self.eta[0] ** 2 * tau / m**2 * (m * (m - 1) * 2 * tau * self.G2)

    @property
    def right_of_22(self) -> Fraction:
        """``16 eta_t^2 (m - 1) tau^2 G2/m``."""
        return 16 * self.eta[-1] ** 2 * (self.m - 1) * len(self.eta) ** 2 * self.G2 / self.m


def halving_round(rng: np.random.Generator) -> list[Round]:
    """Draw step sizes between the round's first step size and half of it."""
    tau, first = whole(rng, 1, 4), Fraction(whole(rng, 1, 8), 8)
    falls = sorted((whole(rng, 8, 16) for _ in range(tau - 1)), reverse=True)
    eta = Vector([first, *(first * fall / 16 for fall in falls)])
    return [Round(eta, Fraction(whole(rng, 1, 12), 2), whole(rng, 1, 40))]


@step(
    "power-of-choice:equations-21-22",
    lemma("Lemma B.2", "eqs. (21)-(22)"),
    halving_round,
    hypotheses=("step sizes do not increase and at most halve within a round",),
)
def equations_21_22(s: Round) -> list[Chain]:
    """The m (m - 1) pairs with tau steps each, and eta_t0 <= 2 eta_t, give 16 eta_t^2 (m - 1) tau^2 G2/m"""
    few = s._replace(m=min(s.m, 3))  # right_of_20 enumerates pairs
    return [(right_of_20(few.eta, few.G2, few.m), "=", few.right_of_21), (s.right_of_21, "<=", s.right_of_22)]


@step(
    "power-of-choice:equation-23",
    lemma("Lemma B.2", "eq. (23)"),
    halving_round,
    looseness=1.05,
    remark="attained for many copies only; Lemma B.2 holds with 4 (tau - 1)^2 instead of 16 tau^2",
)
def equation_23(s: Round) -> Chain:
    """16 eta_t^2 (m - 1) tau^2 G2/m <= 16 eta_t^2 tau^2 G2"""
    return s.right_of_22, "<=", poc.client_drift.printed(s.eta[-1], local_steps=len(s.eta), G2=s.G2)


@step(
    "power-of-choice:lemma-b2",
    poc.client_drift.printed,
    # Rounds may be much longer than gamma + 1 = 5; in a first round of this length step sizes more than halve.
    lambda rng: all_steps(rng, longest_round=24, end=True),
    hypotheses=(CURVATURE, NOISE, "E |g_k|^2 <= G2 at the active copies, and at round starts for every client"),
    looseness=32,
    remark="16 tau^2 instead of 4 (tau - 1)^2, whose 4 allows step sizes that halve: see the refined form",
)
def lemma_b2(s: Step) -> Chain:
    """E 1/m sum_k |w_bar_t - w_k_t|^2 <= 16 eta_t^2 tau^2 G2 for eta_t = 1/(mu (t + 4 L/mu)) and every tau"""
    return s.drift, "<=", s.printed_drift


@step(
    "power-of-choice:lemma-b2-refined",
    poc.client_drift,
    lambda rng: all_steps(rng, longest_round=5, end=True),
    looseness=4,
    remark="the factor 4 allows step sizes that halve within a round; those of the theorem decrease less",
)
def lemma_b2_refined(s: Step) -> Chain:
    """E 1/m sum_k |w_bar_t - w_k_t|^2 <= 4 eta_t^2 (tau - 1)^2 G2 if tau <= 4 L/mu + 1"""
    return s.drift, "<=", poc.client_drift(s.eta, local_steps=s.tau, G2=s.observed.G2)


@step(
    "power-of-choice:displacement",
    lemma("Lemma B.2", "eqs. (16)-(18)", form="corrected"),
    lambda rng: all_steps(rng, longest_round=6, end=True),
    hypotheses=("E 1/m sum_k |g_k|^2 <= G2 over the active copies",),
)
def displacement(s: Step) -> Chain:
    """E 1/m sum_k |w_k_t - w_round_start|^2 <= (sum of the round's step sizes so far)^2 G2"""
    return s.E(lambda at: at.displacement), "<=", s.s**2 * s.observed.G2


@step("power-of-choice:lemma-b3", poc.averaged_distance, lambda rng: all_steps(rng, longest_round=3, end=True))
def lemma_b3(s: Step) -> Chain:
    """E |w_bar_t - w*|^2 <= 1/m E sum_k |w_k_t - w*|^2"""
    return s.Delta, "<=", s.E(lambda at: poc.averaged_distance([norm2(w - s.best) for w in at.local]))


@claim(
    "power-of-choice:equation-16-pathwise",
    "|w_k'_t - w_k_t|^2 <= |sum of eta_i (g_k' - g_k) over the whole round|^2 after one of two local steps",
    lemma("Lemma B.2", "eq. (16)"),
    "erratum",
    remark="later gradients can cancel earlier ones: sum to t - 1 and extend after Cauchy-Schwarz; the lemma is true",
)
def equation_16_pathwise() -> Finding:
    eta, noises = Fraction(1, 4), (vector(-1, 1), vector(1, -1))
    models, summed, apart = [vector(0), vector(0)], vector(0), []
    for noise in noises:  # F_k(w) = w^2/2, with the gradient w
        g = [w + vector(e) for w, e in zip(models, noise, strict=True)]
        models = [w - eta * one for w, one in zip(models, g, strict=True)]
        summed += eta * (g[1] - g[0])
        apart.append(models[1] - models[0])
    instance = {"clients": "two, F(w) = w^2/2", "initial": "0", "step_size": "1/4", "noises": noises, "local_steps": 2}
    return at_most(norm2(apart[0]), norm2(summed), instance=instance)
