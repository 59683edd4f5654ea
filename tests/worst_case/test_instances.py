"""Federations that attain worst cases, against independently computed sums."""

from collections.abc import Callable
from fractions import Fraction as Q
from itertools import product
from typing import Any

import numpy as np
import pytest

from fedtheory import worst_case
from fedtheory._support.validate import Array
from fedtheory.errors import OracleError
from fedtheory.worst_case import Problem, _interpolation, instances
from fedtheory.worst_case import problem as problem_module
from fedtheory.worst_case.instances import Interpolant, _on_simplex
from fedtheory.worst_case.worst_cases import WorstCase

MU, L = 0.3, 1.7


def smooth(w: Array) -> float:
    """A function of curvatures between 0.5 and 1.5 that is no parabola."""
    return float(w @ w / 4 + np.log(np.cosh(w)).sum() + w @ np.arange(1, w.size + 1) / 5)


def slope(w: Array) -> Array:
    found: Array = w / 2 + np.tanh(w) + np.arange(1, w.size + 1) / 5
    return found


def interpolant(seed: int, unit: float = 1.0, count: int = 5) -> tuple[Interpolant, Array]:
    """What is known of the smooth function at random points, and points between them, in units of length."""
    rng = np.random.default_rng(seed)
    points = 2 * rng.normal(size=(count, 3))
    gradients, values = np.array([slope(x) for x in points]), np.array([smooth(x) for x in points])
    known = Interpolant(unit * points, unit * gradients, unit**2 * values, MU, L)
    return known, unit * rng.normal(size=(4, 3))


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


CURVATURES, CENTERS = (0.5, 1.25, 0.75), ((1.0, -2.0), (3.0, 0.5), (-1.0, 4.0))


def turned_back() -> Problem:
    """The gradient of a quadratic function does not turn back after half a step with noise."""
    p = Problem()
    f = p.function(L=1, quadratic=True)
    best, x = f.minimizer(), p.point()
    p.at_most((x - best).square, 1)
    turn = f.gradient(x) @ f.gradient(x - Q(1, 2) * f.stochastic_gradient(x, variance=1))
    p.maximize(Q(1, 100) * (x - best).square - turn)
    return p


def below_a_minimum() -> Problem:
    p = Problem()
    f, x = p.function(mu=-1), p.point()
    p.at_most((x - f.minimizer()).square, 1)
    p.at_most(f.gradient(x).square, 1)
    p.maximize(f.value(f.minimizer()) - f.value(x))
    return p


def contraction() -> Problem:
    p = Problem()
    f, x = p.function(mu=Q(1, 10), L=1), p.point()
    p.at_most((x - (best := f.minimizer())).square, 1)
    p.maximize((x - f.gradient(x) - best).square)
    return p


def together(pairs: Any, moved: Any, own: Any) -> Any:
    yield sorted({block for x, y in pairs for block in x.blocks | y.blocks}), moved or pairs


@pytest.mark.parametrize(
    ("problem", "owner", "name", "fault"),
    [
        (turned_back, _interpolation, "_by_source", together),
        (below_a_minimum, _interpolation.FunctionClass, "has_minimizer", True),
        (contraction, _interpolation, "_factors", lambda mu, L: (Q(1, 4), Q(0), Q(0))),
    ],
)
def test_a_lower_side_that_no_run_attains_is_withheld(
    problem: Any, owner: Any, name: str, fault: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a fault of the translation the semidefinite program has a point that is of no function."""
    monkeypatch.setattr(owner, name, fault)
    worst = problem().solve()
    assert worst.deciding.proof.lower is not None
    assert worst.lower is None
    assert worst.relaxed == ("a run that misses the lower side",)


CONSTANTS: dict[str, Any] = {"mu": Q(1, 10), "L": 1, "distance2": 1, "objective_gap": Q(1, 2)}
SKEWS: dict[str, Any] = {**CONSTANTS, "rho_diagonal": Q(6, 5), "rho_tilde": 2}
COMPRESSED: dict[str, Any] = {"mu": Q(3, 5), "L": 1, "compression_error": Q(1, 3)}
FAMILIES: dict[str, Callable[[], WorstCase]] = {
    "fedavg": lambda: worst_case.fedavg(1, Q(1, 4), **CONSTANTS),
    "fedavg with noise": lambda: worst_case.fedavg(1, Q(1, 4), **CONSTANTS, gradient_noise=1, num_clients=10),
    "power_of_choice": lambda: worst_case.power_of_choice(2, 2, 1, 1, Q(1, 4), **CONSTANTS),
    "fedalign": lambda: worst_case.fedalign(1, Q(1, 4), **CONSTANTS, client_gap=Q(1, 2), threshold=Q(1, 5)),
    "skew_class": lambda: worst_case.skew_class(1, Q(1, 4), **SKEWS),
    "skew_class_horizon": lambda: worst_case.skew_class_horizon(2, 1, Q(1, 8), **SKEWS),
    "optimal_client_sampling": lambda: worst_case.optimal_client_sampling([Q(1, 2)] * 2, 1, Q(1, 4), **CONSTANTS),
    "error_floor": lambda: worst_case.error_floor(2, Q(1, 4), mu=Q(1, 10), L=1, objective_gap=Q(1, 2)),
    "scaffold": lambda: worst_case.scaffold(1, Q(1, 8), mu=1, L=4),
    "heterogeneous_round": lambda: worst_case.heterogeneous_round(1, Q(1, 2), mu=1, L=3, distance2=4, zeta2=16),
    "fedprox": lambda: worst_case.fedprox(4, L=1, negative_curvature=0, gradient_dissimilarity=1),
    "error_feedback": lambda: worst_case.error_feedback(1, Q(5, 8), **COMPRESSED, potential=1),
    "ef21": lambda: worst_case.ef21(1, Q(5, 8), **COMPRESSED, potential=1),
    "compressed_gradients": lambda: worst_case.compressed_gradients(1, Q(5, 8), **COMPRESSED, gap=1),
}


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_no_family_has_a_lower_side_that_no_run_attains(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert FAMILIES[family]().lower is not None
    monkeypatch.setattr(problem_module, "is_attained", lambda *_, **__: False)
    try:
        lower = FAMILIES[family]().lower
    except OracleError as error:
        assert "got no proof of the lower one" in str(error)  # noqa: PT017
    else:
        assert lower is None
