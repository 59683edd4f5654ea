"""Laws of the strategies that draw by weights and losses alone, and defects of public code."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from fedtheory.sampling.inclusion import power_of_choice_inclusion
from fedtheory.selection.power_of_choice import DecayingCandidates, HalfTimeCandidates, HalvingCandidates, PowerOfChoice
from fedtheory.selection.proportional import Proportional
from fedtheory.selection.uniform import Uniform
from tests.environment import sized
from tests.selection.still import cohorts

NUM_CLIENTS = 7
WEIGHTS = np.array([0.25, 0.2, 0.18, 0.15, 0.12, 0.07, 0.03])
LOSSES = np.array([0.3, 2.0, 1.0, 5.0, 0.1, 4.0, 3.0])


def many_selections(rules, count, seed=0, losses=LOSSES, weights=WEIGHTS):
    """Draw ``count`` cohorts in one run of the compiled loop, shape (count, size)."""
    return cohorts(rules, count, weights, losses, seed=seed).chosen


def alias(weights):
    """Levels and steps of the alias table by which a strategy draws."""
    return Proportional(1).rules(np.array(weights), 1).table[1:].reshape(-1, 2).T


def frequencies(drawn, num_clients=NUM_CLIENTS):
    return np.bincount(drawn.ravel(), minlength=num_clients) / len(drawn)


def agrees(measured, expected, count, copies=1):
    """Whether all frequencies lie within five standard errors (``copies``: how often one cohort may name a client)."""
    spread = np.sqrt(np.maximum(expected * (copies - expected / copies), 0) / count)
    return bool(np.all(np.abs(measured - expected) <= 5 * spread + 1e-12))


@pytest.mark.parametrize(("m", "d"), [(1, 1), (1, 4), (3, 3), (5, 5), (2, 6), (6, 6), (3, 7), (7, 7)])
def test_power_of_choice_selects_by_its_exact_law(m, d):
    count = sized(20_000, 2_000)
    drawn = many_selections(PowerOfChoice(m, d).rules(WEIGHTS, count), count, seed=m + 10 * d)
    assert agrees(frequencies(drawn), power_of_choice_inclusion(WEIGHTS, LOSSES, m, d), count)


@pytest.mark.parametrize("d", [2, 4, 7])
def test_ties_are_broken_evenly(d):
    count, losses = sized(20_000, 2_000), np.array([1.0, 1.0, 1.0, 0.5, 2.0, 0.5, 0.5])
    drawn = many_selections(PowerOfChoice(2, d).rules(WEIGHTS, count), count, losses=losses)
    assert agrees(frequencies(drawn), power_of_choice_inclusion(WEIGHTS, losses, 2, d), count)


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("num_clients", [5, 9, 80])
def test_power_of_choice_among_all_selects_the_largest_losses(num_clients, size):
    # the largest of 80 losses are found by a partition, those of fewer by ranks; small whole numbers make ties
    rng, weights = np.random.default_rng(0), np.full(num_clients, 1 / num_clients)
    rules = PowerOfChoice(size, "all").rules(weights, 20)
    for _ in range(10):
        losses = rng.integers(0, 12, num_clients).astype(float)
        chosen = many_selections(rules, 20, losses=losses, weights=weights).astype(int)
        assert all(len(set(cohort)) == size for cohort in chosen.tolist())
        np.testing.assert_array_equal(np.sort(losses[chosen]), np.tile(np.sort(losses)[-size:], (20, 1)))


def test_the_share_of_candidates_that_are_left_is_exact_although_factors_are_not_binary():
    # 0.56 of 25 is 14; the nearest doubles multiply to a little more.
    assert DecayingCandidates(0.56).counts(num_rounds=3, num_selected=2, num_clients=25).tolist() == [25, 14, 8]


def test_alias_table_is_the_distribution():
    for weights in (WEIGHTS, np.array([1.0]), np.array([0.0, 0.5, 0.0, 0.5]), np.full(6, 1 / 6)):
        size = weights.size
        level, step = alias(weights)
        mass = level / size
        for k in range(size):
            mass[int(k + step[k])] += (1 - level[k]) / size
        np.testing.assert_allclose(mass, weights, atol=4e-16)


@given(st.lists(st.just(0.0) | st.floats(1e-300, 1.0), min_size=1, max_size=80).filter(any))
def test_an_alias_table_gives_a_client_of_weight_zero_no_chance(weights):
    level, step = alias(weights)
    drawn = {k for k in range(level.size) if level[k] > 0}
    drawn |= {int(k + step[k]) for k in range(level.size) if level[k] < 1}
    assert all(weights[k] > 0 for k in drawn)


def test_draws_without_replacement_exhaust_weights_over_eight_decades():
    # rejection cannot find the light clients: the scan must take over, and with the right law
    weights = np.array([1.0, 1e-4, 1e-8, 2e-8])
    weights /= weights.sum()
    rules, rng, drawn = PowerOfChoice(3, 3).rules(weights, 6000), np.random.default_rng(0), np.zeros(3, dtype=np.int64)
    assert rules.propose
    thirds = []
    for t in range(6000):
        assert rules.propose(t, rules.table, rules.memory, weights, rng, drawn) == 3
        assert len(set(drawn)) == 3
        thirds.append(drawn[2])
    # after clients 0 and 1, almost surely first, client 3 is twice as likely as client 2
    share = np.mean(np.array(thirds) == 3)
    assert abs(share - 2 / 3) < 5 * np.sqrt(2 / 9 / 6000)


@pytest.mark.parametrize("schedule", [HalvingCandidates(3), HalfTimeCandidates(), DecayingCandidates()], ids=repr)
def test_scheduled_candidates_are_proposed_round_by_round(schedule):
    strategy = PowerOfChoice(2, schedule)
    rules = strategy.rules(WEIGHTS, 12)
    assert rules.propose
    rng, memory, candidates = (
        np.random.default_rng(0),
        rules.memory.copy(),
        np.zeros(rules.max_candidates, dtype=np.int64),
    )
    sizes = [rules.propose(t, rules.table, memory, WEIGHTS, rng, candidates) for t in range(12)]
    np.testing.assert_array_equal(sizes, schedule.counts(12, 2, NUM_CLIENTS))


def test_uniform_moments_by_enumeration():
    for m, aggregation in itertools.product((1, 2, 4), ("mean", "weighted")):
        strategy = Uniform(m, aggregation)
        u, alpha, delta, noise = strategy.law(WEIGHTS)
        share = np.full(NUM_CLIENTS, 1 / m) if aggregation == "mean" else WEIGHTS * NUM_CLIENTS / m
        cohorts = list(itertools.combinations(range(NUM_CLIENTS), m))
        omega = np.array([[share[k] * (k in cohort) for k in range(NUM_CLIENTS)] for cohort in cohorts])
        second = omega.T @ omega / len(cohorts)
        np.testing.assert_allclose(omega.mean(axis=0), u, atol=1e-15)
        np.testing.assert_allclose(second, alpha * np.outer(u, u) + np.diag(delta), atol=1e-15)
        np.testing.assert_allclose(np.diag(second), noise, atol=1e-15)


def test_power_of_choice_among_many_candidates_has_its_law():
    # Many candidates are ranked by a partition.
    count, weights, losses = sized(500, 40), np.full(1200, 1 / 1200), np.random.default_rng(0).random(1200)
    drawn = many_selections(PowerOfChoice(5, 1000).rules(weights, count), count, losses=losses, weights=weights)
    # With equal weights: a candidate, and fewer than 5 of the others are candidates with a larger loss.
    above = np.argsort(np.argsort(-losses))
    law = 1000 / 1200 * stats.hypergeom(1199, above, 999).cdf(4)
    assert law.sum() == pytest.approx(5, rel=1e-12)
    assert agrees(frequencies(drawn, 1200), law, count)
