"""Independent sampling of updates: law, estimator, messages, and known defects."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fedtheory as ft
from fedtheory.engine.play import play_round
from fedtheory.exact.moments import expected_gap
from fedtheory.sampling import approximate_probabilities, optimal_probabilities
from fedtheory.sampling.approximate import approximation
from fedtheory.selection.full import Full
from fedtheory.selection.independent import Independent
from tests.selection.still import cohorts

WEIGHTS = np.array([0.3, 0.25, 0.2, 0.15, 0.1])
N = WEIGHTS.size
LAWS = ("optimal", "approximate", "uniform")
MANY = 20_000


def updates_of(seed, dim=3):
    return np.random.default_rng(seed).lognormal(0, 1, (N, 1)) * np.random.default_rng(seed).normal(size=(N, dim))


def rounds(strategy, updates, count, seed=0, weights=WEIGHTS):
    """Coefficients of all clients in ``count`` rounds with the same updates, and the extra floats of the last round."""
    rules = strategy.rules(weights, count)
    rng, memory, n = np.random.default_rng(seed), rules.memory.copy(), weights.size
    drawn, extra = np.zeros((count, n)), np.nan
    for t in range(count):
        played = play_round(rules, memory, weights, t, rng, np.zeros(n).__getitem__, updates.__getitem__)
        drawn[t, played.chosen], extra = played.coefficients, played.extra
    return drawn, extra


def many_rounds(rules, updates, seed=0):
    """As ``rounds``, in one run of the compiled loop: thousands of rounds, without what goes up."""
    chosen, coefficients = cohorts(rules, MANY, WEIGHTS, updates=updates, seed=seed)
    drawn, here = np.zeros((MANY, N)), chosen >= 0
    drawn[here.nonzero()[0], chosen[here]] = coefficients[here]
    return drawn


def law(strategy, updates, weights=WEIGHTS):
    """Probabilities by the library's own doors, the second road to what the rules do."""
    norms = weights * np.hypot.reduce(updates, axis=1)  # unlike the root of a sum of squares it never overflows
    if strategy.probabilities == "uniform":
        return strategy.inclusion_probabilities(weights)
    if strategy.probabilities == "optimal":
        return optimal_probabilities(norms, strategy.expected_size)
    return approximate_probabilities(norms, strategy.expected_size, strategy.max_iterations)


@pytest.mark.parametrize("probabilities", LAWS)
@pytest.mark.parametrize("size", [0.7, 1, 2.5, 4])
def test_clients_send_with_the_probabilities_of_their_law(probabilities, size):
    strategy, updates, count = Independent(size, probabilities), updates_of(1), MANY
    drawn = many_rounds(strategy.rules(WEIGHTS, count), updates)
    p = law(strategy, updates)
    sent = drawn > 0
    assert np.all(np.abs(sent.mean(axis=0) - p) <= 4.5 * np.sqrt(p * (1 - p) / count) + 1e-12)
    # pairs: independence, not only the marginals
    both = np.outer(p, p)
    pairs = sent.T.astype(float) @ sent / count
    np.fill_diagonal(pairs, 0)
    np.fill_diagonal(both, 0)
    assert np.all(np.abs(pairs - both) <= 4.5 * np.sqrt(both * (1 - both) / count) + 1e-12)
    # the coefficients are w/p exactly, up to the rounding of one division
    np.testing.assert_allclose(drawn.max(axis=0), WEIGHTS / p, rtol=1e-14)
    assert np.all((drawn == 0) | np.isclose(drawn, drawn.max(axis=0), rtol=0, atol=0))
    spread = np.sqrt((p * (1 - p)).sum() / count)
    assert abs(sent.sum(axis=1).mean() - p.sum()) <= 4.5 * spread + 1e-12
    assert p.sum() == pytest.approx(size, rel=1e-12) or probabilities == "approximate"


@given(
    exponents=st.lists(st.floats(-300, 300), min_size=N, max_size=N),
    size=st.floats(0.05, N),
    probabilities=st.sampled_from(["optimal", "approximate"]),
)
def test_updates_of_any_magnitude_are_weighed_by_the_library_s_own_law(exponents, size, probabilities):
    updates = np.zeros((N, 3))
    updates[:, 0] = 3.0 * 10.0 ** np.array(exponents)
    updates[:, 1] = 4.0 * 10.0 ** np.array(exponents)
    strategy = Independent(size, probabilities)
    p = law(strategy, updates)
    drawn, _ = rounds(strategy, updates, 20)
    # Whoever has a chance below 1e-10 is not drawn in 20 rounds: WEIGHTS / p is what each coefficient can be but 0.
    sent = drawn > 0
    np.testing.assert_allclose(drawn[sent], np.where(sent, WEIGHTS / np.maximum(p, 1e-10), 0.0)[sent], rtol=1e-12)
    assert sent[:, p == 1].all()


def test_a_budget_for_everybody_is_full_participation():
    fed = federation()
    arguments: dict[str, Any] = {"num_rounds": 5, "local_steps": 2, "step_size": 0.05, "gradient_noise": 1.0, "rng": 2}
    full = ft.fedavg(fed, Full(), **arguments)
    for probabilities in LAWS:
        run = ft.fedavg(fed, Independent(N, probabilities, max_iterations=N), **arguments)
        # p is exactly 1 after at most n - 1 rescalings
        np.testing.assert_allclose(run.gap, full.gap, rtol=1e-12)
        np.testing.assert_array_equal(run.counts, 5)


def test_empty_rounds_leave_the_model_where_it_is():
    fed = federation()
    for probabilities in LAWS:
        run = ft.fedavg(
            fed, Independent(0.05, probabilities), num_rounds=30, step_size=0.05, initial=np.ones(3),
            record=("models", "uplink"), num_replicates=4,
        )  # fmt: skip
        moved = (np.diff(run.models, axis=1) != 0).any(axis=2)
        np.testing.assert_array_equal(moved.sum(axis=1) > 0, run.counts.sum(axis=1) > 0)
        assert not moved.all()
        assert np.isfinite(run.models).all()


def test_clients_that_do_not_move_do_not_send():
    updates = updates_of(3)
    updates[[0, 3]] = 0.0
    for probabilities in ("optimal", "approximate"):
        drawn, _ = rounds(Independent(2, probabilities), updates, 200)
        assert not drawn[:, [0, 3]].any()
        still, extra = rounds(Independent(2, probabilities), np.zeros((N, 3)), 5)
        assert not still.any()
        assert extra == N  # the norms were sent; their sum is zero, which ends the round


def test_what_goes_up_is_counted_in_floats():
    fed, names = federation(), ("gap", "uplink", "broadcasts", "models")
    for probabilities in LAWS:
        strategy = Independent(2, probabilities)
        run = ft.fedavg(fed, strategy, num_rounds=20, step_size=0.05, initial=np.ones(3), record=names, rng=1)
        models = 3 * run.counts.sum()
        if probabilities == "uniform":
            assert run.uplink[0, -1] == models
            assert run.recorded("broadcasts")[0, -1] == run.counts.sum()  # who does not send does not compute
            continue
        overhead = 20 * N
        if probabilities == "approximate":
            for w in run.models[0, :-1]:
                made = approximation(fed.weights * 0.05 * np.linalg.norm(fed.gradients(w), axis=1), 2)
                overhead += 2 * N * min(made.num_rescalings + 1, 4)
        assert run.uplink[0, -1] == models + overhead
        assert run.recorded("broadcasts")[0, -1] == 20 * N
    run = ft.fedavg(
        fed, Independent(2, num_candidates=3), num_rounds=20, step_size=0.05, initial=np.ones(3), record=names
    )
    assert run.uplink[0, -1] == 3 * run.counts.sum() + 20 * 3
    assert run.recorded("broadcasts")[0, -1] == 20 * 3


def test_rescalings_are_counted_up_to_their_limit():
    # norms 1, 10^6, ..., 10^24: each rescaling cuts one more client
    updates = 10.0 ** (6 * np.arange(N))[:, None] / WEIGHTS[:, None] * np.array([1.0, 0, 0])
    for limit in (1, 2, 3, 7):
        _, extra = rounds(Independent(4, "approximate", limit), updates, 1)
        # exact after ceil(4) - 1 = 3 rescalings; a fourth pass finds nothing to do
        assert extra == N + 2 * N * min(limit, 4)


def federation(kind="full", seed=0):
    rng = np.random.default_rng(seed)
    curvatures = np.array([a @ a.T + np.eye(3) for a in rng.normal(size=(N, 3, 3))])
    return ft.QuadraticFederation(curvatures, rng.normal(size=(N, 3)), WEIGHTS)


def test_uniform_moments_by_enumeration():
    u, alpha, delta, noise = Independent(2, "uniform").law(WEIGHTS)
    outcomes = np.array(list(itertools.product([0.0, 1.0], repeat=N)))
    chances = np.where(outcomes, 2 / N, 1 - 2 / N).prod(axis=1)
    omega = outcomes * WEIGHTS * N / 2
    second = (chances[:, None] * omega).T @ omega
    np.testing.assert_allclose(chances @ omega, u, atol=1e-15)
    np.testing.assert_allclose(second, alpha * np.outer(u, u) + np.diag(delta), atol=1e-15)
    np.testing.assert_allclose(np.diag(second), noise, atol=1e-15)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_an_update_that_is_not_finite_is_sent_so_that_divergence_shows(bad):
    updates = updates_of(4)
    updates[2, 1] = bad
    for probabilities in ("optimal", "approximate"):
        drawn, _ = rounds(Independent(1, probabilities), updates, 5)
        np.testing.assert_array_equal(drawn, np.tile(WEIGHTS, (5, 1)))


def test_laws_that_look_at_the_updates_are_not_known_beforehand():
    assert Independent(2).law(WEIGHTS) is None
    with pytest.raises(TypeError, match="must be 'uniform'"):
        Independent(2).inclusion_probabilities(WEIGHTS)
    with pytest.raises(TypeError, match="strategy must be state-independent"):
        expected_gap(federation(), Independent(2), 1, 1, 0.1, np.zeros(3))
