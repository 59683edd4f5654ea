"""FedALIGN's rule against a plain-Python twin, exact laws, both limits, and the replay of a run."""

# mypy: allow-untyped-calls

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fedtheory as ft
from fedtheory.errors import DivergenceWarning
from fedtheory.exact.aligned_runs import inclusions
from fedtheory.federation.prioritized import prioritize
from fedtheory.selection.loss_matching import AnnealedThreshold, LossMatching, matches

INFINITY = float("inf")


def aligned_federation(seed=0):
    rng = np.random.default_rng(seed)
    fed = ft.QuadraticFederation(
        rng.uniform(0.5, 2.0, (7, 2)), rng.standard_normal((7, 2)), rng.uniform(0.2, 1.0, 7), normalize=True
    )
    return prioritize(fed, rng.permutation(np.arange(7) < 3))


def run_of(aligned, strategy, num_rounds=12, local_steps=2, **more):
    record = ("models", "gap", "selected", "coefficients")
    known = {"step_size": 0.1, "initial": np.full(aligned.federation.dim, 3.0), "record": record}
    return ft.fedavg(aligned.federation, strategy, num_rounds=num_rounds, local_steps=local_steps, **{**known, **more})


def twin(aligned, eps, num_rounds, local_steps, warmup=0, inclusive=False, proximal_weight=0.0):
    """FedALIGN as the paper writes it, in NumPy."""
    fed, w = aligned.federation, np.full(aligned.federation.dim, 3.0)
    models = [w]
    for t in range(num_rounds):
        losses = fed.losses(w)
        gap = np.abs(losses - losses @ (aligned.shares * aligned.priority))
        close = gap <= eps[t] if inclusive else gap < eps[t]
        taken = aligned.priority | (close if t >= warmup else False)
        share = aligned.shares * taken / (aligned.shares * taken).sum()
        local = np.repeat(w[None], fed.num_clients, axis=0)
        for _ in range(local_steps):
            gradients = np.stack([fed.gradients(x)[k] for k, x in enumerate(local)])
            local = local - 0.1 * (gradients + proximal_weight * (local - w))
        w = share @ local
        models.append(w)
    return np.array(models)


@pytest.mark.parametrize("eps", [0.0, 0.3, 2.0, INFINITY])
@pytest.mark.parametrize("seed", range(3))
def test_a_run_is_that_of_the_twin(eps, seed):
    aligned = aligned_federation(seed)
    strategy = LossMatching(aligned.priority, aligned.shares, eps, warmup_rounds=3)
    run = run_of(aligned, strategy, proximal_weight=0.5)
    expected = twin(aligned, [eps] * 12, 12, 2, warmup=3, proximal_weight=0.5)
    # Sums in another order over a dozen contracting rounds.
    assert run.models[0] == pytest.approx(expected, rel=1e-12, abs=1e-13)


def test_a_schedule_is_followed_round_by_round():
    aligned = aligned_federation(1)
    schedule = AnnealedThreshold(4.0, end=0.75)
    strategy = LossMatching(aligned.priority, aligned.shares, schedule)
    eps = schedule.thresholds(12)
    assert run_of(aligned, strategy).models[0] == pytest.approx(twin(aligned, eps, 12, 2), rel=1e-12)
    listed = LossMatching(aligned.priority, aligned.shares, tuple(eps))
    assert np.array_equal(run_of(aligned, listed).models, run_of(aligned, strategy).models)
    assert not np.allclose(run_of(aligned, strategy).models[0, -1], twin(aligned, eps[::-1], 12, 2)[-1])


def test_clients_of_equal_loss_are_excluded_for_threshold_0():
    # Twins: the losses are always equal, bit by bit.
    fed = ft.QuadraticFederation([1.0, 1.0], [[0.0], [0.0]], [0.5, 0.5])
    aligned = prioritize(fed, [True, False])
    strategy = LossMatching(aligned.priority, aligned.shares, 0.0)
    run = ft.fedavg(aligned.federation, strategy, num_rounds=5, step_size=0.1, initial=[1.0])
    assert run.counts.tolist() == [[5, 0]]
    equal = [fed.losses([1.0])]
    assert [matches(equal, fed.weights, [0.0], c).matched[0, 1] for c in ("<", "<=")] == [False, True]


def test_losses_are_asked_for_after_the_warm_up_only():
    aligned = aligned_federation(3)
    strategy = LossMatching(aligned.priority, aligned.shares, 0.0, warmup_rounds=4)
    run = run_of(aligned, strategy, record=("evaluations", "uplink", "models"))
    assert run.recorded("evaluations")[0].tolist() == [0] * 5 + [7 * t for t in range(1, 9)]
    # 3 priority models of 2 floats per round, and one loss per client.
    assert run.uplink[0, -1] == 12 * 3 * 2 + 8 * 7


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), eps=st.floats(0, 3), draws=st.integers(1, 4))
def test_coefficients_sum_to_one_for_every_law_of_the_priority_clients(seed, eps, draws):
    aligned = aligned_federation(seed)
    for priority in ({}, {"num_draws": draws}, {"fraction": 0.5}):
        strategy = LossMatching(aligned.priority, aligned.shares, eps, **priority)
        run = run_of(aligned, strategy, num_replicates=3, rng=seed)
        found = inclusions(aligned, strategy, run)
        assert found.weights.sum(axis=-1) == pytest.approx(1.0, rel=1e-14)
        assert not (found.included & ~found.matched)[..., ~aligned.priority].any()
        assert not (found.matched & ~found.willing).any()


@pytest.mark.parametrize("priority", [{}, {"num_draws": 2}, {"fraction": 0.5}], ids=repr)
def test_inclusion_probabilities_are_the_frequencies_of_a_run_that_stands_still(priority):
    aligned = aligned_federation(8)
    losses = aligned.federation.losses(np.full(2, 3.0))
    middle = float(np.median(np.abs(losses - losses @ aligned.federation.weights)[~aligned.priority]))
    strategy = LossMatching(aligned.priority, aligned.shares, middle, **priority)
    run = run_of(aligned, strategy, num_rounds=4000, local_steps=1, step_size=1e-12)
    expected = strategy.inclusion_probabilities(aligned.federation.weights, losses)
    assert 0 < np.count_nonzero(expected[~aligned.priority]) < 4
    # A count of draws has at most the variance of its mean.
    assert np.all(np.abs(run.counts[0] / 4000 - expected) <= 5 * np.sqrt(expected / 4000))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), eps=st.floats(0, 3))
def test_the_recorded_selections_are_what_the_models_say(seed, eps):
    aligned = aligned_federation(seed)
    strategy = LossMatching(aligned.priority, aligned.shares, eps, warmup_rounds=2)
    run = run_of(aligned, strategy, gradient_noise=0.5, num_replicates=2, rng=seed)
    found = inclusions(aligned, strategy, run)
    losses = aligned.federation.losses(run.models[:, :-1])
    gap = np.abs(losses - losses @ aligned.federation.weights[:, None])
    matched = (gap < eps) & (np.arange(12)[:, None] >= 2)
    taken = aligned.shares * (aligned.priority | matched)
    assert found.weights == pytest.approx(taken / taken.sum(axis=-1, keepdims=True), rel=1e-14)
    s = (matched & ~aligned.priority) @ aligned.shares
    assert found.priority_weights == pytest.approx(1 / (1 + s), rel=1e-14)
    gaps = ((matched & ~aligned.priority) * aligned.shares) @ aligned.client_gaps / (1 + s)
    assert found.included_gaps == pytest.approx(gaps, rel=1e-12, abs=1e-14)


def test_inclusions_of_another_strategy_or_of_some_rounds_are_refused():
    aligned = aligned_federation(7)
    half = LossMatching(aligned.priority, aligned.shares, INFINITY, fraction=0.5)
    run = run_of(aligned, half, num_rounds=60)
    inclusions(aligned, half, run)
    other = LossMatching(aligned.priority, aligned.shares, INFINITY, fraction=0.6)
    with pytest.raises(ValueError, match="of this strategy"):
        inclusions(aligned, other, run)
    sparse = run_of(aligned, half, num_rounds=60, record_every=2)
    with pytest.raises(ValueError, match="every round"):
        inclusions(aligned, half, sparse)
    with pytest.warns(DivergenceWarning):
        lost = run_of(aligned, half, num_rounds=60, step_size=1e9)
    with pytest.raises(ValueError, match="diverged"):
        inclusions(aligned, half, lost)


@pytest.mark.parametrize(
    ("weights", "priority", "shares"),
    [([0.5, 0.5], [True, False], [1.0, 1.0]), ([0.5, 0.25, 0.25], [True] * 3, [0.5, 0.2, 0.3])],
)
def test_a_federation_with_other_weights_of_its_priority_clients_is_refused(weights, priority, shares):
    fed = ft.QuadraticFederation(np.ones(len(weights)), np.arange(float(len(weights)))[:, None], weights)
    with pytest.raises(ValueError, match="weights of the federation"):
        ft.fedavg(fed, LossMatching(priority, shares), num_rounds=1, step_size=0.1)


def test_a_strategy_names_the_law_that_bounds_assume():
    made = [LossMatching([True], [1.0], **priority).scheme for priority in ({}, {"num_draws": 2}, {"fraction": 0.5})]
    full, partial = ft.bounds.fedalign.full_participation_gap, ft.bounds.fedalign.partial_participation_gap
    assert [full.statement.accepts(scheme) for scheme in made] == [True, False, False]
    assert [partial.statement.accepts(scheme) for scheme in made] == [True, True, False]
