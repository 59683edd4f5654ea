"""Exact SCAFFOLD, Scaffnew and stationary points against numbers computed by hand or by other programs."""

from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.arithmetic.matrices import solved
from fedtheory.bounds import scaffold as sc
from fedtheory.bounds import sgd
from fedtheory.exact.runs import for_run
from fedtheory.instances.control_variates import (
    Controlled,
    ScaffnewState,
    _round_of_coordinate,
    control_potential,
    disagreement_map,
    disagreement_radius,
    mean_potentials,
    potential,
    scaffnew_step,
    scaffold_limit,
    scaffold_round,
)
from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.stationary_points import StationaryPoints

ZERO = (Q(0),)
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


@pytest.mark.parametrize(
    ("mu", "L", "eta", "tau", "kappa"),
    [
        (1, 4, Q(1, 8), 2, Q(103, 1408)),
        (Q(1, 10), 1, Q(1, 5), 5, Q(5454785081624299, 43457031250000000)),
        (Q(1, 10), 1, Q(1), 3, Q(26891, 45000)),
    ],
)
def test_what_a_round_leaves_of_control_variates(mu, L, eta, tau, kappa) -> None:
    known = {"control_error2": 1 / (eta * tau) ** 2, "step_size": eta, "mu": mu, "L": L}
    assert sc.one_round(Q(0), local_steps=tau, **known) == kappa


@pytest.mark.parametrize("bound", [sc.one_round, sc.option_one_round, sgd.local_steps_round], ids=lambda b: b.__name__)
def test_the_sums_of_a_round_in_closed_form_are_those_that_are_added_up(bound) -> None:
    given = {"distance2": Q(3), "control_error2": Q(5), "step_size": Q(1, 8), "mu": Q(1), "L": Q(4), "local_steps": 3}
    given = {name: given.get(name, Q(5)) for name in bound.domains}
    symbolic = bound.symbolic()
    value = symbolic.subs({symbol: given[str(symbol)] for symbol in symbolic.free_symbols})
    assert Q(int(value.p), int(value.q)) == bound(**given)


def test_a_server_that_starts_off_the_mean_of_control_variates_rests_elsewhere() -> None:
    assert scaffold_limit(two(), (Q(0),), **EIGHTH) == (Q(4),)
    assert scaffold_limit(two(), (Q(1),), **EIGHTH) == (Q(18, 5),)
    one = RationalQuadratics(((Q(2),),), ((Q(3),),), (Q(1),), (Q(0),))
    assert scaffold_limit(one, (Q(1, 3),), **EIGHTH) == (Q(3) - Q(1, 6),)


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


def test_the_long_run_of_disagreement() -> None:
    assert disagreement_radius(Q(3, 4), Q(1, 2)) == pytest.approx(0.643776178403, rel=1e-11)
    assert disagreement_radius(Q(9, 10), Q(1, 4)) == pytest.approx(0.860258719171, rel=1e-11)


def test_second_moments_of_equal_clients_move_as_all_coins_say() -> None:
    fed, p, gamma = two(curvatures=(1, 1)), Q(1, 2), Q(1, 4)
    state = ScaffnewState(((Q(1),), (Q(4),)), ((Q(2),), (Q(-2),)))

    at_best, scale = fed.gradients(fed.minimizer), gamma / p
    u = state.models[0][0] - Q(5, 2)
    v = scale * (state.variates[0][0] - at_best[0][0])
    rows = disagreement_map(1 - gamma, p)
    moved = [sum(a * b for a, b in zip(row, (u * u, u * v, v * v), strict=True)) for row in rows]
    mean = Q(5, 2) - fed.minimizer[0]
    expected = ((1 - gamma) * mean) ** 2 + moved[0] + moved[2]
    assert mean_potentials(fed, state, 1, step_size=gamma, probability=p)[1] == expected


def test_control_variates_of_another_mean_rest_where_the_gradient_is_that_mean() -> None:
    state = ScaffnewState((ZERO,) * 2, ((Q(1),), (Q(1),)))
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


def test_extrapolation_leaves_a_bias_of_second_order() -> None:
    _, e2 = PLANE.bias(3)
    for eta in (Q(1, 1000), Q(1, 10000)):
        rest = [float(x - best) for x, best in zip(PLANE.romberg(eta, 3), PLANE.minimizer, strict=True)]
        assert rest == pytest.approx([float(-2 * eta**2 * e) for e in e2], rel=float(30 * eta))


def test_fednova_can_diverge_where_averaging_does_not() -> None:
    one = StationaryPoints((((Q(1),),),) * 2, ((Q(0),), (Q(0),)), (Q(1, 2),) * 2)
    assert one.round((Q(1),), Q(1), (1, 9), normalize=True) == (Q(-16, 9),)  # 1 - 5 (1 + 1/9)/2
    assert one.round((Q(1),), Q(1), (1, 9)) == (Q(0),)


def test_a_system_without_one_solution_is_refused() -> None:
    with pytest.raises(ValueError, match="a system must have one solution, got none or many"):
        solved([[Q(1), Q(1)], [Q(2), Q(2)]], [Q(1), Q(3)])


def test_simulated_scaffold_is_the_exact_one_on_weighted_clients() -> None:
    rng = np.random.default_rng(4)
    fed = RationalQuadratics(
        tuple((Q(int(a), 4), Q(int(b), 4)) for a, b in rng.integers(1, 9, (3, 2))),
        tuple((Q(int(a)), Q(int(b))) for a, b in rng.integers(-5, 6, (3, 2))), (Q(1, 2), Q(1, 4), Q(1, 4)), (Q(0),) * 3,
    )  # fmt: skip
    start = (Q(0), Q(0))
    state, run = Controlled(start, start, (start,) * 3), {"num_rounds": 8, "local_steps": 3, "step_size": 0.125}
    for _ in range(8):
        state = scaffold_round(fed, state, step_size=Q(1, 8), local_steps=3)
    found = ft.fedavg(fed.rounded(), ft.selection.Full(), method=ft.methods.Scaffold(), record=("models", "states"),
                      **run)  # fmt: skip
    np.testing.assert_allclose(found.models[0, -1], np.array(state.model, dtype=float), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        found.recorded("states")[0, -1], np.array(state.clients, dtype=float), rtol=1e-11, atol=1e-11
    )


def test_bounds_take_runs_of_their_method() -> None:
    fed = ft.QuadraticFederation([1.0, 4.0], [[0.0], [5.0]], [0.5, 0.5])
    run = {"num_rounds": 3, "local_steps": 2, "step_size": 1 / 8, "method": ft.methods.Scaffold()}
    known = for_run(sc.fixed_step_potential, fed, ft.selection.Full(), **run)
    assert known["control_error2"] == 16.0
    assert known["initial_distance2"] == 16.0
    assert sc.fixed_step_potential(**known) == pytest.approx(17 * (2401 / 4096) ** 3)
    with pytest.raises(ft.errors.AssumptionViolated, match="SCAFFOLD with Option II: got federated averaging"):
        for_run(sc.fixed_step_potential, fed, ft.selection.Full(), **run | {"method": None})
    with pytest.raises(ft.errors.AssumptionViolated, match="step_size local_steps L <= 1"):
        for_run(sc.fixed_step_potential, fed, ft.selection.Full(), **run | {"step_size": 0.25})


UNFIT = {
    "centers": lambda: RationalQuadratics((ZERO, ZERO), (ZERO, (Q(1), Q(2))), (Q(1, 2),) * 2, (Q(0),) * 2),
    "minima": lambda: RationalQuadratics((ZERO,), (ZERO,), (Q(1),), (Q(0),) * 2),
    "variates": lambda: ScaffnewState((ZERO, ZERO), (ZERO,)),
    "state.models": lambda: potential(two(), ScaffnewState((ZERO,), (ZERO,)), step_size=Q(1), probability=Q(1)),
    "state.clients": lambda: scaffold_round(two(), Controlled(ZERO, ZERO, (ZERO,)), **EIGHTH),
    "hessians": lambda: StationaryPoints((((Q(1), Q(0)),),), ((Q(0), Q(0)),), (Q(1),)),
    "probability": lambda: disagreement_map(Q(1, 2), Q(2)),
    "shrink": lambda: disagreement_radius(Q(10**200), Q(1, 2)),
}


@pytest.mark.parametrize("name", UNFIT)
def test_shapes_and_numbers_that_do_not_fit_are_named(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^(each of )?{name} must .*, got "):
        UNFIT[name]()


def test_a_float_is_taken_for_the_rational_that_it_is() -> None:
    assert disagreement_map(0.1, 0.5) == disagreement_map(Q(0.1), Q(1, 2))
