"""The page of loosenesses says what is computed, about every bound, or why it has no worst case here."""

import re

import pytest

from fedtheory.bounds import power_of_choice as poc
from fedtheory.verification.catalogue import known_bounds
from fedtheory.worst_case.promises import CONFRONTED, confront
from tests.looseness_table import CASES, PAGE, REASONS, confronted, page

_NUMBER = re.compile(r"\d+\.\d{4}\b")


def same(one: str, other: str) -> bool:
    """Whether two pages agree in their words, and in their numbers but for what another solver may change."""
    numbers = [[float(number) for number in _NUMBER.findall(text)] for text in (one, other)]
    return _NUMBER.sub("#", one) == _NUMBER.sub("#", other) and numbers[0] == pytest.approx(
        numbers[1], rel=1e-3, abs=2e-4
    )


def test_the_page_is_up_to_date() -> None:
    """Where it is not: ``python -m tests.looseness_table``."""
    stored = PAGE.read_text(encoding="utf-8")
    assert same(stored, page())
    assert not same(stored, stored.replace("1.0105", "1.0205"))
    assert not same(stored, stored.replace("50 rounds", "60 rounds"))


def test_both_sides_of_every_worst_case_agree_to_five_digits() -> None:
    worst_cases = [found.worst for _, found in confronted()]
    assert max(max(worst.program.blocks) for worst in worst_cases) > 20
    assert {worst.relative_width <= 1e-5 for worst in worst_cases} == {True}


def missing(names: set[str]) -> set[str]:
    """The bounds among these that have neither a line nor a reason."""
    explained = {*(case.bound for case in CASES), *REASONS}
    return {name for name in names if known_bounds()[name] not in explained}


def test_every_bound_of_the_library_has_a_line_or_a_reason() -> None:
    assert missing(set(known_bounds())) == set()
    assert {case.bound for case in CASES} == set(CONFRONTED)
    assert not set(REASONS) & set(CONFRONTED)


def test_a_new_bound_without_either_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(REASONS, poc.averaged_distance)
    assert missing(set(known_bounds())) == {"power_of_choice.averaged_distance"}


def test_a_promise_grows_with_a_constant_by_its_coefficient() -> None:
    (case,) = (case for case in CASES if case.bound is poc.one_step)
    charges = confront(poc.one_step, **case.given).charges
    # 2 eta (rho_tilde - rho) + 6 rho L eta^2 = 2/5 + 9/20, and no drift in a round's first step.
    assert charges["objective_gap"].promise * 20 == 17
    assert charges["G2"].promise == 0
    # eta^2: where no skew binds, a bounded gradient is all that is known of the step.
    assert float(charges["G2"].worst) == pytest.approx(1 / 16, abs=1e-4)


def test_what_constants_cost_adds_up_to_the_promise() -> None:
    (case,) = (case for case in CASES if case.bound is poc.refined_fixed_step_gap)
    found = confront(case.bound, **case.given)
    names = {"distance2": "initial_distance2"}
    total = sum(charge.promise * case.given[names.get(name, name)] for name, charge in found.charges.items())
    assert total == found.promise
    assert {"promise's charge for G2", "multiplier of G2"} <= {row["what"] for row in found.rows()}


def test_a_promise_below_the_worst_case_is_seen() -> None:
    case = CASES[0]
    found = confront(case.bound, **case.given)
    assert found.looseness == pytest.approx(1, abs=1e-6)
    assert found._replace(promise=found.promise * 99 / 100).looseness < 1
