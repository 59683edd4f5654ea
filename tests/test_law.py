"""A finite law sums to one, combines by the formula of total probability, and is immutable."""

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.conformance import laws
from fedtheory.statistics.law import Law

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
LAWS = laws()


def test_equal_outcomes_are_added_up_and_impossible_ones_left_out() -> None:
    law = Law([("a", THIRD), ("b", HALF), ("a", Fraction(1, 6)), ("c", 0)])
    assert law == {"a": HALF, "b": HALF}
    assert (len(law), list(law), "c" in law, law.get("c", 0)) == (2, ["a", "b"], False, 0)


@pytest.mark.parametrize(
    ("outcomes", "message"),
    [
        ({"a": HALF, "b": THIRD}, "probabilities must sum to 1, got 5/6"),
        ({"a": HALF, "b": HALF + Fraction(1, 10**30)}, "probabilities must sum to 1"),
        ({"a": 0.5, "b": 0.5 + 1e-11}, "probabilities must sum to 1"),
        ({}, "probabilities must sum to 1, got 0"),
        ({"a": Fraction(-1, 2), "b": Fraction(3, 2)}, "probabilities must be at least 0, got -1/2"),
        ({"a": float("nan")}, "probabilities must be at least 0, got nan"),
        ({"a": float("inf")}, "probabilities must sum to 1, got inf"),
    ],
)
def test_what_is_no_law_is_refused(outcomes: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Law(outcomes)


def test_rounded_probabilities_may_miss_one_by_their_rounding() -> None:
    # Ten tenths: each is off by up to 1e-17, far below the allowed 1e-12.
    assert len(Law(dict.fromkeys(range(10), 0.1))) == 10


def test_negative_weights_are_refused_also_where_their_sum_is_positive() -> None:
    with pytest.raises(ValueError, match="must be at least 0, got -1"):
        Law.proportional({"a": -1, "b": 3})


@given(first=LAWS, second=LAWS)
def test_a_product_has_the_products_of_the_probabilities(first: Law[int], second: Law[int]) -> None:
    joint = Law.product(first, second)
    assert joint == {(x, y): first[x] * second[y] for x, y in product(first, second)}
    assert joint.map(lambda pair: pair[0]) == first
    assert first**2 == Law.product(first, first)
    assert first**0 == Law.certain(())


@given(law=LAWS, kernels=st.lists(LAWS, min_size=6, max_size=6))
def test_drawing_on_follows_the_formula_of_total_probability(law: Law[int], kernels: list[Law[int]]) -> None:
    after = law.then(kernels.__getitem__)
    assert sum(after.values()) == 1
    for outcome in range(6):
        total = sum(probability * kernels[first].get(outcome, 0) for first, probability in law.items())
        assert after.get(outcome, 0) == total
    assert after.mean(lambda x: x * x) == law.mean(lambda first: kernels[first].mean(lambda x: x * x))


@given(law=LAWS)
def test_mapping_moves_the_mass_and_certainty_is_neutral(law: Law[int]) -> None:
    parities = law.map(lambda x: x % 2)
    assert parities.get(0, 0) == sum(probability for outcome, probability in law.items() if outcome % 2 == 0)
    assert law.then(Law.certain) == law == law.map(lambda x: x)
    assert parities.mean(lambda parity: parity) == law.mean(lambda x: x % 2)


def test_whole_numbers_are_exact_and_floats_stay_floats() -> None:
    assert isinstance(Law({"a": 1})["a"], Fraction)
    assert isinstance(Law.proportional({"a": 1, "b": 2})["b"], Fraction)
    rounded = Law({"a": 0.25, "b": 0.75})
    assert [type(p) for p in (rounded**2).values()] == [float] * 4


def test_equal_laws_are_equal_hash_alike_and_cannot_be_changed() -> None:
    law, same = Law({"a": THIRD, "b": 1 - THIRD}), Law.proportional({"b": 2, "a": 1})
    assert law == same
    assert len({law, same}) == 1
    assert law != Law.uniform("ab")
    with pytest.raises(TypeError):
        law["a"] = HALF  # type: ignore[index]
    with pytest.raises(AttributeError):
        law.mass = 2  # type: ignore[attr-defined]
