"""The programs of the performance study compute what the library computes, without randomness."""

from types import SimpleNamespace
from typing import Any

import _performance_calls as calls
import _performance_peers as peers
import _performance_perceptron as perceptron
import _performance_quadratic as quadratic
import _performance_softmax as softmax
import _timing as timing
import numpy as np
import pytest
import xarray

import fedtheory as ft


def test_quadratics_with_all_clients_as_candidates_have_the_gaps_of_the_library() -> None:
    rng = np.random.default_rng(3)
    # NumPy sorts up to some hundred numbers where it is asked for the largest few.
    # Far from 0, where models start, each part of a loss decides about ranks.
    h, c, p = rng.uniform(0.5, 2, 600), rng.normal(3.0, 1.0, (600, 3)), rng.dirichlet(np.ones(600))
    fed = ft.QuadraticFederation(h, c, p)
    gap = ft.fedavg(fed, ft.selection.PowerOfChoice(2, 600), num_rounds=6, local_steps=3, step_size=0.2).gap
    work = quadratic.Workload(h, c, p, fed.minimizer, 2, 600, 3, 0.2)
    for program in (quadratic.numpy_loop, quadratic.numpy_batched):
        np.testing.assert_allclose(program(work, 6, 2, rng), np.repeat(gap, 2, axis=0), rtol=1e-12)


def test_the_compiled_loop_has_the_gaps_of_the_library_and_draws_by_weight() -> None:
    rng = np.random.default_rng(3)
    h, c, p = rng.uniform(0.5, 2, 6), rng.normal(size=(6, 3)), np.array([0.3, 0.1, 0.2, 0.15, 0.05, 0.2])
    fed = ft.QuadraticFederation(h, c, p)
    gap = ft.fedavg(fed, ft.selection.PowerOfChoice(2, 6), num_rounds=6, local_steps=3, step_size=0.2).gap[0]
    work, found = quadratic.Workload(h, c, p, fed.minimizer, 2, 6, 3, 0.2), np.empty(7)
    own, other = quadratic.alias_table(p)
    quadratic.compiled_rounds.py_func(
        h, c, work.shares, own, other, work.mean_curvature, fed.minimizer, 2, 6, rng, found
    )  # fmt: skip
    np.testing.assert_allclose(found, gap, rtol=1e-12)
    # A column gives its own client's share of it to its client and the rest to the other.
    np.testing.assert_allclose((own + np.bincount(other, 1 - own, minlength=6)) / 6, p, rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "num_steps", "known"),
    # Drori and Teboulle 2014: L / (4 N + 2); Taylor, Hendrickx and Glineur 2017: 1 / (4 N); PEPit: 1 / 2.
    [("gradient descent", 2, 1 / 10), ("proximal point", 2, 1 / 8), ("Frank-Wolfe", 1, 1 / 2)],
)
def test_common_worst_cases_have_the_values_of_the_literature(name: str, num_steps: int, known: float) -> None:
    assert calls.common(name, num_steps).value == pytest.approx(known, rel=1e-5)


def test_programs_that_are_faster_are_named() -> None:
    rows = {"workload": ["K = 30", "softmax", "K = 30"], "peer": ["numba loop", "NumPy", "two threads"]}
    numbers = {name: [0.5, 2.0, 0.5] for name in ("ours_us", "ratio", "lowest", "highest", "goal", "floor")}
    data = xarray.Dataset({name: ("row", values) for name, values in (rows | numbers).items()})
    assert peers.slower(data) == "slower than: numba loop (K = 30: 0.50)"
    assert peers.slower(data.isel(row=[1])) == "slower than: none of these programs"


def test_softmax_models_on_all_samples_of_all_clients_have_the_losses_of_the_library() -> None:
    rng = np.random.default_rng(4)
    each = [(rng.normal(size=(8, 2)), rng.integers(3, size=8)) for _ in range(5)]
    data = ft.federation.FederatedData.from_clients(each, num_classes=3)
    fed = ft.SoftmaxFederation(data, weights=rng.dirichlet(np.ones(5)))
    run = ft.fedavg(fed, ft.selection.PowerOfChoice(5, 5), num_rounds=4, local_steps=3, step_size=0.5, record=("loss",))
    work = softmax.Workload(fed.inputs, data.labels, data.offsets, fed.weights, 3, 5, 5, 3, 8, 0.5)
    for program in (softmax.numpy_loop, softmax.numpy_batched):
        np.testing.assert_allclose(program(work, 4, rng), run.loss[0], rtol=1e-12)


def test_candidates_are_drawn_and_the_worst_of_them_chosen() -> None:
    work: Any = SimpleNamespace(p=np.array([0.5, 0.0, 0.2, 0.3]), num_candidates=3, num_selected=2)
    rng = np.random.default_rng(0)
    assert set(softmax._cohort(work, np.array([3.0, 9.0, 1.0, 2.0]), rng).tolist()) == {0, 3}
    rows = softmax._batches(SimpleNamespace(offsets=[0, 4, 9], batch_size=3, local_steps=50), 1, rng)  # type: ignore[arg-type]
    assert rows.shape == (50, 3)
    assert all(len(set(batch)) == 3 for batch in rows.tolist())
    assert set(rows.ravel().tolist()) == {4, 5, 6, 7, 8}


def test_perceptrons_on_batches_of_all_samples_take_the_steps_of_the_library() -> None:
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(9, 4)), rng.integers(10, size=9)
    fed = ft.PerceptronFederation(ft.federation.FederatedData.from_clients([(x, y)], num_classes=10), hidden=(5,))
    start = perceptron._matrices(fed.initial(0), fed.shapes)
    run = ft.fedavg(
        fed, ft.selection.Full(), num_rounds=1, local_steps=4, step_size=0.01, initial=fed.initial(0),
        record=("models",),
    )  # fmt: skip
    found = perceptron._flat(perceptron.numpy_steps(start, x, y, 9, 4))
    np.testing.assert_allclose(found, run.models[0, 1], rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("sign", [-1, 1])
def test_distances_are_in_standard_errors_on_both_sides(sign: int) -> None:
    # Means 1, 2, 3 and 6 are 3 in the mean with the variance 14/3; another one 4 away has 1 + 1/4 of that.
    means = np.array([1.0, 2.0, 3.0, 6.0])
    found = softmax._distance(means, np.exp([2 + sign * 4.0, 4 + sign * 4.0]))
    assert found == pytest.approx(4 / np.sqrt(14 / 3 * (1 + 1 / 4)), rel=1e-12)
    # Two others add half the variance; the last round counts.
    run = SimpleNamespace(gap=np.column_stack([np.full(4, 99.0), means]))
    other = np.array([[0.0, 3.0 + sign * 3.0], [0.0, 3.0 + sign * 5.0]])
    assert quadratic._distance(run, other) == pytest.approx(4 / np.sqrt(14 / 3 * (1 / 4 + 1 / 2)), rel=1e-12)


def test_a_row_has_the_middle_time_of_ours_and_the_middle_and_extreme_ratios() -> None:
    found = timing._record("work", "peer", [3e-6, 1e-6, 2e-6], np.array([4.0, 9.0, 5.0]))
    assert found == {
        "workload": "work",
        "peer": "peer",
        "ours_us": pytest.approx(2),
        "ratio": 5,
        "lowest": 4,
        "highest": 9,
    }


def test_times_are_those_of_a_unit_of_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "timed", lambda program: (program, None))
    peers: Any = {"twice as fast a unit": (6.0, 12), "half": (8.0, 4)}
    found = timing.interleaved("work", 3.0, 3, peers, range(3))  # type: ignore[arg-type]
    assert [(row["peer"], row["ours_us"], row["ratio"]) for row in found] == [
        ("twice as fast a unit", 1e6, 0.5),
        ("half", 1e6, 2.0),
    ]
