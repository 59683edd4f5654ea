"""Laws of the strategies that draw by weights and losses alone, and defects of public code."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import fedtheory as ft
import fedtheory.selection
from fedtheory._support.discover import members
from fedtheory.engine.play import play_round
from fedtheory.sampling.inclusion import power_of_choice_inclusion
from fedtheory.selection._draw import _last_place, alias_table, keep_largest
from fedtheory.selection.power_of_choice import DecayingCandidates, HalfTimeCandidates, HalvingCandidates, PowerOfChoice
from fedtheory.selection.proportional import Proportional
from fedtheory.selection.uniform import Uniform
from tests.environment import sized
from tests.selection.still import cohorts

NUM_CLIENTS = 7
WEIGHTS = np.array([0.25, 0.2, 0.18, 0.15, 0.12, 0.07, 0.03])
LOSSES = np.array([0.3, 2.0, 1.0, 5.0, 0.1, 4.0, 3.0])
EXAMPLE = {"num_selected": 3, "num_candidates": 5}


def strategies():
    found = members(fedtheory.selection, lambda value: dataclasses.is_dataclass(value) and hasattr(value, "rules"))
    for _, kind in found:
        needed = [f.name for f in dataclasses.fields(kind) if f.default is dataclasses.MISSING]
        if set(needed) <= set(EXAMPLE):
            yield kind(**{name: EXAMPLE[name] for name in needed})


STRATEGIES = list(strategies())


def selections(rules, count, seed=0, losses=LOSSES, weights=WEIGHTS):
    """Draw ``count`` cohorts one after the other, shape (count, size)."""
    rng, memory = np.random.default_rng(seed), rules.memory.copy()
    updates, losses = np.zeros((weights.size, 0)), losses[np.arange(weights.size)]
    state = (rules, memory, weights)
    drawn = [play_round(*state, t, rng, losses.__getitem__, updates.__getitem__).chosen for t in range(count)]
    return np.array(drawn)


def many_selections(rules, count, seed=0, losses=LOSSES, weights=WEIGHTS):
    """As ``selections``, in one run of the compiled loop."""
    return cohorts(rules, count, weights, losses, seed=seed).chosen


def frequencies(drawn, num_clients=NUM_CLIENTS):
    return np.bincount(drawn.ravel(), minlength=num_clients) / len(drawn)


def agrees(measured, expected, count, copies=1):
    """Whether all frequencies lie within five standard errors (``copies``: how often one cohort may name a client)."""
    spread = np.sqrt(np.maximum(expected * (copies - expected / copies), 0) / count)
    return bool(np.all(np.abs(measured - expected) <= 5 * spread + 1e-12))


LAWLESS = {
    "ActiveFederatedByReports",
    "GreedyShapley",
    "SoftmaxShapley",
    "UpperConfidenceShapley",
}  # what they remember decides


@pytest.mark.parametrize("strategy", [each for each in STRATEGIES if type(each).__name__ not in LAWLESS], ids=repr)
def test_frequencies_follow_the_known_law(strategy):
    if not hasattr(strategy, "inclusion_probabilities"):
        pytest.skip(f"{strategy!r} has no inclusion_probabilities")
    count = 20_000
    drawn = many_selections(strategy.rules(WEIGHTS, count), count)
    copies = drawn.shape[1] if isinstance(strategy, Proportional) else 1
    assert agrees(frequencies(drawn), strategy.inclusion_probabilities(WEIGHTS, LOSSES), count, copies)


@pytest.mark.parametrize(("m", "d"), [(1, 1), (1, 4), (3, 3), (2, 6), (3, 7), (7, 7)])
def test_power_of_choice_selects_by_its_exact_law(m, d):
    count = 20_000
    drawn = many_selections(PowerOfChoice(m, d).rules(WEIGHTS, count), count, seed=m + 10 * d)
    assert agrees(frequencies(drawn), power_of_choice_inclusion(WEIGHTS, LOSSES, m, d), count)


@pytest.mark.parametrize("d", [2, 4, 7])
def test_ties_are_broken_evenly(d):
    count, losses = 20_000, np.array([1.0, 1.0, 1.0, 0.5, 2.0, 0.5, 0.5])
    drawn = many_selections(PowerOfChoice(2, d).rules(WEIGHTS, count), count, losses=losses)
    assert agrees(frequencies(drawn), power_of_choice_inclusion(WEIGHTS, losses, 2, d), count)


@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("count", [5, 9, 80])
def test_keep_largest_keeps_the_largest(size, count):
    # 80 values take the partition, fewer take the ranks; small whole numbers make ties
    rng = np.random.default_rng(0)
    for _ in range(200):
        values = rng.integers(0, 12, count).astype(float)
        kept = np.zeros(size, dtype=np.int64)
        keep_largest(np.arange(count), values.copy(), size, rng, kept)
        assert len(set(kept)) == size
        np.testing.assert_array_equal(np.sort(values[kept]), np.sort(values)[-size:])


def test_the_last_place_is_that_of_a_partition_with_ties_infinities_and_nan():
    rng = np.random.default_rng(0)
    for _ in range(sized(2000, 200)):
        values = rng.choice([-np.inf, -1.0, 0.0, 0.5, 1.0, 2.0, np.inf, np.nan], size=rng.integers(1, 30))
        values = np.where(rng.random(values.size) < 0.5, values, rng.normal(size=values.size))
        size, before = int(rng.integers(1, values.size + 1)), values.copy()
        expected = np.partition(values, values.size - size)[values.size - size]
        np.testing.assert_array_equal(_last_place(values, size), expected)
        np.testing.assert_array_equal(values, before)


def test_infinite_losses_come_first():
    values = np.array([1.0, np.inf, 3.0, np.inf])
    kept = np.zeros(3, dtype=np.int64)
    keep_largest(np.arange(4), values.copy(), 3, np.random.default_rng(0), kept)
    assert set(kept) == {1, 2, 3}


def test_highest_loss_is_power_of_choice_among_all():
    np.testing.assert_array_equal(
        np.sort(selections(PowerOfChoice(3, "all").rules(WEIGHTS, 1), 1)[0]), np.sort(np.argsort(LOSSES)[-3:])
    )


def test_alias_table_is_the_distribution():
    for weights in (WEIGHTS, np.array([1.0]), np.array([0.0, 0.5, 0.0, 0.5]), np.full(6, 1 / 6)):
        size = weights.size
        level, step = alias_table(weights).reshape(-1, 2).T
        mass = level / size
        for k in range(size):
            mass[int(k + step[k])] += (1 - level[k]) / size
        np.testing.assert_allclose(mass, weights, atol=4e-16)


@given(st.lists(st.just(0.0) | st.floats(1e-300, 1.0), min_size=1, max_size=80).filter(any))
def test_an_alias_table_gives_a_client_of_weight_zero_no_chance(weights):
    level, step = alias_table(np.array(weights)).reshape(-1, 2).T
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


def position_as_index(rules):
    """Known defect: the position in the candidate set is used as the client's index."""

    def select(t, table, memory, weights, candidates, losses, rng, chosen):
        return rules.select(t, table, memory, weights, np.arange(candidates.size), losses, rng, chosen)

    return dataclasses.replace(rules, select=select)


def uniform_candidates(rules):
    """Known defect: candidates drawn uniformly instead of by weight."""

    def propose(t, table, memory, weights, rng, candidates):
        candidates[:] = rng.permutation(weights.size)[: candidates.size]
        return candidates.size

    return dataclasses.replace(rules, propose=propose)


def last_of_argpartition(rules):
    """Known defect: the last m of argpartition(losses, m) are not the m largest."""

    def select(t, table, memory, weights, candidates, losses, rng, chosen):
        chosen[:] = candidates[np.argpartition(losses, chosen.size)[-chosen.size :]]
        return chosen.size

    return dataclasses.replace(rules, select=select)


def first_of_ties(rules):
    """A defect of our own making: ties go to the candidate drawn first, that is, more often to a heavy client."""

    def select(t, table, memory, weights, candidates, losses, rng, chosen):
        chosen[:] = candidates[np.argsort(-losses, kind="stable")[: chosen.size]]
        return chosen.size

    return dataclasses.replace(rules, select=select)


@pytest.mark.slow
@pytest.mark.parametrize("defect", [position_as_index, uniform_candidates])
def test_law_check_kills_the_known_defects(defect):
    count = 20_000
    drawn = many_selections(defect(PowerOfChoice(3, 5).rules(WEIGHTS, count)), count)
    assert not agrees(frequencies(drawn), power_of_choice_inclusion(WEIGHTS, LOSSES, 3, 5), count)


def test_law_check_kills_the_wrong_partition():
    # many candidates: numpy sorts short arrays whole, which would hide the defect
    count, weights, losses = sized(500, 40), np.full(1200, 1 / 1200), np.random.default_rng(0).random(1200)
    rules = PowerOfChoice(5, 1000).rules(weights, count)
    # With equal weights: a candidate, and fewer than 5 of the others are candidates with a larger loss.
    above = np.argsort(np.argsort(-losses))
    law = 1000 / 1200 * stats.hypergeom(1199, above, 999).cdf(4)
    assert law.sum() == pytest.approx(5, rel=1e-12)
    for made, right in ((rules, True), (last_of_argpartition(rules), False)):
        drawn = many_selections(made, count, losses=losses, weights=weights)
        assert agrees(frequencies(drawn, 1200), law, count) is right


def test_law_check_kills_ties_by_order_of_draw():
    count, losses = 20_000, np.ones(NUM_CLIENTS)
    drawn = many_selections(first_of_ties(PowerOfChoice(2, 5).rules(WEIGHTS, count)), count, losses=losses)
    assert not agrees(frequencies(drawn), power_of_choice_inclusion(WEIGHTS, losses, 2, 5), count)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PowerOfChoice(3, 2), "num_candidates must be at least 3, got 2"),
        (lambda: PowerOfChoice(0, 2), "num_selected must be at least 1, got 0"),
        (lambda: PowerOfChoice(2, 8).rules(WEIGHTS, 1), r"num_candidates must be in 1..7, got 8"),
        (lambda: Uniform(8).rules(WEIGHTS, 1), r"num_selected must be in 1..7, got 8"),
        (lambda: PowerOfChoice(8, "all").rules(WEIGHTS, 1), r"num_selected must be in 1..7, got 8"),
        (lambda: PowerOfChoice(2, 5).rules(np.array([0.5, 0.5, 0, 0, 0, 0, 0]), 1), "num_candidates must be at most 2"),
        (
            lambda: PowerOfChoice(1, "all").rules(np.array([1.0, 0, 0, 0, 0, 0, 0]), 1),
            "num_candidates must be at most 1",
        ),
        (lambda: Uniform(2, "median"), "aggregation must be one of 'mean', 'weighted', got 'median'"),
    ],
)
def test_impossible_cohorts_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_inclusion_probabilities_of_a_schedule_are_asked_for_round_by_round():
    with pytest.raises(TypeError, match="got a schedule: go round by round"):
        PowerOfChoice(2, HalfTimeCandidates()).inclusion_probabilities(WEIGHTS, WEIGHTS)


@pytest.mark.parametrize(
    ("kind", "arguments"), [(PowerOfChoice, (2.0, 3)), (PowerOfChoice, (2, 3.0)), (Proportional, (True,))]
)
def test_counts_must_be_whole_numbers(kind, arguments):
    with pytest.raises(TypeError, match="must be a whole number"):
        kind(*arguments)


@pytest.mark.parametrize("num_candidates", [5, 6])
def test_when_most_clients_are_drawn_each_is_left_out_as_by_successive_draws(num_candidates):
    weights = np.array([0.4, 0.2, 0.14, 0.1, 0.08, 0.05, 0.03])
    fed = ft.QuadraticFederation(np.ones(7), np.arange(7.0)[:, None], weights)
    num_rounds = 20_000
    strategy = PowerOfChoice(num_candidates, num_candidates)
    run = ft.fedavg(fed, strategy, num_rounds=num_rounds, step_size=0.1, record=())
    law = power_of_choice_inclusion(weights, np.arange(7.0), num_candidates, num_candidates)
    deviation = np.sqrt(law * (1 - law) * num_rounds)
    assert (np.abs(run.counts[0] - law * num_rounds) < 5 * deviation).all()
    assert run.counts.sum() == num_candidates * num_rounds
