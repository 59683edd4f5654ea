"""Reported losses of local steps of double-well clients against the federation's losses and gradients."""

import numpy as np
import pytest

from fedtheory.engine.contract import LocalWork
from fedtheory.engine.families import layout
from fedtheory.federation import NonconvexFederation
from tests.engine.local_training import by_hand, by_kernel

FED = NonconvexFederation(
    amplitudes=[2.0, 0.5],
    tilts=[[0.3, -0.1], [-0.2, 0.4], [-0.3, 0.05]],
    weights=[0.2, 0.3, 0.5],
)


def test_a_report_is_the_mean_of_the_losses_where_the_steps_begin_and_0_if_nobody_asks() -> None:
    chosen, start, steps = np.array([2, 1]), np.array([0.5, -1.5]), np.array([0.25, 0.5, 0.125])
    for asked in (True, False):
        work = LocalWork(0.0, 0.0, 0.0, 0.0, 0, by_epoch=False, track_losses=asked)
        updates, reports = by_kernel(layout(FED, work), work, chosen, start, steps)
        for k, update, report in zip(chosen.tolist(), updates, reports, strict=True):
            expected, loss = by_hand(lambda w, k=k: FED.losses(w)[k], lambda w, k=k: FED.gradients(w)[k], start, steps)
            np.testing.assert_allclose(update, expected, rtol=1e-14)
            assert report == (pytest.approx(loss, rel=1e-14) if asked else 0.0)


@pytest.mark.parametrize("far", [1e99, 1e101, -1e120])
def test_far_from_its_center_a_well_is_as_high_as_its_amplitude(far: float) -> None:
    """Beside such squares nothing is left of the one in ``1 / (1 + t^2)``."""
    work = LocalWork(0.0, 0.0, 0.0, 0.0, 0, by_epoch=False, track_losses=False)
    flat = NonconvexFederation([2.0, 0.5], np.zeros((2, 2)), [0.5, 0.5])
    family, losses = layout(flat, work), np.empty(1)
    family.losses(family.arrays, np.array([far, 5.0]), np.array([1]), 0, np.random.default_rng(0), losses)
    assert losses[0] == pytest.approx(2.0 + 0.5 * 25 / 26, rel=1e-15)
