"""Covariances of aggregation weights, against draws that are enumerated or drawn, and cases done by hand."""

# mypy: allow-untyped-calls

from fractions import Fraction as Q
from itertools import combinations, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.sampling import (
    clustered_covariance,
    clustered_distributions,
    multinomial_covariance,
    uniform_covariance,
)

WEIGHTS = st.lists(st.integers(1, 9).map(Q), min_size=1, max_size=4)


def covariance(outcomes):
    """Covariance of equally many numbers from (probability, weights), by its definition."""
    mean = sum(chance * np.array(weights) for chance, weights in outcomes)
    return sum(chance * np.outer(np.array(weights) - mean, np.array(weights) - mean) for chance, weights in outcomes)


def copies(chosen, num_clients, factor):
    return [factor[k] * chosen.count(k) for k in range(num_clients)]


@given(weights=WEIGHTS, m=st.integers(1, 3))
def test_the_draws_of_clustered_sampling_have_the_weights_as_their_mean(weights, m):
    rows = clustered_distributions(weights, m)
    assert (rows >= 0).all()
    assert rows.sum(axis=1).tolist() == [1] * m
    assert rows.sum(axis=0).tolist() == [m * w / sum(weights) for w in weights]
    assert (rows > 0).sum() <= len(weights) + m - 1


@given(weights=WEIGHTS, m=st.integers(1, 3))
def test_the_closed_forms_are_the_covariances_of_all_draws(weights, m):
    n, p = len(weights), [w / sum(weights) for w in weights]
    rows = clustered_distributions(weights, m)
    for law, found in ((rows, clustered_covariance(rows)), ([p] * m, multinomial_covariance(weights, m))):
        draws = product(range(n), repeat=m)
        chances = [(np.prod([law[i][k] for i, k in enumerate(chosen)]), chosen) for chosen in draws]
        assert (found == covariance([(chance, copies(chosen, n, [Q(1, m)] * n)) for chance, chosen in chances])).all()
    subsets = list(combinations(range(n), min(m, n)))
    factors = [Q(n, min(m, n)) * share for share in p]
    expected = covariance([(Q(1, len(subsets)), copies(chosen, n, factors)) for chosen in subsets])
    assert (uniform_covariance(weights, min(m, n)) == expected).all()


def test_floats_give_floats_and_the_same_numbers():
    weights = [3.0, 1.0, 4.0, 1.5]
    exact = [Q(weight) for weight in weights]
    for function in (clustered_distributions, multinomial_covariance, uniform_covariance):
        found = function(weights, 3)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, function(exact, 3).astype(float), rtol=1e-14, atol=1e-16)
    assert clustered_distributions([2.0, 3.0, 1.0], 2)[1, 1] == 0
