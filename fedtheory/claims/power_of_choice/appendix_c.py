"""Power-of-Choice, Appendix C: from the four terms of one step of the squared distance to the skews and the theorem."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._comparisons import Chain, compared, horizon_constants, step
from fedtheory.claims.power_of_choice._situations import (
    BY_ROUND_START,
    CURVATURE,
    NOISE,
    SHORT,
    SMOOTH,
    Copies,
    Recursion,
    Step,
    a5_bounded,
    a5_repaired,
    all_steps,
    any_models,
    copies,
    decaying_step,
    opposite_run,
    recursion,
    short_step,
    stopped,
)
from fedtheory.instances.draws import draw_federation, draw_model
from fedtheory.instances.federations import RationalQuadratics, opposite_clients
from fedtheory.instances.formatting import format_federation, format_vectors
from fedtheory.instances.noise import two_point_noise, variance_of
from fedtheory.instances.observed import observed_skews
from fedtheory.instances.run_draws import MEAN_LAWS, WEIGHTED_LAWS, draw_run
from fedtheory.instances.runs import RationalRun, Snapshot, constant_law, distance2, mean_weights
from fedtheory.instances.step_sizes import short_steps
from fedtheory.instances.vectors import Vector, average, inner, norm2, vector
from fedtheory.sampling.cohorts import with_replacement
from fedtheory.statistics.law import Law
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import whole
from fedtheory.theorem.findings import Finding, at_least, equal_to
from fedtheory.theorem.paper import FEDTHEORY, Statement

line = partial(Statement, poc.PAPER, "Appendix C")


@step("power-of-choice:equations-27-30", line("eqs. (27)-(30)"), copies, kind="identity")
def equations_27_30(s: Copies) -> list[Chain]:
    """|w_bar_t - eta g_bar_t - w*|^2 = |w_bar_t - w*|^2 + A_1 + A_2 + A_3 + A_4 for every selection and every noise"""
    return [(s.next_distance2(e), "=", norm2(s.away) + s.A_1() + s.A_2(e) + s.A_3() + s.A_4(e)) for e in s.noises]


def averaged_sequence(rng: np.random.Generator, laws: tuple[str, ...]) -> Finding:
    """Compare the distance at a step with that of the averaged sequence one step after the previous step."""
    drawn, t = stopped(rng, draw_run(rng, laws=laws, step_size=short_steps(rng), longest_round=4))
    run = drawn.run

    def stepped(at: Snapshot) -> Fraction:
        here = Copies(run, at, run.step_size(t), drawn.instance)
        return Fraction(here.noises.mean(here.next_distance2))

    return equal_to(distance2(run, t + 1), Fraction(run.snapshots[t].mean(stepped)), instance=drawn.instance)


equation_3 = claim(
    "power-of-choice:equations-2-3",
    "w_bar_{t+1} = w_bar_t - eta g_bar_t within and between rounds: E |w_bar_{t+1} - w*|^2 of the run by eq. (2)",
    Statement(poc.PAPER, "Section 2", "eqs. (2)-(3)"),
    "identity",
)(lambda rng: averaged_sequence(rng, MEAN_LAWS))

equation_72 = claim(
    "power-of-choice:equation-72",
    "w_hat_{t+1} = w_hat_t - eta g_hat_t with weights q_k of sum one: E |w_hat_{t+1} - w*|^2",
    Statement(poc.PAPER, "Appendix E", "eq. (72)"),
    "identity",
    hypotheses=("q_k >= 0 with sum 1",),
)(lambda rng: averaged_sequence(rng, WEIGHTED_LAWS))


@step(
    "power-of-choice:equation-30-mean",
    line("eq. (30)"),
    copies,
    kind="identity",
    hypotheses=("noise of mean zero, independent of the selection",),
)
def equation_30_mean(s: Copies) -> Chain:
    """E A_2 = 0"""
    return Fraction(s.noises.mean(s.A_2)), "=", 0


def parabolas_at_one(chosen: tuple[int, ...]) -> Copies:
    """Place copies of two clients w^2/2 with noise -1 or 1 at w = 1, before a step of size 1/2."""
    one, eta = vector(1), Fraction(1, 2)
    fed = RationalQuadratics((one, one), (vector(0),) * 2, vector("1/2", "1/2"), vector(0, 0))
    run = RationalRun(fed, constant_law(Law.certain(chosen)), 1, lambda _: eta, one, 1, two_point_noise(one))
    at = Snapshot(one, chosen, mean_weights(chosen), (one,) * len(chosen), one)
    return Copies(run, at, eta, {**format_federation(fed), "w": "1", "step_size": "1/2", "noise": "+-1"})


@claim(
    "power-of-choice:equation-30-mini-batch-seen",
    "E |w_bar_{t+1} - w*|^2 = |w_bar_t - w*|^2 + A_1 + A_3 + E A_4 if the selection depends on the mini-batches",
    line("eq. (30)"),
    "erratum",
    remark="unbiased gradients are not enough for E A_2 = 0: the selection prefers clients with large noise",
)
def equation_30_mini_batch_seen() -> Finding:
    s = parabolas_at_one((0,))
    larger = (s.run.noise**2).map(max)
    without_a2 = norm2(s.away) + s.A_1() + s.A_3() + larger.mean(s.A_4)
    return equal_to(Fraction(larger.mean(s.next_distance2)), Fraction(without_a2), instance=s.instance)


@claim(
    "power-of-choice:equation-41-common-noise",
    "The variance of a mean of two gradients is half that of one gradient if both use the same mini-batch",
    line("eqs. (40)-(41)"),
    "erratum",
    remark="the noises of active copies must be independent of each other",
)
def equation_41_common_noise() -> Finding:
    s = parabolas_at_one((0, 0))
    common = Fraction(s.run.noise.mean(s.A_4))
    return equal_to(common, s.eta**2 / 4 * 2 * variance_of(s.run.noise), instance=s.instance)


@step("power-of-choice:equations-31-32", line("eqs. (31)-(32)"), any_models, kind="identity")
def equations_31_32(s: Copies) -> Chain:
    """A_1 is split into the part from w_bar_t to the local models and the part from there to w*"""
    to_average = s.mean(lambda k, w: (s.w_bar - w) @ s.grad(k, w))
    to_best = s.mean(lambda k, w: (w - s.best) @ s.grad(k, w))
    return s.A_1(), "=", -2 * s.eta * to_average - 2 * s.eta * to_best


@step("power-of-choice:equations-33-34", line("eqs. (33)-(34)"), any_models)
def equations_33_34(s: Copies) -> Chain:
    """-2 eta/m sum_k <w_bar_t - w_k, grad F_k(w_k)> <= 1/m sum_k |w_bar_t - w_k|^2 + eta^2/m sum_k |grad F_k(w_k)|^2"""
    products = s.mean(lambda k, w: (s.w_bar - w) @ s.grad(k, w))
    return -2 * s.eta * products, "<=", s.at.drift + s.eta**2 * s.mean(s.grad2)


@step("power-of-choice:equation-35", line("eq. (35)"), any_models, hypotheses=(SMOOTH,))
def equation_35(s: Copies) -> Chain:
    """eta^2/m sum_k |grad F_k(w_k)|^2 <= 2 L eta^2/m sum_k (F_k(w_k) - F_k*)"""
    return s.eta**2 * s.mean(s.grad2), "<=", s.eta**2 * poc.gradient_norm(s.mean(s.excess), L=s.L)


@step("power-of-choice:equation-36", line("eq. (36)"), any_models, hypotheses=("every F_k is mu-strongly convex",))
def equation_36(s: Copies) -> Chain:
    """1/m sum_k (F_k(w_k) - F_k(w*) + mu/2 |w_k - w*|^2) <= 1/m sum_k <w_k - w*, grad F_k(w_k)>"""
    losses = s.mean(lambda k, w: s.excess(k, s.best) - s.excess(k, w))
    tangents = s.mean(lambda k, w: s.grad(k, w) @ (w - s.best))
    return s.mu / 2 * s.at.spread(s.best), "<=", losses + tangents


@step(
    "power-of-choice:equation-37",
    line("eq. (37)"),
    decaying_step,
    hypotheses=(CURVATURE, "E |g_k|^2 <= G2 at the active copies and at round starts"),
    looseness=256,
    remark="means over the active copies; the looseness is in the drift, see lemma-b2-refined",
)
def equation_37(s: Step) -> Chain:
    """E A_1 <= 16 eta^2 tau^2 G2 - eta mu E |w_k - w*|^2 + 2 L eta^2 E (F_k(w_k) - F_k*)
    - 2 eta E (F_k(w_k) - F_k(w*))"""
    a_1 = -2 * s.eta * s.E(lambda at: (at.average - s.best) @ at.mean_gradient(s.fed))
    taken_away = s.eta * s.mu * s.E(lambda at: at.spread(s.best)) + 2 * s.eta * (s.excess - s.excess_at_best)
    return a_1 + taken_away, "<=", s.printed_drift + s.eta**2 * poc.gradient_norm(s.excess, L=s.L)


@step("power-of-choice:equations-40-42", line("eqs. (40)-(42)"), copies, hypotheses=(NOISE,))
def equations_40_42(s: Copies) -> Chain:
    """E A_4 = eta^2/m^2 E sum_k E |g_k - grad F_k(w_k)|^2 <= eta^2 sigma^2/m"""
    each = sum((variance_of(s.run.noise) for _ in s.at.chosen), start=Fraction(0))
    return Fraction(s.noises.mean(s.A_4)), "=", s.eta**2 / s.m**2 * each, "<=", s.eta**2 * s.run.sigma2 / s.m


class Models:
    """A model for each client of a federation, and any one model."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.fed = draw_federation(rng)
        self.models = [draw_model(rng, self.fed.dim) for _ in range(self.fed.num_clients)]
        self.center = draw_model(rng, self.fed.dim)
        self.mu, self.L = self.fed.strong_convexity, self.fed.smoothness
        self.eta = Fraction(whole(rng, 1, 8), 32) / self.L
        models = {"models": format_vectors(self.models), "center": str(self.center)}
        self.instance = {**format_federation(self.fed), **models, "step_size": str(self.eta)}

    def mean(self, value: Callable[[int, Vector], Fraction]) -> Fraction:
        """``1/K sum_k value(k, w_k)``."""
        return sum(map(value, range(self.fed.num_clients), self.models), start=Fraction(0)) / self.fed.num_clients


def models(rng: np.random.Generator) -> list[Models]:
    return [Models(rng)]


@step("power-of-choice:equations-38-39", line("eqs. (38)-(39)", form="corrected"), models, hypotheses=(SMOOTH,))
def equations_38_39(s: Models) -> Chain:
    """|1/m sum_k grad F_k(w_k)|^2 <= 1/m sum_k |grad F_k(w_k)|^2 <= 2 L/m sum_k (F_k(w_k) - F_k*)"""
    g = [s.fed.gradient(k, w) for k, w in enumerate(s.models)]
    squares = s.mean(lambda k, _: norm2(g[k]))
    return norm2(average(g)), "<=", squares, "<=", poc.gradient_norm(s.mean(s.fed.excess), L=s.L)


@claim(
    "power-of-choice:equation-38-printed",
    "|1/m sum_k grad F_k(w_k)|^2 = 1/m sum_k |grad F_k(w_k)|^2, printed as an equality",
    line("eq. (38)"),
    "erratum",
)
def equation_38_printed() -> Finding:
    fed = opposite_clients()
    g = fed.gradients(vector(0))
    squares = sum(map(norm2, g)) / 2
    return equal_to(norm2(average(g)), squares, instance={**format_federation(fed), "models": "both clients at 0"})


def before_conditioning(s: Step, contracted: Fraction) -> Chain:
    """Compare a step with its bound in terms of the local models, in which a squared distance contracts."""
    noise = s.eta**2 * s.run.sigma2 / s.m
    return s.Delta_next, "<=", s.Delta - s.eta * s.mu * contracted + s.drift + noise + s.A_5


@step(
    "power-of-choice:equation-43",
    Statement(FEDTHEORY, "", related=(poc.PAPER, "Appendix C, eq. (43)"), form="refined"),
    lambda rng: all_steps(rng, longest_round=3),
    hypotheses=(CURVATURE, NOISE),
    remark="the printed form follows by Lemma B.2",
)
def equation_43(s: Step) -> Chain:
    """One step of E |w_bar_t - w*|^2 in terms of the local models, with the drift in place of 16 eta^2 tau^2 G2"""
    return before_conditioning(s, s.E(lambda at: at.spread(s.best)))


@step(
    "power-of-choice:equation-44",
    Statement(FEDTHEORY, "", related=(poc.PAPER, "Appendix C, eq. (44)"), form="refined"),
    lambda rng: all_steps(rng, longest_round=3),
    hypotheses=(CURVATURE, NOISE),
    remark="the printed form follows by Lemma B.2",
)
def equation_44(s: Step) -> Chain:
    """One step of E |w_bar_t - w*|^2 with contraction 1 - eta mu, with the drift in place of 16 eta^2 tau^2 G2"""
    return before_conditioning(s, s.Delta)


@step(
    "power-of-choice:equations-45-46",
    line("eqs. (45)-(46)", form="corrected"),
    short_step,
    kind="identity",
    remark="all sums over the selection are inside the expectation; the paper has some outside",
)
def equations_45_46(s: Step) -> Chain:
    """A_5 in terms of the losses, and as A_6 plus 2 eta E 1/m sum_k (F_k(w*) - F_k*)"""
    fed, eta, x = s.fed, s.eta, s.x
    losses = s.E(lambda at: at.mean(lambda k, w: fed.losses(w)[k]))
    minima = s.E(lambda at: at.mean(lambda k, _: fed.minima[k]))
    at_best = s.E(lambda at: at.mean(lambda k, _: fed.losses(s.best)[k]))
    line_45 = 4 * x * eta * losses - 2 * eta * losses - 2 * eta * (minima - at_best)
    line_45 += 2 * eta * minima - 4 * x * eta * minima
    line_46 = 2 * eta * (2 * x - 1) * s.excess + 2 * eta * (at_best - minima)
    return [(s.A_5, "=", line_45), (s.A_5, "=", line_46)]


@step("power-of-choice:equations-47-50", line("eqs. (47)-(50)"), models, hypotheses=(CURVATURE, SHORT))
def equations_47_50(s: Models) -> Chain:
    """The losses at the local models against those at any model, such as the average or the round's start"""
    nu, spread = 2 * s.eta * (1 - 2 * s.L * s.eta), s.mean(lambda _, w: norm2(w - s.center))
    at_center = s.mean(lambda k, _: s.fed.excess(k, s.center))
    right = nu * s.mean(s.fed.excess) + nu * (1 - s.mu * s.eta) / (2 * s.eta) * spread
    return nu * (1 - s.eta * s.L) * at_center, "<=", right


def draw_eta(rng: np.random.Generator, L: Fraction) -> Fraction:
    """Draw a step size from a tiny one up to 1/(4 L)."""
    return Fraction(1, 2 ** whole(rng, 2, 10)) / L


def short_step_of_any_models(rng: np.random.Generator) -> list[Copies]:
    (s,) = any_models(rng)
    eta = draw_eta(rng, s.L)
    return [Copies(s.run, s.at, eta, {**s.instance, "step_size": str(eta)})]


@step("power-of-choice:equation-51", line("eq. (51)"), short_step_of_any_models, hypotheses=(SHORT,))
def equation_51(s: Copies) -> Chain:
    """nu (1 - eta mu)/(2 eta) <= 1 in front of 1/m sum_k |w_k - w_bar|^2"""
    nu = 2 * s.eta * (1 - 2 * s.L * s.eta)
    return (nu / (2 * s.eta) - nu * s.mu / 2) * s.at.drift, "<=", s.at.drift


def losses_at_average(s: Step, drift: Fraction) -> Chain:
    """Compare A_5 with the losses at w_bar; A_6 and the losses at w* are on the side where they are positive."""
    A_6 = s.nu * s.excess
    left = s.nu * (1 - s.x) * s.excess_at_average + s.A_5
    return left - 2 * s.eta * s.excess_at_best + A_6, "<=", drift + A_6


@step("power-of-choice:equation-52", line("eq. (52)"), short_step, hypotheses=(CURVATURE, SHORT), looseness=1.05)
def equation_52(s: Step) -> Chain:
    """A_5 <= E 1/m sum_k |w_k - w_bar|^2 - nu (1 - eta L) E 1/m sum_k (F_k(w_bar) - F_k*) + 2 eta E(F_k(w*) - F_k*)"""
    return losses_at_average(s, s.drift)


@step(
    "power-of-choice:equation-53",
    line("eq. (53)"),
    decaying_step,
    hypotheses=(CURVATURE, "step sizes of Theorem 3.1"),
    looseness=2,
    remark="has the drift 16 eta^2 tau^2 G2 even for one local step, where the drift is 0",
)
def equation_53(s: Step) -> Chain:
    """A_5 <= 16 eta^2 tau^2 G2 - nu (1 - eta L) E 1/m sum_k (F_k(w_bar) - F_k*) + 2 eta E 1/m sum_k (F_k(w*) - F_k*)"""
    return losses_at_average(s, s.printed_drift)


def excess_of_active(run: RationalRun, at: Snapshot, w: Vector) -> Fraction:
    """Mean of ``F_k(w) - F_k*`` over the active copies."""
    return sum((run.federation.excess(k, w) for k in at.chosen), start=Fraction(0)) / len(at.chosen)


@claim(
    "power-of-choice:step-54-55",
    "E 1/m sum_{k in S_t} (F_k(w_bar_t) - F_k*) >= rho_bar (E F(w_bar_t) - sum_k p_k F_k*) inside a round",
    line("eqs. (54)-(55)"),
    "erratum",
    remark="within a round the averaged model depends on the selection, so that the skew does not apply",
)
def step_54_55() -> Finding:
    run = opposite_run(with_replacement(vector("1/2", "1/2"), 1), 2, lambda _: Fraction(1, 4), num_steps=1)
    after_one = run.snapshots[1]
    words = {"law": "proportional", "num_selected": 1, "local_steps": 2, "step": 1, "step_size": "1/4", "initial": "0"}
    return at_least(
        after_one.mean(lambda at: excess_of_active(run, at, at.average)),
        after_one.mean(lambda at: run.federation.total_excess(at.average)),  # rho_bar is 1
        instance={**format_federation(run.federation), **words},
    )


@step(
    "power-of-choice:step-54-55-repaired",
    line("eqs. (54)-(55)", form="corrected"),
    lambda rng: all_steps(rng, longest_round=3),
    hypotheses=(BY_ROUND_START,),
)
def step_54_55_repaired(s: Step) -> Chain:
    """E 1/m sum_{k in S_t} (F_k(u) - F_k*) >= rho_diagonal (E F(u) - sum_k p_k F_k*) at the round's start u"""
    active = s.E(lambda at: excess_of_active(s.run, at, at.anchor))
    return active, ">=", s.observed.skews.rho_diagonal * s.E(lambda at: s.fed.total_excess(at.anchor))


@step("power-of-choice:equations-56-59", line("eqs. (56)-(59)"), short_step, kind="identity")
def equations_56_59(s: Step) -> list[Chain]:
    """E F(w_bar) - sum_k p_k F_k* = (E F(w_bar) - F*) + Gamma, times nu (1 - eta L) rho_bar"""
    fed, p, factor = s.fed, s.fed.weights, s.kept_of_A_7
    losses = s.E(lambda at: fed.losses(at.average))
    lowest = inner(p, fed.losses(s.best))
    line_56 = inner(p, losses) - inner(p, fed.minima)
    line_57 = inner(p, [F - lowest + lowest - least for F, least in zip(losses, fed.minima, strict=True)])
    line_58 = inner(p, [F - lowest for F in losses]) + inner(p, [lowest - least for least in fed.minima])
    line_59 = s.gap + s.Gamma
    return [(factor * line_56, "=", factor * after) for after in (line_57, line_58, line_59)]


@step("power-of-choice:equation-60", line("eq. (60)"), short_step, hypotheses=(CURVATURE,))
def equation_60(s: Step) -> Chain:
    """mu/2 E |w_bar - w*|^2 <= E F(w_bar) - F*, times nu (1 - eta L) rho_bar"""
    return s.kept_of_A_7 * (s.mu / 2 * s.Delta), "<=", s.kept_of_A_7 * s.gap


class ShortStep:
    """A step size up to 1/(4 L)."""

    def __init__(self, rng: np.random.Generator) -> None:
        fed = draw_federation(rng)
        self.L, self.eta = fed.smoothness, draw_eta(rng, fed.smoothness)
        self.kept = 2 * self.eta * (1 - 2 * self.L * self.eta) * (1 - self.L * self.eta)
        self.instance = {"L": str(self.L), "step_size": str(self.eta)}


def one_short_step(rng: np.random.Generator) -> list[ShortStep]:
    return [ShortStep(rng)]


@step("power-of-choice:equation-61", line("eq. (61)"), one_short_step, hypotheses=(SHORT,))
def equation_61(s: ShortStep) -> Chain:
    """2 eta (1 - 2 L eta)(1 - L eta) >= 3/4 eta"""
    return Fraction(3, 4) * s.eta, "<=", s.kept


@step("power-of-choice:equation-62", line("eq. (62)"), one_short_step)
def equation_62(s: ShortStep) -> Chain:
    """2 eta (1 - 2 L eta)(1 - L eta) >= 2 eta (1 - 3 L eta)"""
    return 2 * s.eta - 6 * s.eta**2 * s.L, "<=", s.kept


@step(
    "power-of-choice:equation-63",
    line("eq. (63)"),
    decaying_step,
    hypotheses=(CURVATURE, "step sizes of Theorem 3.1"),
    looseness=1.5,
    remark="by the repaired step (54)-(55) for rho_bar <= 39; has 16 tau^2 G2 even for one local step",
)
def equation_63(s: Step) -> Chain:
    """A_5 + 3/8 eta mu rho_bar Delta_t <= 2 eta Gamma (rho_tilde - rho_bar)
    + eta^2 (6 rho_bar L Gamma + 16 tau^2 G2)"""
    return a5_bounded(s, s.observed.skews.rho_bar, s.printed_drift)


@step(
    "power-of-choice:equation-63-repaired",
    line("eq. (63)", form="corrected"),
    short_step,
    hypotheses=(CURVATURE, SHORT, BY_ROUND_START),
)
def equation_63_repaired(s: Step) -> Chain:
    """Eq. (63) with rho_diagonal and with (s^2 + 3/4 eta rho s + 3/8 eta mu rho s^2) G2 in place of
    16 eta^2 tau^2 G2; s is the elapsed step size"""
    return a5_repaired(s)


@step(
    "power-of-choice:equation-66",
    line("eq. (66)", form="corrected"),
    recursion,
    hypotheses=("D >= 0", "1 < beta mu B <= gamma"),
    remark="psi depends on t; the induction requires that psi does not decrease and that no slope is negative",
)
def equation_66(s: Recursion) -> list[Chain]:
    """Delta_t <= psi_t/(t + gamma) by induction from eq. (65), psi_t as in eq. (66)"""
    return s.below_psi()


@claim(
    "power-of-choice:equation-66-any-gamma",
    "Delta_t <= psi_t/(t + gamma) for any gamma > 0, as printed before eq. (66)",
    line("eq. (66)"),
    "erratum",
    remark="if gamma < beta mu B, the first slopes are negative; Theorem 3.1 has gamma = 4 L/mu >= B",
)
def equation_66_any_gamma() -> Finding:
    one, zero = Fraction(1), Fraction(0)
    s = Recursion(rate=2 * one, beta=2 * one, gamma=one, C=one, D=zero, start=zero, num_steps=1)
    return compared(s.below_psi(), s.instance)


@step("power-of-choice:equation-67", line("eq. (67)"), decaying_step, hypotheses=("F is L-smooth",))
def equation_67(s: Step) -> Chain:
    """E F(w_bar_t) - F* <= L/2 Delta_t"""
    return s.gap, "<=", s.L / 2 * s.Delta


@claim(
    "power-of-choice:equations-66-67",
    "Eq. (7) is L/2 psi/(T + gamma) with beta = 1/mu, gamma = 4 L/mu and the sum of the two numbers in the maximum psi",
    line("eqs. (66)-(67)"),
    "identity",
)
def equations_66_67(rng: np.random.Generator) -> Finding:
    drawn, num_steps = draw_run(rng, longest_round=2), whole(rng, 0, 9)
    rho_tilde = observed_skews(drawn.run).rho_tilde
    rho = rho_tilde * Fraction(whole(rng, 1, 8), 8)
    known: dict[str, Any] = horizon_constants(drawn)
    stated, _ = poc.decaying_steps_gap.printed(num_steps, **known, rho_bar=rho, rho_tilde=rho_tilde, strict=False)
    mu, L, Gamma, gamma = known["mu"], known["L"], known["objective_gap"], 4 * known["L"] / known["mu"]
    C = 32 * known["local_steps"] ** 2 * known["G2"] + known["sigma2"] / known["num_selected"] + 6 * rho * L * Gamma
    D = 2 * Gamma * (rho_tilde - rho)
    steady = (C / mu**2 + D / mu * (num_steps + gamma)) / (3 * rho / 8)  # beta mu B - 1 is 3 rho/8
    psi = gamma * known["initial_distance2"] + steady
    return equal_to(stated, L / 2 * psi / (num_steps + gamma), instance={**drawn.instance, "T": num_steps})
