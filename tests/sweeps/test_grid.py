"""Canonical form of a grid point, and the seeds that follow from it."""

import hashlib
from fractions import Fraction

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.sweeps._grid import canonical, gridded


def test_equal_values_have_one_form_whatever_their_type_and_order():
    assert canonical({"b": np.float64(0.5), "a": np.int64(3)}) == canonical({"a": 3, "b": 0.5}) == '{"a":3,"b":0.5}'
    assert canonical([1, "x", None, True]) == canonical((1, "x", None, True))


def test_what_differs_has_another_form():
    pow_d = ft.selection.PowerOfChoice(3, 9)
    values = [
        1, 1.0, "1", True, None, (1,), Fraction(1, 3), 0.1 + 0.2, 0.3, -0.0, 0.0, pow_d, ft.selection.Proportional(3),
    ]  # fmt: skip
    assert len({canonical(value) for value in values}) == len(values)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), np.ones(3), object(), {1, 2}, b"x", lambda: 0, 1j])
def test_what_has_no_form_is_refused_by_name(value):
    with pytest.raises((TypeError, ValueError), match=r"^d must be"):
        gridded({"d": [value]})


def test_points_come_in_order_with_the_last_axis_first_and_seeds_innermost():
    grid = gridded({"d": [3, 9], "tau": [1, 2, 5]}, seeds=[4, 6])
    assert [(*one.settings.values(), one.seed) for one in grid][:4] == [(3, 1, 4), (3, 1, 6), (3, 2, 4), (3, 2, 6)]
    assert (len(grid), grid.shape, grid.dims) == (12, (2, 3, 2), ("d", "tau", "seed"))
    assert str(next(iter(grid))) == "d=3, tau=1, seed=4"


def derived(**arguments):
    """Seeds of each d, in their order."""
    found: dict[int, list[int]] = {}
    for one in gridded(**arguments):
        found.setdefault(one.settings["d"], []).append(one.seed)
    return found


def test_derived_seeds_differ_between_points_and_follow_from_the_point_alone():
    seeds = derived(axes={"d": [3, 9]}, seeds=2, rng=1)
    everything = [seed for own in seeds.values() for seed in own]
    assert len(set(everything)) == 4
    again = derived(axes={"d": [9, 3, 4]}, seeds=3, rng=1)
    assert all(again[d][:2] == own for d, own in seeds.items())
    other = derived(axes={"d": [3, 9]}, seeds=2, rng=2)
    assert set(everything).isdisjoint(seed for own in other.values() for seed in own)
    assert all(0 <= seed < 2**63 for seed in everything)


def test_a_derived_seed_is_the_head_of_a_hash():
    [one] = gridded({"d": [3]}, seeds=1, rng=5)
    text = '{"number":0,"point":{"d":3},"rng":5}'
    assert one.seed == int(hashlib.sha256(text.encode()).hexdigest()[:16], 16) >> 1


def test_explicit_seeds_are_the_same_at_every_point():
    assert [one.seed for one in gridded({"d": [3, 9]}, seeds=[8, 2])] == [8, 2, 8, 2]


def test_without_seeds_there_is_none():
    grid = gridded({"d": [3, 9]})
    assert ([one.seed for one in grid], grid.dims, grid.rule) == ([None, None], ("d",), "none")


def test_labels_are_numbers_and_words_or_text():
    grid = gridded({"a": [1, 0.5], "b": ["x"], "c": [(1, 2), (3,)], "d": [ft.selection.Full()], "e": [True, 2]})
    assert grid.labels == {"a": [1, 0.5], "b": ["x"], "c": ["(1, 2)", "(3,)"], "d": ["Full()"], "e": ["True", "2"]}
