"""The programs of the performance study compute what the library computes, without randomness."""

from types import SimpleNamespace
from typing import Any

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


@pytest.mark.parametrize("sign", [-1, 1])
def test_distances_are_in_standard_errors_on_both_sides(sign: int) -> None:
    # Means 1, 2, 3 and 6 are 3 in the mean with the variance 14/3; another one 4 away has 1 + 1/4 of that.
    means = np.array([1.0, 2.0, 3.0, 6.0])
    found = performance._distance_of_losses(means, np.exp([2 + sign * 4.0, 4 + sign * 4.0]))
    assert found == pytest.approx(4 / np.sqrt(14 / 3 * (1 + 1 / 4)), rel=1e-12)
    # Two others add half the variance; the last round counts.
    run = SimpleNamespace(gap=np.column_stack([np.full(4, 99.0), means]))
    other = np.array([[0.0, 3.0 + sign * 3.0], [0.0, 3.0 + sign * 5.0]])
    assert performance._distance(run, other) == pytest.approx(4 / np.sqrt(14 / 3 * (1 / 4 + 1 / 2)), rel=1e-12)


def test_a_row_has_the_middle_time_of_a_unit_of_work_and_the_middle_and_extreme_ratios(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken = iter([3.0, 12.0, 8.0, 1.0, 9.0, 8.0, 2.0, 10.0, 8.0])
    monkeypatch.setattr(performance, "timed", lambda program: next(taken))
    # Ours takes 3, 1 and 2 for 2 units; the others 12, 9, 10 for 2 and 8 for 4.
    others: Any = {"slow": (None, 2, 0.5), "fast": (None, 4, 0.25)}
    slow, fast = performance.interleaved("work", None, 2, others, range(3))  # type: ignore[arg-type]
    assert (slow["workload"], slow["peer"], slow["agreement"]) == ("work", "slow", 0.5)
    assert (slow["ours_us"], slow["ratio"], slow["lowest"], slow["highest"]) == pytest.approx((1e6, 5, 4, 9))
    assert (fast["ratio"], fast["lowest"], fast["highest"]) == pytest.approx((2, 4 / 3, 4))
