"""Power-of-Choice, Appendices A and D: the steps of the proof of Theorem A.1, and the statements about its bias."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory import exact
from fedtheory.arithmetic.functions import geometric
from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._comparisons import Chain, one_step_distances, step, theorem_constants
from fedtheory.instances.draws import draw_federation
from fedtheory.instances.federations import opposite_clients
from fedtheory.instances.formatting import format_federation
from fedtheory.instances.observed import initial_distance2
from fedtheory.instances.run_draws import draw_run
from fedtheory.instances.step_sizes import fixed_step
from fedtheory.theorem.claims import claim
from fedtheory.theorem.draws import as_texts, whole
from fedtheory.theorem.findings import Finding, at_most
from fedtheory.theorem.paper import Statement

_APPENDIX_D = "Appendix D"


class FixedStep:
    """A run with a fixed step size, a horizon T, and the constants of the printed forms."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.drawn = drawn = draw_run(rng, step_size=fixed_step(rng), longest_round=4)
        self.known: dict[str, Any] = theorem_constants(drawn, "rho_bar") | {"step_size": drawn.run.step_size(0)}
        self.mu, self.L, self.eta = self.known["mu"], self.known["L"], self.known["step_size"]
        self.distance2, self.gap = initial_distance2(drawn.run), drawn.run.federation.gap(drawn.run.initial)
        self.T = whole(rng, 0, 6)
        self.instance = {**drawn.instance, "T": self.T}


def fixed_steps(rng: np.random.Generator) -> list[FixedStep]:
    return [FixedStep(rng)]


@claim(
    "power-of-choice:equation-68",
    "Delta_{t+1} <= (1 - eta mu B) Delta_t + eta^2 C + eta D for a fixed step size",
    Statement(poc.PAPER, _APPENDIX_D, "eq. (68)"),
    hypotheses=tuple(known.text for known in poc.one_step.printed.hypotheses),
    looseness=1.01,
)
def equation_68(rng: np.random.Generator) -> Finding:
    s = FixedStep(rng)
    return one_step_distances(s.drawn, lambda start, _: poc.one_step.printed(start, **s.known))


@step(
    "power-of-choice:equations-69-71", Statement(poc.PAPER, _APPENDIX_D, "eqs. (69)-(71)"), fixed_steps, kind="identity"
)
def equations_69_71(s: FixedStep) -> list[Chain]:
    """T steps of eq. (68) with equality give eq. (69); from 2/mu (F(w_0) - F*) it yields eqs. (70)-(71),
    hence (8)"""
    B = 1 + 3 * s.known["rho_bar"] / 8
    start = found = 2 / s.mu * s.gap
    for _ in range(s.T):
        found, _ = poc.one_step.printed(found, **s.known, strict=False)
    left, gone = geometric(s.eta * s.mu * B, s.T)
    offset, _ = poc.one_step.printed(Fraction(0), **s.known, strict=False)
    line_69 = left * start + offset / (s.eta * s.mu * B) * gone
    line_71, _ = poc.fixed_step_gap.printed(s.T, **s.known, initial_gap=s.gap, strict=False)
    return [(found, "=", line_69), (line_71, "=", s.L / 2 * line_69)]


@step(
    "power-of-choice:equation-70",
    Statement(poc.PAPER, _APPENDIX_D, "eq. (70)"),
    fixed_steps,
    hypotheses=("F is mu-strongly convex",),
)
def equation_70(s: FixedStep) -> Chain:
    """Delta_0 <= 2/mu (F(w_0) - F*)"""
    return s.distance2, "<=", 2 / s.mu * s.gap


def settled_at(known: dict[str, Any]) -> Fraction:
    """Return the limit of eq. (8) for T to infinity: from F(w_0) = F* one step gives the share eta mu B of it."""
    after_one, _ = poc.fixed_step_gap.printed(1, **known, initial_gap=Fraction(0), strict=False)
    return Fraction(after_one / (known["step_size"] * known["mu"] * (8 + 3 * known["rho_bar"]) / 8))


def decaying_bias(known: dict[str, Any]) -> Fraction:
    """Return the limit of eq. (7) for T to infinity: the other terms are proportional to 1/(T + gamma)."""
    constants = {name: value for name, value in known.items() if name != "step_size"}
    gamma = 4 * known["L"] / known["mu"]
    first, second = (
        poc.decaying_steps_gap.printed(T, **constants, initial_distance2=Fraction(0), strict=False)[0] for T in (0, 1)
    )
    return Fraction((1 + gamma) * second - gamma * first)


@claim(
    "power-of-choice:small-steps-bias",
    "For eta <= 16 Gamma (rho_tilde - rho_bar)/(3 rho_bar C) eq. (8) tends to at most the bias of eq. (7)",
    Statement(poc.PAPER, "Theorem A.1", "the bias, after eq. (8)", form="corrected"),
    hypotheses=("rho_tilde > rho_bar > 0", "the objective gap is positive"),
    looseness=1.01,
    remark="at most, and not equal: for vanishing steps the former is 3 rho_bar/(8 + 3 rho_bar) of the latter",
)
def small_steps_bias(rng: np.random.Generator) -> Finding:
    drawn = draw_run(rng, step_size=fixed_step(rng), longest_round=4)
    known = theorem_constants(drawn)
    Gamma, rho = Fraction(whole(rng, 1, 8), 4), Fraction(whole(rng, 1, 8), 4)
    rho_tilde = rho + Fraction(whole(rng, 1, 8), 4)
    C = 32 * known["local_steps"] ** 2 * known["G2"] + known["sigma2"] / known["num_selected"]
    C += 6 * rho * known["L"] * Gamma
    longest = 16 * Gamma * (rho_tilde - rho) / (3 * rho * C)
    known |= {"objective_gap": Gamma, "rho_bar": rho, "rho_tilde": rho_tilde}
    known["step_size"] = longest * Fraction(whole(rng, 1, 16), 16)
    return at_most(settled_at(known), decaying_bias(known), instance=as_texts(known))


@claim(
    "power-of-choice:small-steps-bias-unbiased",
    "For small eta eq. (8) tends to at most the bias of eq. (7), also for an unbiased selection: 36 eta > 0",
    Statement(poc.PAPER, "Theorem A.1", "the bias, after eq. (8)"),
    "erratum",
    remark="with rho_tilde = rho_bar, or Gamma = 0, the bias of eq. (7) is 0; the floor of eq. (8) is positive",
)
def small_steps_bias_unbiased() -> Finding:
    fed, one = opposite_clients(), Fraction(1)
    known: dict[str, Any] = {"mu": one, "L": one, "objective_gap": fed.objective_gap, "G2": 3 * one, "sigma2": 0 * one}
    known |= {"local_steps": 1, "num_selected": 1, "rho_bar": one, "rho_tilde": one, "step_size": one / 10**6}
    words = {"law": "proportional", "G2": "3", "step_size": "1/10^6", "local_steps": 1}
    return at_most(settled_at(known), decaying_bias(known), instance={**format_federation(fed), **words})


@claim(
    "power-of-choice:theorem-a.1-second-condition",
    "1/(4 L) <= 1/(2 mu (1 + 3 rho_bar/8)): the second condition of Theorem A.1 follows from the first",
    Statement(poc.PAPER, "Theorem A.1", "the condition on eta", form="corrected"),
    hypotheses=("rho_bar of pow-d, bounded from above",),
    looseness=1.5,
    remark="rho_bar <= L/mu, the limit of the ratio of two F_k - F_k* far away; (8 + 3 kappa)/(16 kappa) < 1",
)
def second_condition(rng: np.random.Generator) -> Finding:
    from fedtheory.selection.power_of_choice import PowerOfChoice

    fed = draw_federation(rng)
    d = whole(rng, 1, fed.num_clients)
    m = whole(rng, 1, d)
    # Zeros are valid subset minima; the lower bound of rho_bar, which is expensive, is not needed here.
    skews = exact.selection_skew(
        fed.rounded(), PowerOfChoice(m, d), num_models=20, least_ratios=np.zeros(fed.num_clients)
    )
    mu, L = float(fed.strong_convexity), float(fed.smoothness)
    instance = {**format_federation(fed), "num_selected": m, "num_candidates": d}
    return at_most(1 / (4 * L), 1 / (2 * mu * (1 + 3 * skews.rho_bar.upper / 8)), instance=instance)
