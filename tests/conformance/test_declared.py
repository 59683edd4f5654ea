"""Declarations of a strategy are read once and compared with its rounds; missing declarations are ignored."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fedtheory.conformance import check_strategy, strategies
from fedtheory.selection.full import Full
from fedtheory.selection.independent import Independent
from fedtheory.selection.laws import Fixed, Scheduled
from fedtheory.selection.power_of_choice import HalfTimeCandidates, PowerOfChoice
from fedtheory.selection.proportional import Proportional
from fedtheory.selection.rules import Rules
from fedtheory.selection.uniform import Uniform


def named(subject: Any, name: str, **options: Any) -> Any:
    """Return one of the checks."""
    [check] = [check for check in check_strategy.checks(subject, **options) if check.name == name]
    return check


def rounds(*seen: list[float]) -> Any:
    """Return what is measured of rounds: these numbers, again and again."""
    return SimpleNamespace(drawn=lambda rng, size: np.resize(seen, (size, len(seen[0]))))


def sampled(some: Any, expected: Any, upper: Any, num_draws: int = 400) -> Any:
    """Compare means with what is expected."""
    limits = np.array(upper, dtype=np.float64)
    return strategies._sampled(some, np.array(expected), limits, num_draws, np.random.SeedSequence(0), 1e-6)


def test_a_run_that_depends_on_the_number_of_threads_is_refused(monkeypatch) -> None:
    monkeypatch.setattr(strategies, "fedavg", lambda *_, num_threads, **__: SimpleNamespace(models=np.eye(num_threads)))
    told = {failure.check: failure.sentence for failure in check_strategy(Full(), num_draws=8).failures}
    assert told == {"contract": "runs with different numbers of threads must be bit-identical, got different bits"}


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


def test_a_probability_above_one_by_rounding_is_forgiven_and_one_further_above_is_not() -> None:
    def holds(excess: float) -> bool:
        declared = np.full(6, 1.0 + excess)
        return check_strategy(
            SimpleNamespace(rules=Full().rules, inclusion_probabilities=lambda *_: declared), num_draws=8
        ).holds

    assert holds(0.9e-9)
    assert not holds(1.1e-9)


@pytest.mark.parametrize("wrong", [np.nan, -0.5])
def test_one_declared_number_that_is_none_is_told(wrong: float) -> None:
    declared = np.array([1.0, 1.0, 1.0, 1.0, 1.0, wrong])
    subject = SimpleNamespace(rules=Full().rules, inclusion_probabilities=lambda *_: declared)
    [told] = check_strategy(subject, num_draws=8).failures
    assert told.sentence.startswith("inclusion_probabilities must be 6 finite numbers, at least 0, got [1.0, ")


def test_the_last_client_may_be_taken_as_rarely_as_any_other() -> None:
    # One round of a thousand takes it, none of the 125 that show how large coefficients get.
    rare = {"weights": [0.3, 0.3, 0.2, 0.1, 0.099, 0.001], "num_draws": 150}
    assert named(PowerOfChoice(1, 2), "declared moments", **rare)() is None


def test_one_round_beyond_its_limit_is_enough_and_the_first_one_is_told() -> None:
    seen = rounds(*[[0.5, 0.5, 0.5]] * 39, [0.5, 1.25, 2.0])
    assert sampled(seen, [0.5, 0.5, 0.5], [1.0, 1.0, 1.0], 40) == (1, pytest.approx(0.5 + 0.75 / 40), 40)
    assert sampled(seen, [0.5, 0.5, 0.5], [2.0, 2.0, 2.0], 40) is None


def test_who_never_takes_anybody_is_held_against_what_is_declared() -> None:
    def nobody(*_: Any) -> int:
        return 0

    def declaring(mean: Any) -> Any:
        return SimpleNamespace(rules=lambda *_: Rules(select=nobody, max_selected=1), law=lambda _: Fixed(mean))

    assert named(declaring(np.zeros(6)), "declared moments", num_draws=150)() is None
    with pytest.raises(AssertionError, match=r"must have a mean coefficient of client 4 of 0\.25, as declared, got 0"):
        named(declaring(0.25 * np.eye(6)[4]), "declared moments", num_draws=150)()


@pytest.mark.parametrize(
    ("strategy", "copies"),
    [(Proportional(1), 1), (Proportional(3), 3), (Uniform(3), 1), (Independent(0.25, "uniform"), 1)],
)
def test_nobody_is_taken_more_often_than_clients_are_drawn(strategy: Any, copies: int, monkeypatch) -> None:
    limits: list[Any] = []
    monkeypatch.setattr(strategies, "_sampled", lambda _, __, upper, *___: limits.append(upper.tolist()))
    named(strategy, "declared inclusion", num_draws=8)()
    assert limits == [[copies] * 6] * 3
