"""Covariances of aggregation weights, against draws that are enumerated or drawn, and cases done by hand."""

# mypy: allow-untyped-calls

from fractions import Fraction as Q
from itertools import combinations, product

import numpy as np
import pytest
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


def test_two_equal_halves_are_sampled_without_variance():
    assert clustered_distributions([Q(1), Q(1)], 2).tolist() == [[1, 0], [0, 1]]
    assert not clustered_covariance([[1, 0], [0, 1]]).any()


@pytest.mark.parametrize(
    ("function", "arguments", "text"),
    [
        (multinomial_covariance, ([0.0, 0.0], 1), r"weights must have a positive sum, got \[0.0, 0.0\]"),
        (multinomial_covariance, ([], 1), "weights must have a positive sum, got"),
        (multinomial_covariance, ([1.0, -1.0], 1), "weights must be finite and at least 0"),
        (multinomial_covariance, ([1.0], 0), "num_selected must be"),
        (uniform_covariance, ([1.0, 1.0], 3), "num_selected must be in 1..2, got 3"),
        (clustered_distributions, ([1.0], 0), "num_selected must be"),
        (clustered_covariance, ([[0.5, 0.6]],), "each of distributions must"),
        (clustered_covariance, (np.zeros((0, 2)),), r"distributions must have entries, got shape \(0, 2\)"),
        (clustered_covariance, ([0.5, 0.5],), "distributions must"),
    ],
)
def test_unsuitable_arguments_are_named(function, arguments, text):
    with pytest.raises((TypeError, ValueError), match=f"^{text}"):
        function(*arguments)
