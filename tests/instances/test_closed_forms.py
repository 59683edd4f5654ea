"""SCAFFOLD, exact Scaffnew and stationary points against numbers computed by hand or by other programs."""

from fractions import Fraction as Q

import pytest

import fedtheory as ft
from fedtheory.instances.control_variates import ScaffnewState, mean_potentials, potential, scaffnew_step
from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.stationary_points import StationaryPoints
from fedtheory.instances.vectors import vector

ZERO = vector(0)


def two(share=Q(1, 2), curvatures=(1, 4)):
    rows = tuple((Q(h),) for h in curvatures)
    return RationalQuadratics(rows, (ZERO, (Q(5),)), (share, 1 - share), (Q(0), Q(0)))


def test_three_simulated_rounds_of_scaffold() -> None:
    found = ft.fedavg(two().rounded(), ft.selection.Full(), method=ft.methods.Scaffold(), num_rounds=3, local_steps=2,
                      step_size=0.125, record=("models", "states"), initial=[0.0])  # fmt: skip
    assert found.models[0, :, 0] == pytest.approx([0, 15 / 8, 3075 / 1024, 466335 / 131072], rel=1e-14)
    assert found.recorded("states")[0, 1].ravel() == pytest.approx([0, -15], rel=1e-14)


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
    assert PLANE.averaging(half, (1, 5)) == (Q(767800823, 1020978679), Q(1942227950, 1020978679))
    assert PLANE.normalized(half, (1, 5)) == (Q(1019065847, 2620499447), Q(4071263214, 2620499447))
    assert PLANE.inconsistent_minimizer((1, 5)) == (Q(185, 221), Q(440, 221))


def test_the_drift_of_three_parabolas_vanishes_for_two_steps_and_not_for_three() -> None:
    rows, centers = tuple(((Q(h),),) for h in (1, 2, 3)), ((Q(-1),), (Q(1),), (Q(-1, 3),))
    fed = StationaryPoints(rows, centers, (Q(1, 3),) * 3)
    # h = (1, -2, 1): sum h = sum H h = 0, and the third gradients leave eta^2 sum H^2 h = 2 eta^2, of which 1/9 counts.
    assert [fed.drift(Q(1, 4), tau)[0] for tau in (1, 2, 3)] == [0, 0, Q(2, 9) / 16]


def test_extrapolation_leaves_a_bias_of_second_order() -> None:
    # The second term of the bias, by another program.
    e2 = (Q(2485, 235824), Q(-11447, 117912))
    for eta in (Q(1, 1000), Q(1, 10000)):
        rest = [float(x - best) for x, best in zip(PLANE.romberg(eta, 3), PLANE.minimizer, strict=True)]
        assert rest == pytest.approx([float(-2 * eta**2 * e) for e in e2], rel=float(30 * eta))


def test_fednova_can_diverge_where_averaging_does_not() -> None:
    one = StationaryPoints((((Q(1),),),) * 2, ((Q(0),), (Q(0),)), (Q(1, 2),) * 2)
    assert one.round((Q(1),), Q(1), (1, 9), normalize=True) == (Q(-16, 9),)  # 1 - 5 (1 + 1/9)/2
    assert one.round((Q(1),), Q(1), (1, 9)) == (Q(0),)
