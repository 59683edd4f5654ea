"""Stopping of the cutting planes, and independence of the unit of a skew and of a common minimum."""

# mypy: allow-untyped-calls

import numpy as np
import pytest

import fedtheory.exact._diagonal as module
from fedtheory.exact._diagonal import diagonal_bound, ranked_matrices
from fedtheory.exact._forms import forms
from tests.exact.test_selection_skews import federation, law_of


def test_the_gap_that_is_small_enough_is_relative():
    fed = federation(0, 5, 3)
    law = law_of(fed, 1, 3)
    one, other = (diagonal_bound(unit * forms(fed).matrices, law) for unit in (1.0, 2.0**20))
    assert other.gap <= 1e-9 * other.value
    assert len(other.points) == pytest.approx(len(one.points), abs=5)


def test_masses_are_shares_of_their_sum_and_none_is_negative():
    assert module._distribution(np.array([2.0, -1e-12, 0.0, 6.0])).tolist() == [0.25, 0, 0, 0.75]


@pytest.mark.parametrize("common", [-(2.0**40), 2.0**40])
def test_a_common_minimum_costs_the_corrected_forms_no_digits(common):
    fed = federation(1, 4, 2)
    law, minima = law_of(fed, 1, 3), np.array([0.5, 3.0, 0.0, 1.25])
    corrected = ranked_matrices(forms(fed), minima, law)
    np.testing.assert_array_equal(ranked_matrices(forms(fed), minima + common, law), corrected)
    # Ranked by their minima, clients 1 and 3 are the first two: what is taken off is what all would get by that.
    largest = law.frequencies(minima) @ minima
    difference = (corrected - forms(fed).matrices)[:, -1, -1]
    np.testing.assert_allclose(difference, (minima - largest) / fed.objective_gap, rtol=1e-12)
