"""Double-well federations: independent computations of losses, gradients and every constant."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

import fedtheory as ft
from fedtheory.errors import AssumptionViolated
from fedtheory.federation import NonconvexFederation, nonconvex
from fedtheory.federation.nonconvex import lowest_point, phi, slope

WEIGHTS = np.array([0.5, 0.3, 0.2])
KINDS = ("tilt", "hetero", "both")


def federation(kind, rng, num_clients=3, dim=4):
    p = rng.dirichlet(np.ones(num_clients))
    a, c = rng.uniform(0, 2, (num_clients, dim)), rng.normal(size=(num_clients, dim))
    b = rng.normal(size=(num_clients, dim))
    return {
        "tilt": lambda: NonconvexFederation.tilt(a[0], b, p),
        "hetero": lambda: NonconvexFederation.hetero(a, c, p),
        "both": lambda: NonconvexFederation(a, c, b, p),
    }[kind]()


def test_wells_are_common_if_every_entry_is():
    common = NonconvexFederation([[2.0, 1.0]] * 2, [[0.0, 1.0]] * 2, [[1.0, 0.0], [-1.0, 0.0]], [0.5, 0.5])
    assert common.has_common_wells
    for a, c in (([[2.0, 1.0], [2.0, 3.0]], [[0.0, 1.0]] * 2), ([[2.0, 1.0]] * 2, [[0.0, 1.0], [0.0, 4.0]])):
        assert not NonconvexFederation(a, c, [[1.0, 0.0], [-1.0, 0.0]], [0.5, 0.5]).has_common_wells


def test_losses_by_hand():
    # wells 2 phi(1 - 0) + phi(3 - 1) = 2/2 + 4/5; tilts (1, 0) and (-1, 0) at x = (1, 3)
    fed = NonconvexFederation([[2.0, 1.0]] * 2, [[0.0, 1.0]] * 2, [[1.0, 0.0], [-1.0, 0.0]], [0.5, 0.5])
    np.testing.assert_allclose(fed.losses([1.0, 3.0]), [2.8, 0.8], rtol=1e-15)
    assert fed.loss([1.0, 3.0]) == pytest.approx(1.8, rel=1e-15)
    # slopes 2 * 2/4 and 2 * 2/25, plus the tilts
    np.testing.assert_allclose(fed.gradients([1.0, 3.0]), [[2.0, 0.16], [0.0, 0.16]], rtol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_differences_of_losses(kind):
    rng = np.random.default_rng(0)
    fed, w, h = federation(kind, rng), rng.normal(size=4), 1e-6
    steps = h * np.eye(4)
    central = (fed.losses(w + steps) - fed.losses(w - steps)) / (2 * h)
    # central differences of functions with third derivatives of order one: h^2 and rounding / h
    np.testing.assert_allclose(fed.gradients(w), central.T, atol=1e-8)
    np.testing.assert_allclose(fed.gradient(w), fed.weights @ fed.gradients(w), atol=1e-15)
    np.testing.assert_allclose(fed.loss(w), fed.losses(w) @ fed.weights, atol=1e-14)
    batch = rng.normal(size=(2, 5, 4))
    assert fed.losses(batch).shape == (2, 5, 3)
    assert fed.gradients(batch).shape == (2, 5, 3, 4)
    assert fed.gradient(batch).shape == (2, 5, 4)
    assert fed.loss(batch).shape == fed.excess(batch).shape == (2, 5)


def test_bounds_on_the_well_and_its_slope():
    t = np.concatenate([np.linspace(-50, 50, 200_001), [1e200, -1e200]])
    assert phi(t).min() == 0
    assert phi(t).max() <= 1
    # attained at t^2 = 1/3, which the grid misses by at most 2.5e-4
    assert slope(t).max() ** 2 == pytest.approx(nonconvex.LARGEST_SLOPE2, rel=1e-6)
    assert slope(t).max() ** 2 <= nonconvex.LARGEST_SLOPE2
    assert slope(np.array([1 / np.sqrt(3)]))[0] ** 2 == pytest.approx(27 / 64, rel=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_smoothness_holds_and_is_attained(kind):
    rng = np.random.default_rng(1)
    fed = federation(kind, rng)
    x, y = rng.normal(size=(2, 20_000, 4))
    ratios = np.linalg.norm(fed.gradients(x) - fed.gradients(y), axis=-1) / np.linalg.norm(x - y, axis=-1)[:, None]
    assert ratios.max() <= fed.smoothness
    client, coordinate = np.unravel_index(np.argmax(fed.amplitudes), fed.amplitudes.shape)
    bottom = fed.centers[client].copy()
    step = 1e-5 * np.eye(4)[coordinate]
    change = fed.gradients(bottom + step)[client] - fed.gradients(bottom - step)[client]
    assert np.linalg.norm(change) / 2e-5 == pytest.approx(fed.smoothness, rel=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_clients_are_as_similar_as_assumption_9_says(kind):
    rng = np.random.default_rng(2)
    for _ in range(20):
        fed = federation(kind, rng)
        x = rng.normal(scale=rng.choice([0.1, 1.0, 10.0]), size=(500, 4))
        deviations = ((fed.gradients(x) - fed.gradient(x)[:, None, :]) ** 2).sum(axis=-1) @ fed.weights
        if kind == "tilt":
            np.testing.assert_allclose(deviations, fed.dissimilarity, rtol=1e-12)
        else:
            assert deviations.max() <= fed.dissimilarity
    # two wells whose steepest points meet, one rising and one falling: the bound for untilted clients is attained
    far = 1 / np.sqrt(3)
    meeting = NonconvexFederation.hetero([[1.0], [1.0]], [[-far], [far]], [0.5, 0.5])
    assert float((meeting.gradients([0.0]) ** 2).sum(axis=-1) @ meeting.weights) == pytest.approx(
        meeting.dissimilarity, rel=1e-12
    )


@given(
    wells=st.lists(st.tuples(st.floats(0, 3), st.floats(-20, 20)), min_size=1, max_size=8),
)
@settings(max_examples=60)
def test_the_lowest_point_is_not_beaten_by_search(wells):
    amplitudes, centers = np.array(wells).T
    x, value = lowest_point(amplitudes, centers)
    assert value == pytest.approx(float(phi(x - centers) @ amplitudes), abs=1e-15 * (1 + amplitudes.sum()))
    grid = np.concatenate([np.linspace(-21, 21, 4001), centers])
    searched = phi(grid[:, None] - centers) @ amplitudes
    found = optimize.minimize_scalar(
        lambda t: float(phi(t - centers) @ amplitudes),
        bounds=(grid[np.argmin(searched)] - 0.02, grid[np.argmin(searched)] + 0.02),
        method="bounded",
        options={"xatol": 1e-9},
    )
    assert value <= min(searched.min(), found.fun) + 1e-15 * amplitudes.sum()


def test_the_lowest_point_between_two_wells_is_found_though_a_lone_well_is_lower_than_either_center():
    # Near 0 the pair of half-distance 1/2 costs 2/5 besides the lone well's 1.55, at its centers 1/2, and at the lone
    # well both cost 1: in cells of 156 only the bounds tell that something lower may be left.
    for middle in (0.0, 1.3e3, 7.7e3):
        centers = np.array([middle - 0.5, middle + 0.5, 1e4 if middle < 5e3 else -1e4])
        x, value = lowest_point(np.array([1.0, 1.0, 1.55]), centers)
        assert x == pytest.approx(middle, abs=1e-6)
        assert value == pytest.approx(1.95, abs=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_the_minimum_is_below_all_else_and_stationary(kind):
    rng = np.random.default_rng(3)
    fed = federation(kind, rng)
    assert fed.loss(fed.minimizer) == pytest.approx(fed.minimum, abs=1e-15)
    # Newton's method stops where it cannot lower the value: the slope is of the order of the root of rounding
    assert np.abs(fed.gradient(fed.minimizer)).max() < 1e-7
    assert (fed.loss(rng.normal(scale=3, size=(20_000, 4))) >= fed.minimum).all()
    assert fed.excess(fed.minimizer) <= 1e-15
    if kind == "tilt":
        assert fed.minimum == 0


def test_tilts_cancel_in_the_sum():
    fed = NonconvexFederation.tilt([1.0, 2.0], [[1.0, 5.0], [2.0, 0.0], [4.0, 1.0]], WEIGHTS)
    np.testing.assert_allclose(WEIGHTS @ fed.tilts, 0, atol=1e-15)
    # differences between clients are those that were given
    np.testing.assert_allclose(fed.tilts[2] - fed.tilts[1], [2.0, 1.0], atol=1e-15)


def test_what_is_not_known_is_refused_with_the_reason():
    tilted = NonconvexFederation.tilt([1.0], [[1.0], [-1.0]], [0.5, 0.5])
    for name in ("local_minima", "local_minimizers", "objective_gap"):
        with pytest.raises(AssumptionViolated, match="got client 0, whose loss is unbounded below"):
            getattr(tilted, name)
    with pytest.raises(AssumptionViolated, match="strong convexity needs convex clients"):
        _ = tilted.strong_convexity
    wells = NonconvexFederation.hetero([[1.0], [1.0]], [[0.0], [4.0]], [0.5, 0.5])
    assert wells.objective_gap == wells.minimum > 0
    np.testing.assert_array_equal(wells.local_minimizers, [[0.0], [4.0]])
    np.testing.assert_allclose(wells.losses(wells.local_minimizers).diagonal(), wells.local_minima, atol=0)


def test_runs_descend_to_the_minimum():
    for kind in KINDS:
        fed = federation(kind, np.random.default_rng(4))
        run = ft.fedavg(fed, ft.selection.Full(), num_rounds=4000, step_size=0.05, initial=fed.minimizer + 0.2)
        assert run.gap[0, 0] > 1e-3
        assert 0 <= run.gap[0, -1] < 1e-14
