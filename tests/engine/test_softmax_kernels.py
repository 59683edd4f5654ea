"""Softmax kernels against a NumPy twin with the same random streams, and their parts against NumPy."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fedtheory as ft
from fedtheory._support.exponential import power
from fedtheory.federation.client_data import FederatedData
from fedtheory.selection.full import Full
from fedtheory.selection.power_of_choice import PowerOfChoice
from fedtheory.selection.proportional import Proportional
from fedtheory.selection.rules import Rules
from tests.engine.twin import run_twin
from tests.environment import sized

EPS = np.finfo(np.float64).eps


def federation(sizes=(5, 70, 131), num_features=3, num_classes=3, l2=0.0, seed=0):
    rng = np.random.default_rng(seed)
    clients = [
        (rng.normal(k, 1, size=(n, num_features)), rng.integers(num_classes, size=n)) for k, n in enumerate(sizes)
    ]
    return ft.SoftmaxFederation(FederatedData.from_clients(clients, num_classes=num_classes), l2)


@pytest.mark.parametrize("shape", [(3, 3), (7, 2), (8, 5), (60, 10), (1, 11)], ids=str)
@pytest.mark.parametrize(
    ("batch_size", "batches"),
    [(None, "step"), (1, "step"), (5, "step"), (2, "epoch"), (5, "epoch"), (66, "epoch")],
    ids="batch={}".format,
)
@pytest.mark.parametrize(
    "extra",
    [{}, {"gradient_noise": 0.3, "momentum": 0.5, "proximal_weight": 0.7, "server_step_size": 0.8}],
    ids=["plain", "all"],
)
def test_engine_equals_its_numpy_twin(shape, batch_size, batches, extra):
    fed = federation((5, 64, 70), *shape, l2=0.125 if extra else 0.0)
    initial = 0.5 * np.random.default_rng(1).standard_normal(fed.dim)
    etas = 0.1 / (1 + np.arange(4 * 6))
    run = ft.fedavg(
        fed, PowerOfChoice(2, 3), num_rounds=6, local_steps=4, step_size=etas, initial=initial, rng=7,
        batch_size=batch_size, batches=batches, record=("loss", "models"), **extra,
    )  # fmt: skip
    losses, model, _ = run_twin(
        fed, PowerOfChoice(2, 3), num_rounds=6, etas=etas, batch_size=batch_size, seed=7, initial=initial,
        batches=batches, **extra,
    )  # fmt: skip
    # The roads differ in the order of sums. A step maps two models to models that are not further apart (the step sizes
    # are below 2/L up to the slack of momentum), so that 24 steps add up to some hundred roundings of logits.
    scale = float(np.abs(fed.inputs).sum(axis=1).max() * np.abs(run.models).max())
    np.testing.assert_allclose(run.loss[0], losses, rtol=0, atol=400 * EPS * scale)
    np.testing.assert_allclose(run.models[0, -1], model, rtol=0, atol=400 * EPS * scale)


@pytest.mark.parametrize(("batches", "covers"), [("epoch", True), ("step", False)])
def test_an_epoch_sees_every_sample_once_and_steps_of_their_own_do_not(batches, covers):
    # With steps so short that the model hardly moves, the mean gradient of the 4 batches is that of all 20 samples.
    fed, step_size = federation(sizes=(20,)), 1e-7
    run = ft.fedavg(
        fed, Full(), num_rounds=1, local_steps=4, step_size=step_size, batch_size=5, batches=batches,
        num_replicates=30, rng=3, record=("models",),
    )  # fmt: skip
    assert run.config["batches"] == batches
    mean_gradients = (run.models[:, 0] - run.models[:, 1]) / (4 * step_size)
    apart = np.abs(mean_gradients - fed.gradients(np.zeros(fed.dim))[0]).max(axis=1)
    # The model moves by less than 4 steps times a gradient below 10, the Hessian is below 10, rounding 1e-15 / 1e-7.
    assert np.array_equal(apart < 100 * 4 * step_size + 1e-7, np.full(30, covers))


def test_relative_noise_follows_the_full_gradient():
    fed = federation(l2=0.5)
    etas, initial = np.full(6, 0.05), np.full(fed.dim, 0.25)
    run = ft.fedavg(
        fed, Full(), num_rounds=3, local_steps=2, step_size=etas, initial=initial, rng=2, gradient_noise=0.5,
        relative_noise=2.0, record=("models",),
    )  # fmt: skip
    _, model, _ = run_twin(
        fed, Full(), num_rounds=3, etas=etas, seed=2, initial=initial, gradient_noise=0.5, relative_noise=2.0
    )
    np.testing.assert_allclose(run.models[0, -1], model, atol=1e-12)


class MinibatchLosses:
    """Select the largest of mini-batch losses among all clients, and remember the mean losses of those that trained."""

    def rules(self, weights, num_rounds):
        return Rules(
            largest, max_selected=1, propose=everyone, observe=remember, max_candidates=weights.size,
            candidate_loss="minibatch", memory=np.zeros(weights.size),
        )  # fmt: skip


def everyone(round_index, table, memory, weights, rng, candidates):
    candidates[:] = np.arange(weights.size)
    return weights.size


def largest(round_index, table, memory, weights, candidates, losses, rng, chosen):
    # The second largest of what was reported once every client is known, so that the memory matters.
    known = memory.min() > 0
    chosen[0] = int(np.argsort(memory)[-2]) if known else int(candidates[np.argmax(losses * (memory == 0))])
    return 1


def remember(round_index, table, memory, weights, chosen, coefficients, mean_losses):
    memory[chosen] = mean_losses


@pytest.mark.parametrize("batch_size", [4, 20])
def test_minibatch_losses_and_accumulated_losses_are_those_of_the_twin(batch_size):
    fed = federation((9, 30, 65, 12), 4, 3)
    etas, initial = np.full(5 * 12, 0.2), np.random.default_rng(4).standard_normal(fed.dim)  # no ties of losses
    run = ft.fedavg(
        fed, MinibatchLosses(), num_rounds=12, local_steps=5, step_size=0.2, batch_size=batch_size, rng=3,
        initial=initial, record=("loss",),
    )  # fmt: skip
    losses, _, memory = run_twin(
        fed, MinibatchLosses(), num_rounds=12, etas=etas, batch_size=batch_size, seed=3, initial=initial
    )
    assert memory.min() > 0
    np.testing.assert_allclose(run.loss[0], losses, atol=1e-11)


def test_same_seed_gives_same_bits_for_any_number_of_threads():
    fed = federation((20, 70, 131), 7, 4)
    arguments: dict[str, Any] = {
        "num_rounds": sized(15, 5), "local_steps": 3, "step_size": 0.1, "num_replicates": 6, "batch_size": 8, "rng": 3,
        "record": ("loss", "models"),
    }  # fmt: skip
    one = ft.fedavg(fed, PowerOfChoice(2, 3), num_threads=1, **arguments)
    many = ft.fedavg(fed, PowerOfChoice(2, 3), num_threads=2, **arguments)
    assert one.models.tobytes() == many.models.tobytes()
    assert one.loss.tobytes() == many.loss.tobytes()


def test_recording_does_not_change_the_run():
    # With a record in every round candidates get losses that were kept, without it they are computed.
    fed = federation((20, 70, 131), 7, 4)
    arguments: dict[str, Any] = {"num_rounds": 12, "local_steps": 3, "step_size": 0.1, "batch_size": 8, "rng": 5}
    often = ft.fedavg(fed, PowerOfChoice(1, 2), record=("loss",), **arguments)
    once = ft.fedavg(fed, PowerOfChoice(1, 2), record=("loss",), record_every=12, **arguments)
    assert often.loss[0, -1] == once.loss[0, -1]
    np.testing.assert_array_equal(often.counts, once.counts)


@pytest.mark.slow
def test_minibatches_are_uniform_subsets_drawn_anew_in_every_step():
    # One client, steps so short that the model stays near zero: each update tells which samples the batch held.
    x = 2.0 ** np.arange(5)[:, None]
    fed = ft.SoftmaxFederation(FederatedData.from_clients([(x, [0] * 5)], num_classes=2))
    models = ft.fedavg(fed, Full(), num_rounds=6000, step_size=4e-9, batch_size=2, record=("models",)).models[0]
    # Each step is eta/2 times the mean of two powers of two; all together they change a slope by less than 1/1000.
    sums = np.rint(np.diff(models[:, 0]) / 1e-9).astype(int)
    pairs, counts = np.unique(sums, return_counts=True)
    assert pairs.tolist() == sorted(2**i + 2**j for i in range(5) for j in range(i))
    # ten equally likely pairs: 600 of each expected, standard deviation sqrt(6000 * 0.1 * 0.9) = 23.2
    assert np.abs(counts - 600).max() < 5 * 23.2
    # A sum of 40 local steps, whose batches differ from step to step, is no multiple of one pair.
    chain = ft.fedavg(fed, Full(), num_rounds=1, local_steps=40, step_size=1e-9, batch_size=2, record=("models",))
    assert np.rint(chain.models[0, 1, 0] / 0.25e-9) % 40 != 0


@pytest.mark.parametrize("batches", ["step", "epoch"])
def test_a_batch_above_the_samples_of_all_clients_is_the_whole_gradient(batches):
    fed, how = federation(), {"num_rounds": 4, "local_steps": 3, "step_size": 0.1, "record": ("models",)}
    models = ft.fedavg(fed, Full(), batch_size=10**9, batches=batches, **how).models
    np.testing.assert_allclose(models, ft.fedavg(fed, Full(), **how).models, rtol=1e-12, atol=1e-12)


def test_gap_is_measured_from_the_minimum_and_descends_to_zero():
    fed = federation((5, 8, 7), 2, 2, l2=1.0)
    step = 1 / fed.smoothness
    run = ft.fedavg(fed, Full(), num_rounds=int(40 / (step * fed.strong_convexity)), step_size=step)
    assert run.gap[0, 0] == pytest.approx(np.log(2) - fed.minimum, rel=1e-12)
    assert (np.diff(run.gap[0]) <= 16 * EPS).all()
    assert 0 <= run.gap[0, -1] <= 64 * EPS


# Compiled code overflows in silence; without numba NumPy's scalars warn.
@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_overflowing_logits_are_a_divergence():
    fed = federation(l2=3.0)
    with pytest.warns(ft.errors.DivergenceWarning):
        run = ft.fedavg(fed, Proportional(1), num_rounds=500, step_size=1e3, record=("loss",))
    assert run.diverged_at[0] > 0
    assert np.isnan(run.loss[0, -1])


@given(st.lists(st.floats(-800, 0), min_size=1, max_size=20))
def test_power_is_the_exponential_up_to_the_rounding_of_its_argument(values):
    x = np.array(values)
    ours = np.array([power(v) for v in x])
    exact = np.exp(np.maximum(x, -708.0))
    # half an ulp of x / log(2), twice, moves the result by |x| eps; a handful of roundings come on top
    assert (np.abs(ours - exact) <= (np.abs(x) + 4) * EPS * exact).all()


def test_losses_of_huge_and_tiny_margins_are_exact():
    # margins of 1e5 and one of 800, for and against the label
    x = np.array([[1e5], [-1e5], [800.0], [1e-9]])
    fed = ft.SoftmaxFederation(FederatedData.from_clients([(x, [0, 0, 1, 1])], num_classes=2))
    w = np.array([1.0, 0.0, 0.0, 0.0])
    run = ft.fedavg(fed, Full(), num_rounds=0, step_size=1.0, initial=w, record=("loss",))
    # 0 + 1e5 + 800 + log(1 + e^1e-9), over four
    assert run.loss[0, 0] == pytest.approx((1e5 + 800 + np.log(2) + 0.5e-9) / 4, rel=1e-14)
