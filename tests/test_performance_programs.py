"""The programs of the performance study compute what the library computes, without randomness."""

import _performance as performance
import numpy as np
import pytest

import fedtheory as ft


def test_quadratics_with_all_clients_as_candidates_have_the_gaps_of_the_library() -> None:
    rng = np.random.default_rng(3)
    # NumPy sorts up to some hundred numbers where it is asked for the largest few.
    # Far from 0, where models start, each part of a loss decides about ranks.
    h, c, p = rng.uniform(0.5, 2, 600), rng.normal(3.0, 1.0, (600, 3)), rng.dirichlet(np.ones(600))
    fed = ft.QuadraticFederation(h, c, p)
    gap = ft.fedavg(fed, ft.selection.PowerOfChoice(2, 600), num_rounds=6, local_steps=3, step_size=0.2).gap
    work = performance.Quadratics(h, c, p, fed.minimizer, 2, 600, 3, 0.2)
    for program in (performance.numpy_loop, performance.numpy_batched):
        np.testing.assert_allclose(program(work, 6, 2, rng), np.repeat(gap, 2, axis=0), rtol=1e-12)


def test_the_compiled_loop_has_the_gaps_of_the_library_and_draws_by_weight() -> None:
    rng = np.random.default_rng(3)
    h, c, p = rng.uniform(0.5, 2, 6), rng.normal(size=(6, 3)), np.array([0.3, 0.1, 0.2, 0.15, 0.05, 0.2])
    fed = ft.QuadraticFederation(h, c, p)
    gap = ft.fedavg(fed, ft.selection.PowerOfChoice(2, 6), num_rounds=6, local_steps=3, step_size=0.2).gap[0]
    work, found = performance.Quadratics(h, c, p, fed.minimizer, 2, 6, 3, 0.2), np.empty(7)
    own, other = performance.alias_table(p)
    performance.numba_rounds(h, c, work.shares, own, other, float(p @ h), fed.minimizer, 2, 6, rng, found)
    np.testing.assert_allclose(found, gap, rtol=1e-12)
    # A column gives its own client's share of it to its client and the rest to the other.
    np.testing.assert_allclose((own + np.bincount(other, 1 - own, minlength=6)) / 6, p, rtol=1e-12)


def test_the_worst_case_of_gradient_descent_has_the_value_of_the_literature() -> None:
    # Drori and Teboulle 2014: L / (4 N + 2).
    assert performance.descent(2).value == pytest.approx(1 / 10, rel=1e-5)


def test_softmax_models_on_all_samples_of_all_clients_have_the_losses_of_the_library() -> None:
    rng = np.random.default_rng(4)
    each = [(rng.normal(size=(8, 2)), rng.integers(3, size=8)) for _ in range(5)]
    data = ft.federation.FederatedData.from_clients(each, num_classes=3)
    fed = ft.SoftmaxFederation(data, weights=rng.dirichlet(np.ones(5)))
    run = ft.fedavg(fed, ft.selection.PowerOfChoice(5, 5), num_rounds=4, local_steps=3, step_size=0.5, record=("loss",))
    rng, how = np.random.default_rng(0), {"local_steps": 3, "step_size": 0.5, "batch_size": 8}
    np.testing.assert_allclose(performance.softmax_loop(fed, 5, 5, 4, rng, **how), run.loss[0], rtol=1e-12)
