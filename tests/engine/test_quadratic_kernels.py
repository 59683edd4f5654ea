"""What quadratic clients report of their local steps, in every layout of the same federation."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.engine._kernels_quadratic import quadratic_family
from fedtheory.engine.contract import LocalWork

CURVATURES, MINIMA = np.array([2.0, 3.0, 5.0]), np.array([-7.0, 11.0, 13.0])
CENTERS = np.array([[1.0, -2.0], [3.0, 5.0], [-1.0, 0.5]])
LAYOUTS = {
    "isotropic": CURVATURES,
    "diagonal": CURVATURES[:, None] * np.ones(2),
    "full": CURVATURES[:, None, None] * np.eye(2),
}


@pytest.mark.parametrize("copies", [1, 5000], ids=["near", "far"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_report_is_the_mean_of_the_losses_where_the_steps_begin(layout, copies):
    curvatures, centers, minima = (np.concatenate([x] * copies) for x in (LAYOUTS[layout], CENTERS, MINIMA))
    fed = ft.QuadraticFederation(curvatures, centers, np.full(3 * copies, 1.0), minima, normalize=True)
    work = LocalWork(0.0, 0.0, 0.0, 0.0, 0, by_epoch=False, track_losses=True)
    chosen, start, steps = np.array([2, 1]), np.array([0.5, -1.5]), np.array([0.25, 0.5, 0.125])
    updates, reports, scratch = np.empty((2, 2)), np.empty(2), (np.zeros(2), np.zeros(2))

    family = quadratic_family(fed, work)
    family.train(family.arrays, chosen, start, steps, work, np.random.default_rng(0), *scratch, updates, reports)

    for k, update, report in zip(chosen, updates, reports, strict=True):
        model, losses = start.copy(), []
        for step in steps:
            losses.append(CURVATURES[k] / 2 * np.sum((model - CENTERS[k]) ** 2) + MINIMA[k])
            model -= step * CURVATURES[k] * (model - CENTERS[k])
        # one step of 5 * 0.5 overshoots: a dozen roundings of numbers below a hundred
        np.testing.assert_allclose(update, model - start, rtol=0, atol=1e-13)
        assert report == pytest.approx(np.mean(losses), rel=1e-14)
