"""Covariances of aggregation weights, against draws that are enumerated or drawn, and cases done by hand."""

# mypy: allow-untyped-calls

from fractions import Fraction as Q
from itertools import combinations, product
from math import prod

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.sampling import multinomial_covariance, uniform_covariance

WEIGHTS = st.lists(st.integers(1, 9).map(Q), min_size=1, max_size=4)


def covariance(outcomes):
    """Covariance of equally many numbers from (probability, weights), by its definition."""
    mean = sum(chance * np.array(weights) for chance, weights in outcomes)
    return sum(chance * np.outer(np.array(weights) - mean, np.array(weights) - mean) for chance, weights in outcomes)


def copies(chosen, num_clients, factor):
    return [factor[k] * chosen.count(k) for k in range(num_clients)]


@given(weights=WEIGHTS, m=st.integers(1, 3))
def test_the_closed_forms_are_the_covariances_of_all_draws(weights, m):
    n, p = len(weights), [w / sum(weights) for w in weights]
    chances = [(prod(p[k] for k in chosen), chosen) for chosen in product(range(n), repeat=m)]
    expected = covariance([(chance, copies(chosen, n, [Q(1, m)] * n)) for chance, chosen in chances])
    assert (multinomial_covariance(weights, m) == expected).all()
    subsets = list(combinations(range(n), min(m, n)))
    factors = [Q(n, min(m, n)) * share for share in p]
    expected = covariance([(Q(1, len(subsets)), copies(chosen, n, factors)) for chosen in subsets])
    assert (uniform_covariance(weights, min(m, n)) == expected).all()


def test_floats_give_floats_and_the_same_numbers():
    weights = [3.0, 1.0, 4.0, 1.5]
    exact = [Q(weight) for weight in weights]
    for function in (multinomial_covariance, uniform_covariance):
        found = function(weights, 3)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, function(exact, 3).astype(float), rtol=1e-14, atol=1e-16)
