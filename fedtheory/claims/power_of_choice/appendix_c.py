"""Power-of-Choice, Appendix C: from one step of the squared distance in four terms to the skews and the theorem."""

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._comparisons import horizon_constants
from fedtheory.claims.power_of_choice._appendices import (
    Means,
    Recursion,
    RunAtStep,
    a5_bounded,
    a5_repaired,
    decaying_steps,
    draw_eta,
    draw_recursion,
    on_any_models,
    on_runs_at_steps,
    on_steps,
    stopped,
)
from fedtheory.rational._averaging import RationalRun
from fedtheory.rational._constants import observed_gradient_bound, observed_skews
from fedtheory.rational._noises import two_point_noise, variance_of
from fedtheory.rational._rounds import Snapshot, distance2, gap
from fedtheory.rational._run_draws import MEAN_LAWS, WEIGHTED_LAWS, Drawn, draw_run
from fedtheory.rational._step_sizes import short_steps
from fedtheory.rational._words import federation_in_words
from fedtheory.rational.draws import draw_federation, whole
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import Vector, combination, difference, inner, norm2, vector
from fedtheory.statistics.law import Law
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to, worst_of

_APPENDIX_C = "Appendix C"
_CURVATURE = "every F_k is L-smooth and mu-strongly convex"
_NOISE = "noise of mean zero and variance at most sigma2, independent across active copies and of the selection"


def _four_terms(here: RunAtStep) -> Finding:
    def compared(noises: tuple[Vector, ...]) -> Finding:
        terms = here.a1() + here.a2(noises) + here.a3() + here.a4(noises)
        return equal_to(here.next_distance2(noises), terms, instance=here.instance)

    return worst_of(map(compared, here.noises))


equations_27_30 = claim(
    "power-of-choice:equations-27-30",
    "|w_bar_t - eta g_bar_t - w*|^2 = |w_bar_t - w*|^2 + A_1 + A_2 + A_3 + A_4 for every selection and every noise",
    Statement(poc.PAPER, _APPENDIX_C, "eqs. (27)-(30)"),
    "identity",
)(on_runs_at_steps(_four_terms))


def averaged_sequence(rng: np.random.Generator, laws: tuple[str, ...]) -> Finding:
    """Compare the distance at a step with that after a step of the averaged sequence from the step before."""
    drawn, step = stopped(rng, draw_run(rng, laws=laws, step_size=short_steps(rng), longest_round=4))
    run, instance = drawn.run, drawn.instance

    def expected(at: Snapshot) -> Fraction:
        here = RunAtStep(run, at, run.step_size(step), instance)
        return Fraction(here.noises.mean(here.next_distance2))

    stepped = Fraction(run.snapshots[step].mean(expected))
    return equal_to(distance2(run, step + 1), stepped, instance=instance)


equation_3 = claim(
    "power-of-choice:equations-2-3",
    "w_bar_{t+1} = w_bar_t - eta g_bar_t, in rounds and between them: E |w_bar_{t+1} - w*|^2 of the run by eq. (2)",
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

equation_30_mean = claim(
    "power-of-choice:equation-30-mean",
    "E A_2 = 0",
    Statement(poc.PAPER, _APPENDIX_C, "eq. (30)"),
    "identity",
    hypotheses=("noise of mean zero, independent of the selection",),
)(on_runs_at_steps(lambda here: equal_to(Fraction(here.noises.mean(here.a2)), 0, instance=here.instance)))


def _flat_federation() -> RationalQuadratics:
    one = vector(1)
    return RationalQuadratics((one, one), (vector(0),) * 2, vector("1/2", "1/2"), vector(0, 0))


def _run_at_step(chosen: tuple[int, ...], noise: Law[Vector]) -> RunAtStep:
    """Place copies of w^2/2 at w = 1, before a step of size 1/2."""
    fed, one, half = _flat_federation(), vector(1), Fraction(1, 2)
    share = (Fraction(1, len(chosen)),) * len(chosen)
    run = RationalRun(fed, lambda _: Law.certain(chosen), 1, lambda _: half, one, 1, noise)
    words = {**federation_in_words(fed), "w": "1", "step_size": "1/2", "noise": "+-1"}
    return RunAtStep(run, Snapshot(one, chosen, share, (one,) * len(chosen), one), half, words)


@claim(
    "power-of-choice:equation-30-mini-batch-seen",
    "E |w_bar_{t+1} - w*|^2 = |w_bar_t - w*|^2 + A_1 + A_3 + E A_4, where the selection has seen the mini-batches",
    Statement(poc.PAPER, _APPENDIX_C, "eq. (30)"),
    "erratum",
    remark="E A_2 = 0 needs more than unbiased gradients: of two equal clients the one with the larger noise is taken",
)
def equation_30_mini_batch_seen() -> Finding:
    noise = two_point_noise(vector(1))
    here = _run_at_step((0,), noise)
    larger = (noise**2).map(lambda pair: (max(pair),))
    without_a2 = here.a1() + here.a3() + larger.mean(here.a4)
    return equal_to(Fraction(larger.mean(here.next_distance2)), Fraction(without_a2), instance=here.instance)


@claim(
    "power-of-choice:equation-41-common-noise",
    "The variance of a mean of two gradients is half of that of one, where both have the same mini-batch",
    Statement(poc.PAPER, _APPENDIX_C, "eqs. (40)-(41)"),
    "erratum",
    remark="the noises of active copies have to be independent of each other",
)
def equation_41_common_noise() -> Finding:
    noise = two_point_noise(vector(1))
    here = _run_at_step((0, 0), noise)
    of_mean = Fraction(noise.mean(lambda common: here.a4((common, common))))
    return equal_to(of_mean, here.step_size**2 / 4 * 2 * variance_of(noise), instance=here.instance)


def _in_parts(here: RunAtStep) -> Finding:
    fed, eta, best = here.run.federation, here.step_size, here.run.federation.minimizer
    whole_of_it = -2 * eta * inner(here.from_best, here.mean_gradient)
    to_average = here.at.mean(lambda k, w: inner(difference(here.at.average, w), fed.gradient(k, w)))
    to_best = here.at.mean(lambda k, w: inner(difference(w, best), fed.gradient(k, w)))
    return equal_to(whole_of_it, -2 * eta * to_average - 2 * eta * to_best, instance=here.instance)


equations_31_32 = claim(
    "power-of-choice:equations-31-32",
    "A_1 is split into the way from w_bar_t to the local models and that from there to w*",
    Statement(poc.PAPER, _APPENDIX_C, "eqs. (31)-(32)"),
    "identity",
)(on_any_models(_in_parts))


def _arithmetic_geometric(here: RunAtStep) -> Finding:
    fed, eta, average = here.run.federation, here.step_size, here.at.average
    of_products = -2 * eta * here.at.mean(lambda k, w: inner(difference(average, w), fed.gradient(k, w)))
    squares = here.at.drift + eta**2 * here.at.mean(lambda k, w: norm2(fed.gradient(k, w)))
    return at_most(of_products, squares, instance=here.instance)


equations_33_34 = claim(
    "power-of-choice:equations-33-34",
    "-2 eta/m sum_k <w_bar_t - w_k, grad F_k(w_k)> <= 1/m sum_k |w_bar_t - w_k|^2 + eta^2/m sum_k |grad F_k(w_k)|^2",
    Statement(poc.PAPER, _APPENDIX_C, "eqs. (33)-(34)"),
    looseness=1.01,
)(on_any_models(_arithmetic_geometric))


def _smooth(here: RunAtStep) -> Finding:
    fed, eta = here.run.federation, here.step_size
    squares = eta**2 * here.at.mean(lambda k, w: norm2(fed.gradient(k, w)))
    bound = eta**2 * poc.gradient_norm(here.at.mean(fed.excess), L=fed.smoothness)
    return at_most(squares, bound, instance=here.instance)


equation_35 = claim(
    "power-of-choice:equation-35",
    "eta^2/m sum_k |grad F_k(w_k)|^2 <= 2 L eta^2/m sum_k (F_k(w_k) - F_k*)",
    Statement(poc.PAPER, _APPENDIX_C, "eq. (35)"),
    hypotheses=("every F_k is L-smooth",),
    looseness=1.01,
)(on_any_models(_smooth))


def _strongly_convex(here: RunAtStep) -> Finding:
    fed, best = here.run.federation, here.run.federation.minimizer
    losses = here.at.mean(lambda k, w: fed.excess(k, best) - fed.excess(k, w))
    tangents = here.at.mean(lambda k, w: inner(fed.gradient(k, w), difference(w, best)))
    curved = fed.strong_convexity / 2 * here.at.spread(best)
    return at_most(curved, losses + tangents, instance=here.instance)


equation_36 = claim(
    "power-of-choice:equation-36",
    "1/m sum_k (F_k(w_k) - F_k(w*) + mu/2 |w_k - w*|^2) <= 1/m sum_k <w_k - w*, grad F_k(w_k)>",
    Statement(poc.PAPER, _APPENDIX_C, "eq. (36)"),
    hypotheses=("every F_k is mu-strongly convex",),
    looseness=1.01,
)(on_any_models(_strongly_convex))


def _all_of_a1(here: RunAtStep) -> Finding:
    fed, eta, best = here.run.federation, here.step_size, here.run.federation.minimizer
    relative = here.at.mean(lambda k, w: fed.excess(k, w) - fed.excess(k, best))
    taken_away = eta * fed.strong_convexity * here.at.spread(best) + 2 * eta * relative
    a1 = -2 * eta * inner(here.from_best, here.mean_gradient)
    bound = here.at.drift + eta**2 * poc.gradient_norm(here.at.mean(fed.excess), L=fed.smoothness)
    return at_most(a1 + taken_away, bound, instance=here.instance)


equation_37_refined = claim(
    "power-of-choice:equation-37-refined",
    "A_1 and what eq. (37) takes away are at most 1/m sum_k |w_bar - w_k|^2 + 2 L eta^2/m sum_k (F_k(w_k) - F_k*)",
    Statement(poc.PAPER, _APPENDIX_C, "eqs. (31)-(37)", form="refined"),
    hypotheses=(_CURVATURE,),
    looseness=1.01,
    remark="all steps at once on any models, with the drift itself for 16 eta^2 tau^2 G2",
)(on_any_models(_all_of_a1))


def _noise_of_mean(here: RunAtStep) -> Finding:
    left = Fraction(here.noises.mean(here.a4))
    m, eta = len(here.at.chosen), here.step_size
    each = sum((variance_of(here.run.noise) for _ in here.at.chosen), start=Fraction(0))
    return worst_of(
        [
            equal_to(left, eta**2 / m**2 * each, instance=here.instance),
            at_most(eta**2 / m**2 * each, eta**2 * here.run.sigma2 / m, instance=here.instance),
        ]
    )


equations_40_42 = claim(
    "power-of-choice:equations-40-42",
    "E A_4 = eta^2/m^2 E sum_k E |g_k - grad F_k(w_k)|^2 <= eta^2 sigma^2/m",
    Statement(poc.PAPER, _APPENDIX_C, "eqs. (40)-(42)"),
    hypotheses=(_NOISE,),
    looseness=1.01,
)(on_runs_at_steps(_noise_of_mean))


_SHORT = "eta <= 1/(4 L)"


def _line_37(drawn: Drawn, means: Means) -> Finding:
    fed, eta, best = drawn.run.federation, means.eta, drawn.run.federation.minimizer

    def toward_best(at: Snapshot) -> Fraction:
        gradient = combination(at.coefficients, [fed.gradient(k, w) for k, w in zip(at.chosen, at.local, strict=True)])
        return inner(difference(at.average, best), gradient)

    a1 = -2 * eta * means.mean(toward_best)
    taken_away = eta * fed.strong_convexity * means.mean(lambda at: at.spread(best))
    losses = 2 * eta * (means.excess() - means.excess_at_best())
    G2 = observed_gradient_bound(drawn.run)
    drift = poc.client_drift.printed(eta, local_steps=drawn.run.local_steps, G2=G2)
    bound = drift + eta**2 * poc.gradient_norm(means.excess(), L=fed.smoothness)
    return at_most(a1 + taken_away + losses, bound, instance=drawn.instance)


equation_37 = claim(
    "power-of-choice:equation-37",
    "E A_1 <= 16 eta^2 tau^2 G2 - eta mu E |w_k - w*|^2 + 2 L eta^2 E (F_k(w_k) - F_k*) - 2 eta E (F_k(w_k) - F_k(w*))",
    Statement(poc.PAPER, _APPENDIX_C, "eq. (37)"),
    hypotheses=(_CURVATURE, "E |g_k|^2 <= G2 at the active copies and at round starts"),
    looseness=256,
    remark="means over the active copies; the drift is the loose side, see lemma-b2-refined",
)(on_steps(_line_37, decaying_steps))


def _a5_rewritten(drawn: Drawn, means: Means) -> Finding:
    fed, eta, x = drawn.run.federation, means.eta, means.x
    losses = means.mean(lambda at: at.mean(lambda k, w: fed.losses(w)[k]))
    minima = means.mean(lambda at: at.mean(lambda k, _: fed.minima[k]))
    at_best = means.mean(lambda at: at.mean(lambda k, _: fed.losses(fed.minimizer)[k]))
    line_45 = 4 * x * eta * losses - 2 * eta * losses - 2 * eta * (minima - at_best)
    line_45 += 2 * eta * minima - 4 * x * eta * minima
    line_46 = 2 * eta * (2 * x - 1) * means.excess() + 2 * eta * (at_best - minima)
    return worst_of(equal_to(means.a5(), line, instance=drawn.instance) for line in (line_45, line_46))


equations_45_46 = claim(
    "power-of-choice:equations-45-46",
    "A_5 in terms of the losses, and as A_6 plus 2 eta E 1/m sum_k (F_k(w*) - F_k*)",
    Statement(poc.PAPER, _APPENDIX_C, "eqs. (45)-(46)", form="corrected"),
    "identity",
    remark="with all sums over the selection inside the expectation, where the paper has some outside",
)(on_steps(_a5_rewritten, short_steps))


@claim(
    "power-of-choice:equation-51",
    "nu (1 - eta mu)/(2 eta) <= 1 in front of 1/m sum_k |w_k - w_bar|^2",
    Statement(poc.PAPER, _APPENDIX_C, "eq. (51)"),
    hypotheses=(_SHORT,),
    looseness=1.01,
)
def equation_51(rng: np.random.Generator) -> Finding:
    def coefficient(here: RunAtStep) -> Finding:
        fed = here.run.federation
        eta = draw_eta(rng, fed.smoothness)
        nu = 2 * eta * (1 - 2 * fed.smoothness * eta)
        before = (nu / (2 * eta) - nu * fed.strong_convexity / 2) * here.at.drift
        return at_most(before, here.at.drift, instance={**here.instance, "step_size": str(eta)})

    return on_any_models(coefficient)(rng)


def _losses_at_average(drawn: Drawn, means: Means, drift: Fraction) -> Finding:
    left = means.nu * (1 - means.x) * means.excess_at_average() + means.a5()
    # What stands on both sides, 2 eta E 1/m sum_k (F_k(w*) - F_k*), and A_6 are brought to where they are positive.
    best, a6 = 2 * means.eta * means.excess_at_best(), means.nu * means.excess()
    return at_most(left - best + a6, drift + a6, instance=drawn.instance)


def _line_52(drawn: Drawn, means: Means) -> Finding:
    return _losses_at_average(drawn, means, means.mean(lambda at: at.drift))


equation_52 = claim(
    "power-of-choice:equation-52",
    "A_5 <= E 1/m sum_k |w_k - w_bar|^2 - nu (1 - eta L) E 1/m sum_k (F_k(w_bar) - F_k*) + 2 eta E(F_k(w*) - F_k*)",
    Statement(poc.PAPER, _APPENDIX_C, "eq. (52)"),
    hypotheses=(_CURVATURE, _SHORT),
    looseness=1.05,
)(on_steps(_line_52, short_steps))


def _line_53(drawn: Drawn, means: Means) -> Finding:
    G2 = observed_gradient_bound(drawn.run)
    bound = poc.client_drift.printed(means.eta, local_steps=drawn.run.local_steps, G2=G2)
    return _losses_at_average(drawn, means, bound)


equation_53 = claim(
    "power-of-choice:equation-53",
    "A_5 <= 16 eta^2 tau^2 G2 - nu (1 - eta L) E 1/m sum_k (F_k(w_bar) - F_k*) + 2 eta E 1/m sum_k (F_k(w*) - F_k*)",
    Statement(poc.PAPER, _APPENDIX_C, "eq. (53)"),
    hypotheses=(_CURVATURE, "step sizes of Theorem 3.1"),
    looseness=2,
    remark="pays the drift 16 eta^2 tau^2 G2 where rounds have one step, too, and there is none",
)(on_steps(_line_53, decaying_steps))


def _a7_expanded(drawn: Drawn, means: Means) -> Finding:
    fed = drawn.run.federation
    factor = means.nu * (1 - means.x) * observed_skews(drawn.run).rho_bar

    def loss(client: int, at: Snapshot) -> Fraction:
        return fed.losses(at.average)[client]

    expected = [means.mean(partial(loss, k)) for k in range(fed.num_clients)]
    lowest = inner(fed.weights, fed.losses(fed.minimizer))
    line_56 = inner(fed.weights, expected) - inner(fed.weights, fed.minima)
    parts = [f - lowest + lowest - least for f, least in zip(expected, fed.minima, strict=True)]
    line_57 = inner(fed.weights, parts)
    line_58 = inner(fed.weights, [f - lowest for f in expected]) + inner(fed.weights, [lowest - f for f in fed.minima])
    line_59 = gap(drawn.run, means.step) + fed.objective_gap
    return worst_of(
        equal_to(factor * line_56, factor * line, instance=drawn.instance) for line in (line_57, line_58, line_59)
    )


equations_56_59 = claim(
    "power-of-choice:equations-56-59",
    "E F(w_bar) - sum_k p_k F_k* = (E F(w_bar) - F*) + Gamma, in front of it nu (1 - eta L) rho_bar",
    Statement(poc.PAPER, _APPENDIX_C, "eqs. (56)-(59)"),
    "identity",
)(on_steps(_a7_expanded, short_steps))


def _gap_above_distance(drawn: Drawn, means: Means) -> Finding:
    factor = means.nu * (1 - means.x) * observed_skews(drawn.run).rho_bar
    distance = drawn.run.federation.strong_convexity / 2 * distance2(drawn.run, means.step)
    return at_most(factor * distance, factor * gap(drawn.run, means.step), instance=drawn.instance)


equation_60 = claim(
    "power-of-choice:equation-60",
    "mu/2 E |w_bar - w*|^2 <= E F(w_bar) - F*, in front of it nu (1 - eta L) rho_bar",
    Statement(poc.PAPER, _APPENDIX_C, "eq. (60)"),
    hypotheses=(_CURVATURE,),
    looseness=1.01,
)(on_steps(_gap_above_distance, short_steps))


def _short_step(rng: np.random.Generator) -> tuple[Fraction, Fraction, dict[str, Any]]:
    """Return L, eta and words."""
    fed = draw_federation(rng)
    eta = draw_eta(rng, fed.smoothness)
    return fed.smoothness, eta, {**federation_in_words(fed), "step_size": str(eta)}


@claim(
    "power-of-choice:equation-61",
    "2 eta (1 - 2 L eta)(1 - L eta) >= 3/4 eta",
    Statement(poc.PAPER, _APPENDIX_C, "eq. (61)"),
    hypotheses=(_SHORT,),
    looseness=1.01,
)
def equation_61(rng: np.random.Generator) -> Finding:
    L, eta, instance = _short_step(rng)
    return kept_of_a7(Fraction(3, 4) * eta, L, eta, instance)


def kept_of_a7(kept: Fraction, L: Fraction, eta: Fraction, instance: dict[str, Any]) -> Finding:
    """Compare what a step keeps of ``nu (1 - eta L)`` with it."""
    nu = 2 * eta * (1 - 2 * L * eta)
    return at_most(kept, nu * (1 - L * eta), instance=instance)


@claim(
    "power-of-choice:equation-62",
    "2 eta (1 - 2 L eta)(1 - L eta) >= 2 eta (1 - 3 L eta)",
    Statement(poc.PAPER, _APPENDIX_C, "eq. (62)"),
    looseness=1.01,
)
def equation_62(rng: np.random.Generator) -> Finding:
    L, eta, instance = _short_step(rng)
    return kept_of_a7(2 * eta - 6 * eta**2 * L, L, eta, instance)


def _line_63(drawn: Drawn, means: Means) -> Finding:
    G2 = observed_gradient_bound(drawn.run)
    drift = poc.client_drift.printed(means.eta, local_steps=drawn.run.local_steps, G2=G2)
    return a5_bounded(drawn, means, observed_skews(drawn.run).rho_bar, drift)


equation_63 = claim(
    "power-of-choice:equation-63",
    "A_5 + 3/8 eta mu rho_bar Delta_t <= 2 eta Gamma (rho_tilde - rho_bar) + eta^2 (6 rho_bar L Gamma + 16 tau^2 G2)",
    Statement(poc.PAPER, _APPENDIX_C, "eq. (63)"),
    hypotheses=(_CURVATURE, "step sizes of Theorem 3.1"),
    looseness=1.5,
    remark="by the repaired step (54)-(55) for rho_bar <= 39; pays 16 tau^2 G2 where rounds have one step, too",
)(on_steps(_line_63, decaying_steps))


equation_63_repaired = claim(
    "power-of-choice:equation-63-repaired",
    "Eq. (63) with rho_diagonal and, for 16 eta^2 tau^2 G2, (s^2 + 3/4 eta rho s + 3/8 eta mu rho s^2) G2, s elapsed",
    Statement(poc.PAPER, _APPENDIX_C, "eq. (63)", form="corrected"),
    hypotheses=(_CURVATURE, _SHORT, "the selection depends on the past only through the round's starting model"),
    looseness=1.01,
)(on_steps(a5_repaired, short_steps))


@claim(
    "power-of-choice:equation-66",
    "Delta_t <= psi_t/(t + gamma) by induction from eq. (65), psi_t as in eq. (66)",
    Statement(poc.PAPER, _APPENDIX_C, "eq. (66)", form="corrected"),
    hypotheses=("D >= 0", "1 < beta mu B <= gamma"),
    looseness=1.01,
    remark="psi depends on t; the induction needs that it does not fall, and that no slope is negative",
)
def equation_66(rng: np.random.Generator) -> Finding:
    return draw_recursion(rng).against_psi(whole(rng, 1, 6))


@claim(
    "power-of-choice:equation-66-any-gamma",
    "Delta_t <= psi_t/(t + gamma) for any gamma > 0, as is printed before eq. (66)",
    Statement(poc.PAPER, _APPENDIX_C, "eq. (66)"),
    "erratum",
    remark="where gamma < beta mu B the first slopes are negative; Theorem 3.1 has gamma = 4 L/mu >= B",
)
def equation_66_any_gamma() -> Finding:
    one = Fraction(1)
    return Recursion(rate=2 * one, beta=2 * one, gamma=one, C=one, D=0 * one, start=0 * one).against_psi(1)


def _gap_below_distance(drawn: Drawn, means: Means) -> Finding:
    bound = drawn.run.federation.smoothness / 2 * distance2(drawn.run, means.step)
    return at_most(gap(drawn.run, means.step), bound, instance=drawn.instance)


equation_67 = claim(
    "power-of-choice:equation-67",
    "E F(w_bar_t) - F* <= L/2 Delta_t",
    Statement(poc.PAPER, _APPENDIX_C, "eq. (67)"),
    hypotheses=("F is L-smooth",),
    looseness=1.01,
)(on_steps(_gap_below_distance, decaying_steps))


@claim(
    "power-of-choice:equations-66-67",
    "Eq. (7) is L/2 psi/(T + gamma) with beta = 1/mu, gamma = 4 L/mu and the sum of the two numbers that psi compares",
    Statement(poc.PAPER, _APPENDIX_C, "eqs. (66)-(67)"),
    "identity",
)
def equations_66_67(rng: np.random.Generator) -> Finding:
    drawn, num_steps = draw_run(rng, longest_round=2), whole(rng, 0, 9)
    rho_tilde = observed_skews(drawn.run).rho_tilde
    rho = rho_tilde * Fraction(whole(rng, 1, 8), 8)
    known = horizon_constants(drawn)
    stated, _ = poc.decaying_steps_gap.printed(num_steps, **known, rho_bar=rho, rho_tilde=rho_tilde, strict=False)
    mu, L, gamma = known["mu"], known["L"], 4 * known["L"] / known["mu"]
    variance = 32 * known["local_steps"] ** 2 * known["G2"] + known["sigma2"] / known["num_selected"]
    C = variance + 6 * rho * L * known["objective_gap"]
    D = 2 * known["objective_gap"] * (rho_tilde - rho)
    steady = (C / mu**2 + D / mu * (num_steps + gamma)) / (3 * rho / 8)  # beta mu B - 1 is 3 rho/8
    psi = gamma * known["initial_distance2"] + steady
    return equal_to(stated, L / 2 * psi / (num_steps + gamma), instance={**drawn.instance, "T": num_steps})
