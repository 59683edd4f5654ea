"""One wrong entry of an array is rejected wherever arrays are accepted."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fedtheory.bounds.fedalign.alignment import priority_weights
from fedtheory.exact.skews import skew
from fedtheory.federation.client_data import FederatedData
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.sampling import availability
from fedtheory.sampling.probability_matrices import estimator_variance
from fedtheory.sampling.variances import variance
from fedtheory.selection.loss_matching import thresholds
from fedtheory.selection.participation import _attendances
from fedtheory.statistics.interval import Interval

TWO = np.ones((2, 1))
ALIKE = QuadraticFederation([1.0, 1.0], [[1.0], [1.0]], [0.5, 0.5])


def verified(factors: list[int]) -> Any:
    """Multiply constraints |x|^2 <= 3 and -|x|^2 <= 0 by factors, of which one may be negative."""
    from fedtheory.worst_case._certificates import Multipliers, verify_upper
    from fedtheory.worst_case._record import Record
    from fedtheory.worst_case._semidefinite import program_of

    record = Record()
    x = record.vector()
    record.at_most(x.square, 3)
    record.at_most(-1 * x.square, 0)
    return verify_upper(program_of(record, 2 * x.square), Multipliers(tuple(map(Fraction, factors))))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: priority_weights([[0.5, 0.5], [0.5, 0.25]], [True, False]), "must sum to 1 .*, got 0.75"),
        (lambda: FederatedData(np.ones((3, 1)), np.zeros(3), [0, 2, 1, 3], 1), "offsets must increase from 0 to 3"),
        (lambda: Interval(np.array([0.0, 2.0]), np.array([1.0, 1.0])), "lower must be at most upper"),
        (lambda: verified([2, -1]), "multipliers must be one per constraint, and at least 0"),
        (lambda: variance([1.0, 2.0], [0.5, 1.5]), r"probabilities must be in \[0, 1\], got 1.5"),
        (lambda: variance([Fraction(1), Fraction(-2)], [Fraction(1), Fraction(1)]), "norms must be at least 0, got -2"),
        (lambda: availability.available_probabilities([1.0, 2.0], 1.0, [True] * 2, [0.5, 1.5]), "at most 1, got 1.5"),
        (lambda: estimator_variance([[0.5, 0.1], [0.1, 0.0]], TWO), "a positive diagonal, got 0.0"),
        (lambda: skew(ALIKE, [0.5, 0.5], [[2.0], [1.0]]), "got 0/0 at a common minimizer of the clients"),
        (lambda: thresholds([1.0, np.nan, 2.0], 3), "threshold must be at least 0, got nan"),
        (lambda: _attendances([0.5, -0.5], 2, 1), r"attendance must be in \[0, 1\], got -0.5 to 0.5"),
        (lambda: _attendances([0.5, 1.5], 2, 1), r"attendance must be in \[0, 1\], got 0.5 to 1.5"),
    ],
)
def test_one_wrong_entry_is_refused(call: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()


def test_a_norm_that_is_never_drawn_makes_the_variance_infinite_and_one_that_is_zero_does_not() -> None:
    assert variance([1.0, 2.0, 0.0], [0.5, 0.0, 0.0]) == np.inf
    assert variance([1.0, 2.0, 0.0], [0.5, 1.0, 0.0]) == 1.0
