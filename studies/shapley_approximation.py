r"""
Cost and error of estimated Shapley values
==========================================

**Question.** GreedyFed values the clients of a round by GTG-Shapley, which uses truncated random orders of the clients.
How far are its values from the exact ones, what do they cost, and when are plain random orders, or all coalitions,
better?

**Method.** Handwritten digits are distributed to clients by a power law, with label skew of Dirichlet concentration 0.1
or 100. FedAvg on softmax regression runs for a few rounds (*early*) or many (*late*). Then M clients train once more,
and all :math:`2^M` coalitions are evaluated on held-out samples. On that table every estimator is run repeatedly:

* *orders*: uniform random orders; *sweeps*: every client is first in one order of each sweep;
* *truncated*: sweeps in which an order stops once its coalition is within :math:`\varepsilon` of the utility of all
  clients;
* *GTG*: truncated, and stopped when means hardly change, or at once if the round changed nothing.

The error is the root mean square over clients and repetitions, relative to that of the exact values. The cost is the
number of distinct coalitions that had to be evaluated.

**Figure.** Errors against the share of the coalitions evaluated: thin lines and small diamonds are single games (two
skews and two stages), thick lines and the large diamond are geometric means. GTG has its own stopping rule. At the
dotted line exact values cost the same.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from _repeated import span
from _shapley_games import ESTIMATORS, records
from _slides import DASHES

from fedtheory import study
from fedtheory.plotting.style import COLORS, MARKERS, appearance

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
    """Largest number of sweeps of M orders."""
    num_repetitions: int = 20
    """Repetitions of every estimator on every game."""
    tolerance: float = 1e-4
    """Tolerance eps of truncation."""
    seed: int = 0
    """Entropy of data, training and orders."""


QUICK = Config(num_players=(3, 6), concentrations=(0.1,), stages=(1, 20), num_sweeps=8, num_repetitions=5)


SHOWN = {"orders": "random orders", "sweeps": "sweeps", "GTG": "GTG-Shapley"}
TICKS = (1, 2, 5, 10, 20, 40, 60, 100)  # percent of the coalitions


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Estimate the values of every game repeatedly."""
    games = [(skew, stage, m) for skew in config.concentrations for stage in config.stages for m in config.num_players]
    return study.from_records([row for game in progress(games, "games") for row in records(config, *game)])


def _all(data: "Dataset") -> dict[int, list[dict[str, Any]]]:
    """Costs as shares of all coalitions and errors of each estimator, by number of clients, for every game."""
    columns = {name: data[name].values for name in ("players", "skew", "stage", "estimator", "evaluations", "error")}
    found: dict[int, list[dict[str, Any]]] = {}
    for m, skew, stage in sorted(
        set(zip(*(columns[name].tolist() for name in ("players", "skew", "stage")), strict=True))
    ):
        own = (columns["players"] == m) & (columns["skew"] == skew) & (columns["stage"] == stage)
        game: dict[str, Any] = {"skew": skew, "after rounds": stage}
        for name in ESTIMATORS:
            rows = own & (columns["estimator"] == name)
            game[name] = columns["evaluations"][rows] / 2**m, columns["error"][rows]
        found.setdefault(m, []).append(game)
    return found


def _read(at: float, places: Any, values: Any) -> float:
    """Read a decreasing curve on logarithmic scales."""
    places, values = (np.log(np.maximum(one, 1e-12)) for one in (places, values))
    return float(np.exp(np.interp(np.log(at), places, values)))


def _saved(game: dict[str, Any]) -> list[float]:
    """Ratio of the coalitions that sweeps need to those of uniform orders, for errors that both attain."""
    (costs, errors), (others, far) = game["sweeps"], game["orders"]
    return [
        float(cost / _read(error, far[::-1], others[::-1]))
        for cost, error in zip(costs, errors, strict=True)
        if far.min() <= error <= far.max()
    ]


def table(data: "Dataset") -> study.Table:
    """One row per game: cost and error of GTG, and the error of sweeps at the same cost."""
    rows = []
    for m, games in _all(data).items():
        for game in games:
            [cost], [error] = game["GTG"]
            rows.append(
                {"M": m, "skew": game["skew"], "after rounds": game["after rounds"], "all coalitions": 2**m}
                | {"GTG evaluates": float(cost), "GTG errs": float(error)}
                | {"sweeps err for as much": _read(cost, *game["sweeps"])}
            )
    return study.Table(rows, "Relative errors of estimated Shapley values", "GTG evaluates a share of all coalitions.")


def findings(data: "Dataset") -> dict[str, study.Finding]:
    """Compare costs and errors of the estimators with each other and with all coalitions."""
    games = _all(data)
    shares = {m: [100 * float(game["GTG"][0][0]) for game in own] for m, own in games.items()}
    errors = [100 * float(game["GTG"][1][0]) for own in games.values() for game in own]
    cells = [f"{span(own, 0)}% with {m} clients" for m, own in shares.items()]
    curves = [game["sweeps"][1] for own in games.values() for game in own]
    rates = [np.log(one[0] / one[-1]) / np.log(2 ** (len(one) - 1)) for one in curves if one[-1] > 0]
    rate, most = float(np.median(rates)), float((data["evaluations"] / 2.0 ** data["players"]).max())
    few = [one for m, own in shares.items() if m <= 10 for one in own]
    found = {
        "GTG": study.Finding(
            f"Of all coalitions GTG-Shapley evaluates {', '.join(cells[:-1])} and {cells[-1]}, and it errs by "
            f"{span(errors)}%.",
            min(few) > 75 and max(errors) > 5 and min(shares[max(shares)]) <= min(few),
        ),
        "order": study.Finding(
            f"The errors of sweeps fall like the number of orders to the power -{rate:.2f} (median over the games).",
            0.3 < rate < 0.7,
        ),
        "cost": study.Finding(
            "No estimator evaluates more than all coalitions.", most <= 1, f"at most {most:.3f} of them"
        ),
    }
    if len(games) < 3:
        return found
    saved = {m: [one for game in games[m] for one in _saved(game)] for m in list(games)[-2:]}
    sweeps = [f"{span(own, 2)} with {m} clients" for m, own in saved.items()]
    rows = table(data).rows
    better = sum(row["sweeps err for as much"] < row["GTG errs"] for row in rows)
    return found | {
        "sweeps": study.Finding(
            "For the same error as uniform orders, sweeps need this share of their coalitions: "
            f"{' and '.join(sweeps)}.",
            max(one for own in saved.values() for one in own) < 1,
        ),
        "as much": study.Finding(
            f"For as many coalitions sweeps err less than GTG-Shapley in {better} of {len(rows)} games.",
            0 < better < len(rows),
        ),
    }


def figure(data: "Dataset") -> "Figure":
    """Relative error against the share of coalitions evaluated: a panel for each of the largest numbers of clients."""
    import matplotlib.pyplot as plt

    shown = list(_all(data).items())[-3:]
    with appearance():
        drawn, panels = plt.subplots(1, len(shown), figsize=(4 * len(shown) + 1, 4), sharey=True, squeeze=False)
        for axes, (m, games) in zip(panels[0], shown, strict=True):
            for place, name in enumerate(SHOWN):
                costs, errors = (np.maximum([game[name][i] for game in games], 1e-4) for i in (0, 1))
                look: dict[str, Any] = {"color": COLORS[place], "marker": MARKERS[place], "linestyle": DASHES[place]}
                look |= {"linestyle": "none", "marker": "D"} if name == "GTG" else {}
                axes.plot(costs.T, errors.T, **look, linewidth=0.6, markersize=3, alpha=0.5)
                means = (np.exp(np.log(one).mean(axis=0)) for one in (costs, errors))
                axes.plot(*means, **look, label=SHOWN[name], linewidth=2.2, markersize=9 if name == "GTG" else 6)
            axes.axvline(1, color="black", linewidth=1, linestyle=":")
            axes.text(1, 0.97, "exact ", transform=axes.get_xaxis_transform(), ha="right", va="top", fontsize=9)
            axes.set(xscale="log", yscale="log", xlabel="coalitions evaluated [%]", title=f"{m} clients")
            axes.set_xticks([tick / 100 for tick in TICKS], [str(tick) for tick in TICKS])
            axes.set_xticks([], minor=True)
            axes.set_xlim(0.9 * min(game[name][0].min() for game in games for name in ESTIMATORS), 1.1)
        panels[0, 0].set_ylabel("relative error of the values")
        panels[0, 0].legend(fontsize=8)
        return drawn


STUDY = study.Study("shapley_approximation", Config(), QUICK, run, table, findings, {"shapley_approximation": figure})

if __name__ == "__main__":
    study.main(STUDY)
