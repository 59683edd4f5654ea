"""The engine against its plain-Python twin, exact moments, and itself with more threads."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

import fedtheory as ft
from fedtheory.engine.trajectory import Trajectory
from fedtheory.errors import DivergenceWarning
from fedtheory.exact.moments import expected_gap
from fedtheory.selection.full import Full
from fedtheory.selection.power_of_choice import PowerOfChoice
from fedtheory.selection.proportional import Proportional
from fedtheory.selection.rules import Rules
from fedtheory.selection.uniform import Uniform
from tests.engine.twin import run_twin

WELLS = ("wells",)


def federation(kind="isotropic", num_clients=6, dim=3, seed=0):
    rng = np.random.default_rng(seed)
    if kind in WELLS:
        share, tilted = rng.dirichlet(np.ones(num_clients)), rng.normal(size=(num_clients, dim))
        return ft.federation.NonconvexFederation(rng.uniform(0.5, 2, dim), tilted, share)
    curvatures = {
        "isotropic": rng.uniform(1, 5, num_clients),
        "diagonal": rng.uniform(1, 5, (num_clients, dim)),
        "full": np.array([a @ a.T + np.eye(dim) for a in rng.normal(size=(num_clients, dim, dim))]),
    }[kind]
    minima = rng.normal(size=num_clients)
    return ft.QuadraticFederation(
        curvatures, rng.normal(size=(num_clients, dim)), rng.dirichlet(np.ones(num_clients)), minima
    )


@pytest.mark.parametrize("kind", ["isotropic", "diagonal", "full", *WELLS])
@pytest.mark.parametrize("strategy", [Full(), Proportional(3), Uniform(2, "weighted"), PowerOfChoice(2, 4)], ids=repr)
@pytest.mark.parametrize(
    "extra",
    [
        {},
        {"relative_noise": 0.4},
        {"gradient_noise": 0.3, "relative_noise": 0.2, "momentum": 0.5, "proximal_weight": 0.7,
         "server_step_size": 0.8},
    ],
    ids=["plain", "relative noise", "all"],
)  # fmt: skip
def test_engine_equals_its_plain_python_twin(kind, strategy, extra):
    fed, initial = federation(kind), np.array([1.0, -2.0, 0.5])
    mu = 0.5 if kind in WELLS else fed.strong_convexity
    sizes = 1 / (mu * (np.arange(36) + 4 * fed.smoothness / mu))
    run = ft.fedavg(
        fed, strategy, num_rounds=12, local_steps=3, step_size=sizes, initial=initial, rng=7,
        record=("gap", "models"), **extra,
    )  # fmt: skip
    losses, model, _ = run_twin(fed, strategy, num_rounds=12, etas=sizes, initial=initial, seed=7, **extra)
    # The two roads differ in the order of sums only: a few dozen roundings of numbers near one.
    np.testing.assert_allclose(run.gap[0], losses - fed.minimum, atol=1e-12)
    np.testing.assert_allclose(run.models[0, -1], model, atol=1e-12)


def test_replicates_are_independent_streams_and_seeds_matter():
    run = ft.fedavg(federation(), Proportional(2), num_rounds=20, step_size=0.1, num_replicates=3, rng=0)
    other = ft.fedavg(federation(), Proportional(2), num_rounds=20, step_size=0.1, num_replicates=3, rng=1)
    finals = np.concatenate([run.gap[:, -1], other.gap[:, -1]])
    assert len(np.unique(finals)) == 6


def test_strategies_compared_with_one_seed_share_their_gradient_noise():
    # One client: nothing to select, so that the noise alone moves the model, whatever the strategy draws.
    fed = ft.QuadraticFederation([1.0], [[0.0, 0.0]], [1.0])
    runs = [
        ft.fedavg(fed, s, num_rounds=5, step_size=0.1, gradient_noise=1.0, record=("models",)).models
        for s in (Full(), Proportional(1), PowerOfChoice(1, 1))
    ]
    np.testing.assert_array_equal(runs[0], runs[1])
    np.testing.assert_array_equal(runs[0], runs[2])


@pytest.mark.parametrize("strategy", [Proportional(3), Uniform(2), Uniform(3, "weighted"), Full()], ids=repr)
def test_mean_gap_agrees_with_exact_moments(strategy):
    fed, initial = federation("full"), np.array([1.0, 0.0, -1.0])
    arguments: dict[str, Any] = {
        "num_rounds": 8, "local_steps": 2, "step_size": 0.05, "initial": initial, "gradient_noise": 0.5,
    }  # fmt: skip
    run = ft.fedavg(fed, strategy, num_replicates=4000, rng=11, **arguments)
    exact = expected_gap(fed, strategy, **arguments)
    error = run.gap.std(axis=0, ddof=1)[1:] / np.sqrt(4000)
    z = (run.gap.mean(axis=0)[1:] - exact[1:]) / error
    assert np.abs(z).max() < 4.5  # eight correlated normal deviates: a false alarm once in 20,000 seeds


def test_noise_has_the_variance_of_assumption_7():
    fed, initial, sigma2, relative = federation("full"), np.array([1.0, 0.0, -1.0]), 0.5, 2.0
    one = ft.QuadraticFederation(fed.curvatures[:1], fed.centers[:1], [1.0])
    run = ft.fedavg(
        one, Full(), num_rounds=1, step_size=0.1, initial=initial, num_replicates=4000,
        gradient_noise=sigma2, relative_noise=relative, record=("models",),
    )  # fmt: skip
    gradient = one.gradient(initial)
    noise = (initial - run.models[:, -1]) / 0.1 - gradient
    # |xi|^2 is (sigma2 + M |g|^2)/3 times a chi square variable of 3 degrees of freedom
    expected, measured = sigma2 + relative * gradient @ gradient, (noise**2).sum(axis=1)
    assert abs(measured.mean() - expected) < 4.5 * expected * np.sqrt(2 / 3 / 4000)
    assert np.abs(noise.mean(axis=0)).max() < 4.5 * np.sqrt(expected / 3 / 4000)


def test_zero_rounds_is_a_trajectory_of_length_one():
    fed = federation()
    run = ft.fedavg(fed, PowerOfChoice(2, 3), num_rounds=0, step_size=0.1)
    assert run.gap.shape == (1, 1)
    assert run.gap[0, 0] == pytest.approx(fed.excess(np.zeros(3)), rel=1e-12)
    assert run.counts.sum() == 0


def test_records_agree_with_each_other():
    fed = federation()
    names = ("gap", "loss", "models", "uplink", "broadcasts", "evaluations")
    run = ft.fedavg(
        fed, PowerOfChoice(2, 4), num_rounds=10, step_size=0.1, num_replicates=2, record=names, record_every=3
    )
    np.testing.assert_array_equal(run.rounds, [0, 3, 6, 9])
    np.testing.assert_allclose(run.gap, fed.excess(run.models), atol=1e-13)
    np.testing.assert_allclose(run.loss, fed.loss(run.models), atol=1e-13)
    # m = 2 updates of v = 3 floats and d = 4 losses go up in each round, d models come down, d losses are evaluated
    np.testing.assert_array_equal(run.uplink, [run.rounds * (2 * 3 + 4)] * 2)
    np.testing.assert_array_equal(run.recorded("broadcasts"), [run.rounds * 4] * 2)
    np.testing.assert_array_equal(run.recorded("evaluations"), [run.rounds * 4] * 2)
    np.testing.assert_array_equal(run.counts.sum(axis=1), [20, 20])


def test_divergence_is_marked_and_leaves_other_replicates_alone():
    # Client 1 multiplies the error by about -1e160 whenever it is drawn, which is rarely: twice is one time too many.
    fed = ft.QuadraticFederation([1.0, 1e161], [[0.0], [1.0]], [0.97, 0.03])
    with pytest.warns(DivergenceWarning) as warned:
        run = ft.fedavg(
            fed, Proportional(1), num_rounds=40, step_size=0.1, num_replicates=40, initial=[1.0],
            record=("gap", "models"),
        )  # fmt: skip
    diverged = run.diverged_at >= 0
    assert 0 < diverged.sum() < 40
    assert [one.filename for one in warned] == [__file__]  # once for a run, at the line of the caller
    assert set(run.status[diverged]) == {"diverged"}
    never = run.counts[:, 1] == 0
    assert np.isfinite(run.gap[never]).all()
    for replicate in np.flatnonzero(diverged):
        when = run.diverged_at[replicate]
        assert np.isfinite(run.gap[replicate, :when]).all()
        assert np.isnan(run.gap[replicate, when:]).all()
    band = run.band()
    assert np.isinf(band.mean[-1])
    assert np.isfinite(band.mean[0])


def test_band_is_the_student_t_interval():
    run = ft.fedavg(federation(), Proportional(2), num_rounds=5, step_size=0.1, num_replicates=9)
    mean, lower, upper = run.band("gap", confidence=0.9)
    wanted = stats.t.interval(0.9, 8, loc=run.gap[:, -1].mean(), scale=stats.sem(run.gap[:, -1]))
    assert (lower[-1], upper[-1]) == pytest.approx(wanted, rel=1e-9)
    assert mean[-1] == pytest.approx(run.gap[:, -1].mean(), rel=1e-12)


def test_one_replicate_has_no_limits_and_says_so():
    run = ft.fedavg(federation(), Proportional(2), num_rounds=5, step_size=0.1)
    with pytest.raises(ValueError, match="num_replicates must be at least 2"):
        run.band()


def test_a_loss_that_overflows_makes_mean_and_limits_infinite_from_there_on():
    gap = np.array([[1.0, 2.0, np.inf], [3.0, 2.0, 1.0]])
    nothing = np.zeros((2, 1), dtype=np.int64)
    run = Trajectory(np.arange(3), {"gap": gap}, nothing, np.full(2, -1), {})
    band = run.band(confidence=0.5)  # the quantile is tan(pi/4) = 1, and the standard error of 1 and 3 is 1
    np.testing.assert_allclose(band.mean, [2.0, 2.0, np.inf], rtol=1e-12)
    np.testing.assert_allclose(band.lower, [1.0, 2.0, -np.inf], rtol=1e-12)
    np.testing.assert_allclose(band.upper, [3.0, 2.0, np.inf], rtol=1e-12)


def test_caller_s_arrays_are_not_changed():
    initial = np.ones(3)
    initial.setflags(write=False)
    ft.fedavg(federation(), Full(), num_rounds=3, step_size=0.1, initial=initial)
    np.testing.assert_array_equal(initial, 1)


def test_a_round_without_clients_leaves_the_model_alone():
    def nobody(round_index, table, memory, weights, candidates, losses, rng, chosen):
        return 0

    class Nobody:
        def rules(self, weights, num_rounds):
            return Rules(nobody, max_selected=1)

    run = ft.fedavg(federation(), Nobody(), num_rounds=3, step_size=0.1, record=("gap", "uplink"))
    assert len(np.unique(run.gap)) == 1
    np.testing.assert_array_equal(run.uplink, 0)
