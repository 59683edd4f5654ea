"""Laws of selections: number of draws, seeds, reference laws, and first rounds."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fedtheory.conformance import _selection_laws, _selections, check_strategy, strategies
from fedtheory.conformance._checks import FALSE_ALARMS, Failed
from fedtheory.conformance._selections import Case, Subject
from fedtheory.selection.full import Full
from fedtheory.selection.power_of_choice import PowerOfChoice
from tests.conformance.right import everybody


def test_the_checks_of_a_call_and_their_cases_share_its_rate_of_false_alarms(monkeypatch) -> None:
    spent: list[float] = []
    for module, name in ((strategies, "_sampled"), (_selection_laws, "_equal_under"), (_selection_laws, "_has_law")):
        monkeypatch.setattr(module, name, lambda *arguments: spent.append(arguments[-1]))
    strategy = PowerOfChoice(2, 4)
    assert check_strategy(strategy, like=strategy, num_draws=8).holds
    # Of six random checks all but the one of many clients have several cases: 2, 2, 5, 3 and 3.
    assert len(spent) == 15
    assert sum(spent) == pytest.approx(FALSE_ALARMS * 5 / 6)
    spent.clear()
    # Of weights of one's own there are three cases, and one random check of a function.
    assert check_strategy(everybody, like=Full(), weights=[0.5, 0.25, 0.25], num_clients=3, num_draws=8).holds
    assert spent == pytest.approx([FALSE_ALARMS / 3] * 3)


def test_the_weights_of_those_who_are_there_sum_to_one_and_the_absent_have_minus_one() -> None:
    case = Case(np.array([0.5, 0.25, 0.125, 0.125]), np.arange(4.0))

    def weights_without(*absent: int) -> list[float]:
        def attend(round_index, table, memory, rng, mask):
            assert round_index == 0
            mask[list(absent)] = False

        rules: Any = SimpleNamespace(attend=attend, attend_table=np.zeros(1), attend_memory=np.zeros(1))
        there = _selections._attend(rules, case, np.random.default_rng(0))
        assert np.flatnonzero(~there.mask).tolist() == list(absent)
        return there.weights.tolist()

    assert weights_without() == [0.5, 0.25, 0.125, 0.125]
    assert weights_without(0) == [-1.0, 0.5, 0.25, 0.25]
    assert weights_without(0, 2, 3) == [-1.0, 1.0, -1.0, -1.0]
    assert weights_without(0, 1, 2, 3) == [-1.0] * 4


def test_of_weights_of_ones_own_nothing_is_asked_that_needs_others() -> None:
    def largest(rng, weights, losses):
        return np.lexsort((rng.random(4), losses))[-2:]

    options: dict[str, Any] = {"like": PowerOfChoice(2, "all"), "num_clients": 4, "num_draws": 150}
    own = check_strategy.checks(largest, weights=[0.4, 0.3, 0.2, 0.1], **options)
    others = {"zero weights", "relabeling", "fair ties", "many clients"}
    assert {check.name for check in check_strategy.checks(largest, **options)} - {check.name for check in own} == others
    assert [check.failure() for check in own] == [None] * len(own)


def test_copies_of_many_clients_are_counted() -> None:
    # Each of 300 clients is drawn half a time a round; who is drawn twice or more counts twice or more.
    prepare: Any = lambda case: lambda rng: rng.choice(case.num_clients, 150, p=case.weights).tolist()  # noqa: E731
    nothing: Any = None
    subject = Subject("f", prepare, nothing, nothing, copies=True)

    def compare_with(num_drawn: float) -> None:
        like = SimpleNamespace(inclusion_probabilities=lambda weights, _: num_drawn * weights)
        _selection_laws._many(subject, like, 1000, np.random.SeedSequence(0), 1e-6)

    compare_with(150)
    with pytest.raises(
        Failed, match=r"must select client \d+ of 300 \S+ times per round on average, got \d+ times in \d+"
    ):
        compare_with(120)
