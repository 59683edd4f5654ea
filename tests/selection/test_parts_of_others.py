"""Results of user-defined schedules, participations and transforms are validated."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.selection.power_of_choice import DecayingCandidates, scheduled

FED = ft.QuadraticFederation([1.0, 2.0, 3.0, 4.0], np.arange(4.0)[:, None], np.full(4, 0.25))
PRIORITY = ft.federation.prioritize(FED, [True, True, False, False])


def sentence(strategy: Any, fed: Any = FED) -> str:
    with pytest.raises((TypeError, ValueError)) as caught:
        ft.fedavg(fed, strategy() if callable(strategy) else strategy, num_rounds=3, step_size=0.1)
    return str(caught.value)


@dataclass(frozen=True)
class Given:
    """A schedule that says what it is told to say."""

    answer: Any

    def counts(self, num_rounds: int, num_selected: int, num_clients: int) -> Any:
        return self.answer


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([3, 3, -5], r"must be in 2\.\.4, got -5"),
        ([3, 3, 5], r"must be in 2\.\.4, got 5"),
        ([], r"must have shape \(3,\), got \(0,\)"),
        ([3.0, 3.0, 3.0], "must contain whole numbers"),
        (3, r"must have shape \(3,\), got \(\)"),
    ],
)
def test_a_schedule_says_a_number_of_candidates_for_each_round(answer, said):
    text = sentence(ft.selection.PowerOfChoice(2, Given(answer)))
    assert text.startswith(f"the counts of Given(answer={answer!r}) must ")
    assert re.search(said, text)


def test_what_is_no_schedule_is_refused():
    strategy: Any = ft.selection.PowerOfChoice
    for schedule in ([3, 3, -5], None):
        with pytest.raises(TypeError, match=re.escape(f"or a schedule with a method counts, got {schedule}")):
            strategy(2, schedule)
        with pytest.raises(TypeError, match=re.escape(f"or a schedule with a method counts, got {schedule}")):
            scheduled(schedule, num_rounds=3, num_selected=2, num_clients=4)


@dataclass(frozen=True)
class Coded:
    """A transform with a code of its own."""

    answer: Any

    def code(self) -> Any:
        return self.answer


@pytest.mark.parametrize(
    ("answer", "said"), [((7.0, 0.0), r"the kind of Coded.* must be 0 .*, got 7.0"), ((1.0, np.nan), "must be finite")]
)
def test_a_transform_is_one_that_compiled_rules_know(answer, said):
    assert re.search(said, sentence(lambda: ft.selection.PowerOfChoice(2, 3, transform=Coded(answer))))


@dataclass(frozen=True)
class Attending:
    """A participation that says what it is told to say."""

    answer: Any
    chances: Any = 1.0
    selection: str = "somebody's"

    def sizes(self, num_priority: int, num_others: int) -> Any:
        return self.answer

    def attendances(self, num_clients: int, num_rounds: int) -> Any:
        return np.broadcast_to(self.chances, (1, num_clients))


@pytest.mark.parametrize("answer", [(3, 2, 2), (0, 3, 2), (2, 0, 2), (2, 1, 3), (2, 1.5, 1), (2, 1, -1), (1, 0, 2)])
def test_a_participation_takes_clients_that_there_are(answer):
    strategy = ft.selection.LossMatching(PRIORITY.priority, PRIORITY.shares, participation=Attending(answer))
    text = sentence(strategy, PRIORITY.federation)
    assert text.startswith(f"the sizes of {Attending(answer)!r} must be a mode 0, 1 or 2, 1..2 priority clients")
    assert text.endswith(f"got {answer}")


def test_probabilities_of_a_participation_are_probabilities():
    made = Attending((0, 2, 2), chances=2.0)
    strategy = ft.selection.LossMatching(PRIORITY.priority, PRIORITY.shares, participation=made)
    assert "attendance must be in [0, 1], got 2.0 to 2.0" in sentence(strategy, PRIORITY.federation)
    fine = ft.selection.LossMatching(PRIORITY.priority, PRIORITY.shares, participation=Attending((1, 5, 2)))
    run = ft.fedavg(PRIORITY.federation, fine, num_rounds=3, step_size=0.1)
    assert run.counts[0, :2].sum() == 15


def test_the_share_of_candidates_that_are_left_is_exact_although_factors_are_not_binary():
    # 0.56 of 25 is 14; the nearest doubles multiply to a little more.
    assert DecayingCandidates(0.56).counts(num_rounds=3, num_selected=2, num_clients=25).tolist() == [25, 14, 8]
