"""The interpolation conditions of one smooth, strongly convex function, for programs of tests."""

from collections.abc import Sequence
from fractions import Fraction as Q
from itertools import permutations

from fedtheory.worst_case._interpolation import Call, of_pair
from fedtheory.worst_case._vectors import Form


def interpolation(points: Sequence[Call], mu: Q, L: Q) -> list[Form]:
    """Return forms that are to be at most 0, one for each ordered pair."""
    return [of_pair(i, j, mu, L) for i, j in permutations(points, 2)]
