"""Skews on a line: infima at infinity and near models where they are 0/0, with exact proofs."""

# mypy: allow-untyped-calls

from fractions import Fraction

import numpy as np
import pytest

from fedtheory.exact._one_dimension import _lowest, _pieces, sides_in_one_dimension
from fedtheory.exact._problem import problem_of
from fedtheory.exact.selection_skews import selection_skew
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.selection.power_of_choice import PowerOfChoice


def test_a_diagonal_skew_that_is_least_at_infinity_is_found_there():
    # Equal curvatures and minima, no two centers alike: larger losses are preferred, so that the skew is above 1
    # wherever losses differ, and it falls to 1 as they become alike.
    fed = QuadraticFederation(np.ones(3), [[-1.0], [0.25], [2.0]], [0.5, 0.3, 0.2])
    least = selection_skew(fed, PowerOfChoice(1, 2)).rho_diagonal
    assert least.lower <= 1 <= least.upper
    assert least.width < 3e-13


@pytest.mark.parametrize("seed", range(6))
def test_no_side_that_is_proved_is_above_a_skew_by_as_little_as_a_rounding(seed):
    rng = np.random.default_rng(seed)
    fed = QuadraticFederation(rng.uniform(0.5, 3, 3), rng.normal(size=(3, 1)), rng.dirichlet(np.ones(3)), rng.random(3))
    problem, law = problem_of(fed), PowerOfChoice(1, 2).law(fed.weights)
    proved, guess = sides_in_one_dimension(problem, law).rho_diagonal
    skews = [_lowest(piece) for piece in _pieces(problem, law)]
    assert Fraction(proved) <= min(skew for skew in skews if skew is not None)
    assert proved >= guess * (1 - 1e-14)  # a few steps down from the guess, the first of which is 2^-50
