"""Enclosures of worst cases contain known closed forms, and false certificates are rejected."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction as Q
from typing import NamedTuple

import pytest

from fedtheory.errors import OracleError
from fedtheory.worst_case import proofs
from fedtheory.worst_case._certificates import (
    FeasiblePoint,
    Multipliers,
    verify_direction,
    verify_empty,
    verify_lower,
    verify_upper,
)
from fedtheory.worst_case._record import Constraint, Record
from fedtheory.worst_case._semidefinite import Program, program_of
from fedtheory.worst_case._vectors import Form, Value, Vector
from fedtheory.worst_case.function_classes.interface import Call
from fedtheory.worst_case.proofs import Proof
from tests.worst_case.conditions import interpolation


def gradient_descent(num_steps: int, step_size: Q, mu: Q, L: Q, *, loss: bool = False) -> Program:
    """Maximize the squared distance from the minimizer, or the loss, after some steps from distance at most 1."""
    record, origin = Record(), Vector({})
    w = start = record.vector()
    best = Value()
    points = [Call(origin, origin, best)]
    for _ in range(num_steps + 1):
        points.append(Call(w, record.vector(), Value()))
        w = w - step_size * points[-1].gradient
    for form in interpolation(points, mu, L):
        record.at_most(form)
    record.at_most(start.square, 1, "distance2")
    last = points[-1]
    return program_of(record, last.value - best if loss else last.at.square)


def enclosed(proved: Sequence[Proof]) -> tuple[Q, Q]:
    """Return both sides of the largest value of some programs."""
    lowers, uppers = [one.lower for one in proved], [one.upper for one in proved]
    assert None not in (*lowers, *uppers)
    return max(filter(None, lowers)), max(filter(None, uppers))


class Proved(NamedTuple):
    """Both sides, and what proves them."""

    lower: Q
    upper: Q
    point: FeasiblePoint
    multipliers: Multipliers


def prove(program: Program) -> Proved:
    found = proofs.prove(program)
    assert found.point is not None
    assert found.multipliers is not None
    assert (found.empty, found.infinite) == (False, False)
    return Proved(*enclosed([found]), found.point, found.multipliers)


def width(found: Proved) -> float:
    return float((found.upper - found.lower) / found.upper)


@pytest.mark.parametrize("num_steps", [1, 3])
def test_gradient_descent_contracts_by_one_minus_mu_over_l_and_no_faster(num_steps: int) -> None:
    found = prove(gradient_descent(num_steps, Q(1), Q(1, 10), Q(1)))
    assert found.lower <= Q(9, 10) ** (2 * num_steps) <= found.upper
    assert width(found) < 1e-5


FOUND = prove(gradient_descent(2, Q(1), Q(1, 10), Q(1)))
PROGRAM = gradient_descent(2, Q(1), Q(1, 10), Q(1))


def shifted(numbers: tuple[Q, ...], place: int, change: Q) -> tuple[Q, ...]:
    return (*numbers[:place], numbers[place] + change, *numbers[place + 1 :])


def test_every_multiplier_is_needed_for_the_proof() -> None:
    proof = FOUND.multipliers.inequalities
    assert verify_upper(PROGRAM, FOUND.multipliers) == FOUND.upper
    for place, multiplier in enumerate(proof):
        if multiplier > Q(1, 1000):
            with pytest.raises(OracleError):
                verify_upper(PROGRAM, Multipliers(shifted(proof, place, -multiplier / 2)))


def test_a_negative_multiplier_proves_nothing() -> None:
    with pytest.raises(OracleError, match="at least 0 for an inequality"):
        verify_upper(PROGRAM, Multipliers(shifted(FOUND.multipliers.inequalities, 0, Q(-10))))


def test_a_point_outside_is_refused() -> None:
    assert verify_lower(PROGRAM, FOUND.point) == FOUND.lower
    [rows] = FOUND.point.grams
    grown = FeasiblePoint((tuple(tuple(Q(11, 10) * c for c in row) for row in rows),), FOUND.point.values)
    with pytest.raises(OracleError, match="the point must fulfill all constraints"):
        verify_lower(PROGRAM, grown)


def test_function_values_that_are_left_over_prove_nothing() -> None:
    record, value = Record(), Value()
    w = record.vector()
    record.at_most(value - w.square)
    record.at_most(w.square, 1)
    program = program_of(record, value)
    assert verify_upper(program, Multipliers((Q(1), Q(1)))) == 1
    # Half of the multipliers would "prove" 1/2, below what is attained.
    with pytest.raises(OracleError, match="make the function values cancel"):
        verify_upper(program, Multipliers((Q(1, 2), Q(1, 2))))


def test_an_equality_must_be_met_exactly() -> None:
    record = Record()
    w = record.vector()
    record.equal_to(w.square, 1)
    program = program_of(record, w.square)
    assert verify_lower(program, FeasiblePoint((((Q(1),),),), ())) == 1
    with pytest.raises(OracleError, match="the point must fulfill all constraints"):
        verify_lower(program, FeasiblePoint((((Q(1, 4),),),), ()))


def value_on_parabola(form: Form, points: list[Call], curvature: Q, at: list[tuple[Q, Q]]) -> Q:
    """A form where the points lie in the plane and the function is half of ``curvature`` times the squared distance."""
    places = {id(p.at): x for p, x in zip(points, at, strict=True)}
    places |= {id(p.gradient): (curvature * x, curvature * y) for p, (x, y) in zip(points, at, strict=True)}
    losses = {p.value: curvature / 2 * (x**2 + y**2) for p, (x, y) in zip(points, at, strict=True)}
    inner = [
        c * sum((a * b for a, b in zip(places[id(u)], places[id(v)], strict=True)), start=Q(0))
        for (u, v), c in form.products.items()
    ]
    return sum(inner, start=Q(0)) + sum((c * losses[f] for f, c in form.values.items()), start=Q(0))


def test_parabolas_of_the_extreme_curvatures_fulfill_every_condition_with_equality() -> None:
    mu, L, at = Q(1, 3), Q(5, 2), [(Q(0), Q(0)), (Q(2), Q(-3)), (Q(7, 2), Q(1)), (Q(-1), Q(5))]
    record = Record()
    points = [Call(record.vector(), record.vector(), Value()) for _ in at]
    conditions = interpolation(points, mu, L)
    for curvature in (mu, L):
        assert {value_on_parabola(form, points, curvature, at) for form in conditions} == {Q(0)}
    # Between them there is room, outside there is none: (h - mu)(L - h) times a square.
    for curvature, sign in ((Q(1), -1), (Q(3), 1), (Q(1, 4), 1)):
        assert all(sign * value_on_parabola(form, points, curvature, at) > 0 for form in conditions)


def twice() -> Program:
    record = Record()
    w = record.vector()
    record.at_most(w.square, 3)
    return program_of(record, 2 * w.square)


@pytest.mark.parametrize("missing", [Q(1), Q(1, 10**30)])
def test_multipliers_that_are_short_by_anything_prove_nothing(missing: Q) -> None:
    assert verify_upper(twice(), Multipliers((Q(2),))) == 6
    with pytest.raises(OracleError, match="positive semidefinite matrix, got another in block 0"):
        verify_upper(twice(), Multipliers((2 - missing,)))


def between(low: int, high: int) -> Program:
    record = Record()
    u, f = record.vector(), Value()
    record.at_most(u.square, high, "high")
    record.at_most(f - u.square, -low, "low")
    record.at_most(-1 * f)
    return program_of(record, u.square + f)


def test_constraints_that_contradict_each_other_are_a_proof_that_is_checked_and_named() -> None:
    found = proofs.prove(between(3, 1))
    assert found.empty
    assert found.contradicting == ["high", "low"]
    assert found.checked() == found
    assert verify_empty(between(3, 1), Multipliers((Q(1), Q(1), Q(1)))) == 2
    # The same multipliers prove nothing of a class that is not empty, nor does a multiple of less than all.
    with pytest.raises(OracleError, match="must prove a negative bound of 0, got 0"):
        verify_empty(between(3, 3), Multipliers((Q(1), Q(1), Q(1))))
    with pytest.raises(OracleError, match="positive semidefinite"):
        verify_empty(between(3, 1), Multipliers((Q(1), Q(2), Q(2))))
    with pytest.raises(OracleError, match="make the function values cancel"):
        verify_empty(between(3, 1), Multipliers((Q(1), Q(1), Q(0))))
    tampered = replace(found, program=between(3, 3))
    with pytest.raises(OracleError):
        tampered.checked()


def test_values_without_end_are_proved_by_a_point_and_a_direction() -> None:
    record = Record()
    u, v = record.vector(), record.vector()
    record.at_most(u.square, 1)
    record.at_most(1 * (u @ v), -2)
    program = program_of(record, v.square)
    found = proofs.prove(program)
    assert found.infinite
    assert found.checked() == found
    assert found.direction is not None
    assert verify_direction(program, found.direction) > 0
    bounded = replace(program, inequalities=(*program.inequalities, Constraint(v.square, Q(5))))
    with pytest.raises(OracleError, match="must fulfill all constraints"):
        verify_direction(bounded, found.direction)
    backwards = FeasiblePoint((((Q(0), Q(0)), (Q(0), Q(0))),), ())
    with pytest.raises(OracleError, match="must grow along the direction, got 0"):
        verify_direction(program, backwards)
