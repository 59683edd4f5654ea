"""The interior-point method finds known solutions, or certificates that there are none."""

from fractions import Fraction as Q

import numpy as np
import pytest

from fedtheory.worst_case._certificates import FeasiblePoint, forms_at, verify_lower
from fedtheory.worst_case._coordinates import _balanced, first_coordinates
from fedtheory.worst_case._interior_point import beginning, path
from fedtheory.worst_case._record import Declared, Record
from fedtheory.worst_case._semidefinite import Program, _require, program_of
from fedtheory.worst_case._vectors import Value, Vector
from fedtheory.worst_case.function_classes.interface import Call
from fedtheory.worst_case.function_classes.quadratics import quadratic
from fedtheory.worst_case.proofs import feasible_between
from tests.worst_case.conditions import interpolation


def drifting() -> Program:
    """Maximize the squared distance after a step, where only differences of the function values count."""
    record, first, second = Record(), Value(), Value()
    start, slope, other = record.vector(), record.vector(), record.vector()
    w = start - Q(1, 3) * slope
    for form in interpolation([Call(start, slope, first), Call(w, other, second)], Q(1, 5), Q(1)):
        record.at_most(form)
    record.at_most(start.square, 1, "distance2")
    record.at_most(slope.square, 1, "G2")
    return program_of(record, w.square + other.square)


def shell(inner: int, outer: int) -> Program:
    """Maximize a squared length between two numbers."""
    record = Record()
    u = record.vector()
    record.at_most(u.square, outer)
    record.at_most(-1 * u.square, -inner)
    return program_of(record, u.square)


def test_a_state_in_other_coordinates_is_the_same_point_and_the_same_multipliers() -> None:
    program = drifting()
    coordinates = first_coordinates(program)
    data = coordinates.data
    for progress in path(data, beginning(data)):
        if progress.promising(1e-3):
            break
    others, state = coordinates.recast(progress.state)
    assert all(np.allclose(G, np.eye(len(G))) for G in state.grams)
    here, there = coordinates.point(progress.state), others.point(state)
    for gram, same in zip(here.grams, there.grams, strict=True):
        assert np.allclose(np.array(gram, dtype=float), np.array(same, dtype=float), rtol=1e-9, atol=1e-12)
    differences = [values[0] - values[1] for values in (here.values, there.values)]
    assert float(differences[0]) == pytest.approx(float(differences[1]), rel=1e-6)
    known = coordinates.multipliers(progress.state, of_objective=True).inequalities
    for one, other in zip(known, others.multipliers(state, of_objective=True).inequalities, strict=True):
        assert float(one) == pytest.approx(float(other), rel=1e-9)


def walking() -> Program:
    """Maximize the squared distance after two steps on one quadratic function, which has twelve equalities."""
    record, origin = Record(), Vector({})
    points = [Call(record.vector(), record.vector(), Value())]
    for _ in range(2):
        points.append(Call(points[-1].at - Q(1, 3) * points[-1].gradient, record.vector(), Value()))
    calls = (Call(origin, origin, record.zero()), *points)
    of = quadratic(Q(1, 5), Q(1))
    _require(record, Declared("f", of, (0,), calls, minimum=0), [""] * len(calls))
    record.at_most(points[0].at.square, 1, "distance2")
    return program_of(record, points[-1].at.square)


def test_a_point_on_equalities_is_written_in_short_rationals_in_all_coordinates() -> None:
    program = walking()
    coordinates = first_coordinates(program)
    found = path(coordinates.data, beginning(coordinates.data))
    first = next(progress.state for progress in found if progress.state.settled and progress.distance < 1e-5)
    others, begun = coordinates.recast(first)
    way = path(others.data, begun)
    second = next(progress.state for progress in way if progress.promising(1e-7))
    # The worst curvature is the smallest: |w_2| = (1 - 1/15)^2 |w_0|.
    for here, state in ((coordinates, first), (others, second)):
        point = here.point(state)
        objective, *forms = forms_at(program, point)
        assert float(objective) == pytest.approx((14 / 15) ** 4, rel=1e-5)
        assert forms[: len(program.equalities)] == [one.bound for one in program.equalities]
        numbers = [entry for gram in point.grams for row in gram for entry in row]
        # Products of doubles have a hundred bits, and exponents and corrections make some hundreds of them.
        assert max(number.denominator.bit_length() for number in numbers) < 600
    assert float(verify_lower(program, others.point(second))) == pytest.approx((14 / 15) ** 4, rel=1e-6)


@pytest.mark.parametrize(("inside", "near", "wanted"), [(2, 4, 3), (2, 0, 1), (2, Q(5, 2), Q(5, 2))])
def test_a_point_moves_towards_a_feasible_one_until_it_violates_nothing(inside: int, near: Q, wanted: Q) -> None:
    # The squared length must be between 1 and 3: half of the way from 4 to 2, or from 0 to 2, is on the boundary.
    points = [FeasiblePoint((((Q(square),),),), ()) for square in (inside, near)]
    found = feasible_between(shell(1, 3), *points)
    assert found.grams == (((wanted,),),)
    assert verify_lower(shell(1, 3), found) == wanted


def test_the_function_values_are_balanced_by_the_largest_multiplier() -> None:
    # The multipliers of "value <= 2" and "value <= 1" add up to the coefficient 1 of the value in the objective.
    record, value = Record(), Value()
    record.vector()
    record.at_most(value, 2, "loose")
    record.at_most(value, 1, "tight")
    small = Q(1, 10**9)
    assert _balanced(program_of(record, value), [small, Q(99, 100)], Q(-1)).inequalities == (small, 1 - small)
