"""Power-of-Choice, Appendix E: one step of averages with weights q_k, and from it to their theorem."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._comparisons import horizon_constants, theorem_constants
from fedtheory.claims.power_of_choice._appendices import (
    Means,
    a5_repaired,
    draw_recursion,
    on_weighted_steps,
    opposite_run,
    printed_weighted_drift,
    weighted_m,
)
from fedtheory.rational._constants import client_gradient_bound, observed_skews, skew
from fedtheory.rational._rounds import Snapshot, distance2, elapsed, gap
from fedtheory.rational._run_draws import WEIGHTED_LAWS, Drawn, draw_run
from fedtheory.rational._step_sizes import weighted_steps
from fedtheory.rational._words import federation_in_words, in_words
from fedtheory.rational.draws import draw_model, draw_shares, whole
from fedtheory.rational.quadratics import opposite_clients
from fedtheory.rational.vectors import Vector, combination, difference, inner, norm2, vector
from fedtheory.sampling.cohorts import Selection, uniform_subsets
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
    remark="with p = (3/4, 1/4) and m = 1 the one weight is 3/2: the average of a model at w* is not there",
)
def equation_74_unbalanced() -> Finding:
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


_ASSUMED = ("q_k >= 0 with sum 1", "every F_k is L-smooth and mu-strongly convex")
_SEVERAL = (*_ASSUMED, "E[|g_k|^2 | S] <= G2 for the active copies", "m >= 2", "step sizes of eq. (85)")


def against_80(drawn: Drawn, means: Means, drift: Fraction) -> Finding:
    """Compare M and the contraction that eq. (80) takes out of it with the bias, the drift and the heterogeneity."""
    fed, m, skews = drawn.run.federation, drawn.num_selected, observed_skews(drawn.run)
    rho, eta = skews.rho_bar, means.eta
    contraction = eta * fed.strong_convexity * rho / 2 * distance2(drawn.run, means.step)
    bias = 2 * eta * fed.objective_gap * (skews.rho_tilde - rho)
    heterogeneity = 2 * means.x * eta * (2 + m) * rho * fed.objective_gap
    left = weighted_m(means, Fraction(2 * (1 + m))) + contraction
    return at_most(left, bias + drift + heterogeneity, instance=drawn.instance)


equations_79_80 = claim(
    "power-of-choice:equations-79-80",
    "M + eta mu rho_bar/2 Delta_t <= 2 eta Gamma (rho_tilde - rho_bar) + 16 m^2 (m-1) eta^2 tau^2 G2 + ...",
    Statement(poc.PAPER, _APPENDIX_E, "eqs. (79)-(80)", form="corrected"),
    hypotheses=_SEVERAL,
    looseness=2,
    remark="the title leaves out 2 L eta^2 (2 + m) rho_bar Gamma; the drift is paid where rounds have one step, too",
)(
    on_weighted_steps(
        lambda drawn, means: against_80(drawn, means, drawn.num_selected * printed_weighted_drift(drawn, means)),
        smallest_cohort=2,
    )
)


equation_80_refined = claim(
    "power-of-choice:equation-80-refined",
    "Eq. (80) as repaired: 4 for 2 (1 + m) in M, rho_diagonal, (s^2 + 3/4 eta rho s + 3/8 eta mu rho s^2) G2 as drift",
    Statement(poc.PAPER, _APPENDIX_E, "eqs. (79)-(80)", form="refined"),
    hypotheses=(*_ASSUMED, "the selection depends on the past only through the round's starting model"),
    looseness=1.01,
    remark="for every m; s is the sum of the round's step sizes so far",
)(on_weighted_steps(a5_repaired))


@claim(
    "power-of-choice:equation-80-single-client",
    "M against eq. (80) for m = 1 after two steps of 1/100 in a round of ten, from 0 on two opposite clients",
    Statement(poc.PAPER, _APPENDIX_E, "eqs. (79)-(80)"),
    "erratum",
    remark="all hypotheses hold; the drift of the single client has the factor m - 1 = 0",
)
def equation_80_single_client() -> Finding:
    run = opposite_run(uniform_subsets(2, 1), 10, lambda _: Fraction(1, 100), num_steps=3)
    words = {
        **federation_in_words(run.federation),
        "law": "uniform",
        "num_selected": 1,
        "step_size": "1/100",
        "step": 2,
    }
    drawn, means = Drawn(run, 1, {**words, "local_steps": 10, "initial": "0"}), Means(run, 2)
    return against_80(drawn, means, printed_weighted_drift(drawn, means))


def _line_81(drawn: Drawn, means: Means) -> Finding:
    run, known = drawn.run, theorem_constants(drawn, "rho_bar")
    bound = poc.weighted_one_step.printed(distance2(run, means.step), step_size=means.eta, **known)
    return at_most(distance2(run, means.step + 1), bound, instance=drawn.instance)


equation_81 = claim(
    "power-of-choice:equation-81",
    "One step of E |w_hat_t - w*|^2 against eq. (81) for m >= 2 and weights of sum one",
    poc.weighted_one_step.printed,
    also=("m >= 2",),
    looseness=1.01,
)(on_weighted_steps(_line_81, smallest_cohort=2))


@claim(
    "power-of-choice:equation-83",
    "Delta_t <= psi_t/(t + gamma) by induction from eq. (82), psi_t as in eq. (83)",
    Statement(poc.PAPER, _APPENDIX_E, "eqs. (82)-(83)", form="corrected"),
    hypotheses=("D >= 0", "1 < beta mu B <= gamma"),
    looseness=1.01,
    remark="any gamma > 0, as is printed, does not do: see equation-66-any-gamma",
)
def equation_83(rng: np.random.Generator) -> Finding:
    return draw_recursion(rng).against_psi(whole(rng, 1, 6))


def _line_84(drawn: Drawn, means: Means) -> Finding:
    bound = drawn.run.federation.smoothness / 2 * distance2(drawn.run, means.step)
    return at_most(gap(drawn.run, means.step), bound, instance=drawn.instance)


equation_84 = claim(
    "power-of-choice:equation-84",
    "E F(w_hat_t) - F* <= L/2 Delta_t",
    Statement(poc.PAPER, _APPENDIX_E, "eq. (84)"),
    hypotheses=("F is L-smooth",),
    looseness=1.01,
)(on_weighted_steps(_line_84))


def from_recursion(known: dict[str, Any], num_steps: int, rho: Fraction, rho_tilde: Fraction) -> Fraction:
    """``L/2 psi/(T + gamma)`` of eqs. (83) and (84), with the sum of the two numbers that psi compares."""
    m, mu, L, tau, Gamma = (known[name] for name in ("num_selected", "mu", "L", "local_steps", "objective_gap"))
    beta, gamma = m / mu, 4 * m * (1 + m) * L / mu
    C = 32 * m**2 * (m - 1) * tau**2 * known["G2"] + known["sigma2"] * m + 2 * L * (2 + m) * rho * Gamma
    D, rate = 2 * Gamma * (rho_tilde - rho), beta * mu * (Fraction(1, m) + rho / 2)
    steady = (beta**2 * C + D * beta * (num_steps + gamma)) / (rate - 1)
    return Fraction(L / 2 * (gamma * known["initial_distance2"] + steady) / (num_steps + gamma))


def _drawn_constants(rng: np.random.Generator) -> tuple[dict[str, Any], int, dict[str, Any]]:
    drawn = draw_run(rng, laws=WEIGHTED_LAWS, longest_round=2, smallest_cohort=2, step_size=weighted_steps)
    num_steps = whole(rng, 0, 9)
    return horizon_constants(drawn), num_steps, {**drawn.instance, "T": num_steps}


@claim(
    "power-of-choice:equations-83-85",
    "L/2 psi/(T + gamma) is eq. (85) without the factor 1/rho_bar in its bias",
    poc.derived_weighted_average_gap,
    "identity",
)
def equations_83_85(rng: np.random.Generator) -> Finding:
    known, num_steps, instance = _drawn_constants(rng)
    rho, rho_tilde = Fraction(whole(rng, 1, 8), 8), Fraction(whole(rng, 8, 16), 8)
    stated, _ = poc.derived_weighted_average_gap(num_steps, **known, rho_bar=rho, rho_tilde=rho_tilde, strict=False)
    return equal_to(stated, from_recursion(known, num_steps, rho, rho_tilde), instance={**instance, "rho_bar": rho})


@claim(
    "power-of-choice:equation-85-bias",
    "The bias of eq. (85), 2 L Gamma/(rho_bar mu) (rho_tilde/rho_bar - 1), is what eqs. (83)-(84) give",
    poc.weighted_average_gap.printed,
    "erratum",
    remark="for two opposite clients, rho_bar = 1/2 and rho_tilde = 1 it is 2, and the recursion gives 1",
)
def equation_85_bias() -> Finding:
    one, half, fed = Fraction(1), Fraction(1, 2), opposite_clients()
    # Apart from the bias all is proportional to 1/(T + gamma), gamma = 24, so that two horizons show it.
    known: dict[str, Any] = {"mu": one, "L": one, "objective_gap": fed.objective_gap, "G2": one, "sigma2": 0 * one}
    known |= {"local_steps": 1, "num_selected": 2, "initial_distance2": 0 * one}

    def bias(values: Sequence[Any]) -> Fraction:
        return Fraction(25 * values[1] - 24 * values[0])

    printed = [
        poc.weighted_average_gap.printed(T, **known, rho_bar=half, rho_tilde=one, strict=False)[0] for T in (0, 1)
    ]
    derived = [from_recursion(known, T, half, one) for T in (0, 1)]
    return equal_to(bias(printed), bias(derived), instance={**federation_in_words(fed), "m": 2, "rho_bar": "1/2"})
