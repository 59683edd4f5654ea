"""Independent sampling of many clients: gaps instead of coins, and subsets of candidates."""

import itertools

import numpy as np
import pytest
from scipy.stats import chi2

import fedtheory as ft
from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.sampling import optimal_probabilities, variance
from fedtheory.selection.independent import Independent
from tests.environment import sized

WEIGHTS = np.array([0.3, 0.25, 0.2, 0.15, 0.1])
N, BUDGET = WEIGHTS.size, 1.5
UPDATES = np.random.default_rng(4).lognormal(0, 1, (N, 1)) * np.random.default_rng(5).normal(size=(N, 2))


def subsets(size):
    """All sets of so many candidates."""
    return list(map(np.array, itertools.combinations(range(N), size)))


def plain(rule):
    return getattr(rule, "py_func", rule)


class Told:
    """A generator that says what it is told, and how often it was asked."""

    def __init__(self, values):
        self.values, self.asked = iter(values), 0

    def random(self):
        self.asked += 1
        return next(self.values)


def select(strategy, rng, weights=WEIGHTS):
    rules = strategy.rules(weights, 1)
    chosen, nothing = np.full(rules.max_selected, -1), np.empty(0)
    size = plain(rules.select)(0, rules.table, rules.memory, weights, nothing.astype(int), nothing, rng, chosen)
    return chosen[:size]


def selections(strategy, count, seed=1):
    """Clients of so many rounds, by the compiled rule."""
    rules, rng, nothing = strategy.rules(WEIGHTS, count), np.random.default_rng(seed), np.empty(0)
    chosen, candidates = np.full(rules.max_selected, -1), np.empty(0, dtype=np.int64)
    for t in range(count):
        size = rules.select(t, rules.table, rules.memory, WEIGHTS, candidates, nothing, rng, chosen)
        yield chosen[:size]


@pytest.mark.parametrize("probability", [0.02, 0.3, 0.5, 0.9])
def test_a_gap_is_as_long_as_coins_say(probability):
    # Every uniform number of a fine grid once: (1 - p)^g of them begin with at least g clients that do not send.
    n, grid = 40, 2000
    strategy, weights = Independent(n * probability, "uniform"), np.full(n, 1 / n)
    firsts = np.zeros(n + 1, dtype=np.int64)
    for u in (np.arange(grid) + 0.5) / grid:
        chosen = select(strategy, Told([u, *[1 - 2.0**-53] * 3]), weights)
        firsts[chosen[0] if chosen.size else n] += 1
    longer = firsts[::-1].cumsum()[::-1]
    np.testing.assert_allclose(longer, grid * (1 - probability) ** np.arange(n + 1), rtol=0, atol=1.0)


def test_a_round_of_gaps_draws_once_more_than_clients_send():
    weights = np.full(1000, 1e-3)
    rng = np.random.default_rng(0)
    told = Told(iter(rng.random, None))
    for _ in range(20):
        before = told.asked
        chosen = select(Independent(3, "uniform"), told, weights)
        assert told.asked - before == chosen.size + 1
        assert (np.diff(chosen) > 0).all()
    assert select(Independent(1000, "uniform"), told, weights).tolist() == list(range(1000))


@pytest.mark.parametrize("size", [1e-300, 1e-12])
def test_a_gap_longer_than_any_whole_number_ends_the_round(size):
    assert select(Independent(size, "uniform"), Told([1 - 2.0**-53]), WEIGHTS).size == 0


def test_absent_clients_are_passed_over():
    here = np.where([True, False, True, True, False], WEIGHTS, -1.0)
    assert select(Independent(N, "uniform"), np.random.default_rng(0), here).tolist() == [0, 2, 3]
    asked = select(Independent(2, num_candidates=N), np.random.default_rng(0), here)
    assert sorted(asked.tolist()) == [0, 2, 3]


@pytest.mark.parametrize("size", [3, N])
@pytest.mark.parametrize("probabilities", ["optimal", "approximate"])
def test_the_estimator_is_unbiased_with_the_variance_of_eq_6_and_of_candidates_with_that_of_eq_39(probabilities, size):
    # every set of candidates, with the coefficients of the rule, and every outcome of their coins
    strategy = Independent(BUDGET, probabilities, max_iterations=N, num_candidates=size)
    norms, total, mean, second = WEIGHTS * np.linalg.norm(UPDATES, axis=1), WEIGHTS @ UPDATES, np.zeros(2), 0.0
    for asked in subsets(size):
        p = optimal_probabilities(norms[asked], BUDGET)
        weighed = weighed_by_the_rule(strategy, asked)
        for sent in itertools.product([True, False], repeat=size):
            chance = np.prod(np.where(sent, p, 1 - p)) / len(subsets(size))
            estimate = np.where(sent, weighed, 0.0) @ UPDATES[asked]
            mean += chance * estimate
            second += chance * ((estimate - total) ** 2).sum()
    np.testing.assert_allclose(mean, total, rtol=1e-13)
    assert second == pytest.approx(variance_among_candidates(norms, size), rel=1e-12)
    if size == N:
        assert second == pytest.approx(variance(norms, optimal_probabilities(norms, BUDGET)), rel=1e-12)


def weighed_by_the_rule(strategy, asked):
    """Coefficient of each candidate when it sends: coins are flipped until all have."""
    rules, rng, weighed = strategy.rules(WEIGHTS, 1), np.random.default_rng(0), np.zeros(asked.size)
    while not weighed.all():
        coefficients = np.empty(asked.size)
        rules.weigh(0, rules.table, rules.memory, WEIGHTS, asked, UPDATES[asked], rng, coefficients)
        weighed = np.maximum(weighed, coefficients)
    return weighed


def variance_among_candidates(norms, size):
    """Mean over the sets Q of the variance given Q, plus the variance of Q, as the docstring of the strategy says."""
    scaled, terms = N / size * norms, WEIGHTS[:, None] * UPDATES
    given = [variance(scaled[asked], optimal_probabilities(scaled[asked], BUDGET)) for asked in subsets(size)]
    spread = (terms**2).sum() - (terms.sum(axis=0) ** 2).sum() / N
    return np.mean(given) + N / size * (N - size) / (N - 1) * spread


def test_every_set_of_candidates_is_equally_likely():
    draws, counts = sized(10_000, 2_000), dict.fromkeys(itertools.combinations(range(N), 3), 0)
    for chosen in selections(Independent(2, num_candidates=3), draws):
        counts[tuple(sorted(chosen.tolist()))] += 1
    seen, wanted = np.array(list(counts.values())), draws / len(counts)
    assert ((seen - wanted) ** 2 / wanted).sum() < chi2.isf(1e-6, len(counts) - 1)


def test_bounds_cover_independent_sampling_without_candidates():
    assert ocs.dsgd_strongly_convex.statement.accepts(Independent(2).scheme)
    assert not ocs.dsgd_strongly_convex.statement.accepts(Independent(2, num_candidates=3).scheme)
    assert not ft.bounds.power_of_choice.one_step.statement.accepts(Independent(2).scheme)
