"""The recorded accuracy equals the federation's, and is rejected for families that are not classifiers."""

from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.federation import FederatedData

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(90, 4)), RNG.integers(3, size=90)
# More samples than a block of the kernels holds, so that blocks are added up.
TEST = RNG.normal(size=(301, 4)), RNG.integers(3, size=301)
PARTS = np.array_split(np.arange(90), 6)
FAMILIES: dict[str, Any] = {
    "softmax": lambda data: ft.SoftmaxFederation(data, l2=0.1),
    "perceptron": lambda data: ft.PerceptronFederation(data, (5, 4), l2=0.1),
}


def run(fed, **options):
    start = RNG.normal(size=fed.dim) if "initial" not in options else options.pop("initial")
    settings = {"num_rounds": 4, "local_steps": 3, "step_size": 0.3, "batch_size": 5, "num_replicates": 2, "rng": 1}
    return ft.fedavg(fed, ft.selection.Uniform(2), initial=start, **settings | options)


@pytest.mark.parametrize("family", FAMILIES)
def test_accuracy_is_that_of_the_recorded_models_on_the_common_test_set(family):
    fed = FAMILIES[family](FederatedData.from_partition(X, Y, PARTS, test=TEST, num_classes=3))
    found = run(fed, record=("accuracy", "models"), record_every=2)
    assert found.accuracy.shape == (2, 3)
    # The loop counts mistakes: one minus their share may differ from the share of hits by a rounding.
    np.testing.assert_allclose(found.recorded("accuracy"), fed.accuracy(found.models), rtol=0, atol=2**-53)


@pytest.mark.parametrize("family", FAMILIES)
def test_test_samples_that_are_handed_over_replace_those_held_out_and_change_no_model(family):
    other = TEST[0][:7], TEST[1][:7]
    held_out = FAMILIES[family](FederatedData.from_partition(X, Y, PARTS, test=TEST, num_classes=3))
    without = FAMILIES[family](FederatedData.from_partition(X, Y, PARTS, num_classes=3))
    start = np.linspace(-1, 1, without.dim)
    both = [run(fed, record=("accuracy", "models", "loss"), test=other, initial=start) for fed in (held_out, without)]
    assert (both[0].recorded("accuracy") == both[1].recorded("accuracy")).all()
    assert set(np.unique(np.round(7 * both[0].recorded("accuracy"), 12))) <= set(range(8))
    plain = run(without, record=("models", "loss"), initial=start)
    assert all((plain.recorded(name) == both[1].recorded(name)).all() for name in ("models", "loss"))


def test_a_run_with_a_test_set_is_made_again_from_its_settings():
    fed = FAMILIES["softmax"](FederatedData.from_partition(X, Y, PARTS, num_classes=3))
    found = run(fed, record=("accuracy",), test=TEST)
    again = ft.fedavg(**vars(found.settings))
    assert (again.recorded("accuracy") == found.recorded("accuracy")).all()
