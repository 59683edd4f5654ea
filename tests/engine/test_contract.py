"""Signatures, buffers, tables and error messages follow from the declaration of the contract."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.engine.contract import RECORDS

FED = ft.QuadraticFederation([1.0, 2.0, 3.0], [[0.0], [1.0], [5.0]], [0.5, 0.25, 0.25])


def test_everything_that_can_be_recorded_has_the_shape_that_the_contract_says() -> None:
    clients = [([[float(k)]], [k % 2]) for k in range(3)]
    fed = ft.SoftmaxFederation(ft.federation.FederatedData.from_clients(clients), l2=0.1)
    run = ft.fedavg(
        fed, ft.selection.PowerOfChoice(2, 3), num_rounds=4, step_size=0.1, num_replicates=3, record_every=2,
        test=([[1.0]], [0]), record=tuple(RECORDS), method=ft.methods.Scaffold(),
    )  # fmt: skip
    sizes = {"v": fed.dim, "m": 2, "K": 3, "s": fed.dim}
    for name, record in RECORDS.items():
        assert run.recorded(name).shape == (3, 3, *(sizes[size] for size in record.shape))
    data = run.to_xarray()
    assert data["selected"].dims == ("replicate", "round", "place")


def test_selections_are_recorded_with_their_coefficients_and_blank_after_the_last_round() -> None:
    run = ft.fedavg(
        FED, ft.selection.Independent(1.5), num_rounds=40, step_size=0.1, num_replicates=2,
        record=("selected", "coefficients", "models"),
    )  # fmt: skip
    selected, coefficients = run.recorded("selected"), run.recorded("coefficients")
    assert (selected[:, -1] == -1).all()
    assert np.isnan(coefficients[:, -1]).all()
    for replicate in range(2):
        sent = selected[replicate][coefficients[replicate] > 0]
        np.testing.assert_array_equal(np.bincount(sent, minlength=3), run.counts[replicate])
    # One gradient step of each client, weighed as recorded, is what the server did.
    before, after = run.models[:, :-1], run.models[:, 1:]
    updates = -0.1 * np.take_along_axis(FED.gradients(before)[..., 0], selected[:, :-1], axis=2)
    np.testing.assert_allclose((updates * coefficients[:, :-1]).sum(axis=2), (after - before)[..., 0], atol=1e-14)


class Valued:
    """The first two clients are chosen; the rule that values them keeps what it was handed."""

    def __init__(self):
        self.seen = []

    def rules(self, weights, num_rounds):
        def first_two(round_index, table, memory, weights, candidates, losses, rng, chosen):
            chosen[0], chosen[1] = 0, 1
            return 2

        def value(round_index, table, memory, weights, chosen, coefficients, values, updates, server_model, model, rng):
            assert values.tolist() == [0.0, 0.0]  # nobody asked for them
            assert model - server_model == pytest.approx(0.5 * coefficients @ updates, abs=1e-15)
            self.seen.append(
                (round_index, chosen.tolist(), (server_model + updates).ravel(), server_model[0], model[0])
            )
            memory[0] += 1

        return ft.selection.Rules(select=first_two, value=value, max_selected=2, memory=np.zeros(1))


def test_a_round_is_valued_with_its_local_models_and_the_server_s_before_and_after() -> None:
    strategy = Valued()
    known = {"num_rounds": 3, "step_size": 0.1, "initial": [2.0], "server_step_size": 0.5, "num_threads": 1}
    run = ft.fedavg(FED, strategy, record=("models",), **known)
    models = run.models[0, :, 0]
    assert [entry[0] for entry in strategy.seen] == [0, 1, 2]
    for t, chosen, local, before, after in strategy.seen:
        assert chosen == [0, 1]
        assert (before, after) == (models[t], models[t + 1])
        np.testing.assert_allclose(local, before - 0.1 * FED.gradients([before])[:2, 0], rtol=1e-15)
