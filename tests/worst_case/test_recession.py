"""Inequalities that become slack along recession directions are removed, and both sides remain valid."""

from fractions import Fraction as Q

import pytest

from fedtheory.worst_case import Problem
from fedtheory.worst_case._certificates import FeasiblePoint, verify_lower
from fedtheory.worst_case._recession import moved_inside, without_slack
from fedtheory.worst_case._record import Record
from fedtheory.worst_case._semidefinite import Program, program_of
from fedtheory.worst_case._vectors import Value


def bounded(*, above: bool) -> Program:
    """Maximize f with ``f <= |x|^2 <= 1`` and ``f + 3 <= 2 g``, where g is free or at most 7."""
    record, f, g = Record(), Value(), Value()
    x = record.vector()
    record.at_most(f - x.square)
    record.at_most(x.square, 1)
    record.at_most(f - 2 * g, -3)
    if above:
        record.at_most(g, 7)
    return program_of(record, f)


def test_an_inequality_with_a_free_number_is_left_out_and_its_point_is_moved_until_it_holds() -> None:
    program = bounded(above=False)
    reduced, kept, found = without_slack(program)
    assert kept == (0, 1)
    assert [one.slack for one in found] == [{2}]
    # At f = |x|^2 = 1 the number g must be at least 2.
    point = moved_inside(reduced, found, FeasiblePoint((((Q(1),),),), (Q(1),)))
    assert verify_lower(program, point) == 1
    assert 2 <= point.values[1] <= 2 + Q(1, 1000)


def test_an_inequality_that_can_be_tight_is_kept() -> None:
    program = bounded(above=True)
    reduced, kept, found = without_slack(program)
    assert (kept, found) == ((0, 1, 2, 3), [])
    assert reduced is program


@pytest.mark.parametrize("num_steps", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_frank_wolfe_steps_are_enclosed_narrowly(num_steps: int) -> None:
    # The loss at the start may be as large as one likes together with its gradient.
    p = Problem()
    f, inside = p.function(L=1), p.indicator(diameter=1)
    best, x = (f + inside).minimizer(), p.point("start")
    inside.value(x)
    for i in range(num_steps):
        x = Q(i, i + 2) * x + Q(2, i + 2) * inside.linear_minimizer(f.gradient(x))
    p.maximize(f.value(x) - f.value(best))
    worst = p.solve()
    # What PEPit 0.5.1 with Clarabel answers, and Jaggi's bound 2 L D^2 / (N + 2).
    said = {2: 0.3126169, 4: 0.1780331}[num_steps]
    lower, upper = worst.enclosure
    assert float(lower) == pytest.approx(said, abs=2e-6)
    assert upper <= Q(2, num_steps + 2)
    assert worst.relative_width < 1e-6
