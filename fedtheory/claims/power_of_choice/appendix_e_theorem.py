"""Power-of-Choice, Appendix E: eqs. (79) to (85), from one step of weighted averages to their theorem."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._checks import theorem_constants
from fedtheory.claims.power_of_choice._means import (
    Means,
    a5_repaired,
    on_weighted_steps,
    printed_weighted_drift,
    weighted_m,
)
from fedtheory.claims.power_of_choice._recursion import draw_recursion
from fedtheory.rational._constants import initial_distance2, observed_skews
from fedtheory.rational._rounds import distance2, gap
from fedtheory.rational._run_draws import WEIGHTED_LAWS, Drawn, draw_run
from fedtheory.rational._step_sizes import weighted_steps
from fedtheory.rational._words import federation_in_words
from fedtheory.rational.averaging import RationalRun, constant_law
from fedtheory.rational.draws import whole
from fedtheory.rational.noises import no_noise
from fedtheory.rational.quadratics import opposite_clients
from fedtheory.rational.vectors import vector
from fedtheory.sampling.selections import uniform_subsets
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_most, equal_to

_APPENDIX_E = "Appendix E"
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
    instances=(1, 1),
    remark="all hypotheses hold; the drift of the single client has the factor m - 1 = 0",
)
def equation_80_single_client(_: np.random.Generator) -> Finding:
    fed = opposite_clients()
    run = RationalRun(
        federation=fed,
        select=constant_law(uniform_subsets(2, 1)),
        local_steps=10,
        step_size=lambda _: Fraction(1, 100),
        initial=vector(0),
        num_steps=3,
        noise=no_noise(1),
    )
    words = {**federation_in_words(fed), "law": "uniform", "num_selected": 1, "step_size": "1/100", "step": 2}
    drawn, means = Drawn(run, 1, {**words, "local_steps": 10, "initial": "0"}), Means(run, 2)
    return against_80(drawn, means, printed_weighted_drift(drawn, means))


def _line_81(drawn: Drawn, means: Means) -> Finding:
    run, skews = drawn.run, observed_skews(drawn.run)
    known = {**theorem_constants(drawn), "rho_bar": skews.rho_bar, "rho_tilde": skews.rho_tilde}
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
    known = {**theorem_constants(drawn), "initial_distance2": initial_distance2(drawn.run)}
    return known, num_steps, {**drawn.instance, "T": num_steps}


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
    instances=(1, 1),
    remark="for two opposite clients, rho_bar = 1/2 and rho_tilde = 1 it is 2, and the recursion gives 1",
)
def equation_85_bias(_: np.random.Generator) -> Finding:
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
