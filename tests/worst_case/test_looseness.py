"""Bounds against their worst cases for the constants of the looseness page: no bound is below."""

from fractions import Fraction as Q

import pytest

from docs.looseness import CASES, REASONS, Case
from fedtheory.bounds import power_of_choice as poc
from fedtheory.bounds import proxskip
from fedtheory.bounds.catalogue import known_bounds
from fedtheory.worst_case import compare

# Ten certified rounds and more take two seconds each.
_LONG = {"num_rounds": 10, "num_steps": 20}


def is_long(case: Case) -> bool:
    return any(case.given.get(name, 0) >= horizon for name, horizon in _LONG.items())


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=f"{case.bound.__name__}, {case.words}", marks=[pytest.mark.slow] if is_long(case) else [])
        for case in CASES
    ],
)
def test_both_sides_of_a_worst_case_agree_to_five_digits_and_no_bound_is_below(case: Case) -> None:
    found = compare(case.bound, **case.given)
    assert found.worst_case.relative_width <= 1e-5
    assert found.looseness >= 1


@pytest.mark.parametrize("name", known_bounds())
def test_a_bound_has_a_case_on_the_page_or_a_reason_why_not(name: str) -> None:
    bound = known_bounds()[name]
    has_case, has_reason = bound in {case.bound for case in CASES}, bound in REASONS
    if not has_case and not has_reason:
        pytest.skip(f"{name} has no case in docs/looseness.py, and no reason there why not")
    assert (has_case, has_reason) == (bound.worst_case is not None, bound.worst_case is None)


def test_a_bound_grows_with_a_constant_by_its_coefficient() -> None:
    (case,) = (case for case in CASES if case.bound is poc.one_step)
    found = compare(poc.one_step, **case.given).sensitivities
    # 2 eta (rho_tilde - rho) + 6 rho L eta^2 = 2/5 + 9/20, and no drift in a round's first step.
    assert found["objective_gap"].bound * 20 == 17
    assert found["G2"].bound == 0
    # eta^2: where no skew binds, a bounded gradient is all that is known of the step.
    assert float(found["G2"].worst_case) == pytest.approx(1 / 16, abs=1e-4)


def test_sensitivities_times_constants_add_up_to_the_bound_value() -> None:
    (case,) = (case for case in CASES if case.bound is poc.refined_fixed_step_gap)
    given = case.given | {"num_steps": 4}
    found = compare(case.bound, **given)
    names = {"distance2": "initial_distance2"}
    total = sum(one.bound * given[names.get(name, name)] for name, one in found.sensitivities.items())
    assert total == found.bound_value
    assert "G2" in found.sensitivities


def test_a_step_of_scaffnew_leaves_of_models_what_gradient_steps_do_and_of_control_variates_what_the_coin_does() -> (
    None
):
    given = {"mu": Q(1, 10), "L": Q(1), "step_size": Q(1, 4), "initial_distance2": Q(3), "control_error2": Q(2)}
    for p in (Q(1, 5), Q(1, 2), Q(1)):
        found = compare(proxskip.refined_fixed_step_potential, num_steps=1, probability=p, **given)
        lower, upper = found.worst_case.enclosure
        # q^2 Delta + (1 - p^2) (gamma/p)^2 E, q = 1 - gamma mu; with p = 1 everybody agrees after the step.
        assert lower <= Q(39, 40) ** 2 * 3 + (1 - p**2) / (4 * p) ** 2 * 2 <= upper
