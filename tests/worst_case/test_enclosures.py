"""Enclosures of worst cases contain what is known in closed form, and false certificates are refused."""

from dataclasses import replace
from fractions import Fraction as Q

import numpy as np
import pytest

from fedtheory.errors import OracleError
from fedtheory.worst_case import enclosures
from fedtheory.worst_case.certificates import FeasiblePoint, Multipliers, verify_lower, verify_upper
from fedtheory.worst_case.enclosures import Enclosure, enclose
from fedtheory.worst_case.function_classes import Point, interpolation
from fedtheory.worst_case.gram import Draft, Form, Program, Value, Vector
from fedtheory.worst_case.solver import Assembled, Solution


def gradient_descent(num_steps: int, step_size: Q, mu: Q, L: Q, *, loss: bool = False) -> Program:
    """Maximize the squared distance from the minimizer, or the loss, after some steps from distance at most 1."""
    draft, origin = Draft(), Vector({})
    w = start = draft.vector()
    best = Value()
    points = [Point(origin, origin, best)]
    for _ in range(num_steps + 1):
        points.append(Point(w, draft.vector(), Value()))
        w = w - step_size * points[-1].gradient
    for form in interpolation(points, mu, L):
        draft.at_most(form)
    draft.at_most(start.square, 1, "distance2")
    last = points[-1]
    return draft.maximize(last.value - best if loss else last.at.square)


def width(found: Enclosure) -> float:
    return float((found.upper - found.lower) / found.upper)


@pytest.mark.parametrize("num_steps", [1, 3])
def test_gradient_descent_contracts_by_one_minus_mu_over_l_and_no_faster(num_steps: int) -> None:
    found = enclose(gradient_descent(num_steps, Q(1), Q(1, 10), Q(1)))
    assert found.lower <= Q(9, 10) ** (2 * num_steps) <= found.upper
    assert width(found) < 1e-5


def test_gradient_descent_on_a_convex_function_attains_one_over_four_steps_plus_two() -> None:
    # Drori and Teboulle (2014): L |x_0 - x*|^2 / (4 N + 2) for steps 1/L.
    found = enclose(gradient_descent(5, Q(1), Q(0), Q(1), loss=True))
    assert found.lower <= Q(1, 22) <= found.upper
    assert width(found) < 1e-5


FOUND = enclose(gradient_descent(2, Q(1), Q(1, 10), Q(1)))
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
    [rows] = FOUND.point.factors
    grown = FeasiblePoint((tuple(tuple(Q(11, 10) * c for c in row) for row in rows),), FOUND.point.values)
    with pytest.raises(OracleError, match="the point must fulfill all constraints"):
        verify_lower(PROGRAM, grown)


def test_a_constraint_of_another_program_does_not_help() -> None:
    looser = replace(PROGRAM, inequalities=tuple(replace(c, bound=2 * c.bound) for c in PROGRAM.inequalities))
    assert verify_upper(looser, FOUND.multipliers) == 2 * FOUND.upper


def test_terms_of_one_product_are_added_up() -> None:
    u = Vector({(0, 0): Q(1)})
    form = Form.total([((u, u), Q(2)), ((u, u), Q(3))])
    assert form.products == {(u, u): Q(5)}
    draft = Draft()
    w = draft.vector()
    draft.at_most(w.square + w.square, 1)
    found = enclose(draft.maximize(w.square))
    assert found.lower <= Q(1, 2) <= found.upper


def test_function_values_that_are_left_over_prove_nothing() -> None:
    draft, value = Draft(), Value()
    w = draft.vector()
    draft.at_most(value - w.square)
    draft.at_most(w.square, 1)
    program = draft.maximize(value)
    assert verify_upper(program, Multipliers((Q(1), Q(1)))) == 1
    # Half of the multipliers would "prove" 1/2, below what is attained.
    with pytest.raises(OracleError, match="make the function values cancel"):
        verify_upper(program, Multipliers((Q(1, 2), Q(1, 2))))


def test_an_equality_must_be_met_exactly() -> None:
    draft = Draft()
    w = draft.vector()
    draft.equal_to(w.square, 1)
    program = draft.maximize(w.square)
    assert verify_lower(program, FeasiblePoint((((Q(1),),),), ())) == 1
    with pytest.raises(OracleError, match="the point must fulfill all constraints"):
        verify_lower(program, FeasiblePoint((((Q(1, 2),),),), ()))


def value_on_parabola(form: Form, points: list[Point], curvature: Q, at: list[tuple[Q, Q]]) -> Q:
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
    draft = Draft()
    points = [Point(draft.vector(), draft.vector(), Value()) for _ in at]
    conditions = interpolation(points, mu, L)
    for curvature in (mu, L):
        assert {value_on_parabola(form, points, curvature, at) for form in conditions} == {Q(0)}
    # Between them there is room, outside there is none: (h - mu)(L - h) times a square.
    for curvature, sign in ((Q(1), -1), (Q(3), 1), (Q(1, 4), 1)):
        assert all(sign * value_on_parabola(form, points, curvature, at) > 0 for form in conditions)


def twice() -> Program:
    draft = Draft()
    w = draft.vector()
    draft.at_most(w.square, 3)
    return draft.maximize(2 * w.square)


@pytest.mark.parametrize("missing", [Q(1), Q(1, 10**30)])
def test_multipliers_that_are_short_by_anything_prove_nothing(missing: Q) -> None:
    assert verify_upper(twice(), Multipliers((Q(2),))) == 6
    with pytest.raises(OracleError, match="positive semidefinite matrix, got another in block 0"):
        verify_upper(twice(), Multipliers((2 - missing,)))


def test_one_side_without_a_proof_leaves_no_enclosure() -> None:
    def refuse(_: Solution) -> FeasiblePoint:
        message = "no point"
        raise OracleError(message)

    with pytest.raises(OracleError, match="both sides, got none: the solver ended with a solution"):
        enclose(twice(), refuse)


def test_more_room_is_left_only_where_less_gave_no_proofs(monkeypatch: pytest.MonkeyPatch) -> None:
    rooms, known = list[float](), enclosures._quickly

    def quickly(program: Program, assembled: Assembled, room: float) -> tuple[list[Solution], str]:
        rooms.append(room)
        return known(program, assembled, room) if room < 1e-3 else ([], "too much room")

    monkeypatch.setattr(enclosures, "_quickly", quickly)
    first = enclose(twice(), rooms=(1e-6, 1e-7))
    assert rooms == [1e-6]
    second = enclose(twice(), rooms=(1.0, 1e-7, 1e-8))
    assert rooms == [1e-6, 1.0, 1e-7]
    # What is left free is lost: about the room on each side.
    assert 0 < second.upper - second.lower < (first.upper - first.lower) / 5


def test_inequalities_that_count_for_a_billionth_of_the_largest_are_taken_out() -> None:
    solution = Solution((), np.zeros(0), np.array([3.0, 2e-9, 5e-9, 0.5]), np.array([1e-12]))
    trimmed = enclosures._trimmed(solution)
    assert trimmed.multipliers.tolist() == [3.0, 0.0, 5e-9, 0.5]
    assert trimmed.equality_multipliers.tolist() == [1e-12]
