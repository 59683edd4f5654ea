"""An interval keeps its exact or inexact sides, and rejects sides that contradict each other."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.statistics.interval import Interval


def test_an_interval_unpacks_as_its_two_sides_and_remembers_how_they_are_known() -> None:
    interval = Interval(Fraction(1, 3), Fraction(1, 2), "certificate", "instance")
    assert tuple(interval) == (Fraction(1, 3), Fraction(1, 2))
    assert interval.width == Fraction(1, 6)
    assert (interval.lower_by, interval.upper_by) == ("certificate", "instance")


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_sides_in_the_wrong_order_are_refused(one: float, other: float) -> None:
    lower, upper = sorted([one, other])
    assert tuple(Interval(lower, upper)) == (lower, upper)
    if lower < upper:
        with pytest.raises(ValueError, match="lower must be at most upper"):
            Interval(upper, lower)


def test_no_slack_hides_a_contradiction() -> None:
    with pytest.raises(ValueError, match=r"got 1e-17 \(search\) and 0.0 \(closed form\)"):
        Interval(1e-17, 0.0, "search", "closed form")
    with pytest.raises(ValueError, match="got 1/2 and 1/3"):
        Interval(Fraction(1, 2), Fraction(1, 3))


@pytest.mark.parametrize("sides", [(math.nan, 1.0), (1.0, math.nan), ([0.0, 0.0], [1.0, math.nan])])
def test_nan_is_no_side(sides: tuple[object, object]) -> None:
    with pytest.raises(ValueError, match="lower must be at most upper"):
        Interval(*map(np.asarray, sides))


def test_arrays_are_intervals_entry_by_entry() -> None:
    interval = Interval(np.array([0.0, -np.inf]), np.array([1.0, np.inf]))
    assert interval.width.tolist() == [1.0, np.inf]
    with pytest.raises(ValueError, match="lower must be at most upper"):
        Interval(np.array([0.0, 2.0]), np.array([1.0, 1.0]))
