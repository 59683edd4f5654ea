"""The law of active federated learning on small cases, by enumeration, and the defects of public code."""

import itertools

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.selection.active_federated import ActiveFederated

COUNTS = (4, 9, 16, 25, 36)
K = len(COUNTS)
WEIGHTS = np.full(K, 1 / K)


def inclusion(valuations, num_selected, by_valuation, num_dropped, sharpness):
    """Exact inclusion probabilities for different valuations, by enumeration of ordered draws."""
    kept = np.argsort(valuations)[num_dropped:]
    drawn = min(by_valuation, len(kept), num_selected)
    result = np.zeros(len(valuations))
    for order in itertools.permutations(kept, drawn):
        chance, left = 1.0, list(kept)
        for k in order:
            shares = np.exp(sharpness * valuations[left])
            chance *= np.exp(sharpness * valuations[k]) / shares.sum()
            left.remove(k)
        result[list(order)] += chance
        others = [k for k in range(len(valuations)) if k not in order]
        result[others] += chance * (num_selected - drawn) / len(others)
    return result


def cohorts(rules, memory, count, seed=0):
    """First rounds from a given memory, shape (count, m)."""
    rng, drawn = np.random.default_rng(seed), np.zeros((count, rules.max_selected), dtype=np.int64)
    for row in drawn:
        assert rules.propose(0, rules.table, memory, WEIGHTS, rng, row) == rules.max_selected
    return drawn


def agree(drawn, law):
    spread = np.sqrt(law * (1 - law) / len(drawn))
    return bool((np.abs(np.bincount(drawn.ravel(), minlength=K) / len(drawn) - law) <= 5 * spread + 1e-12).all())


@pytest.mark.parametrize(
    ("m", "dropped", "explored", "by_valuation", "num_dropped"),
    # (1 - 0.5) 2 = 1; (1 - 0.1) 2 = 1.8 rounds to 2; (1 - 0.5) 3 = 1.5 rounds up to 2; floor(0.75 * 5) = 3
    [(2, 0.4, 0.5, 1, 2), (2, 0.4, 0.1, 2, 2), (3, 0.0, 0.5, 2, 0), (1, 0.75, 0.1, 1, 3), (3, 0.75, 0.1, 3, 3),
     (2, 1.0, 0.1, 2, 5), (1, 0.5, 1.0, 1, 2)],
)  # fmt: skip
def test_cohorts_have_the_exact_law(m, dropped, explored, by_valuation, num_dropped):
    valuations = np.array([3.0, 0.5, 2.0, 1.0, 2.5])
    rules = ActiveFederated(m, COUNTS, dropped, 0.7, explored).rules(WEIGHTS, 10)
    law = inclusion(valuations, m, by_valuation, num_dropped, 0.7)
    assert law.sum() == pytest.approx(m, rel=1e-12)
    drawn = cohorts(rules, valuations, 20_000)
    assert all(len(set(row)) == m for row in drawn)
    assert agree(drawn, law)


def test_ties_are_dropped_at_random():
    rules = ActiveFederated(1, COUNTS, 0.6, 0.01, 0.0).rules(WEIGHTS, 10)
    assert agree(cohorts(rules, np.zeros(K), 20_000), np.full(K, 0.2))


def test_valuations_are_those_of_the_definition_and_renewed_when_selected_only():
    fed = ft.QuadraticFederation(np.arange(1.0, 6.0), np.eye(K), WEIGHTS)
    rules = ActiveFederated(2, COUNTS, initial_loss=0.5).rules(WEIGHTS, 10)
    np.testing.assert_array_equal(rules.memory, [1.0, 1.5, 2.0, 2.5, 3.0])  # sqrt(n_k) / 2
    memory, chosen, losses = rules.memory.copy(), np.zeros(2, dtype=np.int64), fed.losses(np.ones(K))
    asked = np.array([3, 1])
    assert rules.select(0, rules.table, memory, WEIGHTS, asked, losses[asked], np.random.default_rng(0), chosen) == 2
    np.testing.assert_array_equal(chosen, asked)
    np.testing.assert_array_equal(memory, [1.0, 3 * losses[1], 2.0, 5 * losses[3], 3.0])


def test_drawing_leaves_the_valuations_alone():
    # the defect of public code: the dropped get -inf in the caller's array
    memory = np.array([3.0, 0.5, 2.0, 1.0, 2.5])
    memory.setflags(write=True)
    before = memory.copy()
    cohorts(ActiveFederated(2, COUNTS).rules(WEIGHTS, 10), memory, 50)
    np.testing.assert_array_equal(memory, before)


def test_costs_are_one_loss_per_selected_client():
    fed = ft.QuadraticFederation(np.arange(1.0, 6.0), np.eye(K), WEIGHTS)
    names = ("uplink", "broadcasts", "evaluations")
    run = ft.fedavg(fed, ActiveFederated(2, COUNTS), num_rounds=4, step_size=0.1, record=names)
    assert [run.recorded(name)[0, -1] for name in names] == [4 * 2 * (fed.dim + 1), 4 * 2, 4 * 2]


def test_valuations_that_vanish_beside_the_largest_still_count_among_themselves():
    # exp(-1e4) is 0: after client 0 was drawn the shares of the others have to be those of e^0 : e^1 : e^0.
    valuations = np.array([1e4, 0.0, 1.0, 0.0, -1e4])
    drawn = cohorts(ActiveFederated(2, COUNTS, 0.2, 1.0, 0.0).rules(WEIGHTS, 10), valuations, 20_000)
    assert all(len(set(row)) == 2 for row in drawn)
    assert agree(drawn, np.array([1, 1 / (2 + np.e), np.e / (2 + np.e), 1 / (2 + np.e), 0]))
