"""Possible sets of clients with the largest losses: no observed set is excluded."""

# mypy: allow-untyped-calls, disable-error-code="arg-type"

from itertools import combinations

import numpy as np
import pytest

from fedtheory.datasets.quadratics import power_of_choice_quadratics
from fedtheory.exact.selection_skews import selection_skew
from fedtheory.exact.skews import skew_extremes
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.selection.power_of_choice import PowerOfChoice


def observed_top_sets(fed, m):
    """Sets of the m largest losses at random models at all distances: all of them are realizable."""
    rng = np.random.default_rng(0)
    spread = np.abs(fed.centers).max()
    models = fed.minimizer + spread * rng.standard_normal((4000, fed.dim)) * 10 ** rng.uniform(-1, 2, (4000, 1))
    return {tuple(sorted(np.argsort(-losses)[:m])) for losses in fed.losses(models)}


def infimum(fed, members):
    return skew_extremes(fed, np.isin(np.arange(fed.num_clients), members) / len(members))[0]


def test_the_bound_equals_the_search_on_the_instance_of_the_paper():
    fed = power_of_choice_quadratics(12, 5, rng=0)
    rho_bar = selection_skew(fed, PowerOfChoice(2, 12), num_models=1000).rho_bar
    assert rho_bar.width <= 1e-12
    assert rho_bar.lower > min(infimum(fed, pair) for pair in combinations(range(12), 2)) + 1e-3


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_equal_curvatures_are_no_obstacle_to_an_exact_rho_bar(seed):
    # A multiplier off by 1e-17 would prove nothing: the difference of losses has to be constant exactly.
    rng = np.random.default_rng(seed)
    fed = QuadraticFederation(np.ones(8), rng.standard_normal((8, 2)), np.full(8, 0.125))
    rho_bar = selection_skew(fed, PowerOfChoice(2, 8), num_models=300).rho_bar
    assert rho_bar.width <= 1e-11
    seen = observed_top_sets(fed, 2)
    assert rho_bar.lower <= min(infimum(fed, members) for members in seen)


def test_a_client_that_dominates_another_keeps_it_from_the_top():
    # F_2 = 3/2 |w|^2 + 1 is above F_1 = |w|^2 / 2 everywhere, so with m = 1 client 1 never ranks first. Client 0 has
    # F_0 = |w - (1, 0)|^2 / 2, above F_2 where |w|^2 + w_1 + 1/2 < 0, that is nowhere. So client 2 is always selected.
    fed = QuadraticFederation([1.0, 1.0, 3.0], [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]], np.full(3, 1 / 3), [0.0, 0.0, 1.0])
    rho_bar = selection_skew(fed, PowerOfChoice(1, 3), num_models=200).rho_bar
    np.testing.assert_allclose(tuple(rho_bar), infimum(fed, (2,)), atol=1e-11)
    two = selection_skew(fed, PowerOfChoice(2, 3), num_models=200).rho_bar
    np.testing.assert_allclose(tuple(two), min(infimum(fed, (0, 2)), infimum(fed, (1, 2))), rtol=1e-9, atol=1e-15)
