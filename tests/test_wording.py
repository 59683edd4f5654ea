"""Numbers in messages are short, with their significant digits."""

from fractions import Fraction

import pytest

from fedtheory._support.wording import format_number, format_pair


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (10**20 - 1, "9" * 20),
        (10**20, "about 10^20"),
        (-(10**400), "-about 10^400"),
        (Fraction(1, 10**20), "about 10^-20"),
        (Fraction(10**20 - 1, 10**20 - 2), f"{10**20 - 1}/{10**20 - 2}"),
        (1e300, "1e+300"),
    ],
)
def test_rationals_of_more_than_twenty_digits_are_written_by_their_size(number, text):
    assert format_number(number) == text


def test_rationals_beyond_the_largest_double_are_told_apart_as_they_are():
    huge = Fraction(10**400, 10**6 + 3)
    assert format_pair(huge, 0.25) == ("about 10^394", "0.25")


def test_rationals_with_denominators_below_a_thousand_are_told_apart_as_they_are():
    for denominator, said in ((999, "1000/999"), (1000, "1.001"), (1001, "1.001")):
        assert format_pair(Fraction(denominator + 1, denominator), 2) == (said, "2")
