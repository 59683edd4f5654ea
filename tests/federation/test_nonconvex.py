"""Federations of tilted wells: independent computations of losses, gradients and every constant."""

import numpy as np
import pytest

from fedtheory.errors import AssumptionViolated
from fedtheory.federation import NonconvexFederation

WEIGHTS = np.array([0.5, 0.3, 0.2])


def federation(rng, num_clients=3, dim=4):
    share, amplitudes = rng.dirichlet(np.ones(num_clients)), rng.uniform(0, 2, dim)
    return NonconvexFederation(amplitudes, rng.normal(size=(num_clients, dim)), share)


def test_losses_by_hand():
    # wells 2 phi(1) + phi(2) = 2/2 + 4/5; tilts (1, 0) and (-1, 0) at x = (1, 2)
    fed = NonconvexFederation([2.0, 1.0], [[1.0, 0.0], [-1.0, 0.0]], [0.5, 0.5])
    np.testing.assert_allclose(fed.losses([1.0, 2.0]), [2.8, 0.8], rtol=1e-15)
    assert fed.loss([1.0, 2.0]) == pytest.approx(1.8, rel=1e-15)
    # slopes 2 * 2/4 and 2 * 2/25, plus the tilts
    np.testing.assert_allclose(fed.gradients([1.0, 2.0]), [[2.0, 0.16], [0.0, 0.16]], rtol=1e-15)


def test_gradients_are_differences_of_losses():
    rng = np.random.default_rng(0)
    fed, w, h = federation(rng), rng.normal(size=4), 1e-6
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


def test_smoothness_holds_and_is_attained():
    rng = np.random.default_rng(1)
    fed = federation(rng)
    x, y = rng.normal(size=(2, 20_000, 4))
    ratios = np.linalg.norm(fed.gradients(x) - fed.gradients(y), axis=-1) / np.linalg.norm(x - y, axis=-1)[:, None]
    assert ratios.max() <= fed.smoothness
    step = 1e-5 * np.eye(4)[np.argmax(fed.amplitudes)]
    change = fed.gradient(step) - fed.gradient(-step)
    assert np.linalg.norm(change) / 2e-5 == pytest.approx(fed.smoothness, rel=1e-8)


def test_clients_are_everywhere_as_similar_as_assumption_9_says():
    rng = np.random.default_rng(2)
    for scale in (0.1, 1.0, 10.0):
        fed = federation(rng)
        x = rng.normal(scale=scale, size=(500, 4))
        deviations = ((fed.gradients(x) - fed.gradient(x)[:, None, :]) ** 2).sum(axis=-1) @ fed.weights
        np.testing.assert_allclose(deviations, fed.dissimilarity, rtol=1e-12)


def test_the_minimum_is_below_all_else_and_stationary():
    rng = np.random.default_rng(3)
    fed = federation(rng)
    assert fed.loss(fed.minimizer) == fed.minimum == fed.excess(fed.minimizer) == 0
    assert not fed.gradient(fed.minimizer).any()
    assert (fed.loss(rng.normal(scale=3, size=(20_000, 4))) > 0).all()


def test_tilts_cancel_in_the_sum():
    fed = NonconvexFederation([1.0, 2.0], [[1.0, 5.0], [2.0, 0.0], [4.0, 1.0]], WEIGHTS)
    np.testing.assert_allclose(WEIGHTS @ fed.tilts, 0, atol=1e-15)
    # differences between clients are those that were given
    np.testing.assert_allclose(fed.tilts[2] - fed.tilts[1], [2.0, 1.0], atol=1e-15)


def test_what_is_not_known_is_refused_with_the_reason():
    tilted = NonconvexFederation([1.0], [[1.0], [-1.0]], [0.5, 0.5])
    for name in ("local_minima", "local_minimizers", "objective_gap"):
        with pytest.raises(AssumptionViolated, match=r"needs? clients without tilts"):
            getattr(tilted, name)
    with pytest.raises(AssumptionViolated, match="strong convexity needs convex clients"):
        _ = tilted.strong_convexity
