"""Invalid results of user code are reported in one sentence with what was wanted and what was returned."""

from typing import Any

import numpy as np
import pytest

from fedtheory.conformance import check_aggregation, check_generator, check_probabilities, check_shapley, check_strategy


def answering(answer: Any) -> Any:
    return answer if callable(answer) else lambda *_: answer


PAIR = (np.ones((2, 3)), np.array([0, 1]))


@pytest.mark.parametrize(
    ("check", "answer", "sentence"),
    [
        (check_strategy, None, "must return a one-dimensional list of client numbers, got NoneType"),
        (
            check_strategy,
            [[0, 1]],
            "must return a one-dimensional list of client numbers, got an array of int64 of shape (1, 2)",
        ),
        (
            check_strategy,
            [0.0],
            "must return a one-dimensional list of client numbers, got an array of float64 of shape (1,)",
        ),
        (check_strategy, [5, 0, 6], "clients must be in 0..5, got 6"),
        (check_probabilities, "ab", "must return numbers, got str"),
        (check_probabilities, [0.5, np.nan], "must be finite, got [0.5, nan]"),
        (check_probabilities, 0.5, "must return 2 probabilities, got shape ()"),
        (check_aggregation, [1.0], "must return a vector of shape (2,), got shape (1,)"),
        (check_aggregation, lambda _, x, __: [*x[0][:1], *x[0][1:] * np.nan], "an estimate must be finite, got ["),
        (check_shapley, [1.0, "x"], "must return numbers, got [1.0, 'x']"),
        (check_shapley, [1.0], "must return 2 values, got 1"),
        (check_shapley, lambda u, n: [u([0, 0])] * n, "coalitions must be different players of 0..1, got [0, 0]"),
        (check_shapley, lambda u, n: [u([1, -1])] * n, "different players of 0..1, got [-1, 1]"),
        (check_generator, None, "must return pairs of features and labels, got <class 'NoneType'>"),
        (check_generator, [PAIR], "must return 3 clients, got 1"),
        (check_generator, [(PAIR[0], [0]), PAIR, PAIR], "features and labels must have shapes (n, f)"),
        (check_generator, [PAIR, PAIR, (np.ones((2, 4)), [0, 1])], "n > 0 and equal f, got (2, 4) and (2,)"),
        (check_generator, [(np.ones((0, 3)), np.ones(0, int)), PAIR, PAIR], "n > 0 and equal f, got (0, 3) and (0,)"),
        (check_generator, [PAIR, PAIR, (PAIR[0], [0.0, 1.0])], "labels integers from 0, got array([0., 1.])"),
        (check_generator, [PAIR, PAIR, (np.diag([1.0, 2.0, np.inf]), [0, 1, 1])], "got features that are not finite"),
    ],
)
def test_an_answer_that_is_none_is_told_in_one_sentence(check: Any, answer: Any, sentence: str) -> None:
    first, *_ = check(answering(answer)).failures
    assert sentence in first.sentence
