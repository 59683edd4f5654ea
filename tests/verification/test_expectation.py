"""Expectations are decided on the unfavorable side of their confidence limits."""

from functools import partial

import numpy as np
import pytest

from fedtheory.statistics import bounded_mean
from fedtheory.statistics.interval import Interval
from fedtheory.verification.findings import mean_at_most, sequential_mean_at_most

unit_mean = partial(bounded_mean, lower=0.0, upper=1.0)


@pytest.mark.parametrize(
    ("predicted", "holds", "side"), [(0.6, True, "upper"), (0.4, False, "lower"), (0.5, None, "upper")]
)
def test_sampling_stops_when_the_comparison_is_decided(predicted: float, holds: bool | None, side: str) -> None:
    rng = np.random.default_rng(5)
    finding = sequential_mean_at_most(
        lambda size: rng.integers(0, 2, size).astype(float),
        predicted,
        unit_mean,
        most=4000,
    )
    assert finding.holds is holds
    assert finding.side == f"{side} confidence limit"
    assert (finding.instance["num_samples"] < 4000) == (holds is not None)


def test_a_decision_is_taken_on_the_unfavorable_side() -> None:
    assert mean_at_most(Interval(0.9, 1.0), 1.0, confidence=0.9).holds is True
    assert mean_at_most(Interval(0.9, 1.1), 1.0, confidence=0.9).holds is None
    assert mean_at_most(Interval(1.0, 1.1), 1.0, confidence=0.9).holds is None
    assert mean_at_most(Interval(1.01, 1.1), 1.0, confidence=0.9).holds is False
    assert mean_at_most(Interval(2.0, 3.0), 1.0, confidence=0.9).measured == 2.0
    assert mean_at_most(Interval(0.0, 0.5), 1.0, confidence=0.9).measured == 0.5
    open_question = mean_at_most(Interval(0.0, 2.0), 1.0, confidence=0.9, instance={"x": 7})
    assert open_question.reason == "limits 0 and 2 do not decide about 1"
    assert open_question.instance == {"x": 7}


def test_an_infinite_bound_on_a_mean_decides_nothing() -> None:
    assert mean_at_most(Interval(0.0, 1.0), np.inf, confidence=0.9).holds is None
    assert mean_at_most(Interval(0.0, np.inf), np.inf, confidence=0.9).holds is None


@pytest.mark.parametrize(("size", "message"), [(0, "batch must be at least 1"), (-5, "batch must be at least 1")])
def test_a_batch_without_samples_is_refused(size: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sequential_mean_at_most(np.zeros, 1.0, unit_mean, batch=size)


def test_draws_that_are_fewer_than_asked_for_are_refused() -> None:
    with pytest.raises(ValueError, match=r"draws must have shape \(100,\), got \(0,\)"):
        sequential_mean_at_most(lambda _: np.empty(0), 1.0, unit_mean)
    with pytest.raises(ValueError, match="most must be at least 1, got 0"):
        sequential_mean_at_most(np.zeros, 1.0, unit_mean, most=0)


def test_no_more_samples_are_drawn_than_allowed() -> None:
    sizes: list[int] = []

    def alternating(size: int) -> np.ndarray:
        sizes.append(size)
        return np.arange(size) % 2.0

    finding = sequential_mean_at_most(alternating, 0.5, unit_mean, batch=100, most=250)
    assert (sizes, finding.holds, finding.instance) == ([100, 100, 50], None, {"num_samples": 250})
