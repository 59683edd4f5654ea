"""Values that are not numbers, or are too large, never give a number."""

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from fedtheory._support import validate
from fedtheory.statistics import bounded_mean

HALF = Fraction(1, 2)
CLASS = {"mu": Fraction(1, 10), "L": 1, "distance2": 1, "objective_gap": HALF}
EYE = [[0.5, 0.0], [0.0, 0.5]]


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (
            lambda: ft.worst_case.fedavg(1, b"1", **CLASS),
            TypeError,
            "step_size must be a sequence of numbers, got b'1' of type bytes",
        ),
        (
            lambda: ft.worst_case.fedavg(1, bytearray(b"1"), **CLASS),
            TypeError,
            "step_size must be a sequence of numbers, got bytearray(b'1') of type bytearray",
        ),
        (
            lambda: validate.array("norms", bytearray(b"12")),
            TypeError,
            "norms must be a number or an array, got bytearray(b'12') of type bytearray",
        ),
        (
            lambda: ft.sampling.cohort_law(b"11", [1, 2], 1, 1),
            TypeError,
            "weights must be a sequence of numbers, got b'11' of type bytes",
        ),
        (
            lambda: ft.sampling.cohort_law([1, 1], [1, 10**400], 1, 1),
            ValueError,
            "losses must be at most 1.8e308, got about 10^400",
        ),
        (
            lambda: ft.sampling.cohort_law([1e308, 1e308], [1, 2], 1, 1),
            ValueError,
            "weights must have a finite sum, got entries up to 1e+308",
        ),
        (
            lambda: ft.sampling.estimator_variance([[1.5, 0.0], [0.0, 0.5]], np.ones((2, 1))),
            ValueError,
            "matrix must be in [0, 1], got 1.5",
        ),
        (
            lambda: ft.sampling.estimator_variance(EYE, [["1"], ["2"]]),
            TypeError,
            "vectors must contain real numbers, got an array of <U1",
        ),
        (
            lambda: ft.sampling.variance_bound([1.0, 2.0], [0.5, 1.5], [1.0, 1.0]),
            ValueError,
            "probabilities must be in [0, 1], got 1.5",
        ),
        (
            lambda: ft.engine.privacy_noise(2**63, 1.0),
            ValueError,
            "num_clients must be in 1..1000000000, got 9223372036854775808",
        ),
        (
            lambda: ft.engine.privacy_noise(10**30, 1.0),
            ValueError,
            "num_clients must be in 1..1000000000, got about 10^30",
        ),
        (
            lambda: bounded_mean([0.0, 1.0], 0.0, [1.0, 2.0]),  # type: ignore[arg-type]
            ValueError,
            "upper must be one number, got an array of shape (2,)",
        ),
    ],
)
def test_a_wrong_number_is_a_sentence(call: Callable[[], Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(sentence)}$"):
        call()


@pytest.mark.parametrize("lower", [0.0, -1e8, -1e16, -1e300])
def test_rounding_does_not_exclude_the_mean(lower: float) -> None:
    interval = bounded_mean(np.tile([0.0, 1.0], 2000), lower, 1.0)
    assert interval.lower <= 0.5 <= interval.upper <= 1.0


def test_exact_variances_stay_exact() -> None:
    assert ft.sampling.estimator_variance([[HALF, 0], [0, HALF]], [[HALF], [1]]) == Fraction(1, 4)
