"""Clients have the class shares drawn for them, and shares underflow with the predicted frequency."""

import numpy as np
import pytest
from scipy.special import gammainc
from scipy.stats import binomtest

from fedtheory.datasets.class_shares import class_shares_partition, underflow_probability, underflowing_shares

LABELS = np.random.default_rng(1).permutation(
    np.repeat(np.arange(10), [900, 1000, 1000, 1100, 1000, 950, 1000, 1000, 1050, 1000])
)


def counts_of(parts):
    return np.array([np.bincount(LABELS[part], minlength=10) for part in parts])


@pytest.mark.parametrize("concentration", [1e-4, 0.1, 100.0])
@pytest.mark.parametrize("underflow", [False, True])
def test_samples_are_dealt_once_and_the_scarcest_class_is_used_up(concentration, underflow):
    parts = class_shares_partition(LABELS, 40, concentration, underflow=underflow, rng=4)
    rows = np.concatenate(parts)
    assert np.unique(rows).size == rows.size
    counts = counts_of(parts)
    assert counts.sum(axis=1).min() > 30
    left = np.bincount(LABELS) - counts.sum(axis=0)
    assert left.min() >= 0
    # Each of 40 clients may lose less than one sample of a class to rounding down.
    assert left.min() < 40


def test_dealt_counts_are_the_floors_of_the_printed_formula():
    from fedtheory.datasets.class_shares import _dealt

    counts, sizes = np.array([12, 30]), np.array([0.25, 0.75])
    shares = np.array([[1.0, 0.0], [0.2, 0.8]])
    # sum_i q_i p_i = (0.25 + 0.15, 0.6): D = min(12/0.4, 30/0.6) = 30; 30 q_i p_ij = (7.5, 0), (4.5, 18).
    assert _dealt(counts, sizes, shares).tolist() == [[7, 0], [4, 18]]


def test_a_small_concentration_gives_one_class_and_with_the_underflow_half_of_the_clients_all_alike():
    honest = counts_of(class_shares_partition(LABELS, 100, 1e-4, rng=2))
    assert np.mean((honest > 0).sum(axis=1) == 1) > 0.95
    faulty = counts_of(class_shares_partition(LABELS, 100, 1e-4, underflow=True, rng=2))
    alike = np.ptp(faulty, axis=1) == 0
    # A binomial number of 100 with p = 0.49 is within 25 of it but with probability 3e-7.
    assert 24 <= alike.sum() <= 74
    assert ((faulty[~alike] > 0).sum(axis=1) == 1).mean() > 0.9


@pytest.mark.parametrize(("concentration", "num_shares"), [(1e-4, 10), (1e-3, 3), (5e-4, 6)])
def test_as_many_draws_are_alike_as_the_law_of_a_gamma_variable_says(concentration, num_shares):
    shares = underflowing_shares(np.random.default_rng(7), concentration, 30_000, num_shares)
    alike = int((np.ptp(shares, axis=1) == 0).sum())
    limits = binomtest(alike, 30_000).proportion_ci(1 - 1e-6)
    assert limits.low <= underflow_probability(concentration, num_shares) <= limits.high
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-15 * num_shares)
    assert (shares[np.ptp(shares, axis=1) == 0] == 1 / num_shares).all()


@pytest.mark.parametrize("x", [2.0**-64, 2.0**-126, 2.0**-1022])
def test_the_probability_is_that_of_the_incomplete_gamma_function(x):
    for a in (1e-4, 0.01, 0.3):
        assert underflow_probability(a, 3, x) == pytest.approx(gammainc(a, x) ** 3, rel=1e-11)  # 2^-1022^a loses digits
