"""The law of active federated learning by reports on small cases, by enumeration, and its memory."""

from fractions import Fraction

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.selection.active_federated import ActiveFederatedByReports

K = 5
WEIGHTS = np.full(K, 1 / K)
REPORTS = np.array([3.0, 0.5, 2.0, 1.0, 2.5])


def cohorts(strategy, memory, count=20_000, weights=WEIGHTS):
    """Rounds from a given memory, shape (count, m), and the memory that the last one leaves."""
    rules, rng = strategy.rules(np.abs(weights), 10), np.random.default_rng(0)
    nobody, drawn = np.zeros(0, dtype=np.int64), np.zeros((count, rules.max_selected), dtype=np.int64)
    for row in drawn:
        left = np.array(memory, dtype=np.float64)
        size = rules.select(0, rules.table, left, weights, nobody, np.zeros(0), rng, row)
        row[size:] = -1
    return drawn, left


def agree(drawn, law):
    law = np.array(law, dtype=float)
    spread = np.sqrt(law * (1 - law) / len(drawn))
    return bool((np.abs(np.bincount(drawn[drawn >= 0], minlength=K) / len(drawn) - law) <= 5 * spread + 1e-12).all())


def test_two_of_three_are_drawn_by_report_and_one_is_explored():
    # floor(0.4 * 5) = 2 are dropped; without sharpness 2 of the 3 kept, then one of the 3 that are left:
    # a kept client 2/3 + 1/3 * 1/3, a dropped one 1/3
    drawn, left = cohorts(ActiveFederatedByReports(3, dropped=0.4, sharpness=0.0), REPORTS)
    assert all(len(set(row)) == 3 for row in drawn)
    assert agree(drawn, [Fraction(7, 9), Fraction(1, 3), Fraction(7, 9), Fraction(1, 3), Fraction(7, 9)])
    np.testing.assert_array_equal(left, [3.0, -np.inf, 2.0, -np.inf, 2.5])


@pytest.mark.parametrize(
    ("explored", "m", "by_report"), [(0.0, 4, 4), (1.0, 4, 0), (0.1, 3, 2), (0.2, 5, 4), (0.9, 10, 1), (0.7, 10, 3)]
)
def test_a_whole_number_by_report_stays_one_although_its_fraction_is_not_binary(explored, m, by_report):
    # 1 - 0.9 and 1 - 0.7 are below a tenth and three tenths
    rules = ActiveFederatedByReports(m, explored=explored).rules(np.full(12, 1 / 12), 1)
    assert rules.table[1] == by_report


@pytest.mark.parametrize(("dropped", "kept"), [(0.0, 5), (1 - 0.8, 4), (0.6, 2), (0.59, 3), (0.61, 2), (1.0, 0)])
def test_so_does_a_whole_number_of_dropped_clients(dropped, kept):
    _, left = cohorts(ActiveFederatedByReports(1, dropped=dropped), REPORTS, count=1)
    assert np.isfinite(left).sum() == kept


def test_reports_count_by_their_exponential():
    # Goetz's rounding would explore nobody of two, this one draws one by report: sharpness log 2, shares 2^3 and 2^2.5
    drawn, _ = cohorts(ActiveFederatedByReports(2, dropped=0.6, sharpness=np.log(2)), REPORTS)
    first = 8 / (8 + 2**2.5)
    law = np.full(K, 1 / 4)
    law[0], law[4] = first + (1 - first) / 4, 1 - first + first / 4
    assert agree(drawn, law)


@pytest.mark.slow
def test_where_too_few_have_reported_uniform_draws_take_over():
    drawn, _ = cohorts(ActiveFederatedByReports(3), np.full(K, -np.inf))
    assert agree(drawn, np.full(K, 3 / 5))
    # Only client 3 has a report that is kept: it is always in, the other two are drawn from the other four.
    drawn, _ = cohorts(ActiveFederatedByReports(3, dropped=0.8), np.where(np.arange(K) == 3, 0.1, -np.inf))
    assert agree(drawn, [1 / 2, 1 / 2, 1 / 2, 1, 1 / 2])


def test_the_absent_are_neither_drawn_nor_explored():
    here = np.where(np.arange(K) == 0, -1.0, WEIGHTS)
    drawn, _ = cohorts(ActiveFederatedByReports(3, dropped=0.4, sharpness=0.0), REPORTS, weights=here)
    # Both kept clients that are there, 2 and 4, and one of the two others.
    assert agree(drawn, [0, 1 / 2, 1, 1 / 2, 1])


def test_reports_are_mean_losses_of_local_steps_and_cost_one_number_each():
    fed = ft.QuadraticFederation(np.arange(1.0, 6.0), np.eye(K), WEIGHTS)
    rules = ActiveFederatedByReports(2).rules(WEIGHTS, 10)
    np.testing.assert_array_equal(rules.memory, np.full(K, -np.inf))
    memory = rules.memory.copy()
    rules.observe(0, rules.table, memory, WEIGHTS, np.array([3, 1]), np.full(2, 0.5), np.array([7.0, 5.0]))
    np.testing.assert_array_equal(memory, [-np.inf, 5.0, -np.inf, 7.0, -np.inf])
    names = ("uplink", "broadcasts", "evaluations")
    run = ft.fedavg(fed, ActiveFederatedByReports(2), num_rounds=4, step_size=0.1, record=names)
    assert [run.recorded(name)[0, -1] for name in names] == [4 * 2 * (fed.dim + 1), 4 * 2, 0]
