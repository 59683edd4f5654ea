"""Validation of arguments: valid values are returned clean, and the first wrong entry is named."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fedtheory._support import validate as v

ROOM = 1e-12  # by which weights may miss the sum 1
HUGE = np.array([1, 2**63 + 5], dtype=np.uint64)


@pytest.mark.parametrize(
    ("call", "given"),
    [
        (lambda: v.finite("x", [1.0, np.nan, 2.0, np.inf]), "nan at index 1"),
        (lambda: v.array("x", [[1.0, 2.0], [3.0, -np.inf]]), "-inf at index (1, 1)"),
        (lambda: v.positive("x", [1.0, 0.0, -2.0]), "0.0 at index 1"),
        (lambda: v.nonnegative("x", [0.0, 3.0, -2.0]), "-2.0 at index 2"),
        (lambda: v.counts("x", np.array([3, 1, 0, -1])), "0 at index 2"),
        (lambda: v.counts("x", np.array([3, 1, 5]), high=4), "5 at index 2"),
        (lambda: v.counts("x", np.array([3, 0, 5]), high=4), "0 at index 1"),
        (lambda: v.counts("x", HUGE), f"{2**63 + 5} at index 1"),
        (lambda: v.moderate("x", np.array([3.0, -5.0, 0.0]), 4.0), "-5.0 at index 1"),
        (lambda: v.probability_vector("x", [0.7, 0.7, -0.4]), "-0.4 at index 2"),
        (lambda: v.probability_vector("x", []), "shape (0,)"),
        (lambda: v.probability_vector("x", [0.0, 0.0]), "all zeros"),
        (lambda: v.probability_vector("x", [1.0], size=2), "(1,)"),
        (lambda: v.array("x", [[1.0]] * 2, shape=(None, 2)), "(2, 1)"),
        (lambda: v.array("x", [1.0], ndim=2), "shape (1,)"),
        (lambda: v.count("x", 4, high=3), "4"),
        (lambda: v.count("x", 0), "0"),
        (lambda: v.fraction("x", 1.5), "1.5"),
        (lambda: v.fraction("x", -0.5), "-0.5"),
        (lambda: v.horizon("x", -1), "-1"),
        (lambda: v.double("x", Fraction(10**309)), "about 10^309"),
        (lambda: v.curvatures(2.0, 1.5), "L=1.5 and mu=2.0"),
        (lambda: v.confidence(1.0), "1.0"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence_that_names_the_first_wrong_entry(call: Any, given: str) -> None:
    with pytest.raises(ValueError, match=r"^\S.* must .*, got ") as error:
        call()
    assert str(error.value).endswith(f", got {given}")


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (v.finite("x", Fraction(1, 3)), Fraction(1, 3)),
        (v.finite("x", np.array(2.5)), 2.5),
        (v.fraction("x", 1), 1.0),
        (v.count("x", 3, high=3), 3),
        (v.counts("x", np.array([1, 3], dtype=np.uint64)).tolist(), [1, 3]),
        (v.curvatures(2, 2), (2, 2)),
        (v.horizon("x", 0), 0),
        (v.moderate("x", np.array([-4.0, 4.0]), 4.0).tolist(), [-4.0, 4.0]),
        (v.probability_vector("x", [1, 3], normalize=True).tolist(), [0.25, 0.75]),
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
