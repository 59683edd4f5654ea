"""Quadratic federations: every closed form against an independent derivation, and rejection of bad input."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy.optimize import minimize

from fedtheory.conformance import quadratic_federations, seeds
from fedtheory.conformance.drawing import draw_quadratics as federation
from fedtheory.datasets.quadratics import power_law_weights, power_of_choice_quadratics
from fedtheory.federation.quadratic import QuadraticFederation

KINDS = ("isotropic", "diagonal", "matrix")


def by_definition(fed: QuadraticFederation, w: Any) -> Any:
    offsets = [w - c for c in fed.centers]
    return np.array([0.5 * o @ h @ o + m for o, h, m in zip(offsets, fed.matrices, fed.minima, strict=True)])


@pytest.mark.parametrize("kind", KINDS)
@given(seeds())
def test_losses_follow_the_definition_and_the_weights(kind, seed):
    fed, w = federation(kind, seed), np.random.default_rng(seed).normal(size=3)
    np.testing.assert_allclose(fed.losses(w), by_definition(fed, w), rtol=1e-13, atol=1e-13)
    assert fed.loss(w) == pytest.approx(fed.weights @ by_definition(fed, w), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@given(seeds())
def test_gradients_are_the_slopes_of_the_losses(kind, seed):
    fed, w = federation(kind, seed), np.random.default_rng(seed).normal(size=3)
    # Central differences of a quadratic are exact up to rounding, eps / step.
    steps = 1e-3 * np.eye(3)
    slopes = np.array([(fed.losses(w + s) - fed.losses(w - s)) / 2e-3 for s in steps]).T
    np.testing.assert_allclose(fed.gradients(w), slopes, atol=1e-10)
    np.testing.assert_allclose(fed.gradient(w), fed.weights @ slopes, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@given(seeds())
def test_minimizer_has_no_slope_and_the_minimum(kind, seed):
    fed = federation(kind, seed)
    # A backward stable solve leaves a residual of a few roundings of L times the distances.
    np.testing.assert_allclose(fed.gradient(fed.minimizer), 0, atol=1e-13 * fed.smoothness * 10)
    assert fed.minimum == pytest.approx(fed.loss(fed.minimizer), abs=1e-12)
    found = minimize(fed.loss, np.zeros(3), jac=fed.gradient, method="BFGS", options={"gtol": 1e-9})
    assert found.fun == pytest.approx(fed.minimum, abs=1e-12)


@given(fed=quadratic_federations())
def test_objective_gap_is_the_minimum_less_the_mean_of_the_local_minima(fed):
    assert fed.objective_gap == pytest.approx(fed.minimum - fed.weights @ fed.local_minima, abs=1e-12)
    assert fed.objective_gap >= 0
    np.testing.assert_allclose(by_definition(fed, fed.local_minimizers[0])[0], fed.local_minima[0], atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
@given(seeds())
def test_excess_is_the_loss_above_the_minimum(kind, seed):
    fed, w = federation(kind, seed), np.random.default_rng(seed).normal(size=(5, 3))
    np.testing.assert_allclose(fed.excess(w), fed.loss(w) - fed.minimum, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_curvature_constants_are_the_extreme_eigenvalues(kind):
    fed = federation(kind, 0)
    eigenvalues = np.concatenate([np.linalg.eigvalsh(h) for h in fed.matrices])
    assert fed.smoothness == pytest.approx(eigenvalues.max(), rel=1e-12)
    assert fed.strong_convexity == pytest.approx(eigenvalues.min(), rel=1e-12)


def test_excess_keeps_its_digits_where_the_difference_of_losses_has_none():
    fed = QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5], minima=1e6)
    w = fed.minimizer + 1e-9
    assert fed.excess(w) == pytest.approx(0.5e-18, rel=1e-6, abs=0)  # 1/2 (1e-9)^2
    assert fed.loss(w) - fed.minimum != pytest.approx(0.5e-18, rel=1e-6, abs=0)


@pytest.mark.parametrize("kind", KINDS)
def test_all_shapes_of_models_give_the_same_numbers(kind):
    fed, w = federation(kind, 1), np.random.default_rng(1).normal(size=(2, 5, 3))
    assert fed.losses(w).shape == (2, 5, 4)
    assert fed.gradients(w).shape == (2, 5, 4, 3)
    for index in np.ndindex(2, 5):
        np.testing.assert_array_equal(fed.losses(w)[index], fed.losses(w[index]))
        np.testing.assert_allclose(fed.gradient(w)[index], fed.gradient(w[index]), rtol=1e-14)


def test_three_ways_to_write_one_federation_agree():
    rng = np.random.default_rng(2)
    h, c, p = rng.uniform(1, 3, 4), rng.normal(size=(4, 3)), np.full(4, 0.25)
    feds = [
        QuadraticFederation(curvatures, c, p)
        for curvatures in (h, np.repeat(h[:, None], 3, axis=1), h[:, None, None] * np.eye(3))
    ]
    w = rng.normal(size=3)
    for fed in feds[1:]:
        np.testing.assert_allclose(fed.losses(w), feds[0].losses(w), rtol=1e-14)
        np.testing.assert_allclose(fed.minimizer, feds[0].minimizer, rtol=1e-14)
        assert fed.objective_gap == pytest.approx(feds[0].objective_gap, rel=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_linear_form_is_equation_86(kind):
    base, w = federation(kind, 3), np.array([0.3, -1.0, 2.0])
    e = np.random.default_rng(3).normal(size=(4, 3))
    fed = QuadraticFederation.from_linear(base.curvatures, e, base.weights)
    printed = [0.5 * w @ h @ w - x @ w + 0.5 * x @ np.linalg.inv(h) @ x for h, x in zip(base.matrices, e, strict=True)]
    np.testing.assert_allclose(fed.losses(w), printed, rtol=1e-11)
    np.testing.assert_array_equal(fed.local_minima, 0)


def test_any_real_input_is_taken_and_never_changed_or_shared():
    centers = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    centers.setflags(write=False)
    weights = np.array([1, 3])
    fed = QuadraticFederation([1, 2], centers[:, ::-1], weights, normalize=True)
    np.testing.assert_array_equal(fed.centers, [[2, 1, 0], [5, 4, 3]])
    np.testing.assert_array_equal(fed.weights, [0.25, 0.75])
    assert fed.centers.dtype == np.float64
    assert fed.centers.flags.c_contiguous
    weights[0] = 100
    np.testing.assert_array_equal(fed.weights, [0.25, 0.75])
    with pytest.raises(ValueError, match="read-only"):
        fed.weights[0] = 1.0


def test_matrices_that_are_symmetric_up_to_rounding_are_taken_and_made_so():
    almost = np.array([[[2.0, 1e-13], [0.0, 1.0]], [[1.0, 0.5], [0.5 + 4e-13, 1.0]]])
    fed = QuadraticFederation(almost, np.zeros((2, 2)), [0.5, 0.5])
    np.testing.assert_array_equal(fed.curvatures, (almost + almost.transpose(0, 2, 1)) / 2)
    with pytest.raises(ValueError, match="curvatures must be symmetric, got an asymmetry of 3e-12 for client 1"):
        QuadraticFederation(almost + 2.6e-12 * np.eye(8)[6].reshape(2, 2, 2), np.zeros((2, 2)), [0.5, 0.5])


SKEW = np.array([[[1.0, 0.5], [0.4, 1.0]]] * 2)
INDEFINITE = np.array([np.eye(2), [[1.0, 2.0], [2.0, 1.0]]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"curvatures": SKEW}, "symmetric, got an asymmetry of 0.1 for client 0"),
        ({"curvatures": INDEFINITE}, "eigenvalue -1 for client 1"),
        ({"curvatures": [1.0, 0.0]}, "positive definite, got 0.0 for client 1"),
        ({"curvatures": [np.eye(2), -1 - np.eye(2)]}, "eigenvalue -3 for client 1"),
        ({"curvatures": [1.0, 1.0, 1.0]}, r"shape \(2,\), \(2, 2\) or \(2, 2, 2\)"),
        ({"weights": [1.5, -0.5]}, "got -0.5 at index 1"),
        ({"weights": [0.5, 0.4]}, "weights must sum to 1"),
        ({"weights": [0.0, 0.0]}, "positive entry"),
        ({"minima": [0.0, 0.0, 0.0]}, r"minima must have shape \(2,\)"),
    ],
)
def test_clients_that_are_not_strongly_convex_and_weights_that_are_no_law_are_refused(change, message):
    good = {"curvatures": [1.0, 2.0], "centers": [[0.0, 0.0], [1.0, 1.0]], "weights": [0.5, 0.5], "minima": 0.0}
    with pytest.raises(ValueError, match=message):
        QuadraticFederation(**(good | change))


def test_appendix_f_is_drawn_from_its_recipe():
    fed = power_of_choice_quadratics(20_000, 5, 0)
    # h ~ U(1, 20): mean 10.5, variance 19^2/12; e = h c ~ N(0, 10^2)
    h = fed.curvatures
    assert abs(h.mean() - 10.5) < 5 * np.sqrt(19**2 / 12 / h.size)
    assert h.min() >= 1
    assert h.max() <= 20
    e = (h[:, None] * fed.centers).ravel()
    assert abs(e.mean()) < 5 * 10 / np.sqrt(e.size)
    assert abs((e**2).mean() - 100) < 5 * 100 * np.sqrt(2 / e.size)  # Var of a squared normal: 2 sigma^4
    np.testing.assert_array_equal(fed.local_minima, 0)


def test_power_law_weights_have_the_density_3_x_squared():
    weights = power_law_weights(50_000, 1)
    # The sizes are weights * sum; under 3x^2 their mean is 3/4 and their second moment 3/5.
    ratio = (weights**2).mean() / weights.mean() ** 2
    assert ratio == pytest.approx((3 / 5) / (3 / 4) ** 2, rel=5e-3)
    assert weights.sum() == pytest.approx(1, abs=1e-12)


def test_parts_of_a_random_federation_have_streams_of_their_own():
    one, other = power_of_choice_quadratics(6, 3, 7), power_of_choice_quadratics(6, 5, 7)
    np.testing.assert_array_equal(one.curvatures, other.curvatures)
    np.testing.assert_array_equal(one.weights, other.weights)
