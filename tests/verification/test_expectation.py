"""Expectations are decided on the unfavorable side of their confidence limits."""

import numpy as np

from fedtheory.statistics.interval import Interval
from fedtheory.theorem.findings import mean_at_most


def test_a_decision_is_taken_on_the_unfavorable_side() -> None:
    assert mean_at_most(Interval(0.9, 1.0), 1.0, confidence=0.9).holds is True
    assert mean_at_most(Interval(0.9, 1.1), 1.0, confidence=0.9).holds is None
    assert mean_at_most(Interval(1.0, 1.1), 1.0, confidence=0.9).holds is None
    assert mean_at_most(Interval(1.01, 1.1), 1.0, confidence=0.9).holds is False
    assert mean_at_most(Interval(2.0, 3.0), 1.0, confidence=0.9).measured == 2.0
    assert mean_at_most(Interval(0.0, 0.5), 1.0, confidence=0.9).measured == 0.5
    open_question = mean_at_most(Interval(0.0, 2.0), 1.0, confidence=0.9, instance={"x": 7})
    assert open_question.reason == "the bound 1 is between the limits 0 and 2"
    assert open_question.instance == {"x": 7}


def test_an_infinite_bound_on_a_mean_decides_nothing() -> None:
    assert mean_at_most(Interval(0.0, 1.0), np.inf, confidence=0.9).holds is None
    assert mean_at_most(Interval(0.0, np.inf), np.inf, confidence=0.9).holds is None
