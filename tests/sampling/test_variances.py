"""Variances and improvement factors, against all subsets and cases computed by hand."""

# mypy: allow-untyped-calls

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.sampling import improvement_factor, rational_probabilities, relative_improvement_factor, variance
from fedtheory.sampling.variances import optimal_value


def enumerated_variance(vectors, p):
    """Mean squared error of the estimator over all subsets of clients."""
    target = vectors.sum(axis=0)
    total = 0.0
    for drawn in product((0, 1), repeat=len(p)):
        mask = np.array(drawn, dtype=bool)
        probability = np.where(mask, p, 1 - p).prod()
        total += (
            probability
            * ((vectors[mask] / p[mask, None]).sum(axis=0) - target)
            @ ((vectors[mask] / p[mask, None]).sum(axis=0) - target)
        )
    return total


def test_the_variance_is_that_of_all_subsets() -> None:
    rng = np.random.default_rng(1)
    for n in range(1, 8):
        vectors, p = rng.normal(size=(n, 3)), rng.uniform(0.05, 1, n)
        norms = np.linalg.norm(vectors, axis=1)
        assert variance(norms, p) == pytest.approx(enumerated_variance(vectors, p), rel=1e-12)


@pytest.mark.parametrize(
    ("norms", "m", "value", "alpha", "gamma"),
    [
        ([1, 2, 3], 1, "22", "11/14", "7/18"),
        ([1, 2, 3], 2, "4", "4/7", "7/9"),
        ([1, 1, 4], 2, "2", "2/9", "9/10"),
        ([1, 1, 1, 1], 2.5, "12/5", "1", "5/8"),
        ([0, 3, 5], 1, "30", "15/34", "17/32"),  # 64 - 34 over 2 * 34
        ([0, 3, 5], 2, "0", "0", "1"),
        ([0, 0], 1, "0", "0", "1"),
        ([1, 2], 2, "0", "0", "1"),
    ],
)
def test_cases_done_by_hand(norms, m, value, alpha, gamma) -> None:
    assert optimal_value(norms, m) == pytest.approx(float(Fraction(value)), rel=1e-14)
    assert improvement_factor(norms, m) == pytest.approx(float(Fraction(alpha)), rel=1e-14)
    found = relative_improvement_factor(Fraction(alpha), len(norms), Fraction(m))
    assert found == Fraction(gamma)


def test_the_closed_form_of_the_optimal_value_is_its_variance() -> None:
    rng = np.random.default_rng(2)
    for _ in range(300):
        n = int(rng.integers(1, 9))
        t = [Fraction(int(x)) for x in rng.integers(0, 9, n)]
        m = Fraction(int(rng.integers(1, 4 * n + 1)), 4)
        p = rational_probabilities(t, m)
        below = [x for x, q in zip(t, p, strict=True) if 0 < q < 1]
        # Squared sum over the budget they share, minus the sum of squares.
        closed = sum(below) ** 2 / (m - sum(q == 1 for q in p)) - sum(x * x for x in below) if below else 0
        assert variance(t, p) == closed
        assert optimal_value([float(x) for x in t], float(m)) == pytest.approx(float(closed), rel=1e-12, abs=1e-12)


def exact_improvement(t, m):
    uniform = variance(t, [m / len(t)] * len(t))
    return variance(t, rational_probabilities(t, m)) / uniform if uniform else Fraction(0)


@pytest.mark.slow
def test_the_improvement_factor_lies_between_its_two_equality_cases_exactly() -> None:
    rng = np.random.default_rng(3)
    for _ in range(1500):
        n = int(rng.integers(1, 8))
        t = [Fraction(int(x)) for x in rng.integers(0, rng.choice([2, 3, 50]), n)]
        m = Fraction(int(rng.integers(1, 3 * n + 1)), 3)
        alpha = exact_improvement(t, m)
        assert 0 <= alpha <= 1
        if m < n and any(t):
            assert (alpha == 0) == (sum(x > 0 for x in t) <= m)
            assert (alpha == 1) == (len(set(t)) == 1)
        assert m / n <= relative_improvement_factor(alpha, n, m) <= 1
        assert improvement_factor([float(x) for x in t], float(m)) == pytest.approx(float(alpha), rel=1e-12, abs=1e-15)


@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=12), st.floats(0.05, 0.95), st.floats(1e-150, 1e150))
def test_improvement_factors_do_not_depend_on_the_scale(norms, share, scale) -> None:
    t = np.array(norms)
    m = share * t.size
    assert improvement_factor(scale * t, m) == pytest.approx(improvement_factor(t, m), rel=1e-9, abs=1e-13)


def test_the_ends_of_the_range_give_no_overflow() -> None:
    t = np.array([1.0, 1.0, 4.0])
    for exponent in (-1070, -600, 600, 1000):
        assert improvement_factor(np.ldexp(t, exponent), 2) == pytest.approx(2 / 9, rel=1e-14)
    # (sum t)^2/(n sum t^2) = 36/54 is the limit of vanishing budgets.
    assert improvement_factor(t, 5e-324) == pytest.approx(36 / 54, rel=1e-12)
    assert optimal_value(np.ldexp(t, 600), 2) == np.inf
    assert optimal_value(np.ldexp(t, -600), 2) == 0


def test_a_zero_norm_adds_nothing_and_a_norm_never_sampled_is_infinitely_bad() -> None:
    assert variance([0.0, 2.0], [0.0, 0.5]) == 4
    assert variance([1.0, 2.0], [0.0, 0.5]) == np.inf
