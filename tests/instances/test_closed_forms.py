"""Exact SCAFFOLD, Scaffnew and stationary points against numbers computed by hand or by other programs."""

from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.instances.control_variates import (
    Controlled,
    ScaffnewState,
    _round_of_coordinate,
    control_potential,
    mean_potentials,
    potential,
    scaffnew_step,
    scaffold_limit,
    scaffold_round,
)
from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.stationary_points import StationaryPoints
from fedtheory.instances.vectors import vector

ZERO = vector(0)
EIGHTH = {"step_size": Q(1, 8), "local_steps": 2}


def two(share=Q(1, 2), curvatures=(1, 4)):
    rows = tuple((Q(h),) for h in curvatures)
    return RationalQuadratics(rows, (ZERO, (Q(5),)), (share, 1 - share), (Q(0), Q(0)))


def test_three_rounds_of_scaffold_and_their_potentials() -> None:
    state, found = Controlled(ZERO, ZERO, (ZERO, ZERO)), []
    for _ in range(4):
        found.append((state.model[0], control_potential(two(), state, Q(1, 16))))
        state = scaffold_round(two(), state, **EIGHTH)
    assert found == [
        (Q(0), Q(17)), (Q(15, 8), Q(169, 32)), (Q(3075, 1024), Q(766921, 524288)),
        (Q(466335, 131072), Q(2817540289, 8589934592)),
    ]  # fmt: skip
    assert scaffold_round(two(), Controlled(ZERO, ZERO, (ZERO, ZERO)), **EIGHTH).clients == (ZERO, (Q(-15),))


def test_a_server_that_starts_off_the_mean_of_control_variates_rests_elsewhere() -> None:
    assert scaffold_limit(two(), vector(0), **EIGHTH) == (Q(4),)
    assert scaffold_limit(two(), vector(1), **EIGHTH) == (Q(18, 5),)
    one = RationalQuadratics(((Q(2),),), ((Q(3),),), (Q(1),), (Q(0),))
    assert scaffold_limit(one, vector(Q(1, 3)), **EIGHTH) == (Q(3) - Q(1, 6),)


def test_option_one_diverges_where_option_two_does_not() -> None:
    fed = two(curvatures=(Q(1, 100), Q(1)))

    def radius(option: int) -> float:
        """Spectral radius of a round as a linear map of the model and the two control variates."""
        move = _round_of_coordinate(fed, 0, Q(0), Q(1), 10, option)
        still = np.array(move([Q(0)] * 3), dtype=float)
        columns = [np.array(move([Q(int(i == j)) for j in range(3)]), dtype=float) - still for i in range(3)]
        return float(abs(np.linalg.eigvals(np.column_stack(columns))).max())

    radii = [radius(option) for option in (1, 2)]
    assert radii == pytest.approx([1.4557, 0.6379], abs=5e-5)


def test_scaffnew_over_all_coins() -> None:
    # Means over clients; the numbers of the theory page are sums over the two.
    known = {Q(1, 2): (40, 15, Q(1065, 128), Q(76245, 16384)), Q(1, 4): (64, 39, Q(7839, 256), Q(1575639, 65536)),
             Q(1): (34, 9, Q(81, 64), Q(729, 4096))}  # fmt: skip
    for p, expected in known.items():
        means = mean_potentials(two(), ScaffnewState((ZERO,) * 2, (ZERO,) * 2), 3, step_size=Q(1, 4), probability=p)
        assert [2 * mean for mean in means] == list(expected)


def test_control_variates_of_another_mean_rest_where_the_gradient_is_that_mean() -> None:
    state = ScaffnewState((ZERO,) * 2, (vector(1), vector(1)))
    for _ in range(60):
        state = scaffnew_step(two(), state, step_size=Q(1, 4), probability=Q(1), falls=True)
    assert float(state.models[0][0]) == pytest.approx(22 / 5, rel=1e-12)
    assert potential(two(), state, step_size=Q(1, 4), probability=Q(1)) > 0


PLANE = StationaryPoints(
    (((Q(1), Q(0)), (Q(0), Q(1, 4))), ((Q(1, 2), Q(1, 4)), (Q(1, 4), Q(1)))), ((Q(0), Q(0)), (Q(1), Q(2))),
    (Q(1, 3), Q(2, 3)),
)  # fmt: skip


def test_stationary_points_of_two_clients_in_the_plane() -> None:
    half = Q(1, 2)
    assert PLANE.minimizer == (Q(9, 17), Q(32, 17))
    assert PLANE.averaging(half, (3, 3)) == (Q(21752, 36485), Q(63266, 36485))
    assert PLANE.bias(3) == ((Q(39, 289), Q(-71, 289)), (Q(2485, 235824), Q(-11447, 117912)))
    assert PLANE.averaging(half, (1, 5)) == (Q(767800823, 1020978679), Q(1942227950, 1020978679))
    assert PLANE.normalized(half, (1, 5)) == (Q(1019065847, 2620499447), Q(4071263214, 2620499447))
    assert PLANE.inconsistent_minimizer((1, 5)) == (Q(185, 221), Q(440, 221))
    assert PLANE.normalized_bias((1, 5)) == (Q(-76, 289), Q(-138, 289))


def test_the_drift_of_three_parabolas_vanishes_for_two_steps_and_not_for_three() -> None:
    rows, centers = tuple(((Q(h),),) for h in (1, 2, 3)), ((Q(-1),), (Q(1),), (Q(-1, 3),))
    fed = StationaryPoints(rows, centers, (Q(1, 3),) * 3)
    # h = (1, -2, 1): sum h = sum H h = 0, and the third gradients leave eta^2 sum H^2 h = 2 eta^2, of which 1/9 counts.
    assert [fed.drift(Q(1, 4), tau)[0] for tau in (1, 2, 3)] == [0, 0, Q(2, 9) / 16]


def test_extrapolation_leaves_a_bias_of_second_order() -> None:
    _, e2 = PLANE.bias(3)
    for eta in (Q(1, 1000), Q(1, 10000)):
        rest = [float(x - best) for x, best in zip(PLANE.romberg(eta, 3), PLANE.minimizer, strict=True)]
        assert rest == pytest.approx([float(-2 * eta**2 * e) for e in e2], rel=float(30 * eta))


def test_fednova_can_diverge_where_averaging_does_not() -> None:
    one = StationaryPoints((((Q(1),),),) * 2, ((Q(0),), (Q(0),)), (Q(1, 2),) * 2)
    assert one.round((Q(1),), Q(1), (1, 9), normalize=True) == (Q(-16, 9),)  # 1 - 5 (1 + 1/9)/2
    assert one.round((Q(1),), Q(1), (1, 9)) == (Q(0),)


def test_simulated_scaffold_is_the_exact_one_on_weighted_clients() -> None:
    rng = np.random.default_rng(4)
    fed = RationalQuadratics(
        tuple((Q(int(a), 4), Q(int(b), 4)) for a, b in rng.integers(1, 9, (3, 2))),
        tuple((Q(int(a)), Q(int(b))) for a, b in rng.integers(-5, 6, (3, 2))), (Q(1, 2), Q(1, 4), Q(1, 4)), (Q(0),) * 3,
    )  # fmt: skip
    start = vector(0, 0)
    state, run = Controlled(start, start, (start,) * 3), {"num_rounds": 8, "local_steps": 3, "step_size": 0.125}
    for _ in range(8):
        state = scaffold_round(fed, state, step_size=Q(1, 8), local_steps=3)
    found = ft.fedavg(fed.rounded(), ft.selection.Full(), method=ft.methods.Scaffold(), record=("models", "states"),
                      **run)  # fmt: skip
    np.testing.assert_allclose(found.models[0, -1], np.array(state.model, dtype=float), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        found.recorded("states")[0, -1], np.array(state.clients, dtype=float), rtol=1e-11, atol=1e-11
    )
