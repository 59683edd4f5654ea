"""Joint laws of selections agree with the strategies' frequencies and compiled draws."""

from typing import Any

import numpy as np
import pytest

from fedtheory.conformance._joint_laws import joint_law
from fedtheory.conformance._selections import cases
from fedtheory.engine import play_round
from fedtheory.sampling.cohorts import frequencies
from fedtheory.selection.active_federated import ActiveFederated
from fedtheory.selection.full import Full
from fedtheory.selection.independent import Independent
from fedtheory.selection.power_of_choice import PowerOfChoice
from fedtheory.selection.proportional import Proportional
from fedtheory.selection.size_weighted import SizeWeighted
from fedtheory.selection.uniform import Uniform
from fedtheory.statistics.evidence import against_law, rejects

CASE = cases(6)["plain"]


@pytest.mark.parametrize(
    "strategy",
    [
        Full(), Uniform(3), Proportional(2), PowerOfChoice(2, 4), PowerOfChoice(1, "all"), PowerOfChoice(2, 2),
        Independent(2.5, "uniform"),
    ],
)  # fmt: skip
def test_joint_laws_have_the_inclusion_probabilities_of_their_strategies(strategy: Any) -> None:
    for case in cases(6).values():
        try:
            expected = strategy.inclusion_probabilities(case.weights, case.losses)
        except ValueError:
            continue
        found = [float(p) for p in frequencies(joint_law(strategy, case.weights, case.losses), 6)]
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_joint_laws_look_through_what_only_weighs_and_know_that_without_valuations_all_are_alike() -> None:
    law = joint_law(Uniform(3), CASE.weights, CASE.losses)
    for strategy in (SizeWeighted(Uniform(3)), ActiveFederated(3, (1, 4, 9, 1, 4, 9), dropped=1.0)):
        assert dict(joint_law(strategy, CASE.weights, CASE.losses).items()) == dict(law.items())


# Of the three clients to draw 3, 2, 2 (of 1.5 and a half), 1 (of 0.3) and 1 (since only one is kept) by valuation.
@pytest.mark.parametrize(("dropped", "explored"), [(0.5, 0.0), (0.5, 0.3), (0.5, 0.5), (0.5, 0.9), (0.8, 0.0)])
def test_the_joint_law_of_active_federated_learning_is_that_of_its_compiled_draws(
    dropped: float, explored: float
) -> None:
    options = {"dropped": dropped, "sharpness": 0.2, "explored": explored}
    strategy = ActiveFederated(3, (1, 4, 9, 1, 4, 9), **options)
    losses = np.array([2.0, 1.0, 1.0, 2.0, 3.0, 0.5])  # with a tie between clients that are kept and dropped
    law, rules, rng = (
        joint_law(strategy, CASE.weights, losses),
        strategy.rules(CASE.weights, 1),
        np.random.default_rng(1),
    )
    memory, nothing = np.sqrt([1, 4, 9, 1, 4, 9]) * losses, np.zeros((6, 1))
    drawn = []
    for _ in range(1500):
        played = play_round(rules, memory.copy(), CASE.weights, 0, rng, losses.__getitem__, nothing.__getitem__)
        drawn.append(tuple(sorted(played.chosen.tolist())))
    assert not rejects(against_law(drawn, law), 1e-6)
    other = joint_law(ActiveFederated(3, (1,) * 6, **options), CASE.weights, losses)
    assert rejects(against_law(drawn, other), 1e-6)


def test_valuations_count_by_their_differences_however_large_they_are() -> None:
    strategy = ActiveFederated(2, (1,) * 4, dropped=0.25, sharpness=0.5, explored=0.0)
    near, far = (
        dict(joint_law(strategy, np.full(4, 0.25), start + np.array([3.0, 1.0, 2.0, 6.0])).items())
        for start in (0.0, 1e5)
    )
    # Kept are 0, 2 and 3, with the shares e^1.5, e^1 and e^3 of the losses 3, 2 and 6.
    a, b, c = np.exp([1.5, 1.0, 3.0])
    expected = {
        (0, 2): a * b / (a + b + c) * (1 / (b + c) + 1 / (a + c)),
        (0, 3): a * c / (a + b + c) * (1 / (b + c) + 1 / (a + b)),
        (2, 3): b * c / (a + b + c) * (1 / (a + c) + 1 / (a + b)),
    }
    assert near == pytest.approx(expected, rel=1e-12)
    assert far == pytest.approx(expected, rel=1e-12)
    # Of valuations that are 2,500 apart the largest has all.
    apart = joint_law(strategy, np.full(4, 0.25), np.array([0.0, 5000.0, 3.0, 2500.0]))
    assert dict(apart.items()) == {(1, 3): 1.0}
