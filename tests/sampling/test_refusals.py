"""Arguments outside of their ranges, or that do not go together, are refused."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fedtheory import sampling as s
from fedtheory.sampling.cohorts import cohort_law
from fedtheory.sampling.inclusion import power_of_choice_inclusion
from fedtheory.sampling.probability_matrices import admissibility_margin, probability_matrix

NAN, INF = float("nan"), float("inf")
HALVES, NEVER = [0.5, 0.5], np.diag([0.0, 1.0])
PROBABILITIES = (s.optimal_probabilities, s.approximate_probabilities, s.rational_probabilities, s.improvement_factor)
REFUSED: list[tuple[Callable[..., Any], list[Any]]] = [
    *((one, [norms, 1]) for one in PROBABILITIES for norms in ([1.0, -2.0], [1.0, NAN], [INF, 1.0], [[[1.0]]])),
    *((one, [[[1.0]], 1]) for one in PROBABILITIES[:3]),
    *((one, [[1.0, 2.0], size]) for one in PROBABILITIES for size in (0, -1.0, 2.5, NAN)),
    (s.approximate_probabilities, [[1.0, 1.0], 1, 0]),
    (s.optimal_probabilities, [np.array([]), 1]),
    (s.certificate, [[1.0, 2.0], [1.0], 1]),
    (s.multinomial_covariance, [[0.0, 0.0], 1]),
    (s.multinomial_covariance, [[1.0, -1.0], 1]),
    (s.multinomial_covariance, [[1.0], 0]),
    (s.uniform_covariance, [[1.0, 1.0], 3]),
    (cohort_law, [[1] * 17, [1] * 17, 1, 2]),
    *((law, arguments) for law in (cohort_law, power_of_choice_inclusion) for arguments in (
        [[1, 0], [1, 2], 1, 2], [[1, 1], [1, 2], 3, 2], [[1, 1], [1], 1, 2], [[1, -1], [1, 2], 1, 1],
    )),
    (power_of_choice_inclusion, [HALVES, [1, NAN], 1, 2]),
    (power_of_choice_inclusion, [[0.0, 0.0], [1, 2], 1, 1]),
    (probability_matrix, [[[0.5, 0.2]]]),
    (probability_matrix, [[[0.5, 0.2], [0.3, 0.5]]]),
    (probability_matrix, [[[0.5, 0.6], [0.6, 0.5]]]),  # more often together than alone
    (probability_matrix, [[[0.8, 0.5], [0.5, 0.8]]]),  # less often together than p_i + p_j - 1
    (probability_matrix, [[[0.4, -0.1], [-0.1, 0.4]]]),
    (probability_matrix, [np.eye(3) / 2]),  # sets whose sizes have the variance 3/2 - 9/4
    (s.estimator_variance, [np.eye(2) / 2, [[1.0]]]),
    (s.estimator_variance, [NEVER, [[1.0], [1.0]]]),
    (s.smallest_uniform_v, [NEVER]),
    (admissibility_margin, [np.eye(2) / 2, [1.0]]),
    (s.variance, [[1.0], [1.5]]),
    (s.variance, [[1.0], HALVES]),
    (s.variance, [[Fraction(-1)], [Fraction(1)]]),
    (s.relative_improvement_factor, [-0.1, 3, 1]),
    (s.improvement_factor, [[[1.0, -2.0]], 1]),
    (s.improvement_factor, [1.0, 1]),
    (s.improvement_factor, [np.empty((0, 2)), 1]),
    (s.improvement_factor, [np.empty((2, 0)), 1]),
]  # fmt: skip


def named(value: Any) -> str:
    return str(getattr(value, "__name__", value))


@pytest.mark.parametrize(("function", "arguments"), REFUSED, ids=named)
def test_what_is_no_such_problem_is_refused(function: Callable[..., Any], arguments: list[Any]) -> None:
    with pytest.raises((TypeError, ValueError), match="must"):
        function(*arguments)
