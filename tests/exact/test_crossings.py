"""Crossings of losses on a line: their number, their order, and the ranking between them."""

from fractions import Fraction
from itertools import pairwise
from math import inf

import numpy as np

from fedtheory.exact._crossings import Place, Root, _sorted, places
from fedtheory.exact._integer_forms import integer_forms
from fedtheory.federation.quadratic import QuadraticFederation


def test_numbers_whose_whole_units_are_in_the_wrong_order_are_told_apart_by_more_digits():
    # Rounding takes almost a unit from 1 - 2^-100 and a part of one from the root of two; the other number is one unit
    # above what is left of their sum, and below the sum.
    two_parts = Root(1 - Fraction(1, 2**100), 1, Fraction(2))
    whole = Root(Fraction(two_parts.times(64) + 1, 2**64), 0, Fraction(0))
    assert two_parts.times(64) < whole.times(64)
    assert _sorted([two_parts, whole])[0] == [whole, two_parts]


# With x = w + 10 the losses are (x + 1)^2/2, (x - 1)^2/2 and (x - 1/2)^2 + 1/4: all are 1/2 at x = 0; the last meets
# the second again at 0 only and the first at 0 and 4. At x = -1 they are 0, 2 and 5/2; at 2 they are 9/2, 1/2 and 5/2;
# at 5 they are 18, 8 and 41/2.
THREE = QuadraticFederation([1.0, 1.0, 2.0], [[-11.0], [-9.0], [-9.5]], np.full(3, 1 / 3), [0.0, 0.0, 0.25])


def models(place: Place) -> tuple[Fraction | float, Fraction, Fraction | float]:
    """Ends and inside of a place, in the unit in which the centers are whole, here a half."""
    unit = 2 * place.denominator
    left = -inf if place.left is None else Fraction(place.left, unit)
    right = inf if place.right is None else Fraction(place.right, unit)
    return left, Fraction(place.inside, unit), right


def test_orders_change_from_left_to_right_and_losses_tie_where_they_meet():
    found = list(places(integer_forms(THREE)))
    assert [place.values.tolist() for place in found] == [[0, 1, 2], [0, 0, 0], [2, 0, 1], [1, 0, 1], [1, 0, 2]]
    assert [place.is_crossing for place in found] == [False, True, False, True, False]
    for place in found:
        losses = THREE.losses([float(models(place)[1])])
        assert place.is_crossing or np.array_equal(np.argsort(losses), np.argsort(place.values))


def test_places_overlap_by_less_than_can_be_told_and_cover_the_line():
    beyond, *inner, end = (models(place) for place in places(integer_forms(THREE)))
    assert (beyond[0], end[2]) == (-inf, inf)
    assert [place[1] for place in inner[::2]] == [-10, -6]  # two crossings, the interval in between
    for before, after in pairwise([beyond, *inner, end]):
        assert after[0] < before[2]
        assert before[2] - after[0] < Fraction(4, 2**128)
    for left, inside, right in inner:
        assert left < inside < right
    assert beyond[1] < beyond[2]
    assert end[0] < end[1]
