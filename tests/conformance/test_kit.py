"""Messages of the kit are escaped single sentences, and exceptions and infinite loops are reported."""

import random
import unittest
from typing import Any

import numpy as np
import pytest

from fedtheory.conformance import check_bound, check_strategy
from fedtheory.selection.full import Full
from fedtheory.selection.greedy_shapley import GreedyShapley
from fedtheory.selection.power_of_choice import PowerOfChoice
from fedtheory.selection.uniform import Uniform

HOSTILE = "<script>alert('&')</script>"


def everybody(rng, weights, losses):
    return range(len(weights))


def hostile(rng, weights, losses):
    raise ValueError(HOSTILE)


def test_what_is_shown_fits_80_columns_and_markup_stays_text() -> None:
    hostile.__qualname__ = HOSTILE
    found = check_strategy(hostile)
    assert not found.holds
    assert max(map(len, repr(found).splitlines())) <= 80
    assert HOSTILE in repr(found)
    assert "<script>" not in found._repr_html_()
    assert found._repr_html_().count("&lt;script&gt;") == 2  # the name, and what was raised


def test_code_that_does_not_run_is_told_once() -> None:
    assert [failure.check for failure in check_strategy(hostile).failures] == ["runs"]


def test_a_check_can_be_excepted_with_a_reason_and_pytest_is_told() -> None:
    def first(rng, weights, losses):
        return [0]

    reasons = dict.fromkeys(("relabeling", "fair ties"), "client 0 is the server's own")
    assert [failure.check for failure in check_strategy(first).failures] == list(reasons)
    found = check_strategy(first, exceptions=reasons)
    assert found.holds
    assert found.excepted == reasons
    assert not set(reasons) & set(found.checks)
    [excepted, *_] = [check for check in check_strategy.checks(first, exceptions=reasons) if check.name == "relabeling"]
    with pytest.raises(unittest.SkipTest, match="client 0 is the server's own"):
        excepted()


def test_a_strategy_for_more_clients_than_the_cases_have_is_told_of_num_clients() -> None:
    wanted = (
        r"like must accept the 6 clients .*num_clients= of check_strategy.*: num_candidates must be in 1\.\.6, got 10"
    )
    with pytest.raises(ValueError, match=wanted):
        check_strategy(everybody, like=PowerOfChoice(2, 10))
    [failure] = check_strategy(PowerOfChoice(2, 10)).failures
    assert failure.sentence.endswith("the cases have 6 clients (num_clients= of check_strategy changes their number)")
    assert check_strategy(everybody, like=Full(), num_clients=10, num_draws=200).holds


def test_weights_say_how_many_clients_there_are() -> None:
    assert check_strategy(everybody, weights=np.full(7, 1 / 7), num_draws=200).holds
    with pytest.raises(ValueError, match=r"weights must have shape \(6,\), got \(7,\)"):
        check_strategy(everybody, weights=np.full(7, 1 / 7), num_clients=6)


def test_a_check_that_fails_says_so_by_an_assertion_error() -> None:
    [check] = [check for check in check_strategy.checks(hostile) if check.name == "ties"]
    with pytest.raises(AssertionError, match=r"^ties: raised ValueError: <script>"):
        check()
    assert repr(check) == "<check 'ties'>"


def test_the_global_generators_are_left_as_they_were() -> None:
    def careless(rng, weights, losses):
        return [int(random.random() + np.random.random())]  # noqa: NPY002 (the defect)

    before = random.getstate(), str(np.random.get_state())  # noqa: NPY002 (what must not move)
    check_strategy(careless, num_draws=20)
    assert (random.getstate(), str(np.random.get_state())) == before  # noqa: NPY002


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: check_strategy(Uniform), TypeError, "got the class Uniform"),
        (lambda: check_strategy(everybody, like=GreedyShapley(2)), TypeError, "a known joint law"),
        (lambda: check_strategy(everybody, exceptions={"luck": "none"}), ValueError, "must name checks, runs"),
        (lambda: check_strategy(everybody, exceptions={"ties": " "}), ValueError, "must give reasons"),
        (lambda: check_bound(everybody, "power-of-choice:displacement"), ValueError, "must compare with a bound"),
        (lambda: check_bound(everybody, "power-of-choice:bias-attained"), ValueError, "must evaluate its bound"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_a_call_runs_the_checks_that_are_listed_and_names_its_subject() -> None:
    listed = check_strategy.checks(everybody, num_draws=20)
    found = check_strategy(rng=0, num_draws=20, strategy=everybody)
    assert found.checks == tuple(check.name for check in listed)
    assert found.subject == "everybody"
