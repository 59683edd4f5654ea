"""Messages of the kit are escaped single sentences, and exceptions and infinite loops are reported."""

import random
import time
import unittest
from typing import Any

import numpy as np
import pytest

from fedtheory.conformance import (
    _checks,
    check_aggregation,
    check_bound,
    check_generator,
    check_probabilities,
    check_shapley,
    check_strategy,
)
from fedtheory.selection.full import Full
from fedtheory.selection.greedy_shapley import GreedyShapley
from fedtheory.selection.power_of_choice import PowerOfChoice
from fedtheory.selection.uniform import Uniform
from fedtheory.valuation import shapley

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


def test_a_check_that_takes_long_is_named_and_ended_by_ctrl_c(monkeypatch, capsys) -> None:
    def waits(rng, weights, losses):
        time.sleep(0.05)
        raise KeyboardInterrupt

    monkeypatch.setattr(_checks, "_LONG", 0.01)
    with pytest.raises(KeyboardInterrupt) as caught:
        check_strategy(waits)
    assert caught.value.__notes__ == ["in the check 'runs'"]
    assert capsys.readouterr().err == "the check 'runs' is running ...\n"


def test_the_global_generators_are_left_as_they_were() -> None:
    def careless(rng, weights, losses):
        return [int(random.random() + np.random.random())]  # noqa: NPY002 (the defect)

    before = random.getstate(), str(np.random.get_state())  # noqa: NPY002 (what must not move)
    check_strategy(careless, num_draws=20)
    assert (random.getstate(), str(np.random.get_state())) == before  # noqa: NPY002


def test_the_same_seed_gives_the_same_verdict_and_the_same_case() -> None:
    def biased(rng, weights, losses):
        return [int(rng.random() < 0.4)]

    one, two = (check_strategy(biased, like=Uniform(1), rng=3) for _ in range(2))
    assert repr(one) == repr(two)
    assert not one.holds


def test_one_value_among_numbers_that_is_none_is_seen() -> None:
    def half_a_number(utility, n):
        return [np.nan, *shapley(utility, n)[1:]]

    assert "values must be finite, got [nan, " in repr(check_shapley(half_a_number))


def test_a_coalition_that_is_a_number_is_told_as_none() -> None:
    first, *_ = check_shapley(lambda utility, n: [utility(k) for k in range(n)]).failures
    assert first.sentence == "must evaluate the utility at coalitions of players, got 0"


def test_two_clients_and_two_draws_are_enough() -> None:
    least: dict[str, Any] = {"num_clients": 2, "num_draws": 2}
    assert len(check_strategy.checks(everybody, **least)) == len(check_strategy.checks(everybody))
    assert len(check_aggregation.checks(everybody, num_draws=2)) == len(check_aggregation.checks(everybody))
    assert len(check_shapley.checks(everybody, num_draws=2)) == len(check_shapley.checks(everybody))
    assert len(check_generator.checks(everybody, num_clients=50)) == len(check_generator.checks(everybody))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: check_strategy(3), TypeError, r"strategy must be a strategy or a function .*, got 3"),
        (lambda: check_strategy(Uniform), TypeError, "got the class Uniform"),
        (
            lambda: check_strategy(everybody, like=GreedyShapley(2)),
            TypeError,
            "like must be a strategy with a known joint law",
        ),
        (
            lambda: check_strategy(everybody, exceptions={"luck": "none"}),
            ValueError,
            "exceptions must name checks, runs",
        ),
        (lambda: check_strategy(everybody, exceptions={"ties": " "}), ValueError, "exceptions must give reasons"),
        (lambda: check_strategy(everybody, exceptions=[]), TypeError, "exceptions must be a mapping"),
        (lambda: check_probabilities(everybody, rtol=-1), ValueError, "rtol must be finite and positive"),
        (lambda: check_strategy(everybody, num_clients=1), ValueError, "num_clients must be at least 2, got 1"),
        (lambda: check_generator(everybody, num_clients=49), ValueError, "num_clients must be at least 50, got 49"),
        (lambda: check_strategy(everybody, num_draws=1), ValueError, "num_draws must be at least 2, got 1"),
        (lambda: check_shapley(everybody, exact=1), TypeError, "exact must be True or False"),
        (lambda: check_bound(everybody, "power-of-choice:displacement"), ValueError, "claim must compare with a bound"),
        (lambda: check_bound(everybody, "power-of-choice:bias-attained"), ValueError, "claim must evaluate its bound"),
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
