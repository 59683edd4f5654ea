"""Programs that the solver leaves wide, or does not solve, are enclosed to 1e-5, too."""

from collections.abc import Callable
from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest

from fedtheory.worst_case import WorstCase, fedavg, power_of_choice, skew_class
from fedtheory.worst_case._interior import path
from fedtheory.worst_case._packing import packed, unpacked
from fedtheory.worst_case._recast import original, original_point, recast
from fedtheory.worst_case.certificates import FeasiblePoint
from fedtheory.worst_case.certificates import _forms_at as verified_forms
from fedtheory.worst_case.enclosures import enclose
from fedtheory.worst_case.function_classes import Point, interpolation
from fedtheory.worst_case.gram import Draft, Program, Value, Vector
from fedtheory.worst_case.solver import Solution, assemble, solve

Call = Callable[[], WorstCase]


def rounds(step_size: Q, mu: Q, distance2: Q, objective_gap: Q, num_rounds: int) -> Call:
    given: dict[str, Any] = {"mu": mu, "L": 1, "distance2": distance2, "objective_gap": objective_gap}
    return lambda: fedavg(1, step_size, **given, num_rounds=num_rounds, objective="gap")


# Drawn at random, of 60 and of 100 programs: what was wide, or without a proof, when the solver alone was asked.
FORMERLY_WIDE: dict[str, Call] = {
    "few long steps": rounds(Q(6, 5), Q(82, 465), Q(4, 5), Q(24, 79), 4),
    "tiny, long steps": rounds(Q(6, 5), Q(82, 465), Q(4, 5), Q(24, 79), 12),
    "small, long steps": rounds(Q(31, 20), Q(2, 81), Q(1, 10), Q(8, 21), 13),
    "one round of many steps": lambda: fedavg(
        *(10, Q(11, 10)),
        mu=Q(25, 53),
        L=1,
        distance2=Q(3, 10),
        objective_gap=Q(12, 61),
        sampling="distinct",
        num_selected=1,
        num_clients=9,
    ),
    "a tree of short steps": lambda: fedavg(
        *(1, Q(1, 40)),
        mu=Q(7, 148),
        L=1,
        distance2=Q(4, 5),
        objective_gap=Q(13, 99),
        num_rounds=2,
        sampling="independent",
        num_selected=1,
        num_clients=2,
        objective="gap",
    ),
    "a bound on gradients that does not bind": lambda: skew_class(
        4,
        Q(3, 10),
        mu=Q(14, 109),
        L=1,
        distance2=Q(1, 10),
        objective_gap=Q(1, 3),
        rho_diagonal=Q(9, 10),
        rho_tilde=Q(14, 5),
        G2=Q(172, 5),
    ),
    "function values without a bound": lambda: power_of_choice(
        *(2, 2, 2, 2, Q(3, 20)),
        mu=Q(32, 451),
        L=1,
        distance2=Q(7, 5),
        objective_gap=Q(7, 46),
        minima="free",
        num_rounds=3,
    ),
    "parabolas of a short direction": lambda: fedavg(
        *(3, Q(2, 5)),
        mu=Q(61, 362),
        L=1,
        distance2=Q(1, 5),
        objective_gap=Q(24, 47),
        functions="quadratic",
        objective="gap",
    ),
    "parabolas": lambda: fedavg(
        *(3, Q(13, 40)),
        mu=Q(28, 845),
        L=1,
        distance2=Q(1, 10),
        objective_gap=Q(16, 9),
        num_rounds=2,
        functions="quadratic",
    ),
}


@pytest.mark.parametrize("name", FORMERLY_WIDE)
def test_what_the_solver_leaves_wide_is_enclosed_to_a_hundred_thousandth(name: str) -> None:
    worst = FORMERLY_WIDE[name]()
    assert worst.verify() == worst.enclosure
    assert 0 < worst.relative_width <= 1e-5


@pytest.mark.slow  # Five beginnings, each in the coordinates of the one before.
def test_steps_after_which_hardly_anything_is_left_are_enclosed_from_points_that_are_not_inside() -> None:
    constants: dict[str, Any] = {"mu": Q(70, 103), "L": 1, "distance2": Q(3, 2), "objective_gap": Q(23, 80)}
    worst = fedavg(17, Q(7, 5), **constants, sampling="distinct", num_selected=1, num_clients=9)
    assert worst.verify() == worst.enclosure
    assert 0 < worst.relative_width <= 1e-5


def drifting() -> Program:
    """Maximize the squared distance after a step, where only differences of the function values count."""
    draft, first, second = Draft(), Value(), Value()
    start, slope, other = draft.vector(), draft.vector(), draft.vector()
    w = start - Q(1, 3) * slope
    draft.interpolate(interpolation([Point(start, slope, first), Point(w, other, second)], Q(1, 5), Q(1)))
    draft.at_most(start.square, 1, "distance2")
    draft.at_most(slope.square, 1, "G2")
    return draft.maximize(w.square + other.square)


def tied() -> Program:
    """Maximize a squared length where another one is given."""
    draft = Draft()
    u, v = draft.vector(), draft.vector()
    draft.equal_to(u.square, 4, "length")
    draft.at_most((u - v).square, 1, "distance2")
    return draft.maximize(v.square)


def inner_solutions(program: Program) -> list[Solution]:
    return [found for found, inside in path(assemble(program), 1e-9) if inside]


@pytest.mark.parametrize("program", [drifting(), tied()], ids=["drifting", "tied"])
def test_points_and_multipliers_are_inside_and_come_as_close_as_asked(program: Program) -> None:
    assembled = assemble(program)
    first = 1 + assembled.num_equalities
    gaps = []
    for found in inner_solutions(program):
        forms = assembled.rows @ np.concatenate([packed(found.grams), found.values])
        dual = np.concatenate([[-1.0], found.equality_multipliers, found.multipliers])
        left = dual @ assembled.rows
        assert (forms[first:] < assembled.bounds[first:]).all()
        assert (found.multipliers > 0).all()
        assert all(np.linalg.eigvalsh(block)[0] > 0 for block in unpacked(assembled.sizes, left))
        assert np.abs(left[assembled.num_entries :]).max(initial=0.0) < 1e-12
        gaps.append(dual @ assembled.bounds - forms[0])
    assert 0 < gaps[-1] < 1e-8 * forms[0] < gaps[0]
    assert forms[0] == pytest.approx(assembled.rows[[0]] @ at_solution(program), rel=1e-6)


def at_solution(program: Program) -> Any:
    found = solve(assemble(program))
    return np.concatenate([packed(found.grams), found.values])


def test_lengths_that_are_tied_reach_the_sum_of_radius_and_distance() -> None:
    # |u| = 2 and |u - v| <= 1, so that |v| is at most 3.
    *_, last = inner_solutions(tied())
    assert last.grams[0][1, 1] == pytest.approx(9, rel=1e-8)


def test_no_solution_is_given_where_constraints_contradict_each_other() -> None:
    draft = Draft()
    u = draft.vector()
    draft.at_most(u.square, 1)
    draft.at_most(-1 * u.square, -2)
    assert not list(inner_solutions(draft.maximize(u.square)))


@pytest.mark.parametrize("num_steps", [3, 5])
def test_a_value_of_a_millionth_or_less_is_enclosed_as_narrowly_as_one_of_order_one(num_steps: int) -> None:
    # Gradient descent with steps of 1/L leaves (1 - mu)^(2 n) of the squared distance.
    draft, origin = Draft(), Vector({})
    w = start = draft.vector()
    points = [Point(origin, origin, draft.zero())]
    for _ in range(num_steps):
        points.append(Point(w, draft.vector(), Value()))
        w = w - points[-1].gradient
    draft.interpolate(interpolation(points, Q(9, 10), Q(1)))
    draft.at_most(start.square, 1, "distance2")
    found = enclose(draft.maximize(w.square))
    assert found.lower <= Q(1, 10) ** (2 * num_steps) <= found.upper
    assert found.upper - found.lower <= Q(1, 10**5) * found.upper


def test_a_program_in_other_coordinates_says_the_same_of_the_same_point_exactly() -> None:
    program, roots = drifting(), (np.array([[2.0, 0.25, -1.0], [0.5, 3.0, 0.0], [0.0, -0.75, 1.5]]),)
    factors = (((Q(3), Q(1, 7), Q(-2)), (Q(0), Q(5, 3), Q(1))),)
    point = FeasiblePoint(factors, (Q(2, 11), Q(-3, 13)))
    there, here = verified_forms(recast(program, roots), point), original_point(point, roots)
    assert there == verified_forms(program, here)
    # The first vector is 2, 1/4, -1 times the new ones: its square is the bounded form before the last.
    assert there[-2] == (6 + Q(1, 28) + 2) ** 2 + (Q(5, 12) - 1) ** 2
    floats = Solution((np.array(factors[0], dtype=float),), np.zeros(2), np.zeros(4), np.zeros(0))
    np.testing.assert_allclose(original(floats, roots).roots[0], np.array(here.factors[0], dtype=float), rtol=1e-15)
