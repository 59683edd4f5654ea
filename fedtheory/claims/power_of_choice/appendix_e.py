"""Power-of-Choice, Appendix E: eqs. (73) to (84), one step of averages with weights q_k."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims.power_of_choice._means import Means, on_weighted_steps, printed_weighted_drift, weighted_m
from fedtheory.rational._constants import client_gradient_bound, observed_skews, skew
from fedtheory.rational._rounds import Snapshot, distance2, elapsed
from fedtheory.rational._run_draws import Drawn
from fedtheory.rational._words import in_words
from fedtheory.rational.draws import draw_model, draw_shares, whole
from fedtheory.rational.vectors import Vector, combination, difference, inner, norm2, vector
from fedtheory.sampling.selections import Selection
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to, not_applicable, worst_of

_APPENDIX_E = "Appendix E"
_SUM_TO_ONE = "q_k >= 0 with sum 1"
_CURVATURE = "every F_k is L-smooth and mu-strongly convex"
_EVERYWHERE = "E[|g_k|^2 | S] <= G2 for the active copies"


def plain_drift(means: Means) -> Fraction:
    """``E 1/m sum_k |w_hat - w_k|^2``: the average has weights q_k, the mean of the squares has none."""
    return means.mean(lambda at: sum(norm2(difference(at.average, w)) for w in at.local) / Fraction(len(at.local)))


def _line_73(drawn: Drawn, means: Means) -> Finding:
    return at_most(plain_drift(means), printed_weighted_drift(drawn, means), instance=drawn.instance)


def _line_73_refined(drawn: Drawn, means: Means) -> Finding:
    m, s = drawn.num_selected, elapsed(drawn.run, means.step)
    bound = 4 * s**2 * client_gradient_bound(drawn.run) * (m - 1) / m
    return at_most(plain_drift(means), bound, instance=drawn.instance)


equation_73 = claim(
    "power-of-choice:equation-73",
    "1/m E sum_k |w_hat_t - w_k|^2 <= 16 eta^2 m (m - 1) tau^2 G2 for weights q_k in the average",
    Statement(poc.PAPER, _APPENDIX_E, "eq. (73)"),
    hypotheses=(_SUM_TO_ONE, _EVERYWHERE, "step sizes of eq. (85)"),
    looseness=64,
    remark="m (m - 1) where (m - 1)/m is true, and 16 tau^2 for steps that halve: see the refined form",
)(on_weighted_steps(_line_73))

equation_73_refined = claim(
    "power-of-choice:equation-73-refined",
    "1/m E sum_k |w_hat_t - w_k|^2 <= 4 s^2 (m - 1)/m G2, s the sum of the round's step sizes so far",
    Statement(poc.PAPER, _APPENDIX_E, "eq. (73)", form="refined"),
    hypotheses=(_SUM_TO_ONE, _EVERYWHERE),
    looseness=1.5,
    remark="with (m - 1)/m for m (m - 1); nears 1 as one of two weights does, and those drawn are at most 5 to 1",
)(on_weighted_steps(_line_73_refined))


def draw_weighted(rng: np.random.Generator, smallest: int) -> tuple[Snapshot, dict[str, Any]]:
    """Draw models of some copies with weights q_k of sum one."""
    size, dim = whole(rng, smallest, 4), whole(rng, 1, 2)
    shares, models = draw_shares(rng, size), tuple(draw_model(rng, dim) for _ in range(size))
    average = combination(shares, models)
    words = {"q": in_words(shares), "models": "; ".join(map(in_words, models))}
    return Snapshot(average, tuple(range(size)), shares, models, average), words


def jensen(rng: np.random.Generator, factor: Callable[[int], int], smallest: int) -> Finding:
    """Compare the squared distance of a weighted average with a multiple of the weighted mean of squared distances."""
    at, words = draw_weighted(rng, smallest)
    best = draw_model(rng, len(at.average))
    bound = factor(len(at.chosen)) * at.spread(best)
    return at_most(norm2(difference(at.average, best)), bound, instance={**words, "w*": in_words(best)})


equation_74 = claim(
    "power-of-choice:equation-74",
    "|w_hat - w*|^2 <= m sum_k q_k |w_k - w*|^2, for m >= 2",
    Statement(poc.PAPER, _APPENDIX_E, "eq. (74)"),
    hypotheses=(_SUM_TO_ONE,),
    looseness=4,
    remark="the factor m is superfluous, see equation-74-refined",
)(lambda rng: jensen(rng, lambda m: m, 2))

equation_74_refined = claim(
    "power-of-choice:equation-74-refined",
    "|w_hat - w*|^2 <= sum_k q_k |w_k - w*|^2, without the factor m of eq. (74)",
    Statement(poc.PAPER, _APPENDIX_E, "eq. (74)", form="refined"),
    hypotheses=(_SUM_TO_ONE,),
    looseness=1.01,
)(lambda rng: jensen(rng, lambda _: 1, 1))


@claim(
    "power-of-choice:equation-74-unbalanced",
    "|w_hat - w*|^2 <= m sum_k q_k |w_k - w*|^2 for the weights q_k = p_k K/m that the paper gives as an example",
    Statement(poc.PAPER, _APPENDIX_E, "eq. (74)"),
    "erratum",
    instances=(1, 1),
    remark="with p = (3/4, 1/4) and m = 1 the one weight is 3/2: the average of a model at w* is not there",
)
def equation_74_unbalanced(_: np.random.Generator) -> Finding:
    one, q = vector(1), vector("3/2")
    at = Snapshot(one, (0,), q, (one,), combination(q, (one,)))
    instance = {"p": "(3/4, 1/4)", "m": 1, "K": 2, "chosen": 0, "w_k = w*": "1"}
    return at_most(norm2(difference(at.average, one)), 1 * at.spread(one), instance=instance)


def _line_75(drawn: Drawn, means: Means) -> Finding:
    m, mu, run = drawn.num_selected, drawn.run.federation.strong_convexity, drawn.run
    here = distance2(run, means.step)
    # M and the distance may have either sign together; what is added to them has not.
    kept = (1 - means.eta * mu / m) * here + weighted_m(means, Fraction(2 * (1 + m)))
    added = means.eta**2 * run.sigma2 * m + m * printed_weighted_drift(drawn, means)
    return at_most(distance2(run, means.step + 1), kept + added, instance=drawn.instance)


equation_75 = claim(
    "power-of-choice:equation-75",
    "E |w_hat_{t+1} - w*|^2 <= (1 - eta mu/m) Delta_t + eta^2 sigma2 m + 16 m^2 (m - 1) eta^2 tau^2 G2 + M",
    Statement(poc.PAPER, _APPENDIX_E, "eq. (75)"),
    hypotheses=(_SUM_TO_ONE, _CURVATURE, _EVERYWHERE, "step sizes of eq. (85)"),
    looseness=1.01,
)(on_weighted_steps(_line_75))


def _line_75_refined(drawn: Drawn, means: Means) -> Finding:
    run, mu = drawn.run, drawn.run.federation.strong_convexity
    squares = max(norm2(at.coefficients) for at in run.snapshots[means.step])
    kept = (1 - means.eta * mu) * distance2(run, means.step) + weighted_m(means, Fraction(4))
    added = means.eta**2 * run.sigma2 * squares + means.mean(lambda at: at.drift)
    return at_most(distance2(run, means.step + 1), kept + added, instance=drawn.instance)


equation_75_refined = claim(
    "power-of-choice:equation-75-refined",
    "Eq. (75) without a factor m: contraction 1 - eta mu, sum_k q_k^2 for m, 4 for 2 (1 + m), the drift itself",
    Statement(poc.PAPER, _APPENDIX_E, "eq. (75)", form="refined"),
    hypotheses=(_SUM_TO_ONE, _CURVATURE),
    looseness=1.01,
)(on_weighted_steps(_line_75_refined))


def _skews_by_definition(drawn: Drawn, means: Means) -> Finding:
    run, fed = drawn.run, drawn.run.federation
    start = run.snapshots[means.step - means.step % run.local_steps]
    findings = []

    def weighted_excess(w: Vector, chosen: Selection) -> Fraction:
        return inner(run.weigh(chosen), [fed.excess(k, w) for k in chosen])

    for at in list(start)[:4]:
        law = run.select(at.anchor)
        numerator = law.mean(partial(weighted_excess, at.average))
        rho, total = skew(run, law, at.average), fed.total_excess(at.average)
        findings.append(equal_to(Fraction(numerator), (rho or 0) * total, instance=drawn.instance))
    return worst_of(findings)


equation_76 = claim(
    "power-of-choice:equation-76",
    "E sum_k q_k (F_k(w') - F_k*) = rho_q(S(w), w') (F(w') - sum_k p_k F_k*)",
    Statement(poc.PAPER, _APPENDIX_E, "eq. (76)"),
    "identity",
)(on_weighted_steps(_skews_by_definition))


def _ordered(drawn: Drawn, _: Means) -> Finding:
    if not drawn.run.federation.objective_gap:
        return not_applicable("the objective gap is 0", **drawn.instance)
    skews = observed_skews(drawn.run)
    return at_most(skews.rho_bar, skews.rho_tilde, instance=drawn.instance)


equations_77_78 = claim(
    "power-of-choice:equations-77-78",
    "0 <= rho_bar_q <= rho_tilde_q, both values of the skew at w' = w*",
    Statement(poc.PAPER, _APPENDIX_E, "eqs. (77)-(78)"),
    hypotheses=("the objective gap is positive", _SUM_TO_ONE),
    looseness=1.01,
)(on_weighted_steps(_ordered))
