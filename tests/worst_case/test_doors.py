"""Classes that are refused, edge cases, and relations between worst cases."""

from collections.abc import Callable
from fractions import Fraction as Q
from typing import Any

import pytest

from fedtheory.worst_case import skewed_selection
from fedtheory.worst_case.aligned_selection import fedalign
from fedtheory.worst_case.biased_selection import power_of_choice
from fedtheory.worst_case.federated_averaging import fedavg
from fedtheory.worst_case.optimal_sampling import optimal_client_sampling
from fedtheory.worst_case.skewed_selection import skew_class, skew_class_horizon
from fedtheory.worst_case.worst_cases import WorstCase

CLASS: dict[str, Any] = {"mu": Q(1, 10), "L": 1, "distance2": 1, "objective_gap": Q(1, 2)}
SKEWS: dict[str, Any] = {"rho_diagonal": Q(6, 5), "rho_tilde": 2}
HALF = [Q(1, 2), Q(1, 2)]


def aligned(**options: Any) -> WorstCase:
    return fedalign(1, Q(1, 4), **CLASS | {"client_gap": Q(1, 2)} | options)


REFUSED: dict[str, tuple[Callable[[], WorstCase], str]] = {
    "no curvature between": (lambda: fedavg(1, Q(1, 4), **CLASS | {"mu": 1}), "mu must be below L"),
    "noise in rounds": (
        lambda: fedavg(1, Q(1, 4), **CLASS, num_clients=3, gradient_noise=1, num_rounds=2),
        "later rounds mix a client's own noise",
    ),
    "a large block": (lambda: fedavg(60, Q(1, 4), **CLASS), "at most 50 rows, got 62"),
    "a large tree": (
        lambda: fedavg(3, Q(1, 4), **CLASS, sampling="distinct", num_clients=5, num_selected=2, num_rounds=3),
        "largest block",
    ),
    "many orders": (
        lambda: power_of_choice(4, 2, 1, 1, Q(1, 4), **CLASS, num_rounds=2),
        r"orders of the losses must be at most 1000, got 4!\^3",
    ),
    "skews in another order": (
        lambda: skew_class(1, Q(1, 4), **CLASS, rho_diagonal=2, rho_tilde=1),
        "rho_tilde >= rho_diagonal: got 1 < 2",
    ),
    "a skew above L/mu": (
        lambda: skew_class(1, Q(1, 4), **CLASS, rho_diagonal=11, rho_tilde=12),
        "rho_diagonal <= L/mu: got 11 > 10",
    ),
    "a small G2": (
        lambda: skew_class(1, Q(1, 16), mu=1, L=4, distance2=25, objective_gap=Q(1, 2), **SKEWS, G2=Q(11, 10)),
        "got contradictions of G2 and objective_gap",
    ),
    "noise of quadratics": (
        lambda: skew_class(2, Q(1, 4), **CLASS, **SKEWS, gradient_noise=1, functions="quadratic"),
        "gradient_noise must be 0 with functions='quadratic'",
    ),
    "part of a round": (lambda: skew_class_horizon(3, 2, Q(1, 4), **CLASS, **SKEWS), "multiple of local_steps"),
    "weights": (lambda: optimal_client_sampling([Q(1, 2), Q(2, 5)], 1, Q(1, 4), **CLASS), "sum to 1 exactly"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_class_without_members_or_without_a_finite_program_is_refused(name: str) -> None:
    call, sentence = REFUSED[name]
    with pytest.raises(ValueError, match=sentence):
        call()


def test_a_bound_on_gradients_that_just_fits_is_taken() -> None:
    worst = skew_class(1, Q(1, 16), mu=1, L=4, distance2=25, objective_gap=Q(1, 2), **SKEWS, G2=32)
    free = skew_class(1, Q(1, 16), mu=1, L=4, distance2=25, objective_gap=Q(1, 2), **SKEWS)
    assert worst.enclosure[0] < free.enclosure[1]
    assert worst.multipliers["G2"] >= 0


@pytest.mark.parametrize("options", [{}, {"objective": "gap"}, {"client_gap": 0, "objective_gap": Q(1, 3)}])
def test_a_federation_attains_the_worst_case_of_fedalign(options: dict[str, Any]) -> None:
    worst = aligned(**options)
    assert worst.instance().run() == pytest.approx(float(worst.enclosure[0]), rel=1e-6)
    assert worst.verify() == worst.enclosure


def test_a_third_client_with_hardly_any_data_does_not_matter() -> None:
    assert aligned(share=Q(1, 10**6)).value == pytest.approx(fedavg(1, Q(1, 4), **CLASS).value, rel=1e-5)


def test_an_objective_gap_of_zero_is_imposed() -> None:
    given = CLASS | {"objective_gap": 0}
    for worst in (
        fedavg(2, Q(1, 4), **given),
        fedavg(2, Q(1, 4), **given, sampling="independent", num_selected=2),
        power_of_choice(3, 2, 1, 1, Q(1, 4), **given),
        power_of_choice(3, 3, 1, 1, Q(1, 4), **given),
        skew_class(2, Q(1, 4), **given, **SKEWS),
        optimal_client_sampling(HALF, 1, Q(1, 4), **given),
    ):
        assert "objective_gap" not in worst.multipliers
        assert worst.instance().run() == pytest.approx(float(worst.enclosure[0]), rel=1e-6, abs=1e-9)
        assert worst.relative_width < 1e-4


def above(larger: WorstCase, smaller: WorstCase) -> bool:
    return larger.enclosure[1] >= smaller.enclosure[0]


def test_worst_cases_are_ordered_as_their_classes_are() -> None:
    one: dict[str, Any] = {"sampling": "distinct", "num_clients": 2, "num_selected": 1}
    # Composing rounds forgets that clients persist.
    first = fedavg(1, Q(1, 4), **CLASS, **one)
    composed = fedavg(1, Q(1, 4), **CLASS | {"distance2": first.enclosure[1]}, **one)
    assert above(composed, fedavg(1, Q(1, 4), **CLASS, **one, num_rounds=2))
    # The class of all laws of skew 1 holds uniform sampling of one client.
    skewed = skew_class(2, Q(1, 4), **CLASS, rho_diagonal=1, rho_tilde=1)
    assert above(skewed, fedavg(2, Q(1, 4), **CLASS, sampling="independent", num_selected=1))


def test_numbers_of_a_horizon_are_rounded_to_their_own_side_and_keep_their_digits() -> None:
    for number in (Q(1, 3), Q(2, 3), Q(10**30, 7), Q(1, 7 * 10**30), Q(3)):
        below, above = (skewed_selection._rounded(number, up=up) for up in (False, True))
        assert below <= number <= above
        assert above - below <= number / 2 ** (skewed_selection._DIGITS - 1)
        assert (above == below) is (number.denominator == 1 and number < 10)
        assert max(below.numerator, below.denominator).bit_length() <= skewed_selection._DIGITS + 110
    assert {skewed_selection._rounded(Q(0), up=up) for up in (False, True)} == {Q(0)}
