"""Wrong theorems about Power-of-Choice are refuted: omitted terms and changed arguments."""

from collections.abc import Callable
from fractions import Fraction
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
from fedtheory.theorem.findings import Finding, at_most, not_applicable
from tests.claims.refutation import refuted

CLAIMS = known_claims()


def without(bound: Bound, *summands: str) -> Any:
    """Leave summands out of a bound."""

    def mutant(first: Any, **arguments: Any) -> Any:
        return sum(value for name, value in bound.terms(first, **arguments).items() if name not in summands)

    return mutant


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


# Seeds are of searches that get there soon.
@pytest.mark.parametrize(
    ("term", "rng"),
    [
        pytest.param("drift", 0, marks=pytest.mark.slow),
        ("heterogeneity", 0),
        pytest.param("bias", 4, marks=pytest.mark.slow),
    ],
)
def test_the_one_step_inequality_needs_its(term: str, rng: int) -> None:
    assert refuted(theorems.one_step, one_step_check(without(poc.one_step, term)), 300, rng)


def test_the_one_step_inequality_needs_its_noise_divided_by_the_number_of_clients_once() -> None:
    # Two copies of one client at its minimizer: one step leaves eta^2 sigma^2/2, which is the whole bound.
    fed = RationalQuadratics((vector(1),), (vector(0),), vector(1), vector(0))
    run = RationalRun(
        federation=fed,
        select=constant_law(Law.certain((0, 0))),
        local_steps=1,
        step_size=lambda _: Fraction(1, 4),
        initial=vector(0),
        num_steps=1,
        noise=two_point_noise(vector(1)),
    )
    drawn = Drawn(run, 2, {})
    assert theorems.repaired_steps(drawn).ratio == 1
    for mutant in (given(poc.one_step, "num_selected", lambda m: 2 * m), without(poc.one_step, "noise")):
        assert theorems.repaired_steps(drawn, mutant).holds is False


def test_the_one_step_contraction_cannot_be_twice_as_fast() -> None:
    def faster(distance2: Any, **arguments: Any) -> Any:
        gain = arguments["step_size"] * arguments["mu"] * arguments["rho_diagonal"]
        return poc.one_step(distance2, **arguments) - gain * distance2

    assert refuted(theorems.one_step, one_step_check(faster))


@pytest.mark.parametrize("term", ["vanishing", pytest.param("step floor", marks=pytest.mark.slow), "bias"])
def test_the_refined_fixed_step_theorem_needs_each_of_its_terms(term: str) -> None:
    check = theorems.against_fixed_steps(without(poc.refined_fixed_step_gap, term), "rho_diagonal", "initial_distance2")
    assert refuted(theorems.theorem_a1_refined, check, 300)


@pytest.mark.parametrize(
    ("argument", "change", "rng"),
    [
        ("objective_gap", lambda _: 0, 0),
        pytest.param("local_steps", lambda _: 1, 3, marks=pytest.mark.slow),
        ("rho_diagonal", lambda rho: 2 * rho, 0),
    ],
)
def test_the_refined_fixed_step_theorem_needs_its_arguments(
    argument: str, change: Callable[[Any], Any], rng: int
) -> None:
    mutant = given(poc.refined_fixed_step_gap, argument, change)
    check = theorems.against_fixed_steps(mutant, "rho_diagonal", "initial_distance2")
    assert refuted(theorems.theorem_a1_refined, check, 600, rng)


@pytest.mark.slow
@pytest.mark.parametrize(
    "mutant",
    [
        without(poc.decaying_steps_gap, "bias"),
        given(poc.decaying_steps_gap, "local_steps", lambda _: 1),
        given(poc.decaying_steps_gap, "sigma2", lambda _: 0),
        given(poc.decaying_steps_gap, "objective_gap", lambda _: 0),
    ],
    ids=["bias", "drift", "noise", "heterogeneity"],
)
def test_the_closed_form_is_too_loose_to_miss_terms_that_the_one_step_inequality_misses(mutant: Any) -> None:
    assert not refuted(theorems.theorem_31, theorems.against_decaying_steps(mutant, "rho_diagonal", 12), 25)


@pytest.mark.slow
def test_the_refined_decaying_theorem_needs_the_objective_gap_and_the_vanishing_term() -> None:
    mutants = [
        given(poc.refined_decaying_steps_gap, "objective_gap", lambda _: 0),
        without(poc.refined_decaying_steps_gap, "vanishing"),
    ]
    for mutant in mutants:
        assert refuted(theorems.theorem_31_refined, theorems.against_decaying_steps(mutant, "rho_diagonal", 5))


def test_the_repaired_weighted_theorem_needs_its_vanishing_term() -> None:
    check = appendix_e.against_weighted_average(without(poc.weighted_average_gap, "vanishing"), "rho_diagonal", 1)
    assert refuted(appendix_e.equation_85, check)


@pytest.mark.slow
def test_the_drift_grows_with_the_number_of_local_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = poc.client_drift
    monkeypatch.setattr(poc, "client_drift", lambda eta, local_steps, G2: honest(eta, local_steps=2, G2=G2) / 2)
    assert refuted(appendix_b.lemma_b2_refined, appendix_b.lemma_b2_refined.check)


def test_uniform_draws_from_unequal_weights_do_not_have_skew_one() -> None:
    def uniform(rng: Any) -> Finding:
        drawn = draw_run(rng, laws=("uniform",))
        rho = skew(drawn.run, drawn.run.select(drawn.run.initial), drawn.run.initial)
        return at_most(rho, 1) if rho is not None else not_applicable()

    assert refuted(CLAIMS["fedavg:unit-skew"], uniform)
