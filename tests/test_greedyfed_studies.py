"""Independent computations for the studies of GreedyFed, and wrong results that they detect."""

# mypy: allow-untyped-calls

import dataclasses
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import tyro  # noqa: F401 # imported first, it looks into builtins, where a doctest before it may have left an array
import xarray

import fedtheory as ft
from fedtheory import study
from tests.quick_studies import loaded


@pytest.fixture(scope="module")
def approximation() -> study.Study:
    return loaded("shapley_approximation")


TABLES = loaded("greedyfed_tables")
RUNS, CAUSES = (sys.modules[f"_greedyfed_{name}"] for name in ("fashion", "causes"))


def test_the_server_halves_its_samples_and_clients_get_the_others(monkeypatch) -> None:
    x = np.arange(200.0)[:, None]
    images = sys.modules["_images"].without_tests(x, np.arange(200) % 4)

    def deal(images: Any, seed: int) -> Any:
        monkeypatch.setattr(RUNS, "images_of", lambda _: images)
        RUNS.deal.cache_clear()
        return RUNS.deal(("any",), 60, 5, 1.0, seed)

    dealt = deal(images, 3)
    pools = [dealt.validation.features.ravel(), dealt.clients.test_features.ravel(), dealt.clients.features.ravel()]
    assert [pool.size for pool in pools] == [30, 30, 140]
    assert sorted(np.concatenate(pools)) == x.ravel().tolist()
    again, other = (deal(images, seed) for seed in (3, 4))
    np.testing.assert_array_equal(again.clients.features, dealt.clients.features)
    assert (other.clients.features != dealt.clients.features).any()
    # What has a test set trains on everything else, and leaves so many of its test samples to the server.
    tested = deal(images._replace(x_test=x + 200, y_test=images.y), 3)
    pools = [tested.validation.features.ravel(), tested.clients.test_features.ravel()]
    assert [len(set(pool) & set(x.ravel() + 200)) for pool in pools] == [30, 30]
    assert sorted(tested.clients.features.ravel()) == x.ravel().tolist()
    RUNS.deal.cache_clear()


def test_a_lead_is_paired_and_ends_where_its_mean_is_no_longer_positive() -> None:
    greedy = np.array([[10.0, 60.0, 70.0, 70.0, 70.0], [10.0, 40.0, 60.0, 62.0, 62.0]])
    fedavg = np.array([[10.0, 20.0, 50.0, 71.0, 80.0], [10.0, 30.0, 56.0, 61.0, 70.0]])
    names = ("change", "seed", "algorithm")
    data = xarray.Dataset(
        {
            "accuracy": ((*names, "round"), np.stack([greedy, fedavg], axis=1)[None]),
            "found": ((*names, "number"), np.array([[[[2.0, 3.0], [8.0, 9.0]]] * 2])),
        },
        coords={
            "change": ["base"], "algorithm": ["GreedyFed", "FedAvg"], "round": [0, 10, 20, 30, 40],
            "number": ["effective clients", "effective classes"],
        },
    )  # fmt: skip
    [row] = CAUSES.rows_of_leads(data)
    # Leads 0 0, 40 10, 20 4, -1 1, -10 -8: they cancel at round 30.
    assert (row["largest lead"], row["at round"], row["behind from round"]) == (25.0, 10, 30)
    # Student's quantile of 0.975 at one degree of freedom is tan(0.475 pi), and the standard error is 1.
    half = np.tan(0.475 * np.pi)
    assert row["less FedAvg"] == f"-9.0 [{-9 - half:.1f}, {-9 + half:+.1f}]"
    assert (row["effective clients"], row["effective classes, FedAvg"]) == (2.0, 9.0)


def test_effective_clients_and_classes_are_those_that_updates_came_from() -> None:
    x = np.zeros((3, 1))
    clients = ft.federation.FederatedData.from_clients([(x, [0, 0, 0]), (x, [1, 1, 1]), (x, [2, 2, 2])], num_classes=4)
    dealt = RUNS.Dealt(clients, clients)
    # Shares 1/2 and 1/2: two clients, and two classes; shares 2/3, 1/6, 1/6: 1 / (4/9 + 2/36).
    assert CAUSES.spread(np.array([5, 5, 0]), dealt) == pytest.approx((2, 2))
    entropy = np.log(6) - 2 / 3 * np.log(4)
    assert CAUSES.spread(np.array([4, 1, 1]), dealt) == pytest.approx((2, np.exp(entropy)))


def test_estimates_are_asked_for_after_doubling_sweeps_and_count_coalitions_once(approximation) -> None:
    estimates = sys.modules["_shapley_games"].estimates
    config = dataclasses.replace(approximation.quick, num_sweeps=5)
    table = np.array([0.0, 1.0, 3.0, 4.0])  # additive: every order shows 1 and 3
    for name in ("orders", "sweeps", "truncated"):
        found = estimates(name, table, 2, config, np.random.default_rng(0))
        assert len(found) == 3  # 1, 2 and 4 sweeps of 5
        assert found[-1][0] == 4
        np.testing.assert_allclose([values for _, values in found], [[1.0, 3.0]] * 3)
    # A sweep of two begins with each of them: all coalitions are known after the first.
    assert [cost for cost, _ in estimates("sweeps", table, 2, config, np.random.default_rng(0))] == [4, 4, 4]


def test_truncation_counts_what_it_spares(approximation) -> None:
    estimates = sys.modules["_shapley_games"].estimates
    config = dataclasses.replace(approximation.quick, num_sweeps=1, tolerance=0.5)
    # Anyone is worth as much as everybody: each walk ends after its first player, {0}, {1} or {2}.
    table = np.array([0.0] + [1.0] * 7)
    [(cost, values)] = estimates("truncated", table, 3, config, np.random.default_rng(0))
    assert cost == 5  # nobody, everybody and three alone
    np.testing.assert_allclose(values, 1 / 3)


def plain_greedy(p: float, start: float, first: int) -> float:
    """Gap after GreedyFed with two clients, one per round, in plain rationals: no engine, no closed form."""
    weight = Fraction(p)
    centers = (weight - 1, weight)
    w, sums, counts = Fraction(start), [Fraction(0)] * 2, [0, 0]
    for t in range(60):
        means = [total / max(count, 1) for total, count in zip(sums, counts, strict=True)]
        chosen = (first, 1 - first)[t] if t < 2 else int(means[1] > means[0])
        after = centers[chosen]
        sums[chosen] += (w * w - after * after) / 2
        counts[chosen] += 1
        w = after
    return float(w * w / 2)


@pytest.mark.parametrize("p", [0.5625, 0.578125, 0.59375, 0.75])
def test_the_law_of_two_clients_is_what_a_plain_program_does(p: float) -> None:
    for start in np.arange(-17, 18, 2) / 16:
        for first in (0, 1):
            assert plain_greedy(p, start, first) == pytest.approx(float(CAUSES.law(p, start, first)), rel=1e-15)


def test_the_place_of_no_pull_is_where_fixed_cohorts_take_the_model() -> None:
    fed = ft.QuadraticFederation([1.0, 2.0, 5.0], [[1.0], [0.0], [4.0]], [0.5, 0.3, 0.2])
    place = CAUSES.place_of_no_pull(fed, np.array([[0, 2]] * 3), 0.1, 2)
    # One cohort for good: a fixed point of w -> w + 5/7 (1 - 0.9^2)(1 - w) + 2/7 (1 - 0.5^2)(4 - w).
    pulls = 5 / 7 * 0.19, 2 / 7 * 0.75
    assert place == pytest.approx([(pulls[0] * 1 + pulls[1] * 4) / sum(pulls)])
