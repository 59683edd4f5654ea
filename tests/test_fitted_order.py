"""Fitted orders recover power laws."""

import math

import numpy as np
import pytest
from _fitted_order import Fit, fitted_order
from hypothesis import given
from hypothesis import strategies as st

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


# At confidence 1/2 and one degree of freedom the quantile is tan(pi/4) = 1: the limits are order -+ standard error.
def fit(order: float, standard_error: float) -> Fit:
    return Fit(order=order, standard_error=standard_error, factor=1.0, num_points=3)


def test_the_limits_of_an_order_are_students() -> None:
    lower, upper = fit(2.0, 0.25).limits(0.5)
    assert (lower, upper) == pytest.approx((1.75, 2.25), rel=1e-12)
    assert tuple(fit(2.0, 0.25)._replace(num_points=2).limits()) == (-math.inf, math.inf)


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
