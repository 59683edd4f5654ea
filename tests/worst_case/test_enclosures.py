"""Enclosures of worst cases contain known closed forms, and false certificates are rejected."""

from dataclasses import replace
from fractions import Fraction as Q
from typing import Any

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


@pytest.mark.parametrize("num_steps", [1, 3])
def test_gradient_descent_contracts_by_one_minus_mu_over_l_and_no_faster(num_steps: int) -> None:
    found = proofs.prove(gradient_descent(num_steps, Q(1), Q(1, 10), Q(1)))
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower <= Q(9, 10) ** (2 * num_steps) <= found.upper
    assert found.upper - found.lower < found.upper / 10**5
    assert (found.empty, found.infinite) == (False, False)


def twice() -> Program:
    record = Record()
    w = record.vector()
    record.at_most(w.square, 3)
    return program_of(record, 2 * w.square)


def with_a_value() -> Program:
    record, value = Record(), Value()
    w = record.vector()
    record.at_most(value - w.square)
    record.at_most(w.square, 1)
    return program_of(record, value)


def of_length_one() -> Program:
    record = Record()
    w = record.vector()
    record.equal_to(w.square, 1)
    return program_of(record, w.square)


def length2(number: Q) -> FeasiblePoint:
    """A point of a program with one vector and no function value."""
    return FeasiblePoint((((number,),),), ())


PROVED: list[tuple[Any, Program, Any, int]] = [
    (verify_upper, twice(), Multipliers((Q(2),)), 6),
    (verify_upper, with_a_value(), Multipliers((Q(1), Q(1))), 1),
    (verify_lower, twice(), length2(Q(3)), 6),
    (verify_lower, of_length_one(), length2(Q(1)), 1),
]


@pytest.mark.parametrize(("verify", "program", "certificate", "side"), PROVED)
def test_a_certificate_proves_its_side(verify: Any, program: Program, certificate: Any, side: int) -> None:
    assert verify(program, certificate) == side


SHORT = Q(1, 10**30)
FORGED: list[tuple[Any, Program, Any, str]] = [
    (verify_upper, twice(), Multipliers((2 - SHORT,)), "positive semidefinite matrix, got another in block 0"),
    (verify_upper, twice(), Multipliers((Q(-10),)), "at least 0 for an inequality"),
    # Half of the multipliers would "prove" 1/2, below what is attained.
    (verify_upper, with_a_value(), Multipliers((Q(1, 2), Q(1, 2))), "make the function values cancel"),
    (verify_lower, twice(), length2(3 + SHORT), "the point must fulfill all constraints"),
    (verify_lower, twice(), length2(Q(-1)), "must be positive semidefinite"),
    (verify_lower, of_length_one(), length2(Q(1, 4)), "the point must fulfill all constraints"),
]


@pytest.mark.parametrize(("verify", "program", "certificate", "sentence"), FORGED)
def test_a_forged_certificate_is_refused(verify: Any, program: Program, certificate: Any, sentence: str) -> None:
    with pytest.raises(OracleError, match=sentence):
        verify(program, certificate)


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
