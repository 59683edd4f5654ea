"""Local steps by the kernels, against the losses and gradients of their federation."""

from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.engine.contract import LocalWork

CURVATURES, MINIMA = np.array([2.0, 3.0, 5.0]), np.array([-7.0, 11.0, 13.0])
CENTERS, WEIGHTS = np.array([[1.0, -2.0], [3.0, 5.0], [-1.0, 0.5]]), [0.2, 0.3, 0.5]
FEDERATIONS: dict[str, Any] = {
    "isotropic": ft.QuadraticFederation(CURVATURES, CENTERS, WEIGHTS, MINIMA),
    "diagonal": ft.QuadraticFederation(CURVATURES[:, None] * [1.0, 0.5], CENTERS, WEIGHTS, MINIMA),
    "full": ft.QuadraticFederation(CURVATURES[:, None, None] * [[1.0, 0.25], [0.25, 0.5]], CENTERS, WEIGHTS, MINIMA),
    "wells": ft.federation.NonconvexFederation([2.0, 0.5], [[0.3, -0.1], [-0.2, 0.4], [-0.3, 0.05]], WEIGHTS),
}
CHOSEN, START, STEPS = np.array([2, 1]), np.array([0.5, -1.5]), np.array([0.25, 0.5, 0.125])


@pytest.mark.parametrize("name", FEDERATIONS)
def test_a_report_is_the_mean_of_the_losses_where_the_steps_begin(name: str) -> None:
    fed = FEDERATIONS[name]
    work = LocalWork(0.0, 0.0, 0.0, 0.0, 0, by_epoch=False, track_losses=True)
    family, updates, reports = ft.engine.layout(fed, work), np.empty((2, 2)), np.empty(2)
    scratch, rng = (np.zeros(2), np.zeros(2)), np.random.default_rng(0)
    family.train(family.arrays, CHOSEN, START, STEPS, work, rng, *scratch, updates, reports)
    for k, update, report in zip(CHOSEN, updates, reports, strict=True):
        model, losses = START.copy(), []
        for step in STEPS:
            losses.append(fed.losses(model)[k])
            model -= step * fed.gradients(model)[k]
        # one step of 5 * 0.5 overshoots: a dozen roundings of numbers below a hundred
        np.testing.assert_allclose(update, model - START, rtol=0, atol=1e-13)
        assert report == pytest.approx(np.mean(losses), rel=1e-14)


@pytest.mark.parametrize("far", [1e99, 1e101, -1e120])
def test_far_from_its_center_a_well_is_as_high_as_its_amplitude(far: float) -> None:
    """Beside such squares nothing is left of the one in ``1 / (1 + t^2)``."""
    work = LocalWork(0.0, 0.0, 0.0, 0.0, 0, by_epoch=False, track_losses=False)
    flat = ft.federation.NonconvexFederation([2.0, 0.5], np.zeros((2, 2)), [0.5, 0.5])
    family, losses = ft.engine.layout(flat, work), np.empty(1)
    family.losses(family.arrays, np.array([far, 5.0]), np.array([1]), 0, np.random.default_rng(0), losses)
    assert losses[0] == pytest.approx(2.0 + 0.5 * 25 / 26, rel=1e-15)
