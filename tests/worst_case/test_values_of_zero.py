"""Problems whose largest value is 0: both sides are proved to be exactly 0, and other small values are not."""

import json
from collections.abc import Callable
from fractions import Fraction as Q
from pathlib import Path
from typing import Any

import pytest

from fedtheory.worst_case import Problem, checker
from tests.worst_case.test_known_values import started


def below_the_minimum(**of: Any) -> Problem:
    p, f, best, x = started(**of)
    p.maximize(f.value(best) - f.value(x))
    return p


def descent(num_steps: int) -> Problem:
    p, f, _, x = started(L=1)
    y = x
    for _ in range(num_steps):
        y = y - f.gradient(y)
    p.maximize(f.value(y) - f.value(x))
    return p


def potential() -> Problem:
    """Let ``k (f - f*) + |x - x*|^2 / 2`` grow by one ``f - f*``: it does not."""
    p, f, best, x = started(L=1)
    y = x - f.gradient(x)
    before = 3 * (f.value(x) - f.value(best)) + Q(1, 2) * (x - best).square
    p.maximize(4 * (f.value(y) - f.value(best)) + Q(1, 2) * (y - best).square - before)
    return p


def monotone() -> Problem:
    p = Problem()
    T, x, y = p.operator(monotone=True), p.point("x"), p.point("y")
    p.at_most((x - y).square, 1, name="distance2")
    p.maximize(-1 * ((T(x) - T(y)) @ (x - y)))
    return p


def least_of_two() -> Problem:
    p, f, best, x = started(L=1)
    p.maximize(f.value(best) - f.value(x), (x - best).square)
    return p


def gradient_where_no_loss_is_left() -> Problem:
    p = Problem()
    f = p.function(L=1)
    best, x = f.minimizer(), p.point("x")
    p.at_most(f.value(x) - f.value(best), 0, name="distance2")
    p.maximize(f.gradient(x).square)
    return p


ZEROS: dict[str, Callable[[], Problem]] = {
    "minus a gap": lambda: below_the_minimum(L=1),
    "descent in three steps": lambda: descent(3),
    "potential": potential,
    "monotone": monotone,
    "least of two": least_of_two,
    "no loss": gradient_where_no_loss_is_left,
}


@pytest.mark.parametrize("name", ZEROS)
def test_a_value_of_0_is_proved_to_be_0(name: str) -> None:
    worst = ZEROS[name]().solve()
    lower, upper = worst.enclosure
    assert lower == upper == 0
    assert worst.verify() == worst.enclosure
    assert worst.value == worst.relative_width == 0
    assert worst.instance().run() == 0


def test_the_checker_proves_a_value_of_0(tmp_path: Path) -> None:
    descent(1).solve().save(tmp_path / "zero.json")
    lower, upper, _ = checker.check(json.loads((tmp_path / "zero.json").read_text(encoding="utf-8")))
    assert lower == upper == 0


@pytest.mark.slow
def test_an_upper_side_of_0_is_proved_where_no_constraint_may_be_0() -> None:
    p = Problem()
    f = p.function(L=1, minimum=0)
    x, y = p.point("x"), p.point("y")
    p.equal_to(f.value(y), 2)
    p.at_most(x.square, 1)
    p.maximize(-1 * f.value(x))
    worst = p.solve()
    assert worst.upper == 0
    assert worst.lower is not None
    assert -Q(1, 10**12) < worst.lower <= 0


@pytest.mark.parametrize("scale", [Q(1, 10**5), pytest.param(Q(1, 10**9), marks=pytest.mark.slow)])
def test_a_small_value_is_not_0(scale: Q) -> None:
    p = Problem()
    f = p.function(mu=1 - scale, L=1)
    best, x = f.minimizer(), p.point("x")
    p.at_most((x - best).square, 1)
    p.maximize((x - f.gradient(x) - best).square)
    lower, upper = p.solve().enclosure
    assert 0 < lower <= scale**2 <= upper < 2 * scale**2


def test_a_small_negative_value_is_not_0() -> None:
    p = Problem()
    f = p.function(mu=1, L=4)
    best, x = f.minimizer(), p.point("x")
    p.equal_to((x - best).square, Q(1, 10**12))
    p.at_most((x - p.point("y")).square, 1)
    p.maximize(f.value(best) - f.value(x))
    lower, upper = p.solve().enclosure
    assert lower <= -Q(1, 2 * 10**12) <= upper < 0
