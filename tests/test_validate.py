"""Validation of arguments: valid values are returned clean, and the first wrong entry is named."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fedtheory._support import validate as v

ROOM = 1e-12  # by which weights may miss the sum 1
HUGE = np.array([1, 2**63 + 5], dtype=np.uint64)


class Own(np.random.bit_generator.ISeedSequence):
    """What seeds generators, and makes no children."""

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        return np.ones(n_words, dtype)


CHILDLESS = np.random.Generator(np.random.PCG64(Own()))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: v.finite("x", True), "x must be a real number, got the boolean True"),
        (lambda: v.finite("x", np.inf), "x must be finite, got inf"),
        (lambda: v.finite("x", np.array(np.nan)), "x must be finite, got nan"),
        (lambda: v.finite("x", [1.0, np.nan, 2.0, np.inf]), "x must be finite, got nan at index 1"),
        (lambda: v.array("x", [[1.0, 2.0], [3.0, -np.inf]]), "x must be finite, got -inf at index (1, 1)"),
        (lambda: v.positive("x", [1.0, 0.0, -2.0]), "x must be finite and positive, got 0.0 at index 1"),
        (lambda: v.positive("x", 0), "x must be finite and positive, got 0"),
        (lambda: v.nonnegative("x", [0.0, 3.0, -2.0]), "x must be finite and at least 0, got -2.0 at index 2"),
        (lambda: v.one("x", [1.0]), "x must be one number, got an array of shape (1,)"),
        (lambda: v.double("x", Fraction(10**309)), "x must be at most 1.8e308, got about 10^309"),
        (lambda: v.fraction("x", 1.5), "x must be in [0, 1], got 1.5"),
        (lambda: v.fraction("x", -0.5), "x must be finite and at least 0, got -0.5"),
        (lambda: v.count("x", 0), "x must be at least 1, got 0"),
        (lambda: v.count("x", 4, high=3), "x must be in 1..3, got 4"),
        (lambda: v.count("x", True), "x must be a whole number, got True of type bool"),
        (lambda: v.count("x", 2.0), "x must be a whole number, got 2.0 of type float"),
        (lambda: v.counts("x", np.array([3, 1, 0, -1])), "x must be at least 1, got 0 at index 2"),
        (lambda: v.counts("x", np.array([3, 1, 5]), high=4), "x must be in 1..4, got 5 at index 2"),
        (lambda: v.counts("x", np.array([3, 0, 5]), high=4), "x must be in 1..4, got 0 at index 1"),
        (lambda: v.counts("x", np.array([1.0])), "x must contain whole numbers, got an array of float64"),
        (lambda: v.counts("x", HUGE), f"x must be in 1..{2**63 - 1}, got {2**63 + 5} at index 1"),
        (lambda: v.curvatures(2.0, 1.5), "L must be at least mu, got L=1.5 and mu=2.0"),
        (lambda: v.horizon("x", -1), "x must be at least 0, got -1"),
        (lambda: v.array("x", ["a"]), "x must contain real numbers, got an array of <U1"),
        (lambda: v.array("x", "a"), "x must contain real numbers, got 'a' of type str"),
        (lambda: v.array("x", [[1.0]], ndim=1), "x must have 1 dimension, got shape (1, 1)"),
        (lambda: v.array("x", [1.0], ndim=2), "x must have 2 dimensions, got shape (1,)"),
        (lambda: v.array("x", [1.0], shape=(2,)), "x must have shape (2,), got (1,)"),
        (lambda: v.array("x", [1.0], shape=(1, None)), "x must have shape (1, any), got (1,)"),
        (lambda: v.array("x", [[1.0]] * 2, shape=(None, 2)), "x must have shape (any, 2), got (2, 1)"),
        (lambda: v.moderate("x", np.array([3.0, 5.0]), 4.0), "x must be at most 4 in absolute value, got 5.0 at"),
        (lambda: v.moderate("x", np.array([3.0, -5.0, 0.0]), 4.0), "in absolute value, got -5.0 at index 1"),
        (lambda: v.unmasked("x", np.ma.array([1.0])), "x must be an array without a mask, got a masked array"),
        (lambda: v.unmasked("x", [[1.0], [1.0, 2.0]]), "x must be a number or an array, got rows of different lengths"),
        (lambda: v.mask("x", [1, 0], (2,)), "x must contain booleans, got an array of int64"),
        (lambda: v.mask("x", [True], (2,)), "x must have shape (2,), got (1,)"),
        (lambda: v.probability_vector("x", []), "x must have at least one entry, got shape (0,)"),
        (lambda: v.probability_vector("x", [0.7, 0.7, -0.4]), "x must be at least 0, got -0.4 at index 2"),
        (lambda: v.probability_vector("x", [0.0, 0.0]), "x must have a positive entry, got all zeros"),
        (lambda: v.probability_vector("x", [0.5, 0.5 + 3e-12]), "x must sum to 1, got"),
        (lambda: v.probability_vector("x", [1.0], size=2), "x must have shape (2,), got (1,)"),
        (lambda: v.probability_vector("x", [1.0], normalize=1), "normalize must be True or False, got 1"),  # type: ignore[arg-type]
        (lambda: v.choice("x", "c", ("a", "b")), "x must be one of 'a', 'b', got 'c'"),
        (lambda: v.choice("x", 1, ("a", "b")), "x must be one of 'a', 'b', got 1"),
        (lambda: v.confidence(0.0), "confidence must be between 0 and 1, got 0.0"),
        (lambda: v.confidence(1.0), "confidence must be between 0 and 1, got 1.0"),
        (lambda: v.seed_sequence(-1), "rng must be at least 0, got -1"),
        (lambda: v.seed_sequence(CHILDLESS), "rng must carry a SeedSequence, got a Generator without one"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_sentence_that_names_the_first_wrong_entry(call: Any, sentence: str) -> None:
    with pytest.raises((ValueError, TypeError)) as error:
        call()
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (v.finite("x", Fraction(1, 3)), Fraction(1, 3)),
        (v.finite("x", np.array(2.5)), 2.5),
        (v.nonnegative("x", 0), 0),
        (v.fraction("x", 1), 1.0),
        (v.fraction("x", 0), 0.0),
        (v.count("x", 3, high=3), 3),
        (v.counts("x", np.array(3)), 3),
        (v.counts("x", np.array([1, 3], dtype=np.uint64)).tolist(), [1, 3]),
        (v.curvatures(2, 2), (2, 2)),
        (v.horizon("x", 0), 0),
        (v.moderate("x", np.array([-4.0, 4.0]), 4.0).tolist(), [-4.0, 4.0]),
        (v.probability_vector("x", [1, 3], normalize=True).tolist(), [0.25, 0.75]),
        (v.probability_vector("x", [0.5, 0.5 + 1e-13]).size, 2),
        (v.array("x", 2).shape, ()),
        (v.seed_sequence(np.random.default_rng(7)).spawn_key, (0,)),
    ],
)
def test_what_is_right_comes_back_clean(found: Any, wanted: Any) -> None:
    assert found == wanted
    assert type(found) is type(wanted)


def test_an_array_is_a_fresh_one_and_a_generator_the_same() -> None:
    given, told = np.array([1.0, 2.0]), np.array([True, False])
    v.array("x", given)[0] = 5.0
    v.mask("x", told, (2,))[0] = False
    assert (given.tolist(), told.tolist()) == ([1.0, 2.0], [True, False])
    rng = np.random.default_rng(3)
    assert v.generator(rng) is rng
    assert v.generator(3).random() == rng.random()


@pytest.mark.parametrize("side", [-1, 1])
def test_weights_may_miss_the_sum_one_by_a_trillionth_and_no_more(side):
    near, far = ([0.25, 0.75 + side * share * ROOM] for share in (0.9, 1.1))
    assert v.probability_vector("weights", near).tolist() == near
    with pytest.raises(ValueError, match="weights must sum to 1"):
        v.probability_vector("weights", far)
    assert v.probability_vector("weights", far, normalize=True).sum() == pytest.approx(1, rel=1e-15)
