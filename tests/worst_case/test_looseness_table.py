"""The page of loosenesses says what is computed, about every bound whose worst case is known."""

import re

import pytest

from fedtheory.bounds import power_of_choice as poc
from fedtheory.worst_case.promises import CONFRONTED, confront
from tests.looseness_table import CASES, PAGE, growth, page

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


def test_every_bound_whose_worst_case_is_known_has_a_line() -> None:
    assert {case.bound.__name__ for case in CASES} == {bound.__name__ for bound in CONFRONTED}


def test_a_promise_grows_with_a_constant_by_its_coefficient() -> None:
    (case,) = (case for case in CASES if case.bound is poc.one_step)
    # 2 eta (rho_tilde - rho) + 6 rho L eta^2 = 2/5 + 9/20, and no drift in a round's first step.
    assert growth(case, "objective_gap") * 20 == 17
    assert growth(case, "G2") == 0


def test_a_promise_below_the_worst_case_is_seen() -> None:
    found = confront(CASES[0].bound, **CASES[0].given)
    assert found.looseness == pytest.approx(1, abs=1e-6)
    assert found._replace(promise=found.promise * 99 / 100).looseness < 1
    assert all(confront(case.bound, **case.given).looseness >= 1 for case in CASES[1:5])
