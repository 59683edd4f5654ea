"""Declarations of a strategy are read once and compared with its rounds; missing declarations are ignored."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fedtheory.conformance import check_strategy
from fedtheory.selection.full import Full
from fedtheory.selection.laws import Fixed, Scheduled
from fedtheory.selection.power_of_choice import HalfTimeCandidates, PowerOfChoice
from fedtheory.selection.rules import Rules


def named(subject: Any, name: str, **options: Any) -> Any:
    """Return one of the checks."""
    [check] = [check for check in check_strategy.checks(subject, **options) if check.name == name]
    return check


def test_a_law_that_changes_from_round_to_round_is_held_against_the_first_round() -> None:
    strategy: Any = PowerOfChoice(1, HalfTimeCandidates())

    def is_refused(law: Any) -> bool:
        declared = SimpleNamespace(rules=strategy.rules, law=law)
        return named(declared, "declared moments", num_draws=150).failure() is not None

    by_weight: Any = PowerOfChoice(1, 1).law

    def by_weight_if_there_is_a_second(weights: Any) -> Any:
        return Scheduled(lambda n: strategy.law(weights).over(1) if n == 1 else [by_weight(weights)] * n)

    assert not is_refused(strategy.law)
    assert not is_refused(by_weight_if_there_is_a_second)
    assert is_refused(lambda weights: Scheduled(lambda _: [by_weight(weights)]))


def test_a_declaration_that_is_refused_is_not_asked_for_and_one_that_breaks_is_told() -> None:
    def raises(error: type[Exception]) -> Any:
        def inclusion_probabilities(weights, losses):
            raise error

        return SimpleNamespace(rules=Full().rules, inclusion_probabilities=inclusion_probabilities)

    for refusal in (TypeError, ValueError):
        assert check_strategy(raises(refusal), num_draws=8).holds
    [told] = check_strategy(raises(ZeroDivisionError), num_draws=8).failures
    assert (told.check, told.sentence) == ("declared inclusion", "raised ZeroDivisionError")


def test_the_last_client_may_be_taken_as_rarely_as_any_other() -> None:
    # One round of a thousand takes it, none of the 125 that show how large coefficients get.
    rare = {"weights": [0.3, 0.3, 0.2, 0.1, 0.099, 0.001], "num_draws": 150}
    assert named(PowerOfChoice(1, 2), "declared moments", **rare)() is None


def test_who_never_takes_anybody_is_held_against_what_is_declared() -> None:
    def nobody(*_: Any) -> int:
        return 0

    def declaring(mean: Any) -> Any:
        return SimpleNamespace(rules=lambda *_: Rules(select=nobody, max_selected=1), law=lambda _: Fixed(mean))

    assert named(declaring(np.zeros(6)), "declared moments", num_draws=150)() is None
    with pytest.raises(AssertionError, match=r"must have a mean coefficient of client 4 of 0\.25, as declared, got 0"):
        named(declaring(0.25 * np.eye(6)[4]), "declared moments", num_draws=150)()
