"""Edges that few programs reach: what is refused there, and laws that hold there as elsewhere."""

from collections.abc import Callable
from fractions import Fraction as Q
from itertools import permutations, product
from types import SimpleNamespace
from typing import Any, cast
from unittest import mock

import numpy as np
import pytest

from fedtheory.arithmetic.matrices import solve_exactly
from fedtheory.bounds import fedalign as align
from fedtheory.bounds import power_of_choice as poc
from fedtheory.errors import OracleError
from fedtheory.worst_case import _confrontations as confrontations
from fedtheory.worst_case import _ways_of_fedalign, skewed_selection
from fedtheory.worst_case._embedding import vertices
from fedtheory.worst_case._gram import Value
from fedtheory.worst_case._settings import Setting
from fedtheory.worst_case.aligned_selection import _align
from fedtheory.worst_case.biased_selection import _Choice, _largest
from fedtheory.worst_case.floors import error_floor
from fedtheory.worst_case.full_or_uniform import fedavg
from fedtheory.worst_case.instances import Interpolant, Parabola, _on_simplex
from fedtheory.worst_case.optimal_sampling import optimal_client_sampling
from fedtheory.worst_case.problem import Problem
from fedtheory.worst_case.promises import _charges, compared
from fedtheory.worst_case.skewed_selection import _turned
from fedtheory.worst_case.worst_cases import Lemma

CLASS: dict[str, Any] = {"mu": Q(1, 10), "L": 1, "distance2": 1, "objective_gap": Q(1, 2)}
FLOOR: dict[str, Any] = {"mu": Q(1, 10), "L": 1, "objective_gap": 1}


def twice(distance2: Q) -> Any:
    p = Problem()
    x = p.point()
    p.at_most(x.square, distance2, "distance2")
    p.maximize(2 * x.square)
    given = Setting(Q(1, 10), (Q(1),), {"distance2": distance2}, Q(1), Q(1))
    return confrontations.worst_problem(p, given, "gap")


def broken_chain() -> Any:
    one = mock.Mock()
    one.given = Setting(Q(1, 10), (Q(1),), {"distance2": Q(3)}, Q(1), Q(1))
    return skewed_selection._checked([one], Q(2))


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "entry left": (
        lambda: solve_exactly([{0: Q(1)}], {0: Q(1), 2: Q(3)}),
        ArithmeticError,
        "must be a combination of 1 columns",
    ),
    "no steps": (lambda: _ways_of_fedalign._sizes(align.gradient_norm, {}), ValueError, "gradient_norm must prescribe"),
    "no instance": (lambda: twice(Q(3)).instance(), ValueError, "a lemma's gap are programs without a federation"),
    "one skew": (
        lambda: error_floor(2, Q(1, 4), **FLOOR, rho_diagonal=1),
        ValueError,
        "rho_diagonal and rho_tilde must",
    ),
    "other skew": (
        lambda: error_floor(2, Q(1, 4), **FLOOR, rho_tilde=2),
        ValueError,
        "given both, and for the distance",
    ),
    "skewed gap": (
        lambda: error_floor(2, Q(1, 4), **FLOOR, rho_diagonal=1, rho_tilde=2, objective="gap"),
        ValueError,
        "must be given both, and for the distance, or neither",
    ),
    "a zero that divides": (lambda: compared(poc.gradient_norm, {"excess": Q(1), "L": 0}), ValueError, "L must be"),
    "a chain": (broken_chain, OracleError, "a round must start where the one before has ended"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_ordinary_call_reaches_is_refused_in_one_sentence(name: str) -> None:
    call, kind, sentence = REFUSED[name]
    with pytest.raises(kind, match=sentence):
        call()


@pytest.mark.parametrize("num", [1, 2, 3, 5])
def test_vertices_of_a_simplex_are_equally_far_apart_and_of_sum_zero(num: int) -> None:
    found = vertices(num)
    assert found.shape == (num, num - 1)
    angles = (num * np.eye(num) - 1) / max(num - 1, 1)
    assert found @ found.T == pytest.approx(angles, abs=1e-14)


def test_function_values_are_added_as_numbers_are() -> None:
    f, g = Value(), Value()
    assert (f + g).values == {f: 1, g: 1}
    assert (f + f).values == {f: 2}
    assert (f - g).values == {f: 1, g: -1}


def test_numbers_of_a_horizon_are_rounded_to_their_own_side_and_keep_their_digits() -> None:
    for number in (Q(1, 3), Q(2, 3), Q(10**30, 7), Q(1, 7 * 10**30), Q(3)):
        below, above = (skewed_selection._rounded(number, up=up) for up in (False, True))
        assert below <= number <= above
        assert above - below <= number / 2 ** (skewed_selection._DIGITS - 1)
        assert (above == below) is (number.denominator == 1 and number < 10)
        assert max(below.numerator, below.denominator).bit_length() <= skewed_selection._DIGITS + 110
    assert {skewed_selection._rounded(Q(0), up=up) for up in (False, True)} == {Q(0)}


def test_inequalities_of_rounds_are_inserted_into_one_another() -> None:
    first = Lemma("distance", {"distance2": Q(1, 2), "objective_gap": Q(3)})
    second = Lemma("distance", {"distance2": Q(1, 4), "objective_gap": Q(1), "gradient_noise": Q(2)})
    # (1/2 D + 3 Gamma)/4 + Gamma + 2 sigma^2.
    composed = {"distance2": Q(1, 8), "objective_gap": Q(7, 4), "gradient_noise": Q(2)}
    assert dict(skewed_selection._composed([first, second])) == composed


def clients() -> list[Interpolant | Parabola]:
    points = np.array([[0.0, 0.0], [1.0, 3.0], [-2.0, 0.5]])
    curvature = np.array([[0.7, 0.1], [0.1, 0.4]])
    on_it = Parabola(curvature, np.zeros(2))
    values = np.array([on_it.loss(w) for w in points])
    return [Interpolant(points, points @ curvature, values, 0.2, 1.5), Parabola(curvature, np.array([0.3, -1.1]), 2.0)]


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("goal", [(0.0, -5.0, 0.0), (0.6, 0.8, 0.0), (3.0, 4.0, 0.0), (-3.0, -4.0, 0.0), (0.0,) * 3])
def test_a_turned_client_sees_the_goal_as_it_saw_the_start(kind: int, goal: tuple[float, ...]) -> None:
    client, start, there = clients()[kind], np.array([3.0, 4.0, 0.0]), np.array(goal)
    turned = _turned(client, start, there)
    length = np.linalg.norm(there)
    same = there * np.linalg.norm(start) / length if length else start
    for stretch in (1.0, -0.7, 2.5):
        assert turned.loss(stretch * same) == pytest.approx(client.loss(stretch * start[:2]), rel=1e-12)
        slope = client.gradient(stretch * start[:2])
        assert turned.gradient(stretch * same) @ same == pytest.approx(slope @ start[:2], rel=1e-12)
        assert np.linalg.norm(turned.gradient(stretch * same)) == pytest.approx(np.linalg.norm(slope), rel=1e-12)
    assert turned.minimum == client.minimum
    if isinstance(client, Parabola) and isinstance(turned, Parabola):
        known, found = np.linalg.eigvalsh(client.curvature), np.linalg.eigvalsh(turned.curvature)
        assert known[0] * (1 - 1e-12) <= found[0]
        assert found[-1] <= known[-1] * (1 + 1e-12)


def test_mixtures_of_few_vertices_of_any_size_are_least_however_many_leave_the_face_on_the_way() -> None:
    for seed in range(100):
        rng = np.random.default_rng(seed)
        count, dim = int(rng.integers(3, 9)), int(rng.integers(1, 6))
        vectors = rng.normal(size=(count, dim)) * 10.0 ** rng.integers(-2, 3)
        linear = rng.normal(size=count) * 10.0 ** rng.integers(-2, 3)
        weights = _on_simplex(vectors, linear)
        slope = vectors @ (weights @ vectors) + linear
        assert weights.min() >= 0
        # One system of equations has squares up to 10^5 beside the ones of the sum.
        assert weights.sum() == pytest.approx(1, abs=1e-10)
        assert slope.min() >= slope @ weights - 1e-10 * (np.abs(vectors).max() ** 2 + np.abs(linear).max())


def test_parabolas_of_three_clients_of_which_the_last_gradient_follows_from_the_others_attain_their_worst_case() -> (
    None
):
    worst = fedavg(
        1, Q(1, 4), **CLASS, sampling="distinct", num_clients=3, num_selected=2, objective="gap", functions="quadratic"
    )
    assert worst.instance().run() == pytest.approx(float(worst.enclosure[0]), rel=1e-9)
    assert worst.relative_width < 1e-5


@pytest.mark.parametrize(
    ("probabilities", "size", "num_sets"), [("optimal", Q(3, 2), 4), ("uniform", Q(3, 2), 4), ("uniform", Q(2), 1)]
)
def test_a_step_of_sampled_clients_is_as_bad_as_the_law_of_their_sets_says(
    probabilities: str, size: Q, num_sets: int
) -> None:
    worst = optimal_client_sampling([Q(2, 3), Q(1, 3)], size, Q(1, 4), **CLASS, probabilities=probabilities)
    found = worst.instance()
    assert found.run() == pytest.approx(float(worst.enclosure[0]), rel=1e-6)
    law = found.selection(np.zeros(2), ())
    assert len(law) == num_sets
    assert sum(outcome.probability for outcome in law) == pytest.approx(1, abs=1e-12)
    mean = sum(outcome.probability * outcome.coefficients for outcome in law)
    assert mean == pytest.approx(found.weights, abs=1e-12)


def test_a_promise_of_zero_grows_with_its_constants_as_the_bound_does() -> None:
    def bound(*, sigma2: Q, strict: bool) -> tuple[Q, None]:
        return 7 * (sigma2 - 3), None

    found: Any = SimpleNamespace(promise=Q(0), worst=SimpleNamespace(multipliers={"gradient_noise": Q(5)}))
    assert _charges(cast("Any", bound), {"sigma2": Q(3)}, found) == {"gradient_noise": (Q(7), Q(5))}
    # A lemma may promise a multiple of what its bound evaluates.
    found.promise = Q(14)
    assert _charges(cast("Any", bound), {"sigma2": Q(4)}, found) == {"gradient_noise": (Q(14), Q(5))}


@pytest.mark.parametrize("at_threshold", [False, True])
def test_a_client_on_the_threshold_is_told_by_losses_of_either_sign(at_threshold: bool) -> None:
    # Around losses of 10 what is within 1e-4 of them, a thousandth, counts as on the threshold.
    taken = {-2e-3: True, -5e-4: at_threshold, 5e-4: at_threshold, 2e-3: False}
    for sign, (beyond, included) in product((1.0, -1.0), taken.items()):
        losses = np.array([sign * 9, sign * 11, sign * (9 - beyond)])
        [outcome] = _align(0.5, 1.0, at_threshold, losses, ())
        assert outcome.probability == 1
        assert outcome.coefficients == pytest.approx(np.array([0.5, 0.5, 0.5 * included]) / (1 + 0.5 * included))


def test_losses_that_differ_by_what_a_solver_leaves_keep_the_order_of_the_program_at_every_scale() -> None:
    losses = np.array([3.0, 3.0002, 3.001, 2.0])
    for scale, order, first in product((1.0, 1e-9, 1e9), permutations(range(4)), (0, 1)):
        shifted = scale * (losses - 6 * first)  # all of them negative: -3, -2.9998, -2.999, -4
        [outcome] = _largest(_Choice(4, 4, 1), {(): order}, shifted, ())
        assert outcome.probability == 1
        assert np.flatnonzero(outcome.coefficients).tolist() == [2]
        twos = _largest(_Choice(4, 4, 2), {(): order}, shifted, ())
        second = min((0, 1), key=order.index)
        assert [np.flatnonzero(two.coefficients).tolist() for two in twos] == [[second, 2]]
