"""Expectations are decided on the unfavorable side of their confidence limits."""

import numpy as np
import pytest

from fedtheory.interval import Interval
from fedtheory.statistics import bounded_mean
from fedtheory.verification.expectation import mean_at_most, sequential_mean_at_most


@pytest.mark.parametrize(
    ("predicted", "holds", "side"), [(0.6, True, "upper"), (0.4, False, "lower"), (0.5, None, "upper")]
)
def test_sampling_stops_when_the_comparison_is_decided(predicted: float, holds: bool | None, side: str) -> None:
    rng = np.random.default_rng(5)
    finding = sequential_mean_at_most(
        lambda size: rng.integers(0, 2, size).astype(float),
        predicted,
        lambda samples: bounded_mean(samples, 0.0, 1.0),
        most=4000,
    )
    assert finding.holds is holds
    assert finding.side == f"{side} confidence limit"
    assert (finding.instance["num_samples"] < 4000) == (holds is not None)


def test_a_decision_is_taken_on_the_unfavorable_side() -> None:
    assert mean_at_most(Interval(0.9, 1.0), 1.0).holds is True
    assert mean_at_most(Interval(0.9, 1.1), 1.0).holds is None
    assert mean_at_most(Interval(1.0, 1.1), 1.0).holds is None
    assert mean_at_most(Interval(1.01, 1.1), 1.0).holds is False
