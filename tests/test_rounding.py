"""Floats with error bounds: the exact result is always within the bound."""

import math
from fractions import Fraction as Q

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import Symbol

from fedtheory.arithmetic.functions import geometric, maximum, mean, square_root, total
from fedtheory.arithmetic.rounding import DIGITS, Rounded

OPERATIONS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "max": maximum,
}
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-4, 4),
    st.sampled_from([0.0, 1.0, 1 + 2.0**-52, 1 - 2.0**-53, 1 / 3, 3.0, 5e-324, 1e-200, 1e200]),
    st.integers(-(10**20), 10**20),
    st.fractions(max_denominator=10**20),
)


@st.composite
def formulas(draw, depth=3):
    """A nested formula as a function of the kind of number that its leaves are made."""
    kind = draw(st.sampled_from(["leaf", "power", *OPERATIONS])) if depth else "leaf"
    if kind == "leaf":
        number = draw(NUMBERS)
        return lambda make: make(number)
    if kind == "power":
        base, exponent = draw(formulas(depth - 1)), draw(st.integers(0, 9))
        return lambda make: base(make) ** exponent
    left, right = draw(formulas(depth - 1)), draw(formulas(depth - 1))
    return lambda make: OPERATIONS[kind](left(make), right(make))


def encloses(rounded: Rounded, exact: Q) -> bool:
    value, error = float(rounded.value), float(rounded.error)
    if not (math.isfinite(value) and math.isfinite(error)):
        return True
    return abs(Q(value) - exact) <= Q(error)


@pytest.mark.slow
@settings(max_examples=500)
@given(formula=formulas())
def test_the_exact_result_is_within_the_error(formula):
    try:
        exact = formula(Q)
    except ZeroDivisionError:
        return
    with np.errstate(all="ignore"):
        rounded = formula(Rounded.of)
        assert encloses(rounded, exact)
        low, high = rounded.outward("lower"), rounded.outward("upper")
    # What is not known is rounded outward; infinity says nothing.
    assert rounded.known() or low == -math.inf or Q(low) <= exact
    assert rounded.known() or high == math.inf or Q(high) >= exact


@pytest.mark.parametrize(
    "formula",
    [
        lambda make: (make(1e-162) - make(2.2626e114)) * make(5e-324),
        lambda make: (make(1e-162) + make(1e-310)) / make(3.0),
        lambda make: (make(1e200) + make(2.2e-183)) / make(1e200),
        lambda make: (make(0.1) * make(0.1) - make(0.1) * make(0.1) + make(1e-20)) ** 3,
        lambda make: (1 - make(2.9e-17)) ** 900,
    ],
)
def test_the_underflow_of_an_error_counts_as_an_error(formula):
    with np.errstate(all="ignore"):
        assert encloses(formula(Rounded.of), formula(Q))


@given(formula=formulas(depth=4))
def test_the_value_is_that_of_plain_floating_point_arithmetic(formula):
    with np.errstate(all="ignore"):
        value = formula(Rounded.of).value
        try:
            plain = formula(lambda number: np.float64(Rounded.of(number).value))
        except ValueError:  # a larger one is not asked for where one of two is NaN
            plain = math.nan
    assert value == plain or not math.isfinite(value)


RATES = st.one_of(st.floats(1e-300, 0.999), st.floats(-300, 0).map(lambda e: 10.0**e).filter(lambda x: x < 1))


@settings(max_examples=300)
@given(rate=RATES, size=st.floats(-6, 3), exponent=st.floats(0, 18))
def test_shares_left_and_gone_have_all_their_digits(rate, size, exponent):
    # n x from 1e-6 to 1000, where the powers of 1 - x and what is gone are neither 0 nor 1.
    num_steps = max(1, min(int(10**size / rate), int(10**exponent)))
    with mpmath.workdps(800):
        left = (1 - mpmath.mpf(rate)) ** num_steps
        for value, exact in zip(geometric(rate, num_steps), (left, 1 - left), strict=True):
            assert abs(value - exact) <= 1e-12 * exact + 1e-320
        with np.errstate(all="ignore"):
            for rounded, exact in zip(geometric(Rounded.of(rate), num_steps), (left, 1 - left), strict=True):
                assert abs(rounded.value - exact) <= rounded.error


def test_shares_at_the_ends_are_exact():
    assert geometric(1.0, 5) == (0.0, 1.0)
    assert geometric(0.0, 5) == (1.0, 0.0)
    assert geometric(1e300, 0) == (1.0, 0.0)
    assert geometric(Q(1, 3), 2) == (Q(4, 9), Q(5, 9))
    left, gone = geometric(np.array([0.5, 1e-18]), np.array([1.0, 3.0]))
    np.testing.assert_array_equal(left, [0.5, 1.0])
    np.testing.assert_allclose(gone, [0.5, 3e-18], rtol=1e-15)


def test_sums_and_means_keep_the_bound():
    values = np.array([0.1, 1e16, -1e16, 0.7])
    exact = sum(map(Q, values.tolist()), start=Q(0))
    rounded = total(Rounded.of(values))
    assert abs(Q(float(rounded.value)) - exact) <= Q(float(rounded.error))
    assert abs(Q(float(mean(Rounded.of(values)).value)) - exact / 4) <= Q(float(mean(Rounded.of(values)).error))


def test_of_two_numbers_the_one_that_is_surely_larger_keeps_its_own_error():
    coarse, fine = Rounded(-2.0, 0.25), Rounded(1e-9, 1e-25)
    assert maximum(coarse, fine).error == maximum(fine, coarse).error == 1e-25
    assert maximum(coarse, Rounded(-1.75, 1e-25)).error == 0.25


def test_roots_keep_the_bound_and_squares_among_rationals_stay_rational():
    assert square_root(Q(9, 4)) == Q(3, 2)
    assert square_root(Q(2)) == square_root(2) == math.sqrt(2)
    assert isinstance(square_root(16), Q)
    root = square_root(Rounded(4.0, 0.5))
    assert float(root.error) >= 2 - math.sqrt(3.5) > math.sqrt(4.5) - 2
    # Rounding may have taken a zero below itself: its root is still known.
    near = square_root(Rounded(-(2.0**-80), 2.0**-78))
    assert near.value == 0
    assert 2.0**-40 < float(near.error) < 2.0**-38
    x = Symbol("x", positive=True)
    assert square_root(x**2) == x


def test_the_error_of_a_sum_is_not_below_the_sum_of_errors_that_drown_one_by_one():
    # Beside 1 each of the others is half a unit of the last place, which the nearest even number is without.
    errors = np.array([1.0, *[2.0**-53] * 6])
    exact = sum(map(Q, errors.tolist()), start=Q(0))
    found = total(Rounded(np.zeros(7), errors)).error
    assert np.sum(errors) < exact <= Q(float(found)) <= exact * (1 + Q(1, 2**48))


def test_what_has_lost_its_digits_goes_to_the_honest_side():
    lost = Rounded(1.0, 0.5)
    assert (lost.outward("upper"), lost.outward("lower")) == (math.nextafter(1.5, 2), math.nextafter(0.5, 0))
    known = Rounded(1.0, DIGITS / 2)
    assert known.outward("upper") == known.outward("lower") == 1.0
    for nothing in (Rounded(np.nan), Rounded(1.0, np.nan), Rounded(0.0, np.inf)):
        assert (nothing.outward("upper"), nothing.outward("lower")) == (math.inf, -math.inf)
    # An overflow to the other side says nothing either.
    assert Rounded(-np.inf).outward("upper") == math.inf
    assert Rounded(np.inf).outward("lower") == -math.inf


@pytest.mark.parametrize("value", [2.0**41, -(2.0**41), np.array([2.0**41, 1e3])])
def test_the_honest_end_is_beyond_value_and_error_although_it_is_rounded_itself(value):
    rounded = Rounded(value, 2 + 2.0**-40 + DIGITS * abs(value))  # their sum lies between two doubles
    for number, error, low, high in zip(
        *map(np.atleast_1d, (value, rounded.error, rounded.outward("lower"), rounded.outward("upper"))), strict=True
    ):
        assert Q(low) <= Q(number) - Q(error)
        assert Q(high) >= Q(number) + Q(error)
