"""Losses of coalitions with a shared first layer equal those of the mean model without sharing."""

from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.federation import FederatedData
from fedtheory.valuation.games import shapley

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(120, 7)), RNG.integers(3, size=120)
PARTS = np.split(np.arange(120), [20, 50, 70])
# Two clients of more and of fewer samples than a block of the kernels holds.
SERVER = FederatedData.from_clients(
    [(RNG.normal(size=(n, 7)), RNG.integers(3, size=n)) for n in (150, 31)], num_classes=3
)
FAMILIES: dict[str, Any] = {
    "softmax": lambda data: ft.SoftmaxFederation(data, l2=0.1),
    "one layer": lambda data: ft.PerceptronFederation(data, (6,), l2=0.1),
    "two layers": lambda data: ft.PerceptronFederation(data, (11, 4)),
}


def first_round(family, valuation, num_selected=3):
    fed, server = (
        FAMILIES[family](data) for data in (FederatedData.from_partition(X, Y, PARTS, num_classes=3), SERVER)
    )
    start = np.random.default_rng(2).normal(size=fed.dim)
    run = ft.fedavg(
        fed, ft.selection.GreedyShapley(num_selected, valuation=valuation), num_rounds=3, local_steps=4, step_size=0.2,
        initial=start, validation=server, record=("values", "selected", "coalitions", "models"), rng=3,
    )  # fmt: skip
    return fed, server, start, run


@pytest.mark.parametrize("family", FAMILIES)
def test_values_are_those_of_the_mean_models_losses(family):
    fed, server, start, run = first_round(family, "exact")
    chosen = run.recorded("selected")[0, 0].astype(int)
    returned = []
    for k in chosen:
        model = start.copy()
        for _ in range(4):
            model -= 0.2 * fed.gradients(model)[k]
        returned.append(model)
    sizes = fed.sample_counts[chosen]

    def utility(players):
        who = sorted(players)
        return -float(server.loss(np.average([returned[i] for i in who], axis=0, weights=sizes[who]) if who else start))

    np.testing.assert_allclose(run.recorded("values")[0, 0], shapley(utility, 3), rtol=0, atol=1e-12)
    assert run.recorded("coalitions")[0].tolist() == [0, 8, 16, 24]
