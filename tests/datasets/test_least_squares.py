"""A federation of least squares has the losses and the minimizer of its samples."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.datasets.quadratics import least_squares_federation

EPS = float(np.finfo(np.float64).eps)


def random_clients(rng, sizes, dim):
    return [(rng.standard_normal((n, dim)), rng.standard_normal(n)) for n in sizes]


def ridge(client, l2, w):
    x, y = client
    return 0.5 * np.mean((x @ w - y) ** 2) + 0.5 * l2 * w @ w


@given(seed=st.integers(0, 2**32), sizes=st.lists(st.integers(1, 8), min_size=1, max_size=4), l2=st.floats(1e-6, 10.0))
@settings(max_examples=50)
def test_losses_are_the_ridge_losses_of_the_samples(seed, sizes, l2):
    rng = np.random.default_rng(seed)
    clients = random_clients(rng, sizes, 3)
    fed = least_squares_federation(clients, l2)
    w = rng.standard_normal(3)
    # Few samples and a small l2 put the centers far away: rounding scales with the square of that distance.
    scale = 1 + np.abs(fed.local_minima).max() + fed.smoothness * np.sum(fed.centers**2, axis=1).max()
    expected = np.array([ridge(client, l2, w) for client in clients])
    np.testing.assert_allclose(fed.losses(w), expected, atol=64 * 2e-16 * scale, rtol=1e-12)
    np.testing.assert_allclose(fed.weights, np.array(sizes) / sum(sizes), rtol=1e-15)
    # Forming and diagonalizing a 3 x 3 matrix moves its eigenvalues by a few eps of the largest, however small l2 is.
    assert fed.strong_convexity >= l2 - 8 * EPS * fed.smoothness


def test_minimizer_of_all_clients_is_the_pooled_ridge_solution():
    rng = np.random.default_rng(0)
    clients = random_clients(rng, [5, 9, 2], 4)
    x, y = np.concatenate([c[0] for c in clients]), np.concatenate([c[1] for c in clients])
    # sum_k n_k/n F_k is the ridge loss of the pooled samples: least squares with sqrt(16 l2) I appended.
    pooled = np.linalg.lstsq(np.vstack([x, np.sqrt(16 * 0.3) * np.eye(4)]), np.append(y, np.zeros(4)), rcond=None)[0]
    np.testing.assert_allclose(least_squares_federation(clients, 0.3).minimizer, pooled, rtol=1e-12)
