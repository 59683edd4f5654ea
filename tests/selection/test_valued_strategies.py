"""Strategies with values: first turns, ties, averages, draws, weights by size, and valued runs."""

from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.federation.client_data import FederatedData
from fedtheory.selection.greedy_shapley import GreedyShapley, SoftmaxShapley, UpperConfidenceShapley
from fedtheory.selection.size_weighted import SizeWeighted
from fedtheory.selection.uniform import Uniform
from fedtheory.valuation.games import shapley
from tests.engine.plain import in_plain_python

WEIGHTS = np.array([0.25, 0.2, 0.18, 0.15, 0.12, 0.07, 0.03])


def play(strategy: Any, worth: Any, num_rounds: int, *, weights: Any = WEIGHTS, seed: int = 0) -> tuple[Any, Any]:
    """Run the rules alone, each client being worth ``worth(t)[k]``; return the cohorts and the memory."""
    rules, rng = in_plain_python(strategy.rules(weights, num_rounds)), np.random.default_rng(seed)
    memory, cohorts, empty = rules.memory.copy(), [], np.empty(0)
    for t in range(num_rounds):
        chosen = np.full(rules.max_selected, -1)
        size = rules.select(t, rules.table, memory, weights, np.empty(0, int), empty, rng, chosen)
        chosen = chosen[:size]
        values = np.asarray(worth(t))[chosen]
        rules.value(t, rules.table, memory, weights, chosen, empty, values, empty, empty, empty, rng)
        cohorts.append(sorted(chosen.tolist()))
    return cohorts, memory


@pytest.mark.parametrize("strategy", [GreedyShapley(3), UpperConfidenceShapley(3)], ids=repr)
def test_everybody_has_a_turn_in_ceil_of_n_over_m_rounds_and_the_last_group_is_filled_up(strategy: Any) -> None:
    firsts = set()
    for seed in range(60):
        cohorts, _ = play(strategy, lambda t: WEIGHTS, 3, seed=seed)
        assert all(len(set(cohort)) == 3 for cohort in cohorts)
        assert set(cohorts[0]).isdisjoint(cohorts[1])
        assert set().union(*cohorts) == set(range(7))
        firsts |= set(cohorts[0])
    assert firsts == set(range(7))


def test_turns_are_a_uniform_order() -> None:
    counts = np.zeros(7)
    for seed in range(700):
        counts[play(GreedyShapley(3), lambda t: WEIGHTS, 1, seed=seed)[0][0]] += 1
    # each of 700 cohorts holds a client with probability 3/7: five standard errors
    assert np.abs(counts - 300).max() < 5 * np.sqrt(700 * 3 / 7 * 4 / 7)


def test_then_the_largest_values_are_taken_and_ties_go_by_chance() -> None:
    worth = np.array([0.0, 5.0, 1.0, 1.0, 1.0, 7.0, -3.0])
    thirds = set()
    for seed in range(40):
        cohorts, _ = play(GreedyShapley(3), lambda t: worth, 4, seed=seed)
        assert {1, 5} <= set(cohorts[3])
        thirds |= set(cohorts[3]) - {1, 5}
    assert thirds == {2, 3, 4}


@pytest.mark.parametrize(
    ("strategy", "averaging", "start"),
    [*((GreedyShapley(2, averaging=a), a, 0.0) for a in ("mean", 0.0, 0.1, 0.9)), (SoftmaxShapley(2), 0.75, 1 / 7)],
)
def test_memory_holds_the_cumulative_values_of_those_selected(strategy: Any, averaging: Any, start: float) -> None:
    drawn = np.random.default_rng(3).normal(size=(9, 7))
    cohorts, memory = play(strategy, lambda t: drawn[t], 9)
    values, counts = np.full(7, start), np.zeros(7)
    for t, cohort in enumerate(cohorts):
        counts[cohort] += 1
        # GreedyFed, section III: the running mean, or a fixed share of what was there.
        kept = 1 - 1 / counts[cohort] if averaging == "mean" else averaging
        values[cohort] = kept * values[cohort] + (1 - kept) * drawn[t, cohort]
    np.testing.assert_allclose(memory, [*values, *counts], rtol=1e-14)


def test_confidence_limits_bring_back_who_was_seen_rarely() -> None:
    worth = np.array([1.0, 0.9, 0.0, 0.0, 0.0, 0.0, 0.0])
    greedy, _ = play(GreedyShapley(2), lambda t: worth, 30)
    curious, _ = play(UpperConfidenceShapley(2, exploration=3.0), lambda t: worth, 30)
    assert all(cohort == [0, 1] for cohort in greedy[4:])
    assert len({tuple(cohort) for cohort in curious[4:]}) > 5
    # two clients, one each round, t = 2 rounds done: 1 + b sqrt(log 3 / 1) against 0.5 + the same, then
    # at t = 3 with counts 2 and 1: 1 + b sqrt(log 4 / 2) against 0.5 + b sqrt(log 4), which wins from
    # b = 0.5 / ((1 - 1/sqrt 2) sqrt(log 4)) on.
    brink = 0.5 / ((1 - 1 / np.sqrt(2)) * np.sqrt(np.log(4)))
    for factor, last in ((0.99, [0]), (1.01, [1])):
        strategy = UpperConfidenceShapley(1, exploration=factor * brink)
        cohorts, _ = play(strategy, lambda t: [1.0, 0.5], 4, weights=np.array([0.5, 0.5]))
        assert cohorts[2:] == [[0], last]


def test_s_fedavg_draws_successively_by_the_softmax_of_its_averages() -> None:
    phi = np.array([0.0, np.log(2.0), np.log(5.0)])
    rules = in_plain_python(SoftmaxShapley(2).rules(np.full(3, 1 / 3), 1))
    assert rules.memory[:3].tolist() == [1 / 3] * 3
    memory, rng, pairs = np.concatenate([phi, np.ones(3)]), np.random.default_rng(0), np.zeros((3, 3))
    count = 4000
    for _ in range(count):
        chosen = np.empty(2, dtype=int)
        rules.select(0, rules.table, memory, np.full(3, 1 / 3), np.empty(0, int), np.empty(0), rng, chosen)
        pairs[min(chosen), max(chosen)] += 1
    # shares 1, 2, 5 of 8: {i, j} has the probability s_i s_j / 64 (8 / (8 - s_i) + 8 / (8 - s_j))
    for i, j, a, b in ((0, 1, 1, 2), (0, 2, 1, 5), (1, 2, 2, 5)):
        p = a * b / 8 * (1 / (8 - a) + 1 / (8 - b))
        assert abs(pairs[i, j] / count - p) < 5 * np.sqrt(p * (1 - p) / count)


@pytest.mark.parametrize("strategy", [GreedyShapley(2), UpperConfidenceShapley(2), SoftmaxShapley(2)], ids=repr)
def test_a_client_without_weight_is_there_and_one_of_negative_weight_is_not(strategy: Any) -> None:
    weights = np.array([0.5, 0.0, 0.5, -1.0])  # the round loop writes -1 for the absent
    cohorts, _ = play(strategy, lambda t: [0.0, 1.0, 0.5, 9.0], 12, weights=weights)
    assert set().union(*cohorts) == {0, 1, 2}
    if not isinstance(strategy, SoftmaxShapley):
        assert cohorts[2:] == [[1, 2]] * 10


def federation(num_clients: int = 7, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    sizes = np.arange(3, 3 + num_clients)
    clients = [(rng.normal(k % 3, 1, size=(n, 2)), rng.integers(3, size=n)) for k, n in enumerate(sizes)]
    return FederatedData.from_clients(clients, num_classes=3)


def server_samples() -> Any:
    rng = np.random.default_rng(9)
    return FederatedData.from_clients([(rng.normal(1, 1, size=(25, 2)), rng.integers(3, size=25))], num_classes=3)


FAMILIES: dict[str, Any] = {
    "softmax": ft.SoftmaxFederation,
    "perceptron": lambda data: ft.PerceptronFederation(data, hidden=(4,)),
}
VALUED = [GreedyShapley(3, valuation="exact"), UpperConfidenceShapley(3), SoftmaxShapley(3, valuation="exact")]


def run(family: str, strategy: Any, **changes: Any) -> Any:
    fed = FAMILIES[family](federation())
    initial = fed.initial(0) if family == "perceptron" else np.zeros(fed.dim)
    settings = {
        "num_rounds": 6, "local_steps": 4, "step_size": 0.1, "num_batches": 2, "momentum": 0.5, "initial": initial,
        "validation": FAMILIES[family](server_samples()),
        "record": ("loss", "models", "selected", "coefficients", "values", "coalitions"),
    }  # fmt: skip
    return ft.fedavg(fed, strategy, **(settings | changes))


@pytest.mark.parametrize(("family", "strategy"), [*(("softmax", one) for one in VALUED), ("perceptron", VALUED[2])])
def test_values_of_a_round_add_up_to_the_drop_of_validation_loss(family: str, strategy: Any) -> None:
    found, server = run(family, strategy), FAMILIES[family](server_samples())
    losses = server.loss(found.models[0])
    np.testing.assert_allclose(
        found.recorded("values")[0, :6].sum(axis=1),
        losses[:-1] - losses[1:],
        atol=1e-4 if "Upper" in repr(strategy) else 1e-12,
    )
    weights = np.array(FAMILIES[family](federation()).weights)
    for chosen, coefficients in zip(
        found.recorded("selected")[0, :6].astype(int), found.recorded("coefficients")[0], strict=False
    ):
        np.testing.assert_allclose(coefficients, weights[chosen] / weights[chosen].sum(), rtol=1e-14)


def test_values_are_the_shapley_values_of_models_that_clients_trained_alone() -> None:
    """Another road: each chosen client's model from a run of its own, then the plain game."""
    data = federation()
    fed, server = ft.SoftmaxFederation(data), ft.SoftmaxFederation(server_samples())
    shared = {
        "step_size": 0.1,
        "local_steps": 3,
        "initial": np.zeros(fed.dim),
        "record": ("models", "selected", "values"),
    }
    found = ft.fedavg(fed, GreedyShapley(3, valuation="exact"), num_rounds=1, validation=server, **shared)
    chosen = found.recorded("selected")[0, 0].astype(int)
    alone = [
        ft.fedavg(
            ft.SoftmaxFederation(data.take([k])), ft.selection.Full(), num_rounds=1, **shared | {"record": ("models",)}
        ).models[0, 1]
        for k in chosen
    ]
    sizes = data.sample_counts[chosen]

    def utility(players: frozenset[int]) -> float:
        some = sorted(players)
        mean = sizes[some] @ np.array(alone)[some] / sizes[some].sum() if some else np.zeros(fed.dim)
        return -float(server.loss(mean))

    np.testing.assert_allclose(found.recorded("values")[0, 0], shapley(utility, 3), atol=1e-13)


def test_a_coalition_that_overflows_ends_the_run_in_its_round_although_the_model_is_finite() -> None:
    # Alone each client of the third round goes where the other's square overflows; together they stay in the middle.
    fed = ft.QuadraticFederation([1.0, 1.0], [[-1.0], [1.0]], [0.5, 0.5])
    with pytest.warns(ft.errors.DivergenceWarning):
        found = ft.fedavg(
            fed, GreedyShapley(2, valuation="exact"), num_rounds=4, step_size=[0.1, 0.1, 1e160, 0.1], initial=[0.0],
            record=("gap", "models"),
        )  # fmt: skip
    assert found.status.tolist() == ["diverged"]
    assert found.diverged_at.tolist() == [3]
    assert found.models[0, :3].tolist() == [[0.0]] * 3


def test_a_strategy_that_asks_for_no_values_ignores_the_validation() -> None:
    plain = run("softmax", SizeWeighted(Uniform(3)), validation=None)
    judged = run("softmax", SizeWeighted(Uniform(3)))
    assert plain.models.tobytes() == judged.models.tobytes()
    assert np.isnan(plain.recorded("values")).all()
    assert plain.recorded("coalitions").max() == 0


@pytest.mark.parametrize(
    ("family", "validation"),
    [
        ("softmax", FAMILIES["perceptron"](server_samples())),
        ("softmax", server_samples()),
        ("softmax", ft.SoftmaxFederation(FederatedData.from_clients([(np.ones((4, 2)), np.arange(4))]))),
        # as many parameters, arranged otherwise: 4 * 3 + 3 * 5 = 5 * 3 + 1 * 6 + 3 * 2
        ("perceptron", ft.PerceptronFederation(server_samples(), (5, 1))),
    ],
)
def test_the_server_validates_with_the_losses_of_the_clients(family: str, validation: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="validation must"):
        run(family, GreedyShapley(3), validation=validation)


def test_curvatures_of_another_form_do_not_validate() -> None:
    # as many parameters, but one curvature for all coordinates, and one for each
    fed, other = (ft.QuadraticFederation(h, np.eye(2), [0.5, 0.5]) for h in ([1.0, 2.0], [[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(ValueError, match="validation must"):
        ft.fedavg(fed, GreedyShapley(1), num_rounds=1, step_size=0.1, validation=other)


def test_batches_by_number_and_by_size_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="batch_size must be None"):
        run("softmax", GreedyShapley(3), batch_size=2)
