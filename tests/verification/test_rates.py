"""Fitted orders recover power laws and tell a wrong rate from a right one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.verification.rates import fitted_order, order_at_least, order_equal_to

SIZES = 2.0 ** np.arange(4, 12)


@given(order=st.floats(-3, 3), factor=st.floats(1e-3, 1e3))
def test_an_exact_power_law_is_recovered(order: float, factor: float) -> None:
    fit = fitted_order(SIZES, factor * SIZES**-order)
    # Logarithms are below 30 and the abscissas spread over 7 log 2: roundings stay below 1e-12.
    assert fit.order == pytest.approx(order, abs=1e-11)
    assert fit.factor == pytest.approx(factor, rel=1e-10)


def test_the_standard_error_is_that_of_a_second_derivation() -> None:
    noise = np.random.default_rng(0).standard_normal(len(SIZES)) / 10
    design = np.column_stack([np.log(SIZES), np.ones(len(SIZES))])
    target = np.log(SIZES**-1.0) + noise
    solution, residual, *_ = np.linalg.lstsq(design, target)
    covariance = np.linalg.inv(design.T @ design) * residual[0] / (len(SIZES) - 2)
    fit = fitted_order(SIZES, np.exp(target))
    np.testing.assert_allclose((fit.order, fit.standard_error), (-solution[0], covariance[0, 0] ** 0.5), rtol=1e-10)


def test_a_lower_order_term_needs_its_allowance() -> None:
    # 1/T + 4/T^2: the local order is 1 + O(1/T), at most 1.2 at T = 16.
    fit = fitted_order(SIZES, 1 / SIZES + 4 / SIZES**2)
    assert order_equal_to(fit, 1.0, allowance=0.2).holds
    assert order_equal_to(fit, 1.0, allowance=1e-3).holds is not True
    assert order_at_least(fit, 1.0, allowance=0.0).holds
    assert order_at_least(fit, 1.5, allowance=0.1).holds is False


def test_a_wrong_rate_fails_and_noise_is_inconclusive() -> None:
    rng = np.random.default_rng(1)
    noisy = np.exp(rng.standard_normal(len(SIZES))) / SIZES
    assert order_equal_to(fitted_order(SIZES, SIZES**-0.5), 1.0, allowance=0.1).holds is False
    assert order_equal_to(fitted_order(SIZES, noisy), 1.0, allowance=0.01).holds is None
    assert order_at_least(fitted_order(SIZES, noisy), 1.0, allowance=0.01).holds is None


@pytest.mark.parametrize(
    ("sizes", "errors", "message"),
    [
        ([1.0, 2.0], [1.0, 0.5], "sizes must have at least 3 entries"),
        ([1.0, 2.0, 3.0], [1.0, 0.5], "errors must have shape"),
        ([1.0, 2.0, 3.0], [1.0, 0.5, 0.0], "errors must be finite and positive"),
    ],
)
def test_what_cannot_be_fitted_is_refused(sizes: list[float], errors: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fitted_order(sizes, errors)
