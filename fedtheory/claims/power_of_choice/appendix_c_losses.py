"""Power-of-Choice, Appendix C: eqs. (37) and (45) to (53), the losses of the active clients."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims.power_of_choice._means import Means, decaying_steps, draw_eta, on_steps
from fedtheory.claims.power_of_choice._standings import Standing, on_any_models
from fedtheory.rational._constants import observed_gradient_bound
from fedtheory.rational._rounds import Snapshot
from fedtheory.rational._run_draws import Drawn
from fedtheory.rational._step_sizes import short_steps
from fedtheory.rational.vectors import combination, difference, inner
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to, worst_of

_APPENDIX_C = "Appendix C"
_CURVATURE = "every F_k is L-smooth and mu-strongly convex"
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
    def coefficient(here: Standing) -> Finding:
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
