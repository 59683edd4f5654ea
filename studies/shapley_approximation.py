r"""
How good are estimates of Shapley values in a round?
====================================================

**Up to ten clients exact values are cheaper than estimates as good; beyond, orders in which each client begins in turn
are best.**

**Question.** GreedyFed values the clients of a round by GTG-Shapley, truncated walks through random orders. How far are
its values from the exact ones, what do they cost, and where do plain random orders, or all coalitions, do better?

**Method.** Handwritten digits are dealt to clients by a power law, with label skew of Dirichlet concentration 0.1 or
100. FedAvg on softmax regression goes on for a few rounds (*early*) or many (*late*); then M clients train once more,
and all :math:`2^M` coalitions are evaluated on held-out samples. On that table every estimator is run repeatedly:

* *orders*: uniform random orders; *sweeps*: every client is first in one order of each sweep;
* *truncated*: sweeps whose tails are cut off once a walk is within :math:`\varepsilon` of everybody's utility;
* *GTG*: truncated, and stopped when means hardly change, or at once when the round changed nothing.

The error is the root mean square over clients and repetitions, relative to that of the exact values; the cost is the
number of coalitions that had to be evaluated, each counted once.

**Reading.** The vertical line is the cost of all coalitions: where an estimator gets there, exact values cost the same.
Walks that begin with each client in turn need less than half of what uniform orders need for the same error. Errors
that become flat have a bias, from truncation: late rounds change so little that most of a walk is cut off. GTG is the
diamond where its own stopping rule ends: up to M = 10 it has asked for nearly all coalitions by then and is still off
by several percent, so that exact values are cheaper and right; it begins to pay at M = 14.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from _images import Images, digits, read_images

import fedtheory as ft
from fedtheory import selection, study
from fedtheory.federation.client_data import FederatedData
from fedtheory.plotting.style import COLORS, MARKERS, appearance, legend_below
from fedtheory.valuation.games import Game
from fedtheory.valuation.permutations import marginals, sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Errors of estimated Shapley values against the coalitions evaluated."""

    data: tuple[str, ...] = ("digits",)
    """Images: digits, fashion-mnist, or four IDX files (images and labels to train on, and to test)."""
    num_players: tuple[int, ...] = (3, 6, 10, 14)
    """Clients M of a round."""
    concentrations: tuple[float, ...] = (0.1, 100.0)
    """Label skew of the clients."""
    stages: tuple[int, ...] = (2, 200)
    """Rounds before the one that is valued, early and late."""
    num_sweeps: int = 32
    """Sweeps of M orders at most."""
    num_repetitions: int = 20
    """Runs of every estimator on every game."""
    tolerance: float = 1e-4
    """eps of truncation."""
    seed: int = 0
    """Entropy of data, training and orders."""


QUICK = Config(num_players=(3, 6), concentrations=(0.1,), stages=(1, 20), num_sweeps=8, num_repetitions=5)

ESTIMATORS = ("orders", "sweeps", "truncated", "GTG")


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Estimate the values of every game again and again."""
    games = [(skew, stage, m) for skew in config.concentrations for stage in config.stages for m in config.num_players]
    return study.from_records([row for game in progress(games, "games") for row in _records(config, *game)])


def _records(config: Config, skew: float, stage: int, num_players: int) -> list[dict[str, Any]]:
    table = _table(config, skew, stage, num_players)
    exact = ft.valuation.shapley(table, num_players)
    scale = float(np.sqrt(np.mean(exact**2)))
    rng = np.random.default_rng([config.seed, round(1e4 * skew), stage, num_players])
    found = []
    for name in ESTIMATORS:
        estimates = [_estimates(name, table, num_players, config, rng) for _ in range(config.num_repetitions)]
        for place in range(len(estimates[0])):
            costs, values = zip(*(one[place] for one in estimates), strict=True)
            error = float(np.sqrt(np.mean((np.array(values) - exact) ** 2))) / scale
            found.append(
                {"skew": skew, "stage": stage, "players": num_players, "estimator": name}
                | {"evaluations": float(np.mean(costs)), "error": error}
                | {"drop": float(table[-1] - table[0]), "absolute": float(np.abs(exact).sum())}
            )
    return found


def _table(config: Config, skew: float, stage: int, num_players: int) -> Any:
    """Utilities of all coalitions of a round after some rounds of FedAvg."""
    data, (x, y) = _dealt(config.data, skew, config.seed)
    fed = ft.SoftmaxFederation(data)
    settings: Any = {"local_steps": 25, "step_size": 0.1, "num_batches": 5, "momentum": 0.5, "record": ("models",)}
    before = ft.fedavg(
        fed,
        selection.SizeWeighted(selection.Uniform(5)),
        num_rounds=stage,
        record_every=stage,
        rng=config.seed,
        **settings,
    ).models[0, -1]
    chosen = np.random.default_rng([config.seed, stage]).permutation(data.num_clients)[:num_players]
    after = [
        ft.fedavg(
            ft.SoftmaxFederation(data.take([k])),
            selection.Uniform(1),
            num_rounds=1,
            initial=before,
            rng=config.seed,
            **settings,
        ).models[0, -1]
        for k in chosen
    ]
    return ft.valuation.softmax_utilities(before, after, data.sample_counts[chosen], x, y)


@lru_cache(maxsize=1)
def _dealt(data: tuple[str, ...], skew: float, seed: int) -> tuple[FederatedData, Any]:
    """Clients' samples, and those that the server holds."""
    if data == ("digits",):
        x, y, *_ = digits()
        order = np.random.default_rng(seed).permutation(len(y))
        server, rest = order[:500], order[500:]
        images = Images(x[rest], y[rest], x[server], y[server])
    else:
        images = read_images(data, 0, 0)
        images = images.with_tests(min(500, len(images.y_test)), seed)
    parts = ft.datasets.power_law_partition(images.y, 20, concentration=skew, min_samples=10, rng=seed)
    clients = FederatedData.from_partition(images.x, images.y, parts, num_classes=10)
    return clients, (images.x_test, images.y_test)


def _estimates(name: str, table: Any, num_players: int, config: Config, rng: Any) -> list[tuple[int, Any]]:
    """Coalitions evaluated and estimates, after 1, 2, 4, ... sweeps, or where GTG stops."""

    def utility(players: frozenset[int]) -> float:
        return float(table[sum(1 << k for k in players)])

    if name == "GTG":
        estimate = ft.valuation.gtg_shapley(utility, num_players, config.tolerance, rng=rng)
        return [(estimate.num_evaluations, estimate.values)]
    game, total, found = Game(utility), np.zeros(num_players), []
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


def _games(data: "Dataset") -> list[tuple[float, int, int]]:
    names = ("skew", "stage", "players")
    return sorted(set(zip(*(data[name].values.tolist() for name in names), strict=True)))


def _curve(data: "Dataset", game: tuple[float, int, int], estimator: str) -> tuple[Any, Any]:
    here = np.ones(data.sizes["row"], dtype=bool)
    for name, value in zip(("skew", "stage", "players", "estimator"), (*game, estimator), strict=True):
        here &= data[name].values == value
    return data["evaluations"].values[here], data["error"].values[here]


def table(data: "Dataset") -> study.Table:
    """One row per game: what GTG costs and errs, and what sweeps err for as much."""
    rows = []
    for game in _games(data):
        [cost], [error] = _curve(data, game, "GTG")
        costs, errors = _curve(data, game, "sweeps")
        same = float(np.exp(np.interp(np.log(cost), np.log(costs), np.log(np.maximum(errors, 1e-12)))))
        names = ("skew", "stage", "players")
        here = np.all([data[name].values == one for name, one in zip(names, game, strict=True)], axis=0)
        first = int(np.flatnonzero(here)[0])
        rows.append(
            dict(zip(("skew", "after rounds", "M"), game, strict=True))
            | {"all coalitions": 2 ** game[2], "GTG asks": float(cost), "GTG errs": float(error)}
            | {"sweeps err for as much": same if cost >= costs[0] else float("nan")}
            | {"sum of |values|": float(data["absolute"][first]), "sum of values": float(data["drop"][first])}
        )
    return study.Table(rows, title="Relative errors of estimated Shapley values")


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Unbiased estimators get better like 1/sqrt(orders); what is cut off is small; no one asks more than there is."""
    rates = []
    for game in _games(data):
        _, errors = _curve(data, game, "sweeps")
        if errors[-1] > 0:
            rates.append(float(np.log(errors[0] / errors[-1]) / np.log(2 ** (len(errors) - 1))))
    rate, most = float(np.median(rates)), float((data["evaluations"] / 2.0 ** data["players"]).max())
    return {
        "errors of sweeps fall like the square root": study.Check(0.3 < rate < 0.7, f"median order {rate:.2f}"),
        "nobody asks for more than all coalitions": study.Check(most <= 1, f"at most {most:.3f} of them"),
    }


def error_figure(data: "Dataset") -> "Figure":
    """Relative error against coalitions evaluated: a panel per number of clients, skew and stage."""
    import matplotlib.pyplot as plt

    games = _games(data)
    players = sorted({game[2] for game in games})
    settings = sorted({game[:2] for game in games})
    with appearance():
        figure, grid = plt.subplots(
            len(settings), len(players), figsize=(3 * len(players), 2.5 * len(settings) + 0.6), layout="constrained",
            squeeze=False, sharey=True, sharex="col",
        )  # fmt: skip
        for row, (skew, stage) in enumerate(settings):
            for column, m in enumerate(players):
                _draw_errors(grid[row, column], data, (skew, stage, m))
        for axes in grid[-1]:
            axes.set_xlabel("coalitions evaluated")
        for axes in grid[:, 0]:
            axes.set_ylabel("relative error")
        return legend_below(figure, num_columns=5)


def _draw_errors(axes: Any, data: "Dataset", game: tuple[float, int, int]) -> None:
    skew, stage, m = game
    for place, name in enumerate(ESTIMATORS):
        costs, errors = _curve(data, game, name)
        line, size = ("none", 9) if name == "GTG" else ("-", 4)
        axes.plot(
            costs, np.maximum(errors, 1e-4), color=COLORS[place], marker=MARKERS[place], linestyle=line,
            markersize=size, label=name,
        )  # fmt: skip
    axes.axvline(2**m, color="black", linewidth=1.0, linestyle=":", label="all coalitions")
    axes.set_xscale("log")
    axes.set_yscale("log")
    step = 2 if m < 8 else 4
    ticks = [2**m // step**power for power in range(4) if 2**m // step**power > m]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_title(f"M = {m}, skew {skew:g}, after {stage} rounds", fontsize=8)


STUDY = study.Study(
    name="shapley_approximation",
    config=Config(),
    quick=QUICK,
    run=run,
    table=table,
    checks=checks,
    figures={"error_against_evaluations": error_figure},
)

if __name__ == "__main__":
    study.main(STUDY)
