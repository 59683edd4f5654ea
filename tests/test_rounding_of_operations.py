"""Error bounds of each operation: they contain the exact results and are hardly larger than necessary."""

import itertools
import math
import operator
from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.arithmetic.rounding import DIGITS, Rounded, one_minus_product

UNIT = Q(1, 2**53)
SLACK = 1 + Q(1, 2**46)  # errors are rounded up a few times
OPERATIONS = (operator.add, operator.sub, operator.mul, operator.truediv)
# Sixteen decades, within which no rounding error underflows, and whole numbers, of which many results are exact.
VALUES = st.builds(
    lambda digits, exponent, sign: sign * digits * 10.0**exponent,
    st.floats(1, 10),
    st.integers(-8, 8),
    st.sampled_from([-1, 1]),
) | st.integers(-99, 99).filter(bool).map(float)
SHARES = st.sampled_from([0.0, 1e-16, 1e-9, 0.01, 0.3, 0.7, 0.95])
NUMBERS = st.builds(lambda value, share: Rounded(value, abs(value) * share), VALUES, SHARES)


def known(value, error=0.0):
    return Rounded(np.float64(value), np.float64(error))


def ends(number):
    return {Q(number.value) - Q(number.error), Q(number.value) + Q(number.error)}


def reach(found, results):
    """The largest distance of the exact results from the value."""
    return max(abs(Q(float(found.value)) - result) for result in results)


def is_as_wide_as(found, needed, num_roundings=1):
    """Whether the error covers what is needed, and nothing but that, some roundings of the value, and of itself."""
    error = Q(float(found.error))
    return needed <= error <= SLACK * needed + num_roundings * UNIT * abs(Q(float(found.value)))


@pytest.mark.slow
@settings(max_examples=400)
@given(a=NUMBERS, b=NUMBERS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_error_is_the_farthest_that_any_exact_operands_lead(operation, a, b):
    found = operation(a, b)
    assert found.value == operation(np.float64(a.value), np.float64(b.value))
    assert is_as_wide_as(found, reach(found, [operation(x, y) for x, y in itertools.product(ends(a), ends(b))]))


@given(a=NUMBERS, exponent=st.integers(0, 7))
def test_a_power_reaches_from_the_smallest_to_the_largest_power(a, exponent):
    found = a**exponent
    assert found.value == a.value**exponent
    assert is_as_wide_as(found, reach(found, [x**exponent for x in ends(a)]), num_roundings=20)


@pytest.mark.parametrize("exponent", [-2, -1, 0.5])
def test_a_power_that_is_no_repeated_product_is_taken_between_the_ends(exponent):
    found, a, e = Rounded(4.0, 3.0) ** exponent, 4.0**exponent, 1.0**exponent
    assert found.value == a
    assert found.error == pytest.approx(abs(e - a), rel=1e-14)
    assert found.error >= abs(e - a)


def test_a_function_reaches_beyond_the_ends_as_far_as_these_were_rounded():
    """``value + error`` is rounded to the value where the error is less than half a unit: the slope is seen anyway."""
    tiny = Rounded(1.0, 2.0**-54)
    found = tiny.through(lambda x: x**100.0)
    assert found.error >= 100 * 2.0**-54
    assert found.error <= (100 * (2.0**-54 + 2.5 * 2.0**-53) + 9 * 2.0**-53) * 1.01
    falling = Rounded(2.0, 0.5).through(lambda x: 1 / x)
    assert falling.error == pytest.approx(1 / 1.5 - 1 / 2, rel=1e-14)
    assert falling.error >= 1 / 1.5 - 1 / 2


@pytest.mark.parametrize(("a", "b"), [(7.0, 2.0), (1.5, -0.25), (-3.0, 8.0), (2.0**300, 2.0**299), (0.0, 5.0)])
def test_results_that_are_doubles_have_no_error(a, b):
    for operation in OPERATIONS:
        assert operation(known(a), known(b)).error == 0.0
    assert (known(a) ** 2).error == 0.0
    assert (known(b) ** 0).error == 0.0
    assert (known(b, 0.5) ** 0).error == 0.0


@pytest.mark.parametrize("small", [1e-300, 3e-308, 5e-324, 1.1e-291])
def test_what_underflows_is_within_a_few_subnormal_numbers_and_no_more(small):
    third = known(1 / 3, 2.0**-55)
    for found, exact in (
        (known(small) * known(1 / 3), Q(small) * Q(1 / 3)),
        (known(small) / known(3.0), Q(small) / 3),
        (known(small) * third, Q(small) * (Q(1 / 3) + Q(third.error))),
        (known(small, small / 4) * known(0.7), Q(small) * Q(5, 4) * Q(0.7)),
        (known(small, small / 4) / known(0.7), Q(small) * Q(5, 4) / Q(0.7)),
        (known(small) / known(0.7, 0.1), Q(small) / (Q(0.7) - Q(0.1))),
        (known(small * 1e20) * known(1e-20), Q(small * 1e20) * Q(1e-20)),
        (known(1e-150 / 3) ** 2, Q(1e-150 / 3) ** 2),
    ):
        needed = abs(Q(float(found.value)) - exact)
        assert needed <= Q(float(found.error)) <= SLACK * needed + 12 * Q(2) ** -1072 + UNIT * Q(float(found.value))
    with np.errstate(invalid="ignore"):
        no_power = known(0.0) ** 3
    for nothing in (no_power, known(0.0) * third, third * known(0.0), known(0.0) / third):
        assert (nothing.value, nothing.error) == (0.0, 0.0)


def test_a_divisor_that_may_be_zero_leaves_nothing_known():
    with np.errstate(all="ignore"):
        for divisor in (known(1.0, 1.0), known(-1.0, 1.5), known(0.0, 0.1)):
            assert not math.isfinite(float((known(3.0) / divisor).error))
            assert not (known(3.0) / divisor).known()


@pytest.mark.parametrize(
    ("number", "value", "is_exact"),
    [
        (3, 3.0, True),
        (2**53 + 1, 2.0**53, False),
        (-(2**53) - 1, -(2.0**53), False),
        (2**60, 2.0**60, True),
        (Q(3, 4), 0.75, True),
        (Q(1, 3), 1 / 3, False),
        (Q(-1, 3), -1 / 3, False),
        (0.1, 0.1, True),
    ],
)
def test_numbers_become_the_nearest_doubles_with_half_a_unit_unless_they_are_doubles(number, value, is_exact):
    found = Rounded.of(number)
    assert found.value == value
    if is_exact:
        assert found.error == 0.0
    else:
        assert abs(Q(number) - Q(value)) <= Q(float(found.error)) <= UNIT * abs(Q(value))
    together = Rounded.of((number, Q(2, 7)))
    assert (together.value.tolist(), together.error[0]) == ([value, 2 / 7], found.error)


@pytest.mark.parametrize("other", [3, 0.7, Q(1, 3)])
def test_a_plain_number_on_the_left_is_as_good_as_one_on_the_right(other):
    a = known(1.7, 0.2)
    for operation in OPERATIONS:
        mixed, both = operation(other, a), operation(Rounded.of(other), a)
        assert (mixed.value, mixed.error) == (both.value, both.error)


def test_digits_count_as_known_up_to_their_limit_and_the_better_of_two_is_taken():
    assert Rounded(2.0, 2 * DIGITS).known()
    assert not Rounded(2.0, 2 * DIGITS * (1 + 2.0**-50)).known()
    assert Rounded(-2.0, 2 * DIGITS).known()
    good, fine, poor = Rounded(1.0, 64 * 2.0**-53), Rounded(2.0, 2.0**-60), Rounded(3.0, 0.5)
    assert good.better(fine).value == 1.0  # good to 32 units in the last place: plain arithmetic is kept
    assert Rounded(-1.0, 64 * 2.0**-53).better(fine).value == -1.0
    assert Rounded(1.0, 65 * 2.0**-53).better(fine).value == 2.0
    assert poor.better(fine).error == 2.0**-60
    assert poor.better(Rounded(4.0, 0.5)).value == 3.0
    assert poor.better(Rounded(4.0, np.nan)).value == 3.0
    assert Rounded(3.0, np.nan).better(poor).error == 0.5
    mixed = Rounded(np.array([1.0, 3.0]), np.array([0.0, 0.5])).better(
        Rounded(np.array([2.0, 2.0]), np.array([0.1, 0.1]))
    )
    assert (mixed.value.tolist(), mixed.error.tolist()) == ([1.0, 2.0], [0.0, 0.1])


@given(a=VALUES, nearness=st.floats(-3, 0), share=SHARES)
def test_one_minus_a_product_near_one_keeps_its_digits_where_both_are_exact(a, nearness, share):
    b = (1 - 10.0 ** (5 * nearness - 1)) / a
    found = one_minus_product(Rounded(a), Rounded(b))
    exact = 1 - Q(a) * Q(b)
    assert is_as_wide_as(found, abs(Q(float(found.value)) - exact), num_roundings=70)
    inexact = one_minus_product(Rounded(a, abs(a) * share), Rounded(b))
    assert reach(inexact, [1 - x * Q(b) for x in ends(Rounded(a, abs(a) * share))]) <= Q(float(inexact.error))
