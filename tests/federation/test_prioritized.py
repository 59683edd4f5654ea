"""Prioritized federations: the objective covers the priority clients only, the shares cover all clients."""

# mypy: allow-untyped-calls

import numpy as np
import pytest
from hypothesis import given, settings

import fedtheory as ft
from fedtheory.conformance import quadratic_federations, seeds
from fedtheory.federation.prioritized import prioritize


@settings(max_examples=30)
@given(fed=quadratic_federations(), seed=seeds())
def test_the_objective_is_that_of_the_priority_clients_alone(fed, seed):
    rng, K = np.random.default_rng(seed), fed.num_clients
    mask = rng.permutation(np.arange(K) < rng.integers(1, K + 1))
    aligned = prioritize(fed, mask)
    alone = ft.QuadraticFederation(
        fed.curvatures[mask], fed.centers[mask], fed.weights[mask], fed.minima[mask], normalize=True
    )
    w = rng.standard_normal(fed.dim)
    # Sums in another order: a few roundings.
    assert aligned.federation.loss(w) == pytest.approx(alone.loss(w), rel=1e-13)
    assert aligned.federation.gradient(w) == pytest.approx(alone.gradient(w), rel=1e-12, abs=1e-12)
    assert aligned.federation.minimizer == pytest.approx(alone.minimizer, rel=1e-12, abs=1e-12)
    assert aligned.objective_gap == pytest.approx(alone.objective_gap, rel=1e-12, abs=1e-13)
    assert aligned.shares[mask].sum() == pytest.approx(1.0, rel=1e-14)
    assert aligned.shares == pytest.approx(fed.weights / fed.weights[mask].sum(), rel=1e-15)
    # Gamma is the mean of the Gamma_k over the priority clients; every client has one.
    assert aligned.client_gaps.shape == (K,)
    assert aligned.client_gaps[mask] @ aligned.shares[mask] == pytest.approx(aligned.objective_gap, rel=1e-9, abs=1e-12)


def test_softmax_clients_can_be_prioritized():
    data = ft.datasets.synthetic(1, 1, num_clients=4, rng=1, max_samples=60, num_features=3, num_classes=3)
    fed = ft.SoftmaxFederation(data, l2=0.1)
    mask = np.array([True, False, True, False])
    aligned = prioritize(fed, mask)
    alone = ft.SoftmaxFederation(data.take([0, 2]), l2=0.1)
    # Both minimizers have gradients of norm at most 1e-10, and F is 0.1-strongly convex.
    assert aligned.federation.minimizer == pytest.approx(alone.minimizer, abs=2e-9)
    assert aligned.objective_gap == pytest.approx(alone.objective_gap, rel=1e-9)
    assert aligned.federation.smoothness == fed.smoothness
    assert np.all(aligned.client_gaps >= 0)
    assert repr(aligned) == "Prioritized(SoftmaxFederation, num_clients=4, num_priority=2)"


@pytest.mark.parametrize(
    ("mask", "text"), [([False, False], "at least one priority client"), ([False, True], "positive weight")]
)
def test_priority_clients_without_weight_are_refused(mask, text):
    fed = ft.QuadraticFederation([1.0, 1.0], [[0.0], [1.0]], [1.0, 0.0])
    with pytest.raises(ValueError, match=text):
        prioritize(fed, mask)


def test_a_prioritized_federation_runs_as_that_of_all_its_clients() -> None:
    aligned = prioritize(ft.QuadraticFederation([1.0, 2.0], [[0.0], [4.0]], [0.5, 0.5]), [True, False])
    strategy = ft.selection.LossMatching(aligned.priority, aligned.shares, threshold=1.0)
    runs = [ft.fedavg(fed, strategy, num_rounds=5, step_size=0.1).gap for fed in (aligned, aligned.federation)]
    assert (runs[0] == runs[1]).all()
