"""Minima over all subsets of clients, against enumeration; cases in which the bound over rankings is sharp."""

# mypy: allow-untyped-calls, disable-error-code="arg-type"

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.datasets.quadratics import power_of_choice_quadratics
from fedtheory.exact._ranking import largest_totals, least_skew_over_rankings
from fedtheory.exact.skews import skew_extremes
from fedtheory.exact.subsets import subset_minima
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.sampling.inclusion import inclusion_by_losses
from fedtheory.selection.laws import Ranked


def law_of(weights, m, d):
    inclusion = inclusion_by_losses(weights, m, d)
    return Ranked(lambda values: inclusion(values) / m, prefers_large=True, favors_heavy=True)


def one_by_one(fed):
    """``l_n`` from the exact infimum of every single subset."""
    indicators = {
        n: [np.isin(np.arange(fed.num_clients), subset) / n for subset in combinations(range(fed.num_clients), n)]
        for n in range(1, fed.num_clients + 1)
    }
    return np.array([min(skew_extremes(fed, q)[0] for q in indicators[n]) for n in indicators])


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 8), st.integers(1, 4))
def test_enumeration_by_gray_code_and_by_eigenvalues_equals_every_subset_on_its_own(seed, num_clients, dim):
    fed = power_of_choice_quadratics(num_clients, dim, rng=seed)
    if num_clients == 1:
        np.testing.assert_allclose(subset_minima(fed), [1.0], rtol=1e-12)
        return
    truth = one_by_one(fed)
    np.testing.assert_allclose(subset_minima(fed), truth, atol=1e-12)
    as_matrices = QuadraticFederation(fed.matrices, fed.centers, fed.weights)
    np.testing.assert_allclose(subset_minima(as_matrices), truth, atol=1e-11)


@pytest.mark.parametrize("isotropic", [True, False])
def test_minima_of_many_clients_are_positive_lower_bounds_of_every_subset(isotropic):
    # So many clients are split into groups, and subsets of a group into blocks.
    fed = power_of_choice_quadratics(32 if isotropic else 17, 3, rng=2)
    fed = fed if isotropic else QuadraticFederation(fed.matrices, fed.centers, fed.weights)
    bounds, rng, K = subset_minima(fed), np.random.default_rng(0), fed.num_clients
    assert (bounds[2:] > 0).all()  # one or two clients may be alone in their groups, where the least ratio is 0
    for size in rng.integers(1, K, 200):
        subset = rng.permutation(K)[:size]
        assert bounds[size - 1] <= skew_extremes(fed, np.isin(np.arange(K), subset) / size)[0] + 1e-12
    assert bounds[-1] <= skew_extremes(fed, np.full(K, 1 / K))[0] + 1e-12


def test_minima_of_more_clients_than_a_block_are_those_of_every_subset():
    fed = power_of_choice_quadratics(11, 3, rng=2)
    np.testing.assert_allclose(subset_minima(fed), one_by_one(fed), atol=1e-12)


def least_over_everything(fed, law):
    """Infimum over w' for every ranking, the realizable and the others."""
    return min(
        skew_extremes(fed, law.frequencies(-np.argsort(order).astype(float)))[0]
        for order in permutations(range(fed.num_clients))
    )


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 5))
def test_the_bound_is_below_the_infimum_of_every_ranking_and_not_vacuous(seed, num_clients):
    fed = power_of_choice_quadratics(num_clients, 2, rng=seed)
    for d in range(1, num_clients + 1):
        for m in range(1, d + 1):
            law = law_of(fed.weights, m, d)
            bound = least_skew_over_rankings(largest_totals(law, fed.weights), subset_minima(fed))
            assert bound <= least_over_everything(fed, law) + 1e-12
            assert bound > 0 or m == 1


def test_the_expected_count_is_largest_for_the_heaviest_clients_and_has_decreasing_increments():
    # f(U) from its definition on all subsets of six clients
    from fedtheory.sampling.cohorts import successive

    rng = np.random.default_rng(1)
    for _ in range(5):
        p = np.sort(rng.random(6) ** 3 + 1e-3)[::-1]
        d = int(rng.integers(1, 7))
        m = int(rng.integers(1, d + 1))
        law = successive(p, d).map(frozenset)
        f = {
            n: [sum(q * min(m, len(drawn & set(u))) for drawn, q in law.items()) for u in combinations(range(6), n)]
            for n in range(7)
        }
        heaviest = np.array([f[n][0] for n in range(7)])  # combinations starts with the first n, the heaviest
        assert all(max(f[n]) <= f[n][0] + 1e-12 for n in range(7))
        assert (np.diff(heaviest, 2) <= 1e-12).all()
        np.testing.assert_allclose(heaviest[1:], m * largest_totals(law_of(p, m, d), p), atol=1e-12)


def test_a_bound_by_the_lightest_clients_would_be_false():
    fed = QuadraticFederation([1.0, 1.0, 1.0], [[0.0], [0.1], [5.0]], [0.48, 0.48, 0.04])
    law, ratios = law_of(fed.weights, 1, 2), subset_minima(fed)
    lightest = np.cumsum(law.frequencies(np.arange(3.0))[::-1])
    assert least_skew_over_rankings(lightest, ratios) > least_over_everything(fed, law)
    assert least_skew_over_rankings(largest_totals(law, fed.weights), ratios) <= least_over_everything(fed, law)
