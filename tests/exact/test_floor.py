"""Error floors: closed duality gaps, and the limits of long runs and subgradient methods."""

# mypy: allow-untyped-calls, disable-error-code="arg-type"

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fedtheory.datasets.quadratics import power_of_choice_quadratics
from fedtheory.exact.floor import error_floor
from fedtheory.exact.mean_field import mean_field_gap
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.sampling.inclusion import power_of_choice_inclusion
from fedtheory.selection.full import Full
from fedtheory.selection.power_of_choice import PowerOfChoice
from fedtheory.selection.uniform import Uniform


def full_federation(seed):
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((7, 3, 3))
    curvatures = factors @ factors.transpose(0, 2, 1) + 0.3 * np.eye(3)
    weights = rng.random(7) + 0.1
    return QuadraticFederation(curvatures, rng.standard_normal((7, 3)), weights / weights.sum(), rng.random(7))


def mean_of_selected(fed, m, d, w):
    """``N(w)``: mean loss of the selected clients, from their inclusion probabilities."""
    losses = fed.losses(w)
    return power_of_choice_inclusion(fed.weights, losses, m, d) @ losses / m


def checked_gap(fed, strategy, **options):
    """Check weak duality and the distance, and return the gap relative to the objective gap."""
    floor = error_floor(fed, strategy, **options)
    primal = mean_of_selected(fed, strategy.num_selected, strategy.num_candidates, floor.minimizer)
    dual = floor.frequencies @ fed.losses(floor.minimizer)
    assert np.abs(floor.frequencies @ fed.gradients(floor.minimizer)).max() < 1e-9 * fed.smoothness
    assert primal - dual == pytest.approx(floor.gap, abs=1e-12 * primal)
    assert floor.distance == pytest.approx(np.sqrt(2 * floor.gap / fed.strong_convexity), rel=1e-12)
    assert floor.value == pytest.approx(float(fed.excess(floor.minimizer)), rel=1e-13)
    return floor.gap / fed.objective_gap


@pytest.mark.parametrize("d", [3, 4, 6, 9, 15, 30])
def test_the_duality_gap_closes_on_the_instance_of_the_paper(d):
    assert checked_gap(power_of_choice_quadratics(30, 5, rng=0), PowerOfChoice(3, d)) <= 1e-12


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 7), st.integers(1, 7))
@example(431, 2, 5)  # the frequencies need the minimizer of the largest mean loss to many digits
@example(784, 3, 7)
def test_the_duality_gap_closes_for_any_curvature_and_no_other_model_is_lower(seed, m, d):
    fed, strategy = full_federation(seed), PowerOfChoice(min(m, d), max(m, d))
    assert checked_gap(fed, strategy) <= 1e-12
    floor = error_floor(fed, strategy)
    lowest = mean_of_selected(fed, min(m, d), max(m, d), floor.minimizer)
    others = floor.minimizer + np.random.default_rng(seed).standard_normal((10, 3)) * np.logspace(-4, 0, 10)[:, None]
    assert all(mean_of_selected(fed, min(m, d), max(m, d), w) >= lowest - floor.gap for w in others)


@pytest.mark.parametrize(("length", "curvature"), [(1e-20, 1.0), (1e-6, 1e-12), (1e8, 1e12)])
@pytest.mark.parametrize("seed", [0, 3, 9])
def test_the_duality_gap_closes_in_every_unit_of_length_and_of_curvature(seed, length, curvature):
    fed, strategy = full_federation(seed), PowerOfChoice(1, 3)
    other = QuadraticFederation(
        curvature * fed.curvatures, length * fed.centers, fed.weights, curvature * length**2 * fed.minima
    )
    here, there = error_floor(fed, strategy), error_floor(other, strategy)
    assert there.gap <= 1e-12 * other.objective_gap
    # Both models are off by as much as their gaps leave open, 1e-6 of the distances between clients.
    np.testing.assert_allclose(there.minimizer / length, here.minimizer, atol=1e-5)
    assert there.value == pytest.approx(curvature * length**2 * here.value, rel=1e-5)
    assert error_floor(other, strategy, tolerance=0.5).gap > 1e-3 * other.objective_gap


@pytest.mark.parametrize("tolerance", [1e-2, 1e-6])
@pytest.mark.parametrize("seed", range(3))
def test_a_loose_tolerance_is_reached_and_certified(seed, tolerance):
    fed, strategy = full_federation(seed), PowerOfChoice(2, 4)
    precise, loose = error_floor(fed, strategy), error_floor(fed, strategy, tolerance=tolerance)
    assert checked_gap(fed, strategy, tolerance=tolerance) <= tolerance
    assert np.linalg.norm(loose.minimizer - precise.minimizer) <= loose.distance + precise.distance


def subgradient_limit(fed, m, d, num_steps):
    """Deterministic subgradient method on N with steps 2 / (mu (t + t0)), averaged with weights t."""
    w, mean, mu = fed.minimizer, np.zeros(fed.dim), fed.strong_convexity
    for t in range(num_steps):
        q = power_of_choice_inclusion(fed.weights, fed.losses(w), m, d) / m
        w = w - 2 / (mu * (t + 4 * fed.smoothness / mu)) * q @ fed.gradients(w)
        mean += (w - mean) * 2 * (t + 1) / ((t + 1) * (t + 2))
    return mean


@pytest.mark.parametrize("d", [4, pytest.param(9, marks=pytest.mark.slow)])
def test_a_long_subgradient_method_settles_at_the_predicted_model(d):
    fed = power_of_choice_quadratics(12, 3, rng=5)
    floor = error_floor(fed, PowerOfChoice(2, d))
    limit = subgradient_limit(fed, 2, d, 5_000 if d == 4 else 20_000)
    assert np.linalg.norm(limit - floor.minimizer) < 1e-3 * np.linalg.norm(fed.minimizer - floor.minimizer)


def test_the_mean_field_of_federated_averaging_settles_at_the_floor_as_the_step_shrinks():
    fed, strategy = power_of_choice_quadratics(30, 5, rng=0), PowerOfChoice(3, 9)
    value = error_floor(fed, strategy).value
    deviations = [
        abs(mean_field_gap(fed, strategy, int(6 / eta / 10), 2, eta, np.zeros(5))[-1] / value - 1)
        for eta in (2e-3, 5e-4)
    ]
    assert deviations[0] < 0.05
    assert deviations[1] < 0.35 * deviations[0]


def test_state_independent_strategies_settle_at_the_minimizer_of_their_mean_objective():
    fed = full_federation(3)
    assert error_floor(fed, Full()).value < 1e-25
    floor = error_floor(fed, Uniform(2))
    np.testing.assert_allclose(fed.gradients(floor.minimizer).mean(axis=0), 0, atol=1e-12)
    assert floor.gap == 0


def test_homogeneous_clients_have_no_floor_and_idle_clients_do_not_matter():
    same = QuadraticFederation([1.0, 2.0], [[0.5], [0.5]], [0.5, 0.5])
    assert error_floor(same, PowerOfChoice(1, 2)).value < 1e-25
    fed = power_of_choice_quadratics(6, 2, rng=1)
    idle = QuadraticFederation(
        np.append(fed.curvatures, 3.0), np.vstack([fed.centers, [9.0, 9.0]]), np.append(fed.weights, 0.0)
    )
    with_idle, without = error_floor(idle, PowerOfChoice(2, 4)), error_floor(fed, PowerOfChoice(2, 4))
    assert with_idle.value == pytest.approx(without.value, rel=1e-9)
    assert with_idle.frequencies[-1] == 0
