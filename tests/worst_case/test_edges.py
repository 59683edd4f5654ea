"""Edge cases of programs: rejected ones, and laws that hold in all cases."""

from collections.abc import Callable
from fractions import Fraction as Q
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from fedtheory.arithmetic.matrices import solve_exactly
from fedtheory.bounds import fedalign as align
from fedtheory.bounds import power_of_choice as poc
from fedtheory.bounds.fedalign import _worst_cases as of_fedalign
from fedtheory.errors import OracleError
from fedtheory.worst_case import skewed_selection
from fedtheory.worst_case._vectors import Value
from fedtheory.worst_case.comparisons import _sensitivities, compared
from fedtheory.worst_case.error_floors import error_floor
from fedtheory.worst_case.federated_averaging import fedavg
from fedtheory.worst_case.instances import _on_simplex, vertices
from fedtheory.worst_case.worst_cases import Lemma

CLASS: dict[str, Any] = {"mu": Q(1, 10), "L": 1, "distance2": 1, "objective_gap": Q(1, 2)}
FLOOR: dict[str, Any] = {"mu": Q(1, 10), "L": 1, "objective_gap": 1}


def broken_chain() -> Any:
    one = skewed_selection.skew_class(1, Q(1, 4), **CLASS, rho_diagonal=1, rho_tilde=1)
    return skewed_selection._composition(Q(2), one.cases)


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "entry left": (
        lambda: solve_exactly([{0: Q(1)}], {0: Q(1), 2: Q(3)}),
        ArithmeticError,
        "must be a combination of the 1 columns",
    ),
    "no steps": (
        lambda: of_fedalign.RECURSION.solve(align.gradient_norm, {"local_steps": 1, "num_steps": 1}),
        ValueError,
        "gradient_norm must prescribe",
    ),
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


def test_a_bound_value_of_zero_grows_with_its_constants_as_the_bound_does() -> None:
    def bound(*, sigma2: Q, strict: bool) -> tuple[Q, None]:
        return 7 * (sigma2 - 3), None

    found: Any = SimpleNamespace(bound_value=Q(0), worst_case=SimpleNamespace(multipliers={"gradient_noise": Q(5)}))
    assert _sensitivities(cast("Any", bound), {"sigma2": Q(3)}, found) == {"gradient_noise": (Q(7), Q(5))}
    # What is compared may be a multiple of the bound.
    found.bound_value = Q(14)
    assert _sensitivities(cast("Any", bound), {"sigma2": Q(4)}, found) == {"gradient_noise": (Q(14), Q(5))}
