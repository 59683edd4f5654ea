"""Reported losses of local steps of quadratic clients, in every layout of the same federation."""

from functools import partial

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.engine.contract import LocalWork
from tests.engine.local_training import by_hand, by_kernel

CURVATURES, MINIMA = np.array([2.0, 3.0, 5.0]), np.array([-7.0, 11.0, 13.0])
CENTERS = np.array([[1.0, -2.0], [3.0, 5.0], [-1.0, 0.5]])
LAYOUTS = {
    "isotropic": CURVATURES,
    "diagonal": CURVATURES[:, None] * np.ones(2),
    "full": CURVATURES[:, None, None] * np.eye(2),
}


def parabola(curvature, center, minimum, w):
    return curvature / 2 * np.sum((w - center) ** 2) + minimum


def slope(curvature, center, w):
    return curvature * (w - center)


@pytest.mark.parametrize("copies", [1, 5000], ids=["near", "far"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_report_is_the_mean_of_the_losses_where_the_steps_begin(layout, copies):
    curvatures, centers, minima = (np.concatenate([x] * copies) for x in (LAYOUTS[layout], CENTERS, MINIMA))
    fed = ft.QuadraticFederation(curvatures, centers, np.full(3 * copies, 1.0), minima, normalize=True)
    work = LocalWork(0.0, 0.0, 0.0, 0.0, 0, by_epoch=False, track_losses=True)
    chosen, start, steps = np.array([2, 1]), np.array([0.5, -1.5]), np.array([0.25, 0.5, 0.125])
    updates, reports = by_kernel(ft.engine.layout(fed, work), work, chosen, start, steps)
    for k, update, report in zip(chosen, updates, reports, strict=True):
        h, c, least = CURVATURES[k], CENTERS[k], MINIMA[k]
        expected, loss = by_hand(partial(parabola, h, c, least), partial(slope, h, c), start, steps)
        # one step of 5 * 0.5 overshoots: a dozen roundings of numbers below a hundred
        np.testing.assert_allclose(update, expected, rtol=0, atol=1e-13)
        assert report == pytest.approx(loss, rel=1e-14)
