"""Averaging with a fixed step size: Theorem 4 of Li et al. with constants, and absent clients that keep their model."""

from fractions import Fraction as Q
from itertools import combinations

import numpy as np
import pytest

from fedtheory.instances.draws import draw_federation, draw_model
from fedtheory.instances.stationary_points import StationaryPoints
from fedtheory.instances.vectors import Vector, combination, norm2, vector


@pytest.mark.parametrize("num_steps", [2, 3, 4, 5, 10, 50])
@pytest.mark.parametrize("share", [Q(1, 1000), Q(1, 10), Q(1, 2), Q(1)])
def test_the_distance_of_the_limit_is_between_two_multiples_of_the_step_size(num_steps, share):
    eta = share / (3 * num_steps)
    fed = StationaryPoints(((vector(1),), (vector(3),)), (vector(0), vector(1)), vector("1/2", "1/2"))
    (best,), (limit,) = fed.minimizer, fed.averaging(eta, (num_steps,) * 2)
    assert best == Q(3, 4)
    assert Q(5, 36) <= (best - limit) / ((num_steps - 1) * eta * best) <= Q(1, 2)


@pytest.mark.parametrize("seed", range(5))
def test_absent_clients_that_keep_the_servers_model_slow_the_expected_model_and_do_not_change_its_limit(seed):
    rng = np.random.default_rng(seed)
    fed, tau = draw_federation(rng), 3
    eta, w, N = 1 / (2 * fed.smoothness), draw_model(rng, fed.dim), fed.num_clients
    moves = []
    for k in range(N):
        y = w
        for _ in range(tau):
            y -= eta * fed.gradient(k, y)
        moves.append(y - w)
    for m in range(1, N + 1):
        subsets = list(combinations(range(N), m))
        after = [w + sum((fed.weights[k] * moves[k] for k in subset), start=0 * w) for subset in subsets]
        expected = combination(Vector([Q(1, len(subsets))] * len(subsets)), after)
        full_model = w + combination(fed.weights, moves)
        assert norm2(expected - (w + Q(m, N) * (full_model - w))) == 0
