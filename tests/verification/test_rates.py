"""Fitted orders recover power laws and tell a wrong rate from a right one."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.verification.rates import Fit, fitted_order, order_at_least, order_equal_to

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


# At confidence 1/2 and one degree of freedom the quantile is tan(pi/4) = 1: the limits are order -+ standard error.
def fit(order: float, standard_error: float) -> Fit:
    return Fit(order=order, standard_error=standard_error, factor=1.0, num_points=3)


def test_the_limits_of_an_order_are_students() -> None:
    lower, upper = fit(2.0, 0.25).limits(0.5)
    assert (lower, upper) == pytest.approx((1.75, 2.25), rel=1e-12)
    assert tuple(fit(2.0, 0.25)._replace(num_points=2).limits()) == (-math.inf, math.inf)


@pytest.mark.parametrize(
    ("order", "allowance", "holds", "measured", "side"),
    [
        (2.0, 0.0, True, 1.75, "lower confidence limit"),  # 1.75 >= 1.5
        (1.5, 0.5, True, 1.25, "lower confidence limit"),  # 1.25 >= 1.0
        (1.5, 0.0, None, 1.25, "lower confidence limit"),  # 1.25 < 1.5 <= 1.75
        (1.0, 0.0, False, 1.25, "upper confidence limit"),  # 1.25 < 1.5
    ],
)
def test_an_order_is_large_enough_if_its_lower_limit_is(
    order: float, allowance: float, holds: bool | None, measured: float, side: str
) -> None:
    found = order_at_least(fit(order, 0.25), 1.5, allowance=allowance, confidence=0.5, instance={"sizes": "few"})
    assert (found.holds, found.relation, found.side) == (holds, ">=", side)
    assert (found.measured, found.predicted) == pytest.approx((measured, 1.5 - allowance), rel=1e-12)
    assert found.instance == {"order": order, "standard_error": 0.25, "num_points": 3, "sizes": "few"}
    assert bool(found.reason) == (holds is None)


@pytest.mark.parametrize(
    ("order", "allowance", "holds", "measured", "side"),
    [
        (1.5, 0.5, True, None, "farther confidence limit"),  # [1.25, 1.75] in [1, 2]; both limits are as far
        (1.6, 0.5, True, 1.85, "farther confidence limit"),
        (1.9, 0.5, None, 2.15, "farther confidence limit"),  # 1.65 inside, 2.15 outside
        (1.1, 0.5, None, 0.85, "farther confidence limit"),
        (1.6, 0.1, None, 1.85, "farther confidence limit"),  # both outside, but on both sides
        (2.5, 0.5, False, 2.25, "nearer confidence limit"),
        (0.5, 0.5, False, 0.75, "nearer confidence limit"),
    ],
)
def test_an_order_is_as_stated_if_its_farther_limit_is(
    order: float, allowance: float, holds: bool | None, measured: float | None, side: str
) -> None:
    found = order_equal_to(fit(order, 0.25), 1.5, allowance=allowance, confidence=0.5, instance={"sizes": "few"})
    assert (found.holds, found.relation, found.side, found.slack) == (holds, "==", side, allowance)
    assert found.predicted == 1.5
    if measured is not None:
        assert found.measured == pytest.approx(measured, rel=1e-12)
    assert found.instance == {"order": order, "standard_error": 0.25, "num_points": 3, "sizes": "few"}
    assert bool(found.reason) == (holds is None)


def test_an_order_at_the_edge_of_its_allowance_holds() -> None:
    for order in (1.0, 2.0):
        found = order_equal_to(fit(order, 0.0), 1.5, allowance=0.5)
        assert (found.holds, found.measured) == (True, order)
    assert order_at_least(fit(1.0, 0.0), 1.5, allowance=0.5).holds
    _, upper = fit(1.0, 0.25).limits(0.5)
    assert order_at_least(fit(1.0, 0.25), upper, allowance=0.0, confidence=0.5).holds is None


@pytest.mark.parametrize("compare", [order_at_least, order_equal_to])
def test_a_negative_allowance_and_a_confidence_outside_the_unit_interval_are_refused(compare) -> None:
    with pytest.raises(ValueError, match=r"allowance must be finite and at least 0, got -0\.1"):
        compare(fit(1.0, 0.0), 1.0, allowance=-0.1)
    with pytest.raises(ValueError, match=r"confidence must be between 0 and 1, got 1\.0"):
        compare(fit(1.0, 0.0), 1.0, allowance=0.1, confidence=1.0)


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
