"""Two values have one identity only if they are equal."""

import argparse
import copy
import dataclasses
import functools
import json
import sys
import threading
from enum import Enum
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

import fedtheory as ft
from fedtheory._storage.identity import UnidentifiedError, identities


def identity(value: Any, version: str = "") -> str:
    """Identity of one value."""
    [found] = identities([value], version)
    return found


@dataclasses.dataclass(frozen=True)
class Point:
    x: Any
    y: float = 0.0

    def norm(self) -> float:
        """Something to be bound to a point."""
        return abs(self.x)


@dataclasses.dataclass(frozen=True)
class OtherPoint:
    x: float
    y: float = 0.0


@dataclasses.dataclass(slots=True)
class Slotted:
    x: float


class Color(Enum):
    RED = 1
    BLUE = 2


class Mine(dict[str, int]):
    pass


class Pair(NamedTuple):
    x: int = 1


@numba.njit
def compiled(x: float) -> float:
    return x


@functools.cache
def cached(x: float) -> float:
    return x


# All of these are told apart.
VALUES: list[Any] = [
    None, True, False, 0, 1, 2, 0.0, -0.0, 1.0, float("inf"), float("nan"), 1j, "", "1", b"", b"1", "a", "\ud800", (),
    (1,), (1, 2), (2, 1), ((1,), 2), [1, 2], [], {}, {"a": 1}, {"a": 1.0}, {"b": 1}, {1: "a"}, set(), {1}, {1, 2},
    frozenset({1}), range(3), range(4), Fraction(1, 2), Fraction(2, 3), PurePosixPath("a"), PurePosixPath("b"),
    Color.RED, Color.BLUE, Point(1.0), Point(1), Point(-0.0), Point(0.0), OtherPoint(1.0), Slotted(1.0), Slotted(2.0),
    Pair(1), Pair(2), Mine(a=1), Mine(a=2), argparse.Namespace(a=1), argparse.Namespace(a=2), np.float64(1.0),
    np.float32(1.0), np.int64(1), np.int32(1), np.bool_(True), np.array(1.0), np.array([1.0]), np.array([[1.0]]),
    np.array([1]), np.array([1], np.int32), np.array([-0.0]), np.array([0.0]), np.array(["a"]), np.array(["b"]),
    np.array([1.0, 2.0]), np.array([]), np.array([], int), np.zeros((0, 2)), np.zeros((2, 0)), int, float, Point,
    OtherPoint, Color, len, max, np.sum, np.mean, np.linalg.norm, compiled, cached, identity, Point(1).norm,
    Point(2).norm, functools.partial(max, 1), functools.partial(max, 2), functools.partial(min, 1),
    functools.partial(max, key=len), ft.selection.Uniform(1), ft.selection.Uniform(2), ft.selection.Proportional(1),
    ft.selection.PowerOfChoice(1, 2), ft.selection.PowerOfChoice(1, 2, loss="last"),
    ft.QuadraticFederation([1.0], [[0.0]], [1.0]), ft.QuadraticFederation([2.0], [[0.0]], [1.0]),
]  # fmt: skip


def test_values_that_differ_in_type_sign_shape_or_order_have_identities_of_their_own() -> None:
    digests = identities(VALUES)
    alike = [(i, j) for i, one in enumerate(digests) for j in range(i) if digests[j] == one]
    assert [(VALUES[i], VALUES[j]) for i, j in alike] == []


def test_a_copy_of_a_value_has_its_identity() -> None:
    values = [Point(1.0), [1, {"a": np.array([1.0])}], {3, 1, 2}, Fraction(1, 3), Mine(a=1), Slotted(1.0)]
    assert identities(copy.deepcopy(values)) == identities(values)


def test_a_value_that_is_only_kept_by_a_property_does_not_count() -> None:
    fed = ft.QuadraticFederation([1.0, 2.0], [[0.0], [1.0]], [0.5, 0.5])
    before = identity(fed)
    assert fed.minimum >= 0
    assert identity(fed) == before


class AnyName(dict[str, Any]):
    """A configuration whose entries are attributes, and which raises KeyError for all other names."""

    __getattr__ = dict.__getitem__


def test_an_object_that_raises_for_unknown_attributes_has_the_identity_of_its_content() -> None:
    assert identity(AnyName(a=1)) == identity(AnyName(a=1)) != identity(AnyName(a=2))


def loop() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


def nested(levels: int) -> Any:
    found: Any = ()
    for _ in range(levels):
        found = (found,)
    return found


UNKNOWN: dict[str, Any] = {
    "a lock": threading.Lock(),
    "a generator": (i for i in range(3)),
    "a file": sys.stdout,
    "a module": json,
    "random numbers": np.random.default_rng(0),
    "an array with a mask": np.ma.masked_array([1.0], [False]),
    "an array of objects": np.array([1, None], object),
    "a function without a name": lambda x: x,
    "a function in a function": functools.wraps(len)(nested),
    "a lock in a dictionary": {"a": [threading.Lock()]},
    "a lock in an object": Point(threading.Lock()),
    "a loop": loop(),
    "deep nesting": nested(100_000),
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_what_has_no_value_that_can_be_read_has_no_identity(what: str) -> None:
    with pytest.raises(UnidentifiedError, match=r"cannot be identified") as refused:
        identity(UNKNOWN[what])
    assert "\n" not in str(refused.value)


def test_a_version_stands_for_what_cannot_be_read_and_for_nothing_else() -> None:
    with pytest.raises(UnidentifiedError, match=r"give version=, a text that changes"):
        identity(threading.Lock())
    values = [Point(threading.Lock(), 1.0), Point(threading.Lock(), 2.0), lambda x: x]
    one, other, again = (identities(values, version) for version in ("1", "2", "1"))
    assert one == again
    assert len({*one, *other}) == 6
