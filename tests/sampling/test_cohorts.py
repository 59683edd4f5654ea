"""Laws of cohorts in rationals and floats."""

from fractions import Fraction

import numpy as np

from fedtheory.sampling.cohorts import cohort_law, successive


def test_rational_weights_give_rational_laws_of_sum_one():
    law = cohort_law([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)], [1, 1, 2], 2, 2)
    assert sum(law.values()) == 1
    assert all(isinstance(probability, Fraction) for probability in law.values())
    assert law == successive([Fraction(3), Fraction(2), Fraction(1)], 2).map(frozenset)


def test_float_weights_agree_with_the_same_rationals():
    weights, losses = [1, 2, 3, 4, 5], [2, 2, 1, 2, 0]
    exact = cohort_law(weights, losses, 2, 3)
    rounded = cohort_law(np.array(weights) / 15, losses, 2, 3)
    assert exact.keys() == rounded.keys()
    np.testing.assert_allclose([rounded[c] for c in exact], [float(v) for v in exact.values()], rtol=1e-14)


def test_ties_share_the_last_places_equally():
    # All three are candidates; client 2 is on top, and 0 and 1 draw for the second place.
    half = Fraction(1, 2)
    assert cohort_law([1, 5, 9], [1, 1, 2], 2, 3) == {frozenset({0, 2}): half, frozenset({1, 2}): half}
