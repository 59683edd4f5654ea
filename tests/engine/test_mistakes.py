"""Classification errors of candidates equal those of numpy.argmax, on all samples or a mini-batch."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.engine.contract import LocalWork
from fedtheory.engine.families import layout

K, FIRST = 6, 2


@pytest.fixture(scope="module")
def fed():
    data = ft.datasets.synthetic(1, 1, num_clients=K, rng=3, num_features=5, num_classes=3, max_samples=90)
    return ft.SoftmaxFederation(data)


def accuracies(fed, model):
    weights = model.reshape(fed.data.num_classes, -1)
    return [
        np.mean(np.argmax(np.column_stack([x, np.ones(len(x))]) @ weights.T, axis=1) == y)
        for x, y in map(fed.data.client, range(fed.num_clients))
    ]


def counted(fed, model, batch_size, rng):
    work = LocalWork(0.0, 0.0, 0.0, 0.0, batch_size, by_epoch=False, track_losses=False)
    family, shares = layout(fed, work), np.zeros(K)
    family.mistakes(family.own_arrays(), model, np.arange(K), batch_size, rng, shares)
    return shares


def test_of_equal_logits_the_first_class_is_meant(fed):
    rng, zero = np.random.default_rng(0), np.zeros(fed.dim)
    np.testing.assert_allclose(1 - counted(fed, zero, 0, rng), accuracies(fed, zero), rtol=1e-14)


def test_mistakes_on_a_batch_above_the_samples_of_a_client_are_those_on_all_of_them(fed):
    rng = np.random.default_rng(2)
    model = rng.normal(size=fed.dim)
    np.testing.assert_array_equal(counted(fed, model, 10**6, rng), counted(fed, model, 0, rng))


def test_mistakes_on_a_batch_are_multiples_of_one_sample_and_right_on_average(fed):
    rng = np.random.default_rng(1)
    model = rng.normal(size=fed.dim)
    drawn = np.array([counted(fed, model, 4, rng) for _ in range(400)])
    np.testing.assert_array_equal(4 * drawn, np.round(4 * drawn))
    exact = 1 - np.array(accuracies(fed, model))
    # Without replacement the variance is below that of four independent samples.
    assert (abs(drawn.mean(axis=0) - exact) <= 5 * np.sqrt(exact * (1 - exact) / 4 / len(drawn)) + 1e-12).all()


def test_fedalign_by_accuracy_includes_those_whose_accuracy_is_near(fed):
    aligned = ft.federation.prioritize(fed, np.arange(K) < FIRST)
    strategy = ft.selection.LossMatching(aligned.priority, aligned.shares, 0.25, match="accuracy")
    run = ft.fedavg(aligned.federation, strategy, num_rounds=30, step_size=0.3, record=("models", "selected"))
    included = []
    for model, selected in zip(run.models[0, :-1], run.recorded("selected")[0], strict=False):
        near = np.array(accuracies(fed, model))
        gaps = abs(near - near[:FIRST] @ aligned.shares[:FIRST])
        wanted = [k for k in range(K) if k < FIRST or gaps[k] < 0.25]
        assert sorted(selected[selected >= 0].astype(int)) == wanted
        included.append(len(wanted))
    assert min(included) < max(included)
