"""Periodic participation: the clients and weights of each round, and what happens if clients are absent."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.selection import Available, Periodic

FED = ft.QuadraticFederation([1.0, 2.0, 4.0], [[0.0], [1.0], [3.0]], [0.5, 0.25, 0.25])
SHARES = [[0.25, 0.75, 0.0], [0.0, 0.0, 1.0]]
RUN = {"num_rounds": 5, "step_size": 0.125, "local_steps": 2, "initial": [2.0]}


def by_hand(shares):
    """Two local steps of each client, averaged with the weights of the round."""
    models = [2.0]
    for r in range(5):
        ends = []
        for curvature, center in zip(FED.curvatures, FED.centers[:, 0], strict=True):
            y = models[-1]
            for _ in range(2):
                y -= 0.125 * curvature * (y - center)
            ends.append(y)
        models.append(float(np.dot(shares[r % len(shares)], ends)))
    return models


@pytest.mark.parametrize("shares", [SHARES, SHARES[:1], np.full((3, 3), 1 / 3)])
def test_round_r_averages_with_row_r_modulo_the_period(shares):
    models = ft.fedavg(FED, Periodic(shares), record=("models",), **RUN).models
    np.testing.assert_allclose(models[0, :, 0], by_hand(shares), rtol=1e-14)


def test_the_mean_field_is_the_run_itself():
    run = ft.fedavg(FED, Periodic(SHARES), record=("models",), **RUN)
    found = ft.exact.mean_field_gap(FED, Periodic(SHARES), **RUN)
    np.testing.assert_allclose(found, FED.excess(run.models[0]), rtol=1e-12)


AWAY = ft.selection.AlternatingGroups(0.0)  # client 2 is absent in even rounds, and alone in odd ones


def test_the_shares_of_the_present_are_divided_by_their_sum():
    strategy = Available(Periodic([[0.0, 0.75, 0.25]]), AWAY, "allow")
    models = ft.fedavg(FED, strategy, record=("models",), **RUN).models
    np.testing.assert_allclose(models[0, :, 0], by_hand([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), rtol=1e-14)


def test_a_round_in_which_nobody_is_present_changes_nothing():
    strategy = Available(Periodic([[0.0, 0.0, 1.0]]), AWAY, "allow")
    models = ft.fedavg(FED, strategy, record=("models",), **RUN).models[0, :, 0]
    assert (models[1::2] == models[:-1:2]).all()
