"""Arguments of a run outside of their ranges, or that do not go together, are refused."""

from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.engine.heterogeneity import Stragglers, privacy_noise

DATA = ft.federation.FederatedData.from_clients([([[0.0], [1.0], [3.0]], [0, 1, 1]), ([[2.0]], [1])])
PARABOLAS = ft.QuadraticFederation([1.0, 2.0, 3.0], np.zeros((3, 3)), [0.5, 0.3, 0.2])
SOFTMAX = ft.SoftmaxFederation(DATA)
TWO = ft.federation.prioritize(ft.QuadraticFederation([1.0, 1.0], [[0.0], [1.0]], [0.5, 0.5]), [True, False])


@pytest.mark.parametrize(
    "change",
    [
        {"step_size": 0.0}, {"step_size": np.nan}, {"step_size": [0.1, 0.1]}, {"local_steps": 0}, {"num_rounds": -1},
        {"num_replicates": 0}, {"num_replicates": 10**9}, {"initial": [0.0]}, {"initial": [0.0, np.inf, 0.0]},
        {"gradient_noise": -1.0}, {"relative_noise": -1.0}, {"momentum": 1.5}, {"batch_size": 5},
        {"record": ("error",)}, {"local_steps": [1, 2]}, {"local_steps": [[1, 2, 3]] * 2}, {"local_steps": [1, 0, 2]},
        {"local_steps": [1.0, 2.0, 3.0]}, {"returned_noise": -1.0}, {"returned_noise": [1.0, 2.0]},
        {"record": ("accuracy",)},
    ],
    ids=str,
)  # fmt: skip
def test_a_run_on_quadratics_without_such_values_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError), match=f"{next(iter(change))} must|{next(iter(change))} = "):
        ft.fedavg(PARABOLAS, ft.selection.Full(), **{"num_rounds": 3, "step_size": 0.1, **change})


@pytest.mark.parametrize(
    "change",
    [
        {"record": ("gap",)},  # no minimizer without a ridge
        {"batch_size": 2, "relative_noise": 1.0},
        {"record": ("accuracy",)},  # no test samples
        *({"record": ("accuracy",), "test": test} for test in (
            (np.ones((3, 2)), np.ones(3)), (np.ones((3, 1)), np.ones(2)), 3)),
    ],
    ids=str,
)  # fmt: skip
def test_a_run_on_samples_without_such_values_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError), match=r"must|needs"):
        ft.fedavg(SOFTMAX, ft.selection.Full(), **{"num_rounds": 3, "step_size": 0.1, "record": ("loss",), **change})


def test_accuracies_are_matched_where_samples_are_classified_and_batches_have_a_size() -> None:
    by_accuracy = ft.selection.LossMatching(TWO.priority, TWO.shares, match="accuracy")
    with pytest.raises(TypeError, match="fed must classify samples"):
        ft.fedavg(TWO.federation, by_accuracy, num_rounds=1, step_size=0.1)
    run = ft.fedavg(TWO.federation, ft.selection.Full(), num_rounds=1, step_size=0.1)
    with pytest.raises(ValueError, match="must match losses"):
        ft.exact.inclusions(TWO, by_accuracy, run)
    aligned = ft.federation.prioritize(SOFTMAX, [True, False])
    by_batch = ft.selection.LossMatching(aligned.priority, aligned.shares, match="minibatch accuracy")
    with pytest.raises(ValueError, match="batch_size must be given"):
        ft.fedavg(aligned.federation, by_batch, num_rounds=1, step_size=0.1, record=("loss",))


@pytest.mark.parametrize(
    "change", [{"fraction": 1.5}, {"num_epochs": 0}, {"num_batches": 0}, {"drawn": "twice"}, {"seed": -1}], ids=str
)
def test_stragglers_without_such_values_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(change))} must"):
        Stragglers(**{"fraction": 0.5, "num_epochs": 2, **change})
    with pytest.raises(ValueError, match="sigma must"):
        privacy_noise(3, -1.0)


def test_what_was_not_recorded_is_refused() -> None:
    run = ft.fedavg(PARABOLAS, ft.selection.Full(), num_rounds=1, step_size=0.1)
    with pytest.raises(ValueError, match="not recorded"):
        _ = run.models
