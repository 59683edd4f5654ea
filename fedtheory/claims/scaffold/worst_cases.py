"""SCAFFOLD against its certified worst cases."""

from fractions import Fraction

import numpy as np

from fedtheory.bounds import scaffold as sc
from fedtheory.claims._confronted import curvatures, in_words, step_size
from fedtheory.errors import OracleError
from fedtheory.rational.draws import whole
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_least, at_most, not_applicable
from fedtheory.worst_case.control_variates import scaffold

_GUESS = Statement(
    sc.PAPER, "Algorithm 1", equation="the exact rate of a round, as two examples suggest", form="derived"
)


@claim(
    "scaffold:round-worst-case",
    "No federation exceeds the rate of a round of SCAFFOLD, and some comes close to it",
    sc.fixed_step_potential,
    instances=(3, 20),
    looseness=1.01,
)
def round_worst_case(rng: np.random.Generator) -> Finding:
    given = curvatures(rng) | {"local_steps": whole(rng, 1, 3)}
    given["step_size"] = step_size(rng, 1 / (given["local_steps"] * given["L"]))
    try:
        lower, _ = scaffold(**given).enclosure
    except OracleError as error:
        return not_applicable(f"no worst case was proved: {error}", **in_words(given))
    bound = sc.fixed_step_potential(1, initial_distance2=Fraction(1), control_error2=Fraction(0), **given)
    return at_most(lower, bound, instance=in_words(given))


@claim(
    "scaffold:round-proved",
    "A certificate for each class proves the rate of a round of SCAFFOLD up to 10^-6 of it",
    sc.fixed_step_potential,
    instances=(3, 20),
)
def round_proved(rng: np.random.Generator) -> Finding:
    given = curvatures(rng) | {"local_steps": whole(rng, 1, 3)}
    given["step_size"] = step_size(rng, 1 / (given["local_steps"] * given["L"]))
    try:
        _, upper = scaffold(**given).enclosure
    except OracleError as error:
        return not_applicable(f"no worst case was proved: {error}", **in_words(given))
    bound = sc.fixed_step_potential(1, initial_distance2=Fraction(1), control_error2=Fraction(0), **given)
    return at_least(bound * (1 + Fraction(1, 10**6)), upper, instance=in_words(given))


@claim(
    "scaffold:exact-rate-guess",
    "A round of SCAFFOLD contracts by the larger of c^(2 tau) and (1 - C_L/tau)^2, C_L = sum of (1 - eta L)^i",
    _GUESS,
    "refuted conjecture",
    hypotheses=("eta L <= 1",),
    instances=(1, 1),
    remark="both are attained, and for eta L <= 1 random programs exceed the larger by half a percent at most",
)
def exact_rate_guess(_: np.random.Generator) -> Finding:
    mu, L, eta, tau = Fraction(1, 2), Fraction(1), Fraction(1, 2), 3
    lower = scaffold(tau, eta, mu=mu, L=L).enclosure[0]
    steep = sum(((1 - eta * L) ** i for i in range(tau)), start=Fraction(0))
    guess = max((1 - eta * mu) ** (2 * tau), (1 - steep / tau) ** 2)
    given = {"mu": mu, "L": L, "step_size": eta, "local_steps": tau}
    return at_most(lower, guess, instance=in_words(given))
