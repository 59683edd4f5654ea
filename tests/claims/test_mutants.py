"""Wrong theorems are caught: every inequality fails once its bound is made small enough, or loses a term.

``LOOSENESS`` says how much smaller the bound of each claim must be made before exact instances refute it. Where the
factor is large (the closed forms of Theorem 3.1 and of eq. (85), Lemma B.2) a wrong constant goes unnoticed: those are
verified by their refined forms and by the one-step inequalities, whose factors are near 1.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from fedtheory.bounds import power_of_choice as poc
from fedtheory.claims._instances import Drawn, constant_law, draw_run, short_steps
from fedtheory.claims.power_of_choice import lemmas, steps, theorems, weighted
from fedtheory.paper import Bound
from fedtheory.verification.catalogue import known_claims
from fedtheory.verification.claim import Finding, at_least, at_most, not_applicable, worst_of
from fedtheory.verification.observed_constants import skew
from fedtheory.verification.rational import RationalQuadratics, vector
from fedtheory.verification.runs import RationalRun, two_point_noise
from fedtheory.verification.selections import Selection
from tests.claims.refutation import refuted

CLAIMS = known_claims()
LOOSENESS = {
    "fedavg:decaying-steps": 60,
    "fedavg:lemma-5-with-replacement": 4.1,
    "fedavg:lemma-5-without-replacement": 4.1,
    "fedavg:one-step": 1.01,
    "fedavg:theorem-1": 1.7,
    "fedavg:theorem-2": 3.5,
    "fedavg:theorem-3": 1.7,
    "power-of-choice:consistent-constants": 1.01,
    "power-of-choice:consistent-constants-fixed-step": 1.01,
    "power-of-choice:consistent-constants-weighted": 1.01,
    "power-of-choice:diagonal-skew-grows-with-candidates": 1.01,
    "power-of-choice:displacement": 1.01,
    "power-of-choice:equation-43": 1.05,
    "power-of-choice:equation-44": 1.05,
    "power-of-choice:equation-85": 20,
    "power-of-choice:equation-85-derived": 60,
    "power-of-choice:equations-38-39": 1.01,
    "power-of-choice:equations-47-50": 1.5,
    "power-of-choice:lemma-b1": 1.01,
    "power-of-choice:lemma-b2": 60,
    "power-of-choice:lemma-b2-refined": 8,
    "power-of-choice:lemma-b3": 1.01,
    "power-of-choice:one-step": 1.05,
    "power-of-choice:one-step-printed": 1.5,
    "power-of-choice:skew-order": 1.01,
    "power-of-choice:step-54-55-repaired": 1.01,
    "power-of-choice:step-80": 1.6,
    "power-of-choice:theorem-3.1": 60,
    "power-of-choice:theorem-3.1-printed": 200,
    "power-of-choice:theorem-3.1-refined": 1.6,
    "power-of-choice:theorem-a.1": 1.6,
    "power-of-choice:theorem-a.1-printed": 1.6,
    "power-of-choice:theorem-a.1-refined": 1.2,
    "power-of-choice:weighted-one-step": 1.06,
}


def test_every_inequality_is_in_the_table() -> None:
    inequalities = {key for key, claim in CLAIMS.items() if claim.kind == "inequality" and not claim.is_single}
    assert {key for key in inequalities if key.startswith(("power-of-choice:", "fedavg:"))} == set(LOOSENESS)


@pytest.mark.parametrize("key", LOOSENESS)
def test_a_smaller_bound_is_refuted(key: str) -> None:
    factor = Fraction(LOOSENESS[key]).limit_denominator(100)

    def tightened(rng: Any) -> Finding:
        finding = CLAIMS[key].check(rng)
        if not finding.applicable:
            return finding
        if finding.relation == ">=":
            return at_least(finding.measured, finding.predicted * factor)
        return at_most(finding.measured, finding.predicted / factor)

    assert refuted(CLAIMS[key], tightened)


def without(bound: Bound, *summands: str) -> Any:
    """Leave summands out of a bound."""

    def mutant(first: Any, **arguments: Any) -> Any:
        return sum(value for name, value in bound.terms(first, **arguments).items() if name not in summands)

    return mutant


def given(bound: Bound, name: str, change: Callable[[Any], Any]) -> Any:
    """Hand a bound one argument changed."""

    def mutant(first: Any, **arguments: Any) -> Any:
        return bound(first, **{**arguments, name: change(arguments[name])}, strict=False)[0]

    return mutant


def one_step_check(bound: Any) -> Callable[[Any], Finding]:
    return lambda rng: worst_of(
        steps.one_step_findings(draw_run(rng, step_size=short_steps(rng), longest_round=6), bound)
    )


@pytest.mark.parametrize("term", ["drift", "heterogeneity", "bias"])
def test_the_one_step_inequality_needs_its(term: str) -> None:
    assert refuted(steps.ONE_STEP, one_step_check(without(poc.one_step, term)), 300)


def test_the_one_step_inequality_needs_its_noise_divided_by_the_number_of_clients_once() -> None:
    # Two copies of one client at its minimizer: one step leaves eta^2 sigma^2/2, which is the whole bound.
    fed = RationalQuadratics((vector(1),), (vector(0),), vector(1), vector(0))
    run = RationalRun(
        federation=fed,
        select=constant_law((Selection(Fraction(1), (0, 0)),)),
        local_steps=1,
        step_size=lambda _: Fraction(1, 4),
        initial=vector(0),
        num_steps=1,
        noise=two_point_noise(vector(1)),
    )
    drawn = Drawn(run, 2, {})
    assert [finding.ratio for finding in steps.one_step_findings(drawn)] == [1]
    for mutant in (given(poc.one_step, "num_selected", lambda m: 2 * m), without(poc.one_step, "noise")):
        assert [finding.holds for finding in steps.one_step_findings(drawn, mutant)] == [False]


def test_the_one_step_contraction_cannot_be_twice_as_fast() -> None:
    def faster(distance2: Any, **arguments: Any) -> Any:
        gain = arguments["step_size"] * arguments["mu"] * arguments["rho_diagonal"]
        return poc.one_step(distance2, **arguments) - gain * distance2

    assert refuted(steps.ONE_STEP, one_step_check(faster))


@pytest.mark.parametrize("term", ["vanishing", "step floor", "bias"])
def test_the_refined_fixed_step_theorem_needs_each_of_its_terms(term: str) -> None:
    check = theorems.against_fixed_steps(without(poc.refined_fixed_step_gap, term), "rho_diagonal", "initial_distance2")
    assert refuted(theorems.THEOREM_A1_REFINED, check, 300)


@pytest.mark.parametrize(
    ("argument", "change"),
    [("objective_gap", lambda _: 0), ("local_steps", lambda _: 1), ("rho_diagonal", lambda rho: 2 * rho)],
)
def test_the_refined_fixed_step_theorem_needs_its_arguments(argument: str, change: Callable[[Any], Any]) -> None:
    mutant = given(poc.refined_fixed_step_gap, argument, change)
    check = theorems.against_fixed_steps(mutant, "rho_diagonal", "initial_distance2")
    assert refuted(theorems.THEOREM_A1_REFINED, check, 300)


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
    assert not refuted(theorems.THEOREM_31, theorems.against_decaying_steps(mutant, "rho_diagonal", 12), 25)


def test_the_refined_decaying_theorem_needs_the_objective_gap_and_the_vanishing_term() -> None:
    mutants = [
        given(poc.refined_decaying_steps_gap, "objective_gap", lambda _: 0),
        without(poc.refined_decaying_steps_gap, "vanishing"),
    ]
    for mutant in mutants:
        assert refuted(theorems.THEOREM_31_REFINED, theorems.against_decaying_steps(mutant, "rho_diagonal", 5))


def test_the_repaired_weighted_theorem_needs_its_vanishing_term() -> None:
    check = weighted.against_weighted_average(without(poc.weighted_average_gap, "vanishing"), "rho_diagonal", 1)
    assert refuted(weighted.EQUATION_85, check)


def test_the_drift_grows_with_the_number_of_local_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = poc.client_drift
    monkeypatch.setattr(poc, "client_drift", lambda eta, local_steps, G2: honest(eta, local_steps=2, G2=G2) / 2)
    assert refuted(lemmas.LEMMA_B2_REFINED, lemmas.LEMMA_B2_REFINED.check)


def test_uniform_draws_from_unequal_weights_do_not_have_skew_one() -> None:
    def uniform(rng: Any) -> Finding:
        drawn = draw_run(rng, laws=("uniform",))
        rho = skew(drawn.run, drawn.run.select(drawn.run.initial), drawn.run.initial)
        return at_most(rho, 1) if rho is not None else not_applicable()

    assert refuted(CLAIMS["fedavg:unit-skew"], uniform)
