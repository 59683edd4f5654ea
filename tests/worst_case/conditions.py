"""The interpolation conditions of one smooth, strongly convex function, for programs of tests."""

from collections.abc import Sequence
from fractions import Fraction as Q
from itertools import permutations

from fedtheory.worst_case._vectors import Form
from fedtheory.worst_case.function_classes.interface import Call
from fedtheory.worst_case.function_classes.smooth_functions import of_pair


def interpolation(points: Sequence[Call], mu: Q, L: Q) -> list[Form]:
    """Return forms that are to be at most 0, one for each ordered pair."""
    return [of_pair(i, j, mu, L) for i, j in permutations(points, 2)]
