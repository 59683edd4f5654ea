"""Power-of-Choice, Appendix C: eqs. (56) to (67), from the skews to the theorem."""

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._checks import theorem_constants
from fedtheory.claims.power_of_choice._means import (
    Means,
    a5_bounded,
    a5_repaired,
    decaying_steps,
    draw_eta,
    on_steps,
)
from fedtheory.claims.power_of_choice._recursion import Recursion, draw_recursion
from fedtheory.rational._constants import initial_distance2, observed_gradient_bound, observed_skews
from fedtheory.rational._rounds import Snapshot, distance2, gap
from fedtheory.rational._run_draws import Drawn, draw_run
from fedtheory.rational._step_sizes import short_steps
from fedtheory.rational._words import federation_in_words
from fedtheory.rational.draws import draw_federation, whole
from fedtheory.rational.vectors import inner
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to, worst_of

_APPENDIX_C = "Appendix C"
_CURVATURE = "every F_k is L-smooth and mu-strongly convex"
_SHORT = "eta <= 1/(4 L)"


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


def _strongly_convex(drawn: Drawn, means: Means) -> Finding:
    factor = means.nu * (1 - means.x) * observed_skews(drawn.run).rho_bar
    distance = drawn.run.federation.strong_convexity / 2 * distance2(drawn.run, means.step)
    return at_most(factor * distance, factor * gap(drawn.run, means.step), instance=drawn.instance)


equation_60 = claim(
    "power-of-choice:equation-60",
    "mu/2 E |w_bar - w*|^2 <= E F(w_bar) - F*, in front of it nu (1 - eta L) rho_bar",
    Statement(poc.PAPER, _APPENDIX_C, "eq. (60)"),
    hypotheses=(_CURVATURE,),
    looseness=1.01,
)(on_steps(_strongly_convex, short_steps))


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
    instances=(1, 1),
    remark="where gamma < beta mu B the first slopes are negative; Theorem 3.1 has gamma = 4 L/mu >= B",
)
def equation_66_any_gamma(_: np.random.Generator) -> Finding:
    one = Fraction(1)
    return Recursion(rate=2 * one, beta=2 * one, gamma=one, C=one, D=0 * one, start=0 * one).against_psi(1)


def _smooth(drawn: Drawn, means: Means) -> Finding:
    bound = drawn.run.federation.smoothness / 2 * distance2(drawn.run, means.step)
    return at_most(gap(drawn.run, means.step), bound, instance=drawn.instance)


equation_67 = claim(
    "power-of-choice:equation-67",
    "E F(w_bar_t) - F* <= L/2 Delta_t",
    Statement(poc.PAPER, _APPENDIX_C, "eq. (67)"),
    hypotheses=("F is L-smooth",),
    looseness=1.01,
)(on_steps(_smooth, decaying_steps))


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
    known = {**theorem_constants(drawn), "initial_distance2": initial_distance2(drawn.run)}
    stated, _ = poc.decaying_steps_gap.printed(num_steps, **known, rho_bar=rho, rho_tilde=rho_tilde, strict=False)
    mu, L, gamma = known["mu"], known["L"], 4 * known["L"] / known["mu"]
    variance = 32 * known["local_steps"] ** 2 * known["G2"] + known["sigma2"] / known["num_selected"]
    C = variance + 6 * rho * L * known["objective_gap"]
    D = 2 * known["objective_gap"] * (rho_tilde - rho)
    steady = (C / mu**2 + D / mu * (num_steps + gamma)) / (3 * rho / 8)  # beta mu B - 1 is 3 rho/8
    psi = gamma * known["initial_distance2"] + steady
    return equal_to(stated, L / 2 * psi / (num_steps + gamma), instance={**drawn.instance, "T": num_steps})
