"""The instances of claims about Optimal Client Sampling include all corner cases."""

import numpy as np

from fedtheory.claims.optimal_client_sampling._situations import draw_budget, draw_norms
from fedtheory.claims.optimal_client_sampling.lemma1 import draw_updates
from tests.instances.test_draws import MANY, SOME, drawn


def test_norms_have_zeros_and_ties_and_are_far_apart_within_one_instance() -> None:
    norms = drawn(draw_norms)
    positive = [[norm for norm in one if norm] for one in norms]
    assert {len(one) for one in norms} == set(range(1, 10))
    assert all(norm >= 0 for one in norms for norm in one)
    assert sum(len(nonzero) < len(one) for nonzero, one in zip(positive, norms, strict=True)) > SOME
    assert sum(len(set(nonzero)) < len(nonzero) for nonzero in positive) > SOME
    assert sum(len(one) > 1 and len(set(one)) == 1 for one in norms) > SOME
    ratios = [max(nonzero) / min(nonzero) for nonzero in positive if nonzero]
    assert max(ratios) > 10**100
    assert sum(10**3 < ratio < 10**30 for ratio in ratios) > SOME


def test_budgets_are_positive_and_whole_or_broken_and_up_to_all_clients() -> None:
    budgets = drawn(draw_budget, 7)
    assert all(0 < budget <= 7 for budget in budgets)
    assert SOME < sum(budget == 7 for budget in budgets) < MANY
    assert sum(budget.denominator == 1 for budget in budgets if budget < 7) > SOME
    assert sum(budget < 1 for budget in budgets) > SOME // 4
    assert {budget.denominator for budget in budgets} == {1, 2, 4, 8}


def test_updates_have_the_norms_that_come_with_them_and_point_both_ways() -> None:
    found = drawn(draw_updates, 4)
    for norms, updates in found:
        assert [sum(x * x for x in update) for update in updates] == [norm**2 for norm in norms]
    assert {np.sign(float(update[0])) for _, updates in found for update in updates} == {-1, 0, 1}
