"""What a strategy declares is asked of it once, and held against its rounds; what it refuses to say is left alone."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fedtheory.conformance import _declared
from fedtheory.selection.candidate_schedules import HalfTimeCandidates
from fedtheory.selection.full import Full
from fedtheory.selection.laws import Scheduled
from fedtheory.selection.power_of_choice import PowerOfChoice
from fedtheory.verification import check_strategy


def test_a_run_that_depends_on_the_number_of_threads_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(_declared, "fedavg", lambda *_, num_threads, **__: SimpleNamespace(models=np.eye(num_threads)))
    told = {failure.check: failure.sentence for failure in check_strategy(Full(), num_draws=8).failures}
    assert told == {"contract": "a run must have the same bits whatever the number of threads, got others"}


def test_a_law_that_changes_from_round_to_round_is_held_against_the_first_round() -> None:
    strategy = PowerOfChoice(1, HalfTimeCandidates())

    def failed(law: Any) -> list[str]:
        declared = SimpleNamespace(rules=strategy.rules, law=law)
        return [failure.check for failure in check_strategy(declared, num_draws=150).failures]

    by_weight: Any = PowerOfChoice(1, 1).law
    assert failed(strategy.law) == []
    assert failed(lambda weights: Scheduled(lambda _: [by_weight(weights)])) == ["declared moments"]


def test_a_declaration_that_is_refused_is_not_asked_for_and_one_that_breaks_is_told() -> None:
    def raises(error: type[Exception]) -> Any:
        def inclusion_probabilities(weights, losses):
            raise error

        return SimpleNamespace(rules=Full().rules, inclusion_probabilities=inclusion_probabilities)

    for refusal in (TypeError, ValueError):
        assert check_strategy(raises(refusal), num_draws=8).holds
    [told] = check_strategy(raises(ZeroDivisionError), num_draws=8).failures
    assert (told.check, told.sentence) == ("declared inclusion", "raised ZeroDivisionError")


def test_a_probability_above_one_by_rounding_is_forgiven_and_one_further_above_is_not() -> None:
    def holds(excess: float) -> bool:
        declared = np.full(6, 1.0 + excess)
        return check_strategy(
            SimpleNamespace(rules=Full().rules, inclusion_probabilities=lambda *_: declared), num_draws=8
        ).holds

    assert holds(5e-10)
    assert not holds(5e-9)


@pytest.mark.parametrize("wrong", [np.nan, -0.5])
def test_one_declared_number_that_is_none_is_told(wrong: float) -> None:
    declared = np.array([1.0, 1.0, 1.0, 1.0, 1.0, wrong])
    subject = SimpleNamespace(rules=Full().rules, inclusion_probabilities=lambda *_: declared)
    [told] = check_strategy(subject, num_draws=8).failures
    assert told.sentence.startswith("inclusion_probabilities must be 6 finite numbers, at least 0, got [1.0, ")
