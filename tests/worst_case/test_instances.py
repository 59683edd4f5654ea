"""Federations that attain worst cases, beside sums that are taken another way."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from fedtheory._support.validate import Array
from fedtheory.worst_case import instances
from fedtheory.worst_case.instances import History, Instance, Interpolant, Outcome, Parabola, _on_simplex

MU, L = 0.3, 1.7


def smooth(w: Array) -> float:
    """A function of curvatures between 0.5 and 1.5 that is no parabola."""
    return float(w @ w / 4 + np.log(np.cosh(w)).sum() + w @ np.arange(1, w.size + 1) / 5)


def slope(w: Array) -> Array:
    found: Array = w / 2 + np.tanh(w) + np.arange(1, w.size + 1) / 5
    return found


def interpolant(seed: int, unit: float = 1.0, count: int = 5, dim: int = 3) -> tuple[Interpolant, Array]:
    """What is known of the smooth function at random points, and points between them, in units of length."""
    rng = np.random.default_rng(seed)
    points = 2 * rng.normal(size=(count, dim))
    gradients, values = np.array([slope(x) for x in points]), np.array([smooth(x) for x in points])
    known = Interpolant(unit * points, unit * gradients, unit**2 * values, MU, L)
    return known, unit * rng.normal(size=(4, dim))


@pytest.mark.parametrize("seed", range(3))
def test_a_function_takes_the_values_and_gradients_that_are_known_without_looking_for_mixtures(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, _ = interpolant(seed, count=40)
    monkeypatch.setattr(instances, "_settled", None)
    for x, g, f in zip(known.points, known.gradients, known.values, strict=True):
        assert known.loss(x) == pytest.approx(f, rel=1e-12)
        assert known.gradient(x) == pytest.approx(g, rel=1e-11)
    assert known.minimum == min(known.values)


@pytest.mark.parametrize("seed", range(3))
def test_between_its_points_a_function_is_the_largest_of_its_class(seed: int) -> None:
    known, between = interpolant(seed)
    for w in between:
        value, gradient = known.loss(w), known.gradient(w)
        # Another function of the class with the same values at the points is below, parabolas of curvature L above.
        assert smooth(w) < value
        for x, g, f in zip(known.points, known.gradients, known.values, strict=True):
            away = w - x
            assert f + g @ away + MU / 2 * away @ away < value
            # Where one parabola is the lowest of all mixtures, it is the function.
            assert value <= f + g @ away + L / 2 * away @ away + 1e-12
        # The central difference of step 1e-5 has an error of 1e-10, and 1e-11 of rounding.
        found = [(known.loss(w + step) - known.loss(w - step)) / 2e-5 for step in 1e-5 * np.eye(w.size)]
        assert gradient == pytest.approx(found, rel=1e-7)


@pytest.mark.parametrize("exponent", [-200, -60, -30, 30, 60, 200])
def test_a_function_is_the_same_in_other_units_of_length(exponent: int) -> None:
    unit = 2.0**exponent
    (small, between), (large, there) = interpolant(5), interpolant(5, unit)
    for w, v in zip(between, there, strict=True):
        assert large.loss(v) / unit**2 == pytest.approx(small.loss(w), rel=1e-12)
        assert large.gradient(v) / unit == pytest.approx(small.gradient(w), rel=1e-11)


def test_vertices_that_are_equal_or_depend_on_each_other_are_mixed_as_others_are() -> None:
    # The nearest point of the segment from (1, 3) to (1, -1), with its ends and its middle several times.
    corners = np.array([[1.0, 3.0], [1.0, -1.0], [1.0, 3.0], [1.0, 1.0], [1.0, -1.0], [1.0, -1.0], [1.0, 1.0]])
    for scale, order in product(
        (1e-7, 1.0, 1e7), ([0, 1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1, 0], [3, 2, 4, 6, 0, 5, 1])
    ):
        vertices = scale * corners[order]
        weights = _on_simplex(vertices, np.zeros(7))
        assert weights @ vertices == pytest.approx(scale * np.array([1.0, 0.0]), abs=1e-12 * scale)
        assert weights.sum() == pytest.approx(1, rel=1e-12)
        assert (weights >= 0).all()
        # Of equal vertices the cheapest is taken: the last three are below the line through the first two.
        cheap = _on_simplex(vertices, scale**2 * np.array([0.0, 0.0, -0.5, 0.0, -1.0, -2.0, 0.0])[order])
        assert cheap[np.argsort(order)] @ [0, 0, 1, 0, 0, 1, 0] == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_a_face_is_left_downwards_until_its_vertices_are_independent_and_its_slopes_equal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    num, dim = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    # Some vertices are there twice, at one cost or at two.
    vectors, linear = rng.normal(size=(num, dim)), rng.normal(size=num)
    again = rng.integers(num, size=4)
    vectors, linear = np.vstack([vectors, vectors[again]]), np.append(linear, linear[again] + [0, 0, 1, -1])
    vectors, linear = 10.0 ** (3 * (seed % 3 - 1)) * vectors, 10.0 ** (6 * (seed % 3 - 1)) * linear
    start = rng.uniform(0.5, 1, size=num + 4)
    weights = start / start.sum()

    def height(a: Array) -> float:
        return float((a @ vectors) @ (a @ vectors) / 2 + a @ linear)

    before = height(weights)
    inside = instances._settled(weights, list(range(num + 4)), vectors, linear)
    assert height(weights) < before
    assert np.flatnonzero(weights).tolist() == sorted(inside)
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1, rel=1e-12)
    assert np.linalg.matrix_rank(np.column_stack([vectors, np.ones(num + 4)])[inside]) == len(inside)
    slopes = (vectors @ (weights @ vectors) + linear)[inside]
    assert slopes == pytest.approx(slopes[0], abs=1e-9 * float(np.abs(linear).max()))


@pytest.mark.parametrize(("cost", "expected"), [(1.0, [0.75, 0.25, 0.0]), (-0.25, [0.0, 0.0, 1.0])])
def test_of_two_equal_vertices_the_cheaper_one_is_kept(cost: float, expected: list[float]) -> None:
    # Of (0, 0) at 0 and (1, 0) at -1/4 the share a of the latter is least in a^2/2 - a/4; at -1/4 the other one wins.
    vectors, linear, weights = (
        np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]]),
        np.array([0.0, -0.25, cost]),
        np.ones(3) / 3,
    )
    instances._settled(weights, [0, 1, 2], vectors, linear)
    assert weights == pytest.approx(expected, abs=1e-15)


SIZES = (0.5, 0.25, 0.125, 1.0)
CURVATURES, CENTERS = (0.5, 1.25, 0.75), ((1.0, -2.0), (3.0, 0.5), (-1.0, 4.0))
WEIGHTS = (0.75, 0.25, 0.0)


def cast() -> tuple[Parabola, ...]:
    return tuple(
        Parabola(curvature * np.eye(2), np.array(center), minimum)
        for curvature, center, minimum in zip(CURVATURES, CENTERS, (0.5, -0.25, 100.0), strict=True)
    )


def law(losses: Array, history: History) -> Sequence[Outcome]:
    """The client of the largest loss, or all in a fixed proportion; more often so after an earlier second outcome."""
    chance = 0.25 if 1 in history else 0.625
    return [Outcome(chance, np.eye(3)[np.argmax(losses)]), Outcome(1 - chance, np.array([0.5, 0.0, 1.25]))]


def moved(k: int, w: Array, sizes: Sequence[float]) -> Array:
    """The model of a client after its steps: its distance from the center shrinks by ``1 - eta h``."""
    kept = float(np.prod([1 - eta * CURVATURES[k] for eta in sizes]))
    found: Array = np.array(CENTERS[k]) + kept * (w - np.array(CENTERS[k]))
    return found


def loss(k: int, w: Array) -> float:
    away = w - np.array(CENTERS[k])
    return float(CURVATURES[k] / 2 * away @ away) + (0.5, -0.25, 100.0)[k]


@pytest.mark.parametrize("objective", ["distance", "gap"])
def test_training_goes_through_all_outcomes_of_all_rounds(objective: str) -> None:
    start = np.array([0.75, 1.5])
    found = Instance(cast(), np.array(WEIGHTS), start, SIZES, 2, law, objective)
    expected = 0.0
    for first, second in product((0, 1), repeat=2):
        w, chance = start, 1.0
        for number, outcome in enumerate((first, second)):
            history = (first,)[:number]
            sizes = SIZES[2 * number : 2 * number + 2]
            chances, coefficients = zip(*law(np.array([loss(k, w) for k in range(3)]), history), strict=True)
            chance *= chances[outcome]
            w = w + sum(c * (moved(k, w, sizes) - w) for k, c in enumerate(coefficients[outcome]))
        gap = sum(p * (loss(k, w) - loss(k, np.zeros(2))) for k, p in enumerate(WEIGHTS))
        expected += chance * (float(w @ w) if objective == "distance" else gap)
    assert found.run() == pytest.approx(expected, rel=1e-13)
    # 0.75 (1/4 * 5) + 0.25 (5/8 * 9.25), whatever the minima.
    assert found.objective_gap() == pytest.approx(0.75 * 1.25 + 0.25 * 5.78125, rel=1e-14)
    assert found.loss(start) == pytest.approx(0.75 * loss(0, start) + 0.25 * loss(1, start), rel=1e-14)


def test_a_client_of_no_weight_is_no_part_of_the_objective() -> None:
    hidden: Any = None
    first, second, _ = cast()
    found = Instance((first, second, hidden), np.array(WEIGHTS), np.ones(2), (0.5,), 1, law, "gap")
    assert found.error(np.ones(2)) == pytest.approx(found.loss(np.ones(2)) - found.loss(np.zeros(2)), rel=1e-14)
    assert found.objective_gap() > 0


def test_clients_that_no_outcome_counts_are_not_trained() -> None:
    asked = []

    class Watched:
        minimum = 0.0

        def loss(self, w: Array) -> float:
            return float(w @ w) / 2

        def gradient(self, w: Array) -> Array:
            asked.append(w)
            return w

    outcomes = [Outcome(0.5, np.array([0.0, 1.0, 0.0])), Outcome(0.5, np.array([0.0, -0.5, 1.0]))]
    first, second, _ = cast()
    Instance((Watched(), first, second), np.ones(3) / 3, np.ones(2), (0.5, 0.25), 1, lambda *_: outcomes).run()
    assert asked == []
    outcomes.append(Outcome(0.0, np.array([1.0, 0.0, 0.0])))
    Instance((Watched(), first, second), np.ones(3) / 3, np.ones(2), (0.5, 0.25), 1, lambda *_: outcomes).run()
    assert len(asked) == 2


def test_noises_of_clients_are_independent_and_depend_on_those_before() -> None:
    rng = np.random.default_rng(3)
    noises = (rng.normal(size=(2, 2)), rng.normal(size=(2, 2, 2)))
    outcomes = [Outcome(0.25, np.array([0.5, 0.5, 0.0])), Outcome(0.75, np.array([-1.0, 0.0, 2.0]))]
    start = np.array([0.75, 1.5])
    found = Instance(cast(), np.array(WEIGHTS), start, SIZES[:2], 1, lambda *_: outcomes, noises=noises)

    def noisy(k: int, signs: tuple[int, int]) -> Array:
        w = moved(k, start, SIZES[:1]) - SIZES[0] * noises[0][signs[0]]
        return moved(k, w, SIZES[1:2]) - SIZES[1] * noises[1][signs]

    expected = 0.0
    each = list(product((0, 1), repeat=2))
    for signs in product(each, repeat=3):
        models = [noisy(k, sign) for k, sign in enumerate(signs)]
        for chance, coefficients in outcomes:
            mean = sum(c * model for c, model in zip(coefficients, models, strict=True))
            expected += chance * float(mean @ mean) / 4**3
    assert found.run() == pytest.approx(expected, rel=1e-13)


def test_an_instance_is_written_out_with_everything_but_its_law() -> None:
    known, _ = interpolant(1, count=2, dim=2)
    outcome = [Outcome(1.0, np.array([0.0, 1.0]))]
    parabola = Parabola(np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([3.0, 4.0]), 0.25)
    noises = (np.array([[0.5, 0.0], [-0.5, 0.0]]),)
    found = Instance(
        (known, parabola), np.array([0.25, 0.75]), np.ones(2), (0.5,), 1, lambda *_: outcome, noises=noises
    )
    assert found.as_data() == {
        "weights": [0.25, 0.75],
        "start": [1.0, 1.0],
        "step_sizes": [0.5],
        "num_rounds": 1,
        "objective": "distance",
        "noises": [[[0.5, 0.0], [-0.5, 0.0]]],
        "expected_error": found.run(),
        "clients": [
            {
                "kind": "interpolant",
                "points": known.points.tolist(),
                "gradients": known.gradients.tolist(),
                "values": known.values.tolist(),
                "mu": MU,
                "L": L,
            },
            {"kind": "parabola", "curvature": [[2.0, 0.5], [0.5, 1.0]], "center": [3.0, 4.0], "minimum": 0.25},
        ],
    }
    assert Parabola(np.eye(1), np.zeros(1)).minimum == 0
