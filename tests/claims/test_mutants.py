"""Wrong theorems about Power-of-Choice are refuted: omitted terms and changed arguments."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims.catalogue import known_claims
from fedtheory.claims.power_of_choice import appendix_b, appendix_e, theorems
from fedtheory.errors import AssumptionViolated
from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.noise import two_point_noise
from fedtheory.instances.observed import skew
from fedtheory.instances.run_draws import Drawn, draw_run
from fedtheory.instances.runs import RationalRun, constant_law
from fedtheory.instances.step_sizes import short_steps
from fedtheory.instances.vectors import vector
from fedtheory.statistics.law import Law
from fedtheory.theorem.bound import Bound
from fedtheory.theorem.claims import Claim
from fedtheory.theorem.findings import Finding, at_most, not_applicable
from tests.claims.refutation import refuted, scaled


def given(bound: Bound, name: str, change: Callable[[Any], Any]) -> Any:
    """Hand a bound one argument changed; of numbers that no problem has it promises nothing."""

    def mutant(first: Any, **arguments: Any) -> Any:
        try:
            return bound(first, **{**arguments, name: change(arguments[name])}, strict=False)[0]
        except AssumptionViolated:
            return float("inf")

    return mutant


def one_step_check(bound: Any) -> Callable[[Any], Finding]:
    return lambda rng: theorems.repaired_steps(draw_run(rng, step_size=short_steps(rng), longest_round=6), bound)


def faster(distance2: Any, **arguments: Any) -> Any:
    """Let the one-step bound contract twice as fast."""
    gain = arguments["step_size"] * arguments["mu"] * arguments["rho_diagonal"]
    return poc.one_step(distance2, **arguments) - gain * distance2


def uniform(rng: Any) -> Finding:
    """Draw clients uniformly, whatever their weights."""
    drawn = draw_run(rng, laws=("uniform",))
    rho = skew(drawn.run, drawn.run.select(drawn.run.initial), drawn.run.initial)
    return at_most(rho, 1) if rho is not None else not_applicable()


def fixed(mutant: Any) -> Callable[[Any], Finding]:
    return theorems.against_fixed_steps(mutant, "rho_diagonal", "initial_distance2")


def decaying(mutant: Any) -> Callable[[Any], Finding]:
    return theorems.against_decaying_steps(mutant, "rho_diagonal", 5)


case, slow = pytest.param, partial(pytest.param, marks=pytest.mark.slow)
FIXED, DECAYING = poc.refined_fixed_step_gap, poc.refined_decaying_steps_gap
WEIGHTED = appendix_e.against_weighted_average(scaled(poc.weighted_average_gap, "vanishing"), "rho_diagonal", 1)


# Seeds are of searches that get there soon.
@pytest.mark.parametrize(
    ("claim", "check", "num_instances", "rng"),
    [
        slow(theorems.one_step, one_step_check(scaled(poc.one_step, "drift")), 300, 0, id="one step without drift"),
        case(theorems.one_step, one_step_check(scaled(poc.one_step, "heterogeneity")), 300, 0, id="heterogeneity"),
        slow(theorems.one_step, one_step_check(scaled(poc.one_step, "bias")), 300, 4, id="one step without bias"),
        case(theorems.one_step, one_step_check(faster), 200, 0, id="twice the contraction"),
        case(theorems.theorem_a1_refined, fixed(scaled(FIXED, "vanishing")), 300, 0, id="A.1 without its start"),
        slow(theorems.theorem_a1_refined, fixed(scaled(FIXED, "step floor")), 300, 0, id="A.1 without its floor"),
        case(theorems.theorem_a1_refined, fixed(scaled(FIXED, "bias")), 300, 0, id="A.1 without bias"),
        case(theorems.theorem_a1_refined, fixed(given(FIXED, "objective_gap", lambda _: 0)), 600, 0, id="A.1, no gap"),
        slow(theorems.theorem_a1_refined, fixed(given(FIXED, "local_steps", lambda _: 1)), 600, 3, id="A.1, one step"),
        case(theorems.theorem_a1_refined, fixed(given(FIXED, "rho_diagonal", lambda rho: 2 * rho)), 600, 0, id="skew"),
        slow(theorems.theorem_31_refined, decaying(given(DECAYING, "objective_gap", lambda _: 0)), 200, 0, id="3.1"),
        slow(theorems.theorem_31_refined, decaying(scaled(DECAYING, "vanishing")), 200, 0, id="3.1 without its start"),
        case(appendix_e.equation_85, WEIGHTED, 200, 0, id="85 without its start"),
        case(known_claims()["fedavg:unit-skew"], uniform, 200, 0, id="uniform draws from unequal weights"),
    ],
)
def test_a_theorem_needs_its_terms_and_arguments(claim: Claim, check: Any, num_instances: int, rng: int) -> None:
    assert refuted(claim, check, num_instances, rng)


def test_the_one_step_inequality_needs_its_noise_divided_by_the_number_of_clients_once() -> None:
    # Two copies of one client at its minimizer: one step leaves eta^2 sigma^2/2, which is the whole bound.
    fed, zero = RationalQuadratics((vector(1),), (vector(0),), vector(1), vector(0)), vector(0)
    select, noise = constant_law(Law.certain((0, 0))), two_point_noise(vector(1))
    drawn = Drawn(RationalRun(fed, select, 1, lambda _: Fraction(1, 4), zero, 1, noise), 2, {})
    assert theorems.repaired_steps(drawn).ratio == 1
    for mutant in (given(poc.one_step, "num_selected", lambda m: 2 * m), scaled(poc.one_step, "noise")):
        assert theorems.repaired_steps(drawn, mutant).holds is False


@pytest.mark.slow
def test_the_drift_grows_with_the_number_of_local_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = poc.client_drift
    monkeypatch.setattr(poc, "client_drift", lambda eta, local_steps, G2: honest(eta, local_steps=2, G2=G2) / 2)
    assert refuted(appendix_b.lemma_b2_refined, appendix_b.lemma_b2_refined.check)
