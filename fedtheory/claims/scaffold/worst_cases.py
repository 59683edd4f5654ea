"""SCAFFOLD against its certified worst cases."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.bounds import scaffold as sc
from fedtheory.claims._confronted import confronted, curvatures, in_words, step_size, tenths
from fedtheory.errors import OracleError
from fedtheory.rational.draws import pick, whole
from fedtheory.theorem.paper import Statement
from fedtheory.verification.claims import claim
from fedtheory.verification.findings import Finding, at_least, at_most, not_applicable
from fedtheory.worst_case.control_variates import scaffold

_GUESS = Statement(
    sc.PAPER, "Algorithm 1", equation="the exact rate of a round, as two examples suggest", form="derived"
)


def _round(rng: np.random.Generator) -> dict[str, Any]:
    given = curvatures(rng) | {"distance2": tenths(rng, 1, 90), "control_error2": tenths(rng, 1, 90)}
    longest = 2 / (given["L"] + given["mu"])
    return given | {"local_steps": whole(rng, 1, 3), "step_size": step_size(rng, longest * Fraction(99, 100))}


def _short(rng: np.random.Generator) -> dict[str, Any]:
    given = curvatures(rng) | {"local_steps": whole(rng, 1, 3)}
    return given | {"step_size": step_size(rng, 1 / (given["local_steps"] * given["L"]))}


def _rounds(rng: np.random.Generator) -> dict[str, Any]:
    errors = pick(rng, [Fraction(0), tenths(rng, 1, 90)])
    given = {"num_rounds": whole(rng, 1, 2), "initial_distance2": tenths(rng, 1, 90), "control_error2": errors}
    return _short(rng) | given


one_round = confronted(
    "scaffold:one-round-worst-case",
    "No federation exceeds the bound on a round of SCAFFOLD, and some comes close to it",
    sc.one_round,
    _round,
    looseness=1.01,
    thorough=20,
)
option_one_round = confronted(
    "scaffold:option-one-worst-case",
    "No federation exceeds the bound on a round of SCAFFOLD with Option I, and some comes close to it",
    sc.option_one_round,
    _round,
    looseness=1.01,
    thorough=20,
)
rounds = confronted(
    "scaffold:round-worst-case",
    "No federation exceeds the rate of SCAFFOLD in one round or two, and some comes close to it",
    sc.fixed_step_potential,
    _rounds,
    looseness=1.01,
    thorough=20,
)


@claim(
    "scaffold:round-proved",
    "A certificate for each class proves the rate of a round of SCAFFOLD up to 10^-6 of it",
    sc.fixed_step_potential,
    instances=(3, 20),
    looseness=1.01,
)
def round_proved(rng: np.random.Generator) -> Finding:
    given = _short(rng)
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
