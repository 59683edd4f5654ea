"""Federations that attain worst cases, against independently computed sums."""

from fractions import Fraction as Q
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from fedtheory._support.validate import Array
from fedtheory.worst_case import Problem
from fedtheory.worst_case.function_classes import quadratics, smooth_functions
from fedtheory.worst_case.function_classes.interface import FunctionClass
from fedtheory.worst_case.function_classes.smooth_functions import Interpolant, _on_simplex

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
    monkeypatch.setattr(smooth_functions, "_settled", None)
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
        (turned_back, quadratics, "_by_source", together),
        (below_a_minimum, FunctionClass, "has_minimizer", True),
        (contraction, smooth_functions, "_factors", lambda mu, L: (Q(1, 4), Q(0), Q(0))),
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


@pytest.mark.parametrize("seed", range(5))
def test_between_its_points_the_loss_of_an_instance_is_least_over_all_mixtures_of_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Of many vertices several have to leave the face at once, now and then.
    for count, dim in ((8, 3), (8, 3), (40, 2), (40, 6), (40, 20)):
        vectors, linear = rng.normal(size=(count, dim)), rng.normal(size=count) / 4
        weights = _on_simplex(vectors, linear)
        assert (weights >= 0).all()
        assert weights.sum() == pytest.approx(1, abs=1e-12)
        # The conditions of Karush, Kuhn and Tucker: no vertex is lower along the slope than the mixture.
        slope = vectors @ (weights @ vectors) + linear
        assert slope.min() >= slope @ weights - 1e-10


def test_parabolas_of_three_clients_of_which_the_last_gradient_follows_from_the_others_attain_their_worst_case() -> (
    None
):
    p = Problem()
    clients = [p.function(mu=Q(1, 10), L=1, quadratic=True, minimum=0) for _ in range(3)]
    F = p.mean(clients)
    best, w = F.minimizer(p.origin, objective_gap=Q(1, 2)), p.point("start")
    p.at_most((w - best).square, 1, "distance2")
    models = [client.step(w, Q(1, 4)) for client in clients]
    p.maximize(p.mean([F.value(p.mean(pair)) for pair in combinations(models, 2)]) - F.value(best))
    worst = p.solve()
    assert worst.instance().run() == pytest.approx(float(worst.enclosure[0]), rel=1e-9)
    assert worst.relative_width < 1e-5
