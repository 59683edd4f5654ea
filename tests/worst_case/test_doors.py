"""Rejected arguments, edge cases, and relations between worst cases."""

from collections.abc import Callable
from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest

from fedtheory.errors import AssumptionViolated
from fedtheory.worst_case.aligned_selection import fedalign
from fedtheory.worst_case.biased_selection import power_of_choice
from fedtheory.worst_case.error_floors import error_floor
from fedtheory.worst_case.federated_averaging import fedavg
from fedtheory.worst_case.instances import _on_simplex
from fedtheory.worst_case.optimal_sampling import optimal_client_sampling
from fedtheory.worst_case.skewed_selection import skew_class, skew_class_horizon
from fedtheory.worst_case.worst_cases import WorstCase

CLASS: dict[str, Any] = {"mu": Q(1, 10), "L": 1, "distance2": 1, "objective_gap": Q(1, 2)}
SKEWS: dict[str, Any] = {"rho_diagonal": Q(6, 5), "rho_tilde": 2}
HALF = [Q(1, 2), Q(1, 2)]


def aligned(**options: Any) -> WorstCase:
    return fedalign(1, Q(1, 4), **CLASS | {"client_gap": Q(1, 2), "threshold": Q(1, 5)} | options)


REFUSED: dict[str, tuple[Callable[[], WorstCase], type[Exception], str]] = {
    "mu >= L": (lambda: fedavg(1, Q(1, 4), **CLASS | {"mu": 1}), ValueError, "mu must be below L, got mu=1 and L=1"),
    "negative gap": (lambda: fedavg(1, Q(1, 4), **CLASS | {"objective_gap": -1}), ValueError, "objective_gap must be"),
    "at w*": (
        lambda: fedavg(1, Q(1, 4), **CLASS | {"distance2": 0}),
        ValueError,
        "distance2 must be finite and positive",
    ),
    "no floor": (
        lambda: error_floor(2, Q(1, 4), mu=Q(1, 10), L=1, objective_gap=0),
        ValueError,
        "objective_gap must be finite and positive",
    ),
    "step sizes": (lambda: fedavg(2, [Q(1, 9)] * 3, **CLASS), ValueError, "one number or 2, one per step, got 3"),
    "sampling": (lambda: fedavg(1, Q(1, 4), **CLASS, sampling="some"), ValueError, "sampling must be one of 'all'"),
    "who": (lambda: fedavg(1, Q(1, 4), **CLASS, sampling="distinct"), ValueError, "num_clients must be given"),
    "m > K": (
        lambda: fedavg(1, Q(1, 4), **CLASS, sampling="distinct", num_clients=3, num_selected=4),
        ValueError,
        r"num_selected must be in 1\.\.3, got 4",
    ),
    "noise in rounds": (
        lambda: fedavg(1, Q(1, 4), **CLASS, num_clients=3, gradient_noise=1, num_rounds=2),
        ValueError,
        "gradient_noise must be 0 .* later rounds mix a client's own noise",
    ),
    "block": (lambda: fedavg(60, Q(1, 4), **CLASS), ValueError, r"at most 50 rows \(max_block= raises it\), got 62"),
    "tree": (
        lambda: fedavg(3, Q(1, 4), **CLASS, sampling="distinct", num_clients=5, num_selected=2, num_rounds=3),
        ValueError,
        "largest block",
    ),
    "d > K": (lambda: power_of_choice(3, 4, 1, 1, Q(1, 4), **CLASS), ValueError, r"num_candidates must be in 1\.\.3"),
    "m > d": (lambda: power_of_choice(3, 2, 3, 1, Q(1, 4), **CLASS), ValueError, r"num_selected must be in 1\.\.2"),
    "orders": (
        lambda: power_of_choice(4, 2, 1, 1, Q(1, 4), **CLASS, num_rounds=2, max_block=99),
        ValueError,
        r"orders of the losses must be at most 1000, got 4!\^3",
    ),
    "orders of three rounds": (
        lambda: power_of_choice(3, 1, 1, 1, Q(1, 4), **CLASS, num_rounds=3, max_block=99),
        ValueError,
        r"at most 1000, got 3!\^12",
    ),
    "skews": (
        lambda: skew_class(1, Q(1, 4), **CLASS, rho_diagonal=2, rho_tilde=1),
        AssumptionViolated,
        "rho_tilde >= rho_diagonal: got 1 < 2",
    ),
    "skew above L/mu": (
        lambda: skew_class(1, Q(1, 4), **CLASS, rho_diagonal=11, rho_tilde=12),
        AssumptionViolated,
        "rho_diagonal <= L/mu: got 11 > 10",
    ),
    "G2": (
        lambda: skew_class(1, Q(1, 16), mu=1, L=4, distance2=25, objective_gap=Q(1, 2), **SKEWS, G2=Q(11, 10)),
        AssumptionViolated,
        "got contradictions of G2 and objective_gap",
    ),
    "all quadratic, noise": (
        lambda: skew_class(2, Q(1, 4), **CLASS, **SKEWS, gradient_noise=1, functions="quadratic"),
        ValueError,
        "gradient_noise must be 0 with functions='quadratic'",
    ),
    "no such functions": (
        lambda: skew_class(2, Q(1, 4), **CLASS, **SKEWS, functions="parabolas"),
        ValueError,
        "functions must be one of 'all', 'quadratic'",
    ),
    "block of a horizon": (
        lambda: skew_class_horizon(6, 3, Q(1, 4), **CLASS, **SKEWS, max_block=5),
        ValueError,
        "at most 5 rows .*, got 6",
    ),
    "no such cell": (
        lambda: aligned(cells=["inside"]),
        ValueError,
        "cells must be one of 'included', 'above', 'below'",
    ),
    "no cell": (lambda: aligned(cells=[]), AssumptionViolated, "cells must hold one or more, got none"),
    "never included": (lambda: aligned(cells=["included"], threshold=0), AssumptionViolated, "threshold must be posit"),
    "far apart": (
        lambda: aligned(cells=["above"], threshold=1000),
        AssumptionViolated,
        "got contradictions of client_gap and .*threshold",
    ),
    "raised block": (lambda: fedavg(5, Q(1, 4), **CLASS, max_block=6), ValueError, "at most 6 rows .*, got 7"),
    "rounds": (lambda: skew_class_horizon(3, 2, Q(1, 4), **CLASS, **SKEWS), ValueError, "multiple of local_steps"),
    "floor": (
        lambda: error_floor(1, Q(1, 4), mu=Q(1, 10), L=1, objective_gap=1),
        ValueError,
        "local_steps must be at least 2",
    ),
    "endless": (
        lambda: error_floor(3, 30, mu=Q(1, 10), L=1, objective_gap=1),
        AssumptionViolated,
        "worst case must be finite",
    ),
    "weights": (
        lambda: optimal_client_sampling([Q(1, 2), Q(2, 5)], 1, Q(1, 4), **CLASS),
        ValueError,
        "sum to 1 exactly",
    ),
    "size": (lambda: optimal_client_sampling(HALF, 3, Q(1, 4), **CLASS), ValueError, "expected_size must be at most"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_arguments_are_refused_in_one_sentence(name: str) -> None:
    call, kind, sentence = REFUSED[name]
    with pytest.raises(kind, match=sentence):
        call()


def test_a_bound_on_gradients_that_just_fits_is_taken() -> None:
    worst = skew_class(1, Q(1, 16), mu=1, L=4, distance2=25, objective_gap=Q(1, 2), **SKEWS, G2=32)
    free = skew_class(1, Q(1, 16), mu=1, L=4, distance2=25, objective_gap=Q(1, 2), **SKEWS)
    assert worst.enclosure[0] < free.enclosure[1]
    assert worst.multipliers["G2"] >= 0


def test_a_larger_block_is_taken_where_that_is_asked_for() -> None:
    assert fedavg(5, Q(1, 4), **CLASS, max_block=7).program.sizes == (7, 7)


@pytest.mark.parametrize("cell", ["included", "above", "below"])
def test_every_outcome_of_the_comparison_has_a_federation_that_attains_it(cell: str) -> None:
    for options in ({}, {"minima": "free"}, {"objective": "gap"}, {"client_gap": 0, "objective_gap": Q(1, 3)}):
        worst = aligned(cells=[cell], **options)
        found = worst.instance()
        assert found.run() == pytest.approx(float(worst.enclosure[0]), rel=1e-6)
        first, second, third = (client.loss(found["start"]) for client in found.clients)
        apart = third - (first + second) / 2
        if options.get("minima") == "free":  # a constant may be added to the third client's loss
            continue
        low, high = {"included": (-0.2, 0.2), "above": (0.2, np.inf), "below": (-np.inf, -0.2)}[cell]
        assert low - 1e-6 <= apart <= high + 1e-6
        assert worst.verify() == worst.enclosure


def test_whom_fedalign_leaves_out_does_not_matter() -> None:
    alone = fedavg(1, Q(1, 4), **CLASS)
    assert aligned(cells=["above"]).value == pytest.approx(alone.value, rel=1e-5)
    worst = aligned()
    assert worst.value == pytest.approx(aligned(cells=["included"]).value, rel=1e-5)
    assert worst.instance().run() == pytest.approx(float(worst.enclosure[0]), rel=1e-6)
    assert aligned(threshold=Q(1, 100)).enclosure[0] <= aligned(minima="free").enclosure[1]


def test_the_nearest_point_of_a_polygon_has_weights_that_sum_to_one() -> None:
    # Of the triangle with corners (1, 0), (0, 1), (5, 5) the nearest to the origin is the middle of its short side.
    corners = np.array([[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]])
    assert _on_simplex(corners, np.zeros(3)) == pytest.approx([0.5, 0.5, 0.0], abs=1e-12)
    # A corner that is cheaper by more than the square of the side attracts all the weight.
    assert _on_simplex(corners, np.array([-2.0, 0.0, 0.0])) == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)


def test_a_round_that_is_composed_with_others_is_enclosed_twice_as_narrowly_as_one_alone() -> None:
    alone = skew_class(2, Q(1, 4), **CLASS, **SKEWS)
    composed = skew_class_horizon(2, 2, Q(1, 4), **CLASS, **SKEWS)
    assert 2 * composed.relative_width < alone.relative_width < 1e-5
    assert max(alone.enclosure[0], composed.enclosure[0]) <= min(alone.enclosure[1], composed.enclosure[1])


def test_an_objective_gap_of_zero_is_imposed() -> None:
    given = CLASS | {"objective_gap": 0}
    for worst in (
        fedavg(2, Q(1, 4), **given),
        fedavg(2, Q(1, 4), **given, sampling="independent", num_selected=2),
        power_of_choice(3, 2, 1, 1, Q(1, 4), **given),
        power_of_choice(3, 3, 1, 1, Q(1, 4), **given),
        skew_class(2, Q(1, 4), **given, **SKEWS),
        optimal_client_sampling(HALF, 1, Q(1, 4), **given),
        fedavg(2, Q(1, 4), **given, functions="quadratic"),
    ):
        assert "objective_gap" not in worst.multipliers
        assert worst.instance().run() == pytest.approx(float(worst.enclosure[0]), rel=1e-6, abs=1e-9)
        assert worst.relative_width < 1e-4


def test_a_little_noise_leaves_little_room_but_enough() -> None:
    worst = skew_class(
        3, Q(10, 969), mu=Q(17, 10), L=Q(969, 50), distance2=Q(83, 10), objective_gap=Q(17, 10),
        rho_diagonal=Q(114, 25), rho_tilde=Q(57, 5), gradient_noise=Q(3, 10), num_selected=2,
    )  # fmt: skip
    assert worst.relative_width < 1e-5


def test_units_do_not_matter() -> None:
    # Lengths times 7, losses times 3: curvatures times 3/49, squared distances times 49.
    small, large = (
        fedavg(2, Q(1, 4), **CLASS),
        fedavg(2, Q(1, 4) * Q(49, 3), mu=Q(3, 490), L=Q(3, 49), distance2=49, objective_gap=Q(3, 2)),
    )
    assert large.value == pytest.approx(49 * small.value, rel=1e-6)
    assert float(large.multipliers["distance2"]) == pytest.approx(float(small.multipliers["distance2"]), abs=1e-4)


def above(larger: WorstCase, smaller: WorstCase) -> bool:
    return larger.enclosure[1] >= smaller.enclosure[0]


def test_worst_cases_are_ordered_as_their_classes_are() -> None:
    one: dict[str, Any] = {"sampling": "distinct", "num_clients": 2, "num_selected": 1}
    assert above(fedavg(2, 1, **CLASS), fedavg(2, 1, **CLASS, functions="quadratic"))
    # Composing rounds forgets that clients persist.
    first = fedavg(1, Q(1, 4), **CLASS, **one)
    composed = fedavg(1, Q(1, 4), **CLASS | {"distance2": first.enclosure[1]}, **one)
    assert above(composed, fedavg(1, Q(1, 4), **CLASS, **one, num_rounds=2))
    # The class of all laws of skew 1 holds uniform sampling of one client.
    skewed = skew_class(2, Q(1, 4), **CLASS, rho_diagonal=1, rho_tilde=1)
    assert above(skewed, fedavg(2, Q(1, 4), **CLASS, sampling="independent", num_selected=1))


def test_a_worst_case_reads_well() -> None:
    worst = fedavg(2, Q(1, 4), **CLASS)
    assert repr(worst).startswith("WorstCase(lower=0.9098")
    assert "objective_gap" in worst.multipliers.text
    assert "<table>" in worst._repr_html_()
    assert worst.program.sizes == (4, 4)
    with pytest.raises(TypeError, match="the lemma is about"):
        worst.multipliers(distance2=1)
