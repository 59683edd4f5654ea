"""Clients of weight zero are available, and are selected by rules that do not draw by weight."""

from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import selection as s
from tests.selection.still import cohorts

WEIGHTS, LOSSES = np.array([0.5, 0.0, 0.3, 0.0, 0.2]), np.array([1.0, 5.0, 2.0, 4.0, 3.0])
PRIORITY, SHARES = [True, True, True, False, False], [0.7, 0.0, 0.3, 0.0, 0.4]
COUNT = 4000


def frequencies(strategy: Any, weights: Any = WEIGHTS) -> Any:
    """Share of the rounds in which each client was chosen, where all have their losses and updates forever."""
    chosen, _ = cohorts(strategy.rules(weights, COUNT), COUNT, weights, losses=LOSSES)
    return np.array([(chosen == k).any(axis=1).mean() for k in range(weights.size)])


@pytest.mark.parametrize(
    ("strategy", "share"),
    [
        (s.Full(), 1.0), (s.Uniform(2), 0.4), (s.Uniform(3, "weighted"), 0.6), (s.Independent(2, "uniform"), 0.4),
        (s.Independent(2, num_candidates=4), 0.8), (s.ActiveFederated(5, sample_counts=[5, 1, 3, 2, 2]), 1.0),
        (s.ActiveFederatedByReports(5), 1.0),
    ],
    ids=repr,
)  # fmt: skip
def test_nobody_is_passed_over_for_a_weight_of_zero(strategy, share):
    # five standard deviations of a mean of coins
    assert frequencies(strategy) == pytest.approx(
        np.full(5, share), abs=5 * np.sqrt(share * (1 - share) / COUNT) + 1e-9
    )


@pytest.mark.parametrize(("fraction", "shared"), [(None, 1.0), (0.5, 2 / 3)])  # a half of three clients is two
def test_priority_clients_without_data_take_part_like_the_others(fraction, shared):
    strategy = s.LossMatching(PRIORITY, SHARES, np.inf, fraction=fraction)
    found = frequencies(strategy, np.array([0.7, 0.0, 0.3, 0.0, 0.0]))
    assert found[:3] == pytest.approx(np.full(3, shared), abs=5 * np.sqrt(shared * (1 - shared) / COUNT) + 1e-9)
    assert (found[3:] > 0.4).all()


@pytest.mark.parametrize(
    "strategy",
    [
        s.Proportional(3),
        s.PowerOfChoice(1, 2),
        s.PowerOfChoice(2, 3),  # all that have a weight are candidates
        s.PowerOfChoice(3, 3),
        s.PowerOfChoice(2, 3, loss="last"),
    ],
    ids=repr,
)
def test_who_is_drawn_by_weight_has_one(strategy):
    found = frequencies(strategy)
    assert (found[[1, 3]] == 0).all()
    assert (found[[0, 2, 4]] > 0).any()


def test_clients_of_weight_zero_count_among_those_present():
    """Two of three clients are there, one with all the weight of those present: its coefficient is ``1 * 2 / 1``."""
    weights = np.array([0.0, 0.6, 0.4])
    fed = ft.QuadraticFederation(np.ones(3), np.zeros((3, 1)), weights)
    strategy = s.Available(s.Uniform(1, "weighted"), s.BernoulliAvailability([1.0, 1.0, 0.0]), "allow")
    run = ft.fedavg(fed, strategy, num_rounds=40, step_size=1e-30, initial=[0.0], record=("selected", "coefficients"))
    seen = dict(zip(run.recorded("selected")[0].ravel(), run.recorded("coefficients")[0].ravel(), strict=True))
    assert {int(client): value for client, value in seen.items() if client >= 0} == {0: 0.0, 1: 2.0}


def test_clients_that_all_have_weight_zero_are_averaged_plainly():
    found = cohorts(s.SizeWeighted(s.Uniform(2)).rules(WEIGHTS, 200), 200, WEIGHTS)
    given = WEIGHTS[found.chosen]
    total = given.sum(axis=1, keepdims=True)
    assert 0 < np.count_nonzero(total == 0) < 200
    np.testing.assert_allclose(found.coefficients, np.where(total == 0, 0.5, given / np.where(total, total, 1.0)))
