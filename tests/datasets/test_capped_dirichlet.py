"""The Dirichlet partition that skips clients which have reached their share."""

from typing import Any

import numpy as np
import pytest

from fedtheory.datasets.partition import capped_dirichlet_partition

LABELS = np.repeat([0, 1, 2, 3, 4], [30, 50, 40, 60, 20])


def dealt(concentration: float, seed: int, num_clients: int = 8, min_samples: int = 1) -> Any:
    """Samples of each class that each client has, shape (K, C)."""
    parts = capped_dirichlet_partition(LABELS, num_clients, concentration, min_samples=min_samples, rng=seed)
    assert sorted(np.concatenate(parts).tolist()) == list(range(LABELS.size))
    assert all((np.diff(part) > 0).all() for part in parts)
    return np.array([np.bincount(LABELS[part], minlength=5) for part in parts])


@pytest.mark.parametrize("concentration", [0.05, 0.3, 2.0])
def test_who_has_an_nth_of_the_samples_gets_none_of_the_later_classes(concentration: float) -> None:
    left_out = 0
    for seed in range(20):
        counts = dealt(concentration, seed)
        before = np.cumsum(counts, axis=1) - counts
        closed = before >= LABELS.size / 8
        assert (counts[closed] == 0).all()
        left_out += int(closed.sum())
    assert left_out > 20  # the law is not empty


@pytest.mark.slow
def test_the_first_class_is_dealt_in_dirichlet_shares() -> None:
    """Shares of Dir_K(a) have mean 1/K and variance (K - 1)/(K^2 (K a + 1)); 3,000 draws of 10,000 samples."""
    num_draws, num_clients, concentration = 3000, 4, 0.5
    labels = np.append(np.zeros(10_000, dtype=int), 1)
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(num_draws):
        parts = capped_dirichlet_partition(labels, num_clients, concentration, min_samples=1, rng=rng)
        shares.append([np.count_nonzero(labels[part] == 0) / 10_000 for part in parts])
    variance = (num_clients - 1) / (num_clients**2 * (num_clients * concentration + 1))
    # Clients without a sample are drawn again: at this concentration a share is below 1e-4 once in sixty.
    np.testing.assert_allclose(np.mean(shares, axis=0), 1 / num_clients, atol=5 * np.sqrt(variance / num_draws) + 0.01)
    # Five standard errors: one is 1.3% of the variance for independent shares, and the four of a draw sum to 1.
    np.testing.assert_allclose(np.var(shares), variance, rtol=0.1)


def test_a_tiny_concentration_gives_whole_classes_away_and_no_equal_shares() -> None:
    """Ten gamma variables of shape 1e-4 underflow together in half of the draws; their logarithms do not."""
    for seed in range(50):
        parts = capped_dirichlet_partition(np.repeat(np.arange(5), 40), 5, 1e-4, min_samples=1, rng=seed)
        assert [part.size for part in parts] == [40] * 5  # five classes for five clients, each left out after one


def test_all_is_drawn_again_until_everybody_has_enough() -> None:
    smallest = [dealt(0.3, seed, min_samples=10).sum(axis=1).min() for seed in range(10)]
    assert min(smallest) >= 10 > min(dealt(0.3, seed).sum(axis=1).min() for seed in range(10))


def test_a_size_that_no_draw_reaches_is_refused() -> None:
    with pytest.raises(ValueError, match="min_samples must be small enough for one of 1000 draws"):
        dealt(0.01, 0, min_samples=25)
