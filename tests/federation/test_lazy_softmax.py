"""Clients that are made when they are touched: their law, that nobody else's touch changes them, and runs on them."""

import tracemalloc

import numpy as np
import pytest
from scipy import stats

import fedtheory as ft
from fedtheory.datasets import lazy_synthetic
from fedtheory.datasets.synthetic_softmax import synthetic_clients
from fedtheory.errors import AssumptionViolated
from fedtheory.federation import LazySoftmaxFederation
from fedtheory.federation._client_streams import write_client

LEVEL, MANY = 1e-6, 3000
FEW = {"num_features": 5, "num_classes": 4, "min_samples": 20, "max_samples": 40}


def makings(alpha, beta, num_samples=1):
    """Models (K, f + 1, C), centers (K, f) and features (K, n, f) of many clients, with their labels."""
    data = lazy_synthetic(alpha, beta, MANY, 3, **FEW)
    models, centers = np.empty((MANY, 6, 4)), np.empty((MANY, 5))
    features, labels = np.empty((MANY, num_samples, 5)), np.empty((MANY, num_samples), dtype=np.int64)
    for k in range(MANY):
        write_client(data.streams, data.spreads, data.scales, k, models[k], centers[k], features[k], labels[k])
    return models, centers, features, labels


def assert_variance(values, variance, degrees):
    """For normal ``values`` of mean 0 the sum of squares over the variance is chi-squared."""
    low, high = stats.chi2(degrees).ppf([LEVEL / 2, 1 - LEVEL / 2])
    assert low < np.sum(values**2) / variance < high


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.5), (0.0, 2.0)])
def test_between_and_within_client_spreads_are_those_of_the_recipe(alpha, beta):
    models, centers, _, _ = makings(alpha, beta)
    # The mean of C (f + 1) entries N(u_k, 1) with u_k ~ N(0, alpha^2) is N(0, alpha^2 + 1 / (C (f + 1))), and so on.
    assert_variance(models.mean(axis=(1, 2)), alpha**2 + 1 / 24, MANY)
    assert_variance(centers.mean(axis=1), beta**2 + 1 / 5, MANY)
    for entries in (models.reshape(MANY, 24), centers):
        within = entries - entries.mean(axis=1, keepdims=True)
        assert_variance(within, 1, MANY * (entries.shape[1] - 1))


def test_all_that_a_client_is_made_of_is_independent_and_so_are_neighbors():
    models, centers, features, _ = makings(0.0, 0.0, num_samples=2)
    noise = (features - centers[:, None]) / np.arange(1, 6) ** -0.6
    entries = np.column_stack([part.reshape(MANY, -1) for part in (models, centers, noise)])
    together = np.column_stack([entries[:-1], entries[1:]])
    correlations = np.corrcoef(together.T)[np.triu_indices(together.shape[1], 1)]
    assert np.abs(correlations).max() < stats.norm.isf(LEVEL / 2 / correlations.size) / np.sqrt(MANY - 1)


def test_features_are_normal_with_the_published_scales_and_labels_maximize_the_client_s_own_logits():
    models, centers, features, labels = makings(1.0, 1.0, num_samples=4)
    standardized = (features - centers[:, None]) / np.arange(1, 6) ** -0.6
    for column in standardized.reshape(-1, 5).T:
        assert stats.kstest(column, "norm").pvalue > LEVEL
    logits = np.einsum("knf,kfc->knc", features, models[:, :-1]) + models[:, None, -1]
    np.testing.assert_array_equal(labels, logits.argmax(axis=-1))


def test_sizes_are_those_of_the_eager_recipe():
    for law in ("lognormal", "power_law"):
        eager = synthetic_clients(1, 1, 50, 7, sizes=law, num_features=2)
        lazy = lazy_synthetic(1, 1, 50, 7, sizes=law, num_features=2)
        np.testing.assert_array_equal(lazy.sample_counts, eager.sizes)
        np.testing.assert_allclose(lazy.weights, eager.sizes / eager.sizes.sum(), rtol=1e-15)


def test_a_client_is_the_same_whoever_was_touched_before_and_however_many_there_are():
    few, many = lazy_synthetic(1, 1, 9, 2, **FEW), lazy_synthetic(1, 1, 5000, 2, **FEW)
    many.client(4321)
    for k in (8, 0, 8):
        for one, other in zip(few.client(k), many.client(k), strict=True):
            np.testing.assert_array_equal(one, other)
    assert not np.array_equal(few.client(1)[0][:20], few.client(2)[0][:20])
    assert not np.array_equal(few.client(1)[0], lazy_synthetic(1, 1, 9, 3, **FEW).client(1)[0])
    with pytest.raises(ValueError, match=r"k must be in 0\.\.8, got 9"):
        few.client(9)


def test_the_federation_tells_the_counts_of_its_data():
    fed = lazy(9)
    assert fed.sample_counts.tolist() == fed.data.sample_counts.tolist()


def lazy(num_clients, **options):
    return LazySoftmaxFederation(lazy_synthetic(1, 1, num_clients, 2, **FEW), num_audited=6, **options)


RUN = {"num_rounds": 4, "local_steps": 3, "step_size": 0.1, "num_replicates": 3, "rng": 5}


def test_a_run_has_the_bits_of_one_on_kept_samples():
    fed, strategy = lazy(12, l2=0.1), ft.selection.PowerOfChoice(2, 4)
    kept = ft.SoftmaxFederation(fed.data.take(range(12)), 0.1, fed.weights)
    run, wanted = (ft.fedavg(one, strategy, record=("models", "loss"), **RUN) for one in (fed, kept))
    np.testing.assert_array_equal(run.models, wanted.models)
    np.testing.assert_allclose(run.loss, fed.clients(fed.audited).loss(run.models), rtol=1e-12)
    # Batches are a shuffle of the client's rows, which is remembered where the rows are: the first is the same.
    batches = RUN | {"batch_size": 8, "num_rounds": 1, "local_steps": 1}
    run, wanted = (ft.fedavg(one, strategy, record=("models",), **batches) for one in (fed, kept))
    np.testing.assert_array_equal(run.models, wanted.models)


def test_a_run_has_the_same_bits_whatever_the_threads():
    fed, strategy = lazy(12), ft.selection.PowerOfChoice(2, 4, loss="minibatch")
    runs = (ft.fedavg(fed, strategy, record=("models",), num_threads=n, batch_size=8, **RUN) for n in (1, 2))
    np.testing.assert_array_equal(*[run.models for run in runs])


def test_losses_are_those_of_kept_samples():
    fed, w = lazy(300, l2=0.1), np.linspace(-1, 1, 24)
    kept = ft.SoftmaxFederation(fed.data.take(range(300)), 0.1, fed.weights)
    np.testing.assert_array_equal(fed.losses(w), kept.losses(w))
    assert fed.loss(w) == pytest.approx(float(kept.loss(w)), rel=1e-14)


def test_clients_are_audited_by_weight():
    fed = LazySoftmaxFederation(lazy_synthetic(1, 1, 10, 2, num_features=2, min_samples=1), num_audited=20_000, rng=1)
    counts = np.bincount(fed.audited, minlength=10)
    assert stats.chisquare(counts, 20_000 * fed.weights).pvalue > LEVEL


def test_a_run_on_many_clients_takes_the_room_of_a_few():
    # all samples would take 10^5 * 30 * 5 numbers, 120 MB
    fed, strategy = lazy(100_000), ft.selection.PowerOfChoice(2, 4)
    ft.fedavg(lazy(10), strategy, record=("loss",), **RUN | {"num_replicates": 1})  # compilers take room, too
    tracemalloc.start()
    run = ft.fedavg(fed, strategy, record=("loss",), **RUN | {"num_replicates": 1})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.isfinite(run.loss).all()
    assert peak < 30e6
    assert len(repr(fed)) < 200


def test_somebody_must_be_audited():
    with pytest.raises(ValueError, match="num_audited must be at least 1, got 0"):
        LazySoftmaxFederation(lazy_synthetic(1, 1, 10, 2, **FEW), num_audited=0)


def test_what_needs_all_samples_is_refused():
    fed = lazy(10)
    with pytest.raises(AssumptionViolated, match="a minimum needs the samples of all clients"):
        ft.fedavg(fed, ft.selection.PowerOfChoice(2, 4), **RUN)
    with pytest.raises(AssumptionViolated, match="a minimizer needs the samples of all clients"):
        _ = fed.minimizer
    with pytest.raises(ValueError, match=r"batch_size must be at most 2\d, the samples of the smallest client, got 50"):
        ft.fedavg(fed, ft.selection.PowerOfChoice(2, 4), record=("loss",), batch_size=50, **RUN)
    with pytest.raises(TypeError, match="data must be a LazySynthetic, got int"):
        LazySoftmaxFederation(3)  # type: ignore[arg-type]
