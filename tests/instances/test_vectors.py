"""Vectors of rationals: operations by hand, and rejection of floats and other sizes."""

# mypy: disable-error-code=comparison-overlap

from fractions import Fraction as Q

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.instances.vectors import Vector, average, combination, inner, norm2, total, vector

ENTRIES = st.lists(st.fractions(-9, 9, max_denominator=12), min_size=1, max_size=4)
PAIRS = ENTRIES.flatmap(
    lambda v: st.tuples(st.just(v), st.lists(st.fractions(-9, 9), min_size=len(v), max_size=len(v)))
)


def test_operations_by_hand() -> None:
    v, w = vector(1, "1/2"), vector(3, 2)
    assert [v + w, v - w, 2 * v, v * Q(1, 3), v / 2] == [
        (4, Q(5, 2)),
        (-2, Q(-3, 2)),
        (2, 1),
        (Q(1, 3), Q(1, 6)),
        (Q(1, 2), Q(1, 4)),
    ]
    assert (v @ w, norm2(w), str(v)) == (4, 13, "(1, 1/2)")
    assert (total([v, w]), average([v, w]), combination((1, -1), (v, w))) == (
        (4, Q(5, 2)),
        (2, Q(5, 4)),
        (-2, Q(-3, 2)),
    )


def test_lists_tuples_and_sums_give_vectors() -> None:
    v = vector(1, 2)
    for other in ([3, 1], (3, 1)):
        found = (v + other, other + v, v - other, other - v)
        assert found == ((4, 3), (4, 3), (-2, 1), (2, -1))
        assert {type(each) for each in found} == {Vector}
        assert {type(entry) for each in found for entry in each} == {Q}
    assert sum([v, v]) == (2, 4)


@settings(max_examples=20)
@given(PAIRS)
def test_the_inner_product_is_the_sum_of_products_reduced_once(pair: tuple[list[Q], list[Q]]) -> None:
    left, right = pair
    products = [a * b for a, b in zip(left, right, strict=True)]
    assert inner(left, right) == Vector(left) @ right == sum(products, start=Q(0))


@pytest.mark.parametrize(
    "wrong",
    [lambda v: v * 0.5, lambda v: 0.5 * v, lambda v: v / 0.5, lambda v: v + 1, lambda v: True * v, lambda v: v @ 2],
)
def test_floats_flags_and_single_numbers_are_no_operands(wrong) -> None:
    with pytest.raises(TypeError):
        wrong(vector(1, 2))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda v: v + vector(1),
        lambda v: v - (1, 2, 3),
        lambda v: v @ vector(1),
        lambda v: combination((1, 1), (v, vector(1))),
        lambda v: combination((1,), (v, v)),
        lambda v: combination((), ()),
    ],
)
def test_sizes_that_differ_are_refused(wrong) -> None:
    with pytest.raises(ValueError, match=r"vectors must be equally many rationals"):
        wrong(vector(1, 2))
