"""Estimates of Shapley values in rounds of FedAvg on digits, their errors, and the coalitions evaluated."""

from functools import lru_cache
from typing import Any

import numpy as np
from _images import Images, digits, read_images

import fedtheory as ft

ESTIMATORS = ("orders", "sweeps", "truncated", "GTG")


def records(config: Any, skew: float, stage: int, num_players: int) -> list[dict[str, Any]]:
    """Estimate the values of a game repeatedly; one record for each estimator and cost."""
    table = _table(config, skew, stage, num_players)
    exact = ft.valuation.shapley(table, num_players)
    scale = float(np.sqrt(np.mean(exact**2)))
    rng = np.random.default_rng([config.seed, round(1e4 * skew), stage, num_players])
    found = []
    for name in ESTIMATORS:
        several = [estimates(name, table, num_players, config, rng) for _ in range(config.num_repetitions)]
        for place in range(len(several[0])):
            costs, values = zip(*(one[place] for one in several), strict=True)
            error = float(np.sqrt(np.mean((np.array(values) - exact) ** 2))) / scale
            found.append(
                {"skew": skew, "stage": stage, "players": num_players, "estimator": name}
                | {"evaluations": float(np.mean(costs)), "error": error}
                | {"drop": float(table[-1] - table[0]), "absolute": float(np.abs(exact).sum())}
            )
    return found


def _table(config: Any, skew: float, stage: int, num_players: int) -> Any:
    """Utilities of all coalitions of a round after some rounds of FedAvg."""
    data, (x, y) = _dealt(config.data, skew, config.seed)
    fed = ft.SoftmaxFederation(data)
    settings: Any = {"local_steps": 25, "step_size": 0.1, "num_batches": 5, "momentum": 0.5, "record": ("models",)}
    before = ft.fedavg(
        fed,
        ft.selection.SizeWeighted(ft.selection.Uniform(5)),
        num_rounds=stage,
        record_every=stage,
        rng=config.seed,
        **settings,
    ).models[0, -1]
    chosen = np.random.default_rng([config.seed, stage]).permutation(data.num_clients)[:num_players]
    after = [
        ft.fedavg(
            ft.SoftmaxFederation(data.take([k])),
            ft.selection.Uniform(1),
            num_rounds=1,
            initial=before,
            rng=config.seed,
            **settings,
        ).models[0, -1]
        for k in chosen
    ]
    return ft.valuation.softmax_utilities(before, after, data.sample_counts[chosen], x, y)


@lru_cache(maxsize=1)
def _dealt(data: tuple[str, ...], skew: float, seed: int) -> "tuple[ft.federation.FederatedData, Any]":
    """Return the samples of the clients and of the server."""
    if data == ("digits",):
        x, y, *_ = digits()
        order = np.random.default_rng(seed).permutation(len(y))
        server, rest = order[:500], order[500:]
        images = Images(x[rest], y[rest], x[server], y[server])
    else:
        images = read_images(data, 0)
        images = images.with_tests(min(500, len(images.y_test)), seed)
    parts = ft.datasets.power_law_partition(images.y, 20, concentration=skew, min_samples=10, rng=seed)
    clients = ft.federation.FederatedData.from_partition(images.x, images.y, parts, num_classes=10)
    return clients, (images.x_test, images.y_test)


def estimates(name: str, table: Any, num_players: int, config: Any, rng: Any) -> list[tuple[int, Any]]:
    """Numbers of evaluated coalitions and estimates, after 1, 2, 4, ... sweeps, or when GTG stops."""
    from fedtheory.valuation.permutations import marginals, sweep

    def utility(players: frozenset[int]) -> float:
        return float(table[sum(1 << k for k in players)])

    if name == "GTG":
        estimate = ft.valuation.gtg_shapley(utility, num_players, config.tolerance, rng=rng)
        return [(estimate.num_evaluations, estimate.values)]
    game, total, found = ft.valuation.Game(utility), np.zeros(num_players), []
    tolerance = config.tolerance if name == "truncated" else 0.0
    for number in range(1, config.num_sweeps + 1):
        orders = (
            [rng.permutation(num_players).tolist() for _ in range(num_players)]
            if name == "orders"
            else list(sweep(num_players, rng))
        )
        total += np.mean([marginals(game, order, tolerance) for order in orders], axis=0)
        if number.bit_count() == 1:
            found.append((game.num_evaluations, total / number))
    return found
