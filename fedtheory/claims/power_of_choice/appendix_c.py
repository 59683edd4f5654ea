"""Power-of-Choice, Appendix C: eqs. (27) to (42), one step of the squared distance in four terms A_1 to A_4."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims.power_of_choice._standings import Standing, on_any_models, on_standings, stopped
from fedtheory.rational._rounds import Snapshot, distance2
from fedtheory.rational._run_draws import MEAN_LAWS, WEIGHTED_LAWS, draw_run
from fedtheory.rational._step_sizes import short_steps
from fedtheory.rational._words import federation_in_words
from fedtheory.rational.averaging import RationalRun
from fedtheory.rational.noises import two_point_noise, variance_of
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import Vector, difference, inner, norm2, vector
from fedtheory.statistics.law import Law
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to, worst_of

_APPENDIX_C = "Appendix C"
_CURVATURE = "every F_k is L-smooth and mu-strongly convex"
_NOISE = "noise of mean zero and variance at most sigma2, independent across active copies and of the selection"


def _four_terms(here: Standing) -> Finding:
    def compared(noises: tuple[Vector, ...]) -> Finding:
        terms = here.a1() + here.a2(noises) + here.a3() + here.a4(noises)
        return equal_to(here.next_distance2(noises), terms, instance=here.instance)

    return worst_of(map(compared, here.noises))


equations_27_30 = claim(
    "power-of-choice:equations-27-30",
    "|w_bar_t - eta g_bar_t - w*|^2 = |w_bar_t - w*|^2 + A_1 + A_2 + A_3 + A_4 for every selection and every noise",
    Statement(poc.PAPER, _APPENDIX_C, "eqs. (27)-(30)"),
    "identity",
)(on_standings(_four_terms))


def averaged_sequence(rng: np.random.Generator, laws: tuple[str, ...]) -> Finding:
    """Compare the distance at a step with that after a step of the averaged sequence from the step before."""
    drawn, step = stopped(rng, draw_run(rng, laws=laws, step_size=short_steps(rng), longest_round=4))
    run, instance = drawn.run, drawn.instance

    def expected(at: Snapshot) -> Fraction:
        here = Standing(run, at, run.step_size(step), instance)
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
)(on_standings(lambda here: equal_to(Fraction(here.noises.mean(here.a2)), 0, instance=here.instance)))


def _flat_federation() -> RationalQuadratics:
    one = vector(1)
    return RationalQuadratics((one, one), (vector(0),) * 2, vector("1/2", "1/2"), vector(0, 0))


def _standing(chosen: tuple[int, ...], noise: Law[Vector]) -> Standing:
    """Place copies of w^2/2 at w = 1, before a step of size 1/2."""
    fed, one, half = _flat_federation(), vector(1), Fraction(1, 2)
    share = (Fraction(1, len(chosen)),) * len(chosen)
    run = RationalRun(fed, lambda _: Law.certain(chosen), 1, lambda _: half, one, 1, noise)
    words = {**federation_in_words(fed), "w": "1", "step_size": "1/2", "noise": "+-1"}
    return Standing(run, Snapshot(one, chosen, share, (one,) * len(chosen), one), half, words)


@claim(
    "power-of-choice:equation-30-mini-batch-seen",
    "E |w_bar_{t+1} - w*|^2 = |w_bar_t - w*|^2 + A_1 + A_3 + E A_4, where the selection has seen the mini-batches",
    Statement(poc.PAPER, _APPENDIX_C, "eq. (30)"),
    "erratum",
    instances=(1, 1),
    remark="E A_2 = 0 needs more than unbiased gradients: of two equal clients the one with the larger noise is taken",
)
def equation_30_mini_batch_seen(_: np.random.Generator) -> Finding:
    noise = two_point_noise(vector(1))
    here = _standing((0,), noise)
    larger = (noise**2).map(lambda pair: (max(pair),))
    without_a2 = here.a1() + here.a3() + larger.mean(here.a4)
    return equal_to(Fraction(larger.mean(here.next_distance2)), Fraction(without_a2), instance=here.instance)


@claim(
    "power-of-choice:equation-41-common-noise",
    "The variance of a mean of two gradients is half of that of one, where both have the same mini-batch",
    Statement(poc.PAPER, _APPENDIX_C, "eqs. (40)-(41)"),
    "erratum",
    instances=(1, 1),
    remark="the noises of active copies have to be independent of each other",
)
def equation_41_common_noise(_: np.random.Generator) -> Finding:
    noise = two_point_noise(vector(1))
    here = _standing((0, 0), noise)
    of_mean = Fraction(noise.mean(lambda common: here.a4((common, common))))
    return equal_to(of_mean, here.step_size**2 / 4 * 2 * variance_of(noise), instance=here.instance)


def _in_parts(here: Standing) -> Finding:
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


def _arithmetic_geometric(here: Standing) -> Finding:
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


def _smooth(here: Standing) -> Finding:
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


def _strongly_convex(here: Standing) -> Finding:
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


def _all_of_a1(here: Standing) -> Finding:
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


def _noise_of_mean(here: Standing) -> Finding:
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
)(on_standings(_noise_of_mean))
