"""Every strategy of the package passes the kit; exceptions have a reason."""

import dataclasses
from typing import Any

import pytest

import fedtheory as ft
import fedtheory.selection
from fedtheory._support.discover import members
from fedtheory.conformance import check_aggregation, check_generator, check_probabilities, check_shapley, check_strategy
from fedtheory.sampling import optimal_probabilities
from fedtheory.valuation import gtg_shapley, shapley

S = ft.selection
K = 6
PRIORITY = (True, True, False, False, False, False)
SHARES = {"weights": [0.5, 0.5, 0.0, 0.0, 0.0, 0.0]}
GROUPS = S.Periodic([[0.5, 0.5, 0, 0, 0, 0], [0, 0, 0, 0.25, 0.25, 0.5]])
STRATEGIES: list[tuple[Any, dict[str, Any]]] = [
    (S.Full(), {"like": S.Full()}),
    (S.Uniform(2), {"like": S.Uniform(2)}),
    (S.Uniform(2, "weighted"), {"like": S.Uniform(2)}),
    (S.Proportional(3), {"like": S.Proportional(3)}),
    (S.PowerOfChoice(2, 4), {"like": S.PowerOfChoice(2, 4)}),
    (S.PowerOfChoice(2, "all"), {"like": S.PowerOfChoice(2, "all")}),
    (S.PowerOfChoice(2, 4, loss="last"), {}),
    (GROUPS, {}),
    (S.Independent(2.5, "uniform"), {"like": S.Independent(2.5, "uniform")}),
    (S.Independent(2.5), {}),
    (S.Independent(2.5, "approximate"), {}),
    (S.ActiveFederated(2, (10,) * K), {}),
    (S.ActiveFederatedByReports(3), {}),
    (S.Available(S.PowerOfChoice(1, 2), S.BernoulliAvailability(0.7), "allow"), {}),
    (S.LossMatching(PRIORITY, (0.5,) * K, 1.5, fraction=0.5), SHARES),
    (S.GreedyShapley(2), {}),
    (S.UpperConfidenceShapley(2), {}),
    (S.SoftmaxShapley(3), {}),
    (S.SizeWeighted(S.Uniform(2)), {"like": S.Uniform(2)}),
]
EXCEPTIONS: dict[Any, dict[str, str]] = {
    GROUPS: dict.fromkeys(("relabeling", "fair ties"), "its shares name the clients of each round")
}
# The rules that select are those of another one of these strategies.
SAME_RULES = (S.Uniform(2, "weighted"), S.PowerOfChoice(2, "all"), S.SizeWeighted(S.Uniform(2)))
CHECKS = [
    pytest.param(
        check, id=f"{type(strategy).__name__}-{place}-{check.name}", marks=[pytest.mark.slow] * (strategy in SAME_RULES)
    )
    for place, (strategy, options) in enumerate(STRATEGIES)
    for check in check_strategy.checks(strategy, exceptions=EXCEPTIONS.get(strategy), num_draws=250, **options)
]


def test_all_strategies_of_the_package_are_asked() -> None:
    found = members(fedtheory.selection, lambda value: dataclasses.is_dataclass(value) and hasattr(value, "rules"))
    kinds, asked = {kind.__name__ for _, kind in found}, {type(strategy).__name__ for strategy, _ in STRATEGIES}
    assert asked <= kinds
    if kinds - asked:
        pytest.skip(f"{', '.join(sorted(kinds - asked))} have no line among STRATEGIES here")


@pytest.mark.parametrize("check", CHECKS)
def test_a_strategy_of_the_package_passes(check: Any) -> None:
    assert check() is None


def ours(alpha, beta, num_clients, rng):
    data = ft.datasets.synthetic(alpha, beta, num_clients, rng, max_samples=400, test_fraction=0.0)
    return [data.client(k) for k in range(num_clients)]


def truncated(utility, num_players, rng):
    return gtg_shapley(utility, num_players, tolerance=0.0, rng=rng).values


def optimal_aggregate(rng, vectors, weights):
    return S_of_norms(rng, vectors, weights, optimal_probabilities)


def S_of_norms(rng, vectors, weights, law):  # noqa: N802 (the paper's letter)
    norms = weights * (vectors**2).sum(axis=1) ** 0.5
    p = law(norms, min(2, len(weights)))
    drawn = (rng.random(len(weights)) < p) & (p > 0)
    return (weights[drawn] / p[drawn]) @ vectors[drawn]


@pytest.mark.parametrize(
    ("subject", "check", "options"),
    [
        (optimal_probabilities, check_probabilities, {}),
        (shapley, check_shapley, {}),
        (optimal_aggregate, check_aggregation, {"num_draws": 1000}),
        (ours, check_generator, {}),
    ],
)
def test_functions_of_the_package_pass(subject: Any, check: Any, options: dict[str, Any]) -> None:
    found = check(subject, **options)
    assert found.holds, found
