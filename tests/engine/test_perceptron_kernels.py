"""Perceptron kernels against a NumPy twin with the same random streams."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.federation.client_data import FederatedData
from fedtheory.selection.power_of_choice import PowerOfChoice
from fedtheory.selection.proportional import Proportional
from fedtheory.selection.rules import Rules
from tests.engine.twin import run_twin

EPS = np.finfo(np.float64).eps


def federation(hidden, sizes=(5, 64, 70), num_features=3, num_classes=3, l2=0.0, dropout=()):
    rng = np.random.default_rng(0)
    clients = [
        (rng.normal(k, 1, size=(n, num_features)), rng.integers(num_classes, size=n)) for k, n in enumerate(sizes)
    ]
    return ft.PerceptronFederation(
        FederatedData.from_clients(clients, num_classes=num_classes), hidden, l2, dropout=dropout
    )


@pytest.mark.parametrize(
    ("hidden", "shape"),
    [((1,), (3, 3)), ((7,), (8, 2)), ((16,), (20, 11)), ((70,), (3, 4)), ((5, 9), (3, 3)), ((8, 3, 6), (7, 5))],
    ids=str,
)
@pytest.mark.parametrize(
    ("batch_size", "batches"),
    [(None, "step"), (1, "step"), (5, "step"), (2, "epoch"), (30, "epoch")],
    ids="batch={}".format,
)
@pytest.mark.parametrize(
    "extra",
    [{}, {"gradient_noise": 0.3, "momentum": 0.5, "proximal_weight": 0.7, "server_step_size": 0.8}],
    ids=["plain", "all"],
)
def test_engine_equals_its_numpy_twin(hidden, shape, batch_size, batches, extra):
    fed = federation(hidden, num_features=shape[0], num_classes=shape[1], l2=0.125 if extra else 0.0)
    initial, etas = fed.initial(1), 0.05 / (1 + np.arange(4 * 3))
    run = ft.fedavg(
        fed, PowerOfChoice(2, 3), num_rounds=3, local_steps=4, step_size=etas, initial=initial, rng=7,
        batch_size=batch_size, batches=batches, record=("loss", "models"), **extra,
    )  # fmt: skip
    losses, model, _ = run_twin(
        fed, PowerOfChoice(2, 3), num_rounds=3, etas=etas, batch_size=batch_size, seed=7, initial=initial,
        batches=batches, **extra,
    )  # fmt: skip
    # The roads differ in the order of sums. A dozen short steps spread a rounding by a small factor, unless a unit
    # changes sides between two roundings, which the seed does not.
    scale = float(np.abs(fed.inputs).sum(axis=1).max() * max(1.0, np.abs(run.models).max()) * fed.dim)
    np.testing.assert_allclose(run.loss[0], losses, atol=40 * EPS * scale)
    np.testing.assert_allclose(run.models[0, -1], model, atol=40 * EPS * scale)


@pytest.mark.parametrize(
    ("l2", "extra"),
    [(0.0, {}), (0.5, {}), (0.0, {"gradient_noise": 0.3}), (0.0, {"momentum": 0.5}), (0.0, {"proximal_weight": 0.7})],
    ids=str,
)
def test_whatever_a_step_has_besides_the_gradient_is_in_it_alone_too(l2, extra):
    fed = federation((4,), l2=l2)
    initial, etas = fed.initial(1), np.full(12, 0.05)
    run = ft.fedavg(
        fed, LastLossDecides(), num_rounds=4, local_steps=3, step_size=0.05, initial=initial, rng=7, batch_size=5,
        record=("loss", "models"), **extra,
    )  # fmt: skip
    _, model, _ = run_twin(
        fed, LastLossDecides(), num_rounds=4, etas=etas, batch_size=5, seed=7, initial=initial, **extra
    )
    np.testing.assert_allclose(run.models[0, -1], model, atol=1e-13)


class LastLossDecides:
    """Select a client by digits of the loss that was reported last, so that the report matters as a number."""

    def rules(self, weights, num_rounds):
        return Rules(_by_digits, max_selected=1, observe=_keep, memory=np.zeros(1))


def _by_digits(round_index, table, memory, weights, candidates, losses, rng, chosen):
    chosen[0] = int(memory[0] * 1e5) % weights.size
    return 1


def _keep(round_index, table, memory, weights, chosen, coefficients, mean_losses):
    memory[0] = mean_losses[0]


def lone_client(num_samples, num_steps, **batches):
    """Model after one round of a client on its own."""
    fed = federation((4,), sizes=(num_samples,))
    return ft.fedavg(
        fed, ft.selection.Full(), num_rounds=1, local_steps=num_steps, step_size=0.1, initial=fed.initial(0),
        record=("models",), **batches,
    ).models[0, 1]  # fmt: skip


@pytest.mark.parametrize(
    ("num_samples", "num_batches", "batch_size"), [(6, 3, 2), (9, 3, 3), (7, 3, 2), (7, 2, 3), (2, 5, 1), (6, 1, 6)]
)
def test_so_many_batches_an_epoch_are_epochs_of_batches_of_a_client_s_own_size(num_samples, num_batches, batch_size):
    # two epochs and a step, or one where there are fewer samples than batches, so that an epoch repeats some
    steps = num_batches if num_samples < num_batches else 2 * num_batches + 1
    ours = lone_client(num_samples, steps, num_batches=num_batches)
    np.testing.assert_array_equal(ours, lone_client(num_samples, steps, batch_size=batch_size, batches="epoch"))
    if num_batches > 1:
        assert (ours != lone_client(num_samples, steps)).any()


def test_an_epoch_ends_after_its_number_of_batches_though_samples_are_left():
    # Eight samples in three batches of two: the fourth batch begins anew, that of an epoch by size takes the last two.
    ours, by_size = ({"num_batches": 3}, {"batch_size": 2, "batches": "epoch"})
    np.testing.assert_array_equal(lone_client(8, 3, **ours), lone_client(8, 3, **by_size))
    assert (lone_client(8, 4, **ours) != lone_client(8, 4, **by_size)).any()


def test_overflow_in_a_hidden_layer_is_a_divergence_and_no_silent_zero():
    """max(0, NaN) must not be 0."""
    fed = federation((4,))
    with pytest.warns(ft.errors.DivergenceWarning):
        run = ft.fedavg(
            fed, Proportional(1), num_rounds=60, step_size=1e200, initial=fed.initial(0), record=("loss",), rng=1
        )
    assert run.diverged_at[0] > 0
    assert np.isnan(run.loss[0, -1])


@pytest.mark.parametrize("batch_size", [None, 5], ids="batch={}".format)
@pytest.mark.parametrize(("hidden", "rates"), [((4,), (0.5,)), ((5, 6), (0.0, 0.5)), ((5, 6), (0.25, 0.75))], ids=str)
@pytest.mark.parametrize("extra", [{}, {"l2": 0.125}], ids=str)
def test_dropout_is_that_of_loops_over_samples_on_the_same_stream(batch_size, hidden, rates, extra):
    fed = federation(hidden, num_features=4, dropout=rates, **extra)
    initial, etas = fed.initial(1), np.full(12, 0.05)
    settings = {"batch_size": batch_size, "record": ("loss", "models")}
    run = ft.fedavg(
        fed, LastLossDecides(), num_rounds=4, local_steps=3, step_size=0.05, initial=initial, rng=7, **settings
    )
    losses, model, _ = run_twin(
        fed, LastLossDecides(), num_rounds=4, etas=etas, batch_size=batch_size, seed=7, initial=initial
    )
    np.testing.assert_allclose(run.loss[0], losses, atol=1e-13)
    np.testing.assert_allclose(run.models[0, -1], model, atol=1e-13)


def test_losses_and_recordings_know_no_dropout():
    fed, whole = federation((4,), dropout=(0.9,)), federation((4,))
    initial = fed.initial(1)
    run = ft.fedavg(fed, ft.selection.Full(), num_rounds=2, step_size=0.1, initial=initial, record=("loss", "models"))
    np.testing.assert_allclose(run.loss[0], whole.loss(run.models[0]), rtol=1e-13)
