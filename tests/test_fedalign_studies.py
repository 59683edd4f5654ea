"""The checks of FedALIGN's studies detect wrong data."""

# mypy: allow-untyped-calls

import sys

import _fedalign_images as align
import numpy as np
import pytest
import xarray

from tests.quick_studies import loaded


@pytest.mark.parametrize("pooled", [False, True])
def test_worlds_of_the_bounds_start_two_away_in_every_coordinate_and_know_their_constants(pooled: bool) -> None:
    found = loaded("fedalign_quadratic")
    setting = sys.modules["_aligned_quadratics"].prepared(found.quick, pooled=pooled)
    fed, known, tau = setting.aligned.federation, setting.constants, found.quick.local_steps
    assert fed.num_clients == found.quick.num_priority + found.quick.num_others
    assert setting.initial - fed.minimizer == pytest.approx(np.full(fed.dim, 2.0), rel=1e-12)
    assert known["initial_distance2"] == pytest.approx(4 * fed.dim, rel=1e-12)
    assert (known["mu"], known["L"]) == (fed.strong_convexity, fed.smoothness)
    assert (known["local_steps"], known["sigma2"]) == (tau, found.quick.gradient_noise)
    assert known["objective_gap"] == setting.aligned.objective_gap
    assert setting.gamma == max(8 * fed.smoothness / fed.strong_convexity, tau)
    assert setting.step_sizes.shape == (found.quick.num_rounds * tau,)
    # 2 / (mu (gamma + t)), whose first is at the gradient's region that G2 speaks about.
    assert setting.step_sizes[0] == pytest.approx(2 / (fed.strong_convexity * setting.gamma), rel=1e-12)
    gradients = fed.gradients(setting.initial)
    assert known["G2"] >= np.square(gradients).sum(axis=1).max() + found.quick.gradient_noise


def test_gains_are_of_the_same_instances() -> None:
    final = xarray.DataArray(
        [[0.5, 0.7, 0.6], [0.4, np.nan, 0.6]],
        dims=("instance", "strategy"),
        coords={"strategy": list(align.STRATEGIES)},
    )
    with pytest.raises(ValueError, match=r"of the same seeds on both sides, got 1 of 2 and 2 of 2"):
        align.gain(final)
    assert align.gain(final.isel(instance=[0, 0]), align.EVERYBODY) == pytest.approx([0.1, 0.1])
