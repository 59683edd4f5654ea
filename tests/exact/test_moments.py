"""Exact expected errors, against simulations and the enumeration of all runs in rational arithmetic."""

# mypy: allow-untyped-calls, disable-error-code="arg-type, call-overload"

from dataclasses import dataclass

import numpy as np
import pytest

from fedtheory.exact.moments import expected_gap
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.selection.full import Full
from fedtheory.selection.laws import Moments
from fedtheory.selection.proportional import Proportional
from fedtheory.selection.uniform import Uniform
from tests.exact.test_relative_noise import ONE, enumerated, floats
from tests.exact.test_relative_noise import STEPS as EXACT_STEPS
from tests.exact.test_relative_noise import federation as federation_of

K, V, M, TAU, ROUNDS = 5, 3, 2, 3, 4
STEPS = np.linspace(0.3, 0.1, ROUNDS * TAU)
INITIAL = np.array([2.0, -1.0, 0.5])
STEP_SIZES = floats(EXACT_STEPS)
INCLUSION = np.array([0.9, 0.3, 0.5, 0.7, 0.6])


@dataclass(frozen=True)
class Independently:
    """Client k takes part independently with a given probability and has the coefficient p_k / pi_k."""

    inclusion: tuple[float, ...]

    def law(self, weights):
        p, pi = np.asarray(weights), np.array(self.inclusion)
        return Moments(p, 1.0, p**2 * (1 / pi - 1), p**2 / pi)


def federation(kind, seed=3):
    rng = np.random.default_rng(seed)
    curvatures = rng.uniform(0.3, 2.0, (K, V))
    if kind == "isotropic":
        curvatures = curvatures[:, 0]
    elif kind == "full":
        rotations = np.linalg.qr(rng.standard_normal((K, V, V)))[0]
        curvatures = (rotations * curvatures[:, None, :]) @ rotations.transpose(0, 2, 1)
    weights = rng.random(K) + 0.1
    return QuadraticFederation(curvatures, rng.standard_normal((K, V)), weights / weights.sum())


STRATEGIES = [Proportional(M), Uniform(M), Uniform(M, "weighted"), Full(), Independently(tuple(INCLUSION))]


MUTANTS = {
    "copies share their noise": lambda m: m._replace(noise=m.alpha * m.mean**2 + m.delta),
    "alpha of independent clients": lambda m: m._replace(alpha=1.0),
    "delta a tenth too small": lambda m: m._replace(delta=0.9 * m.delta),
    "delta is the second moment": lambda m: m._replace(delta=m.delta + m.alpha * m.mean**2),
    "noise of the mean": lambda m: m._replace(noise=m.mean**2),
}


@dataclass(frozen=True)
class Mutant:
    name: str

    def law(self, weights):
        return MUTANTS[self.name](Proportional(M).law(weights))


@pytest.mark.parametrize("name", MUTANTS)
def test_enumeration_catches_wrong_moments(name):
    truth = enumerated(ONE, Proportional(2), 2, 2, along=0)
    assert not agrees(expected_gap(federation_of(ONE), Mutant(name), 2, 2, STEP_SIZES, [2.0], 0.25), truth)


def test_moments_with_a_negative_variance_are_refused():
    class Forgetful:
        def law(self, weights):
            moments = Proportional(M).law(weights)
            return moments._replace(delta=0 * moments.delta)

    # (1/2) (1/4)^2 - (1/4)^2
    with pytest.raises(ValueError, match=r"law must have E omega_k\^2 >= .*, got variance -0.0312 for client 0"):
        expected_gap(federation_of(ONE), Forgetful(), 2, 2, STEP_SIZES, [2.0])


def agrees(computed, truth):
    return np.allclose(computed, truth, rtol=1e-13, atol=0)


@pytest.mark.parametrize("strategy", [Proportional(2), Uniform(1), Uniform(1, "weighted"), Full()])
def test_enumeration_of_all_runs_in_rational_arithmetic_agrees(strategy):
    fed, truth = federation_of(ONE), enumerated(ONE, strategy, 2, 2, along=0)
    diagonal = QuadraticFederation(fed.diagonals, fed.centers, fed.weights)
    for each in (fed, diagonal):
        assert agrees(expected_gap(each, strategy, 2, 2, STEP_SIZES, [2.0], 0.25), truth)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_diagonal_curvatures_give_the_same_as_matrices_and_rotations_change_nothing(strategy):
    fed = federation("diagonal")
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((V, V)))[0]
    rotated = QuadraticFederation(rotation @ fed.matrices @ rotation.T, fed.centers @ rotation.T, fed.weights)
    expected = expected_gap(fed, strategy, ROUNDS, TAU, STEPS, INITIAL, 0.4)
    np.testing.assert_allclose(
        expected_gap(rotated, strategy, ROUNDS, TAU, STEPS, rotation @ INITIAL, 0.4), expected, rtol=1e-12
    )


def test_full_participation_without_noise_is_gradient_descent():
    fed, eta = federation("full"), 0.3
    w = INITIAL
    for _ in range(ROUNDS):
        w = w - eta * fed.gradient(w)
    gaps = expected_gap(fed, Full(), ROUNDS, 1, eta, INITIAL)
    assert gaps[-1] == pytest.approx(float(fed.excess(w)), rel=1e-12)


def test_tiny_steps_keep_their_digits():
    # With one client, w - c shrinks by (1 - eta)^T exactly; computed from logarithms instead.
    fed = QuadraticFederation([1.0], [[0.0]], [1.0])
    eta, num_rounds, tau = 1e-9, 1000, 10
    fall = 0.5 - expected_gap(fed, Full(), num_rounds, tau, eta, [1.0])[-1]
    exact = -0.5 * np.expm1(2 * num_rounds * tau * np.log1p(-eta))
    # Each round rounds what is left, about 1/2, by 2^-54 at most; steps of 1e-9 that lost digits would be off by 1e-7.
    assert fall == pytest.approx(exact, rel=1e-12, abs=num_rounds * 2.0**-53)


def test_divergence_ends_in_infinity_and_never_in_nan():
    gaps = expected_gap(federation("full"), Full(), 2000, 1, 10.0, INITIAL)
    assert np.isinf(gaps[-1])
    assert not np.isnan(gaps).any()
    assert np.isinf(expected_gap(federation("diagonal"), Full(), 2000, 1, 10.0, INITIAL)[-1])


def test_no_rounds_give_the_initial_gap():
    fed = federation("full")
    assert expected_gap(fed, Full(), 0, 1, 0.1, INITIAL) == pytest.approx([float(fed.excess(INITIAL))], rel=1e-13)
