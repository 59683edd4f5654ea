"""Perceptrons: losses and gradients against a forward pass in extended precision, and rejected arguments."""

from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.errors import AssumptionViolated
from fedtheory.federation.client_data import FederatedData
from fedtheory.federation.perceptron import PerceptronFederation

EPS = np.finfo(np.float64).eps


def federation(hidden: Any = (4,), *, l2: float = 0.0, seed: int = 0) -> PerceptronFederation:
    rng = np.random.default_rng(seed)
    clients = [(rng.normal(size=(n, 3)), rng.integers(3, size=n)) for n in (5, 1, 8)]
    test = [(rng.normal(size=(2, 3)), rng.integers(3, size=2)) for _ in clients]
    return PerceptronFederation(FederatedData.from_clients(clients, test=test, num_classes=3), hidden, l2)


def extended_loss(fed: PerceptronFederation, k: int, w: Any) -> np.longdouble:
    """F_k sample by sample and unit by unit, in extended precision, from the definition."""
    features, labels = fed.data.client(k)
    total = np.longdouble(0)
    for x, y in zip(features, labels, strict=True):
        values, place = [np.longdouble(number) for number in x], 0
        widths = (*fed.hidden, fed.data.num_classes)
        for depth, width in enumerate(widths):
            inputs, outputs = [*values, np.longdouble(1)], []
            for _ in range(width):
                row, place = w[place : place + len(inputs)], place + len(inputs)
                outputs.append(sum((a * b for a, b in zip(row, inputs, strict=True)), np.longdouble(0)))
            last = depth == len(widths) - 1
            values = outputs if last else [max(value, np.longdouble(0)) for value in outputs]
        top = max(values)
        total += top + np.log(sum(np.exp(value - top) for value in values)) - values[y]
    return total / len(labels) + np.longdouble(fed.l2) / 2 * sum(number * number for number in w)


@pytest.mark.parametrize("hidden", [(1,), (4,), (5, 3), (2, 3, 2)], ids=str)
@pytest.mark.parametrize("l2", [0.0, 0.25])
def test_losses_and_gradients_are_those_of_the_definition(hidden: tuple[int, ...], l2: float) -> None:
    fed = federation(hidden, l2=l2)
    w = 0.7 * np.random.default_rng(3).normal(size=fed.dim)
    exact = w.astype(np.longdouble)
    # Central differences: h^2 times a third derivative of order 1, and the roundings of extended precision over h.
    h = np.longdouble(2.0) ** -18
    for k in range(fed.num_clients):
        assert float(extended_loss(fed, k, exact)) == pytest.approx(fed.losses(w)[k], rel=40 * EPS)
        slopes = []
        for i in range(fed.dim):
            step = np.zeros(fed.dim, dtype=np.longdouble)
            step[i] = h
            slopes.append((extended_loss(fed, k, exact + step) - extended_loss(fed, k, exact - step)) / (2 * h))
        np.testing.assert_allclose(fed.gradients(w)[k], np.array(slopes, dtype=float), atol=1e-9)


def test_the_whole_is_the_weighted_mean_of_its_clients_at_many_models_at_once() -> None:
    fed = federation((3, 2), l2=0.5)
    w = np.random.default_rng(1).normal(size=(2, 3, fed.dim))
    np.testing.assert_allclose(fed.loss(w), fed.losses(w) @ fed.weights, rtol=1e-14)
    np.testing.assert_allclose(fed.gradient(w), np.einsum("k,...kv->...v", fed.weights, fed.gradients(w)), rtol=1e-13)
    assert fed.gradients(w).shape == (2, 3, fed.num_clients, fed.dim)


def test_accuracy_counts_the_samples_whose_largest_logit_is_their_label() -> None:
    fed = federation((1,))
    always_two = np.zeros(fed.dim)
    always_two[-1] = 1.0
    assert fed.accuracy(always_two) == np.mean(fed.data.test_labels == 2)
    assert fed.accuracy(always_two, held_out=False) == np.mean(fed.data.labels == 2)


def test_the_zero_model_moves_its_last_biases_only_and_an_initial_one_all() -> None:
    fed = federation((4, 3))
    at_zero = fed.gradient(np.zeros(fed.dim))
    assert np.flatnonzero(at_zero).size == 3
    start = fed.initial(5)
    assert np.count_nonzero(fed.gradient(start)) > fed.dim / 2
    np.testing.assert_array_equal(start, fed.initial(5))
    wide = federation((400,)).initial(0)
    first = wide[: 400 * 4]
    assert 0.99 / np.sqrt(3) < np.abs(first).max() <= 1 / np.sqrt(3)
    assert 0.9 / np.sqrt(400) < np.abs(wide[400 * 4 :]).max() <= 1 / np.sqrt(400)


def test_constants_that_do_not_exist_are_refused() -> None:
    fed = federation()
    names = ("minimizer", "minimum", "local_minimizers", "local_minima", "objective_gap")
    for name in (*names, "smoothness", "strong_convexity"):
        with pytest.raises(AssumptionViolated, match=r"needs? a convex, smooth objective"):
            getattr(fed, name)


def test_a_run_that_would_record_the_gap_is_refused_and_the_loss_is_not() -> None:
    fed = federation()
    run = {"num_rounds": 1, "step_size": 0.1, "initial": fed.initial(0)}
    with pytest.raises(AssumptionViolated, match="a minimum needs"):
        ft.fedavg(fed, ft.selection.Full(), **run)
    assert np.isfinite(ft.fedavg(fed, ft.selection.Full(), record=("loss",), **run).loss).all()


@pytest.mark.parametrize("rates", [(0.5, 0.5), (1.0,)], ids=["too many", "all dropped"])
def test_dropout_must_be_a_rate_below_one_for_each_hidden_layer(rates: Any) -> None:
    with pytest.raises(ValueError, match=r"dropout must be a rate in \[0, 1\) for each of 1 hidden layers"):
        PerceptronFederation(federation().data, (4,), dropout=rates)
