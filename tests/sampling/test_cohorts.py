"""Laws of cohorts in rationals and floats."""

from fractions import Fraction

import numpy as np
import pytest

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


def test_clients_of_weight_zero_are_never_drawn():
    assert cohort_law([0, 1, 1], [9, 1, 2], 1, 2) == {frozenset({2}): Fraction(1)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1] * 17, [1] * 17, 1, 2), "weights must belong to 1..16 clients"),
        (([1, 0], [1, 2], 1, 2), "num_candidates must be at most the number of clients with positive weight, 1, got 2"),
        (([1, 1], [1, 2], 3, 2), "num_selected must be in 1..2, got 3"),
        (([1, 1], [1], 1, 2), r"losses must have shape \(2,\), got \(1,\)"),
        (([1, -1], [1, 2], 1, 1), "weights must be at least 0"),
    ],
)
def test_bad_inputs_are_refused_in_one_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        cohort_law(*arguments)
