r"""
Estimates of Shapley values save few evaluations in rounds of up to ten clients
===============================================================================

**With up to ten clients the estimators evaluate nearly all coalitions and still have errors of several percent. With M
= 14 they begin to save evaluations.**

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

**Reading.** The figure shows errors against the share of the coalitions evaluated, geometric means over two skews and
two stages with 95% intervals. At the dotted line exact values cost the same. The diamond is GTG with its own stopping
rule: with M = 3 and 6 it has asked for all coalitions, with M = 10 for 83 to 92% of them, with M = 14 for 21 to 30%,
and errs by 1.6 to 10.5%. For the error of uniform orders sweeps need 0.31 to 0.55 times the coalitions with M = 14 and
0.38 to 0.61 times with M = 10. For as many coalitions sweeps err less than GTG in 7 of 16 games.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from _checks import Check, stated
from _repeated import geometric_limits
from _shapley_games import ESTIMATORS, records
from _slides import DASHES, finding

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


WORDS = {"orders": "random orders", "sweeps": "sweeps", "truncated": "truncated sweeps", "GTG": "GTG-Shapley"}
TICKS = (1, 2, 5, 10, 20, 40, 60, 100)  # percent of the coalitions


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Estimate the values of every game repeatedly."""
    games = [(skew, stage, m) for skew in config.concentrations for stage in config.stages for m in config.num_players]
    return study.from_records([row for game in progress(games, "games") for row in records(config, *game)])


def _games(data: "Dataset", num_players: int) -> list[dict[str, Any]]:
    """Costs as shares of all coalitions and errors of each estimator, for every skew and stage."""
    here = data.isel(row=np.flatnonzero(data["players"].values == num_players))
    keys = sorted(set(zip(here["skew"].values.tolist(), here["stage"].values.tolist(), strict=True)))
    found = []
    for skew, stage in keys:
        own = (here["skew"].values == skew) & (here["stage"].values == stage)
        found.append({"skew": skew, "after rounds": stage})
        for name in ESTIMATORS:
            rows = here.isel(row=np.flatnonzero(own & (here["estimator"].values == name)))
            found[-1][name] = rows["evaluations"].values / 2**num_players, rows["error"].values
    return found


def _all(data: "Dataset") -> dict[int, list[dict[str, Any]]]:
    return {int(m): _games(data, m) for m in np.unique(data["players"].values)}


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
                | {"GTG asks": float(cost), "GTG errs": float(error)}
                | {"sweeps err for as much": _read(cost, *game["sweeps"])}
            )
    return study.Table(rows, "Relative errors of estimated Shapley values", "GTG asks for a share of all coalitions.")


def checks(data: "Dataset") -> dict[str, Check]:
    """Test that unbiased estimators improve like 1/sqrt(orders), and how many coalitions are evaluated."""
    curves = [game["sweeps"][1] for games in _all(data).values() for game in games]
    rates = [np.log(one[0] / one[-1]) / np.log(2 ** (len(one) - 1)) for one in curves if one[-1] > 0]
    rate, most = float(np.median(rates)), float((data["evaluations"] / 2.0 ** data["players"]).max())
    return {
        "errors of sweeps fall like the square root": Check(0.3 < rate < 0.7, f"median order {rate:.2f}"),
        "no estimator evaluates more than all coalitions": Check(most <= 1, f"at most {most:.3f} of them"),
    }


def figure(data: "Dataset") -> "Figure":
    """Relative error against the share of coalitions evaluated: a panel for each of the largest numbers of clients."""
    import matplotlib.pyplot as plt

    shown = list(_all(data).items())[-3:]
    with appearance():
        drawn, panels = plt.subplots(1, len(shown), figsize=(4 * len(shown) + 1, 4), sharey=True, squeeze=False)
        for axes, (m, games) in zip(panels[0], shown, strict=True):
            for place, name in enumerate(ESTIMATORS):
                costs, errors = (np.array([game[name][i] for game in games]) for i in (0, 1))
                mean, low, high = geometric_limits(np.maximum(errors, 1e-4))
                look: dict[str, Any] = {"color": COLORS[place], "marker": MARKERS[place], "label": name}
                look |= {"linestyle": "none", "markersize": 9} if name == "GTG" else {"linestyle": DASHES[place]}
                look["label"] = WORDS[name]
                sides = [mean - low, high - mean] if len(games) > 1 else None
                axes.errorbar(costs.mean(axis=0), mean, yerr=sides, capsize=2, elinewidth=0.8, **look)
            axes.axvline(1, color="black", linewidth=1, linestyle=":")
            axes.text(1, 0.97, "exact ", transform=axes.get_xaxis_transform(), ha="right", va="top", fontsize=9)
            axes.set(xscale="log", yscale="log", xlabel="coalitions evaluated [%]", title=f"{m} clients")
            axes.set_xticks([tick / 100 for tick in TICKS], [str(tick) for tick in TICKS])
            axes.set_xticks([], minor=True)
            axes.set_xlim(0.9 * min(game[name][0].min() for game in games for name in ESTIMATORS), 1.1)
        panels[0, 0].set_ylabel("relative error of the values")
        panels[0, 0].legend(fontsize=8)
        (fewer, asked), (more, least) = ((m, [game["GTG"][0][0] for game in games]) for m, games in shown[-2:])
        return finding(
            drawn,
            f"GTG-Shapley evaluates at least {min(asked):.0%} of all coalitions with {fewer} clients, {min(least):.0%} "
            f"with {more}, and is still several percent off",
        )


def said(data: "Dataset") -> list[str]:
    """Sentences of the page, and of that about GreedyFed."""
    games = _all(data)
    asks = {m: [game["GTG"][0][0] for game in own] for m, own in games.items()}
    errs = [game["GTG"][1][0] for own in games.values() for game in own]
    saved = {m: [one for game in own for one in _saved(game)] for m, own in games.items()}
    rows, (*few, some, many) = table(data).rows, games
    better = sum(row["sweeps err for as much"] < row["GTG errs"] for row in rows)
    small = min(one for m in few for one in asks[m])
    return [
        (
            f"with M = {' and '.join(map(str, few))} it has asked for {'all' if small == 1 else f'{small:.0%} of all'} "
            f"coalitions, with M = {some} for {100 * min(asks[some]):.0f} to {100 * max(asks[some]):.0f}% of them, "
            f"with M = {many} for {100 * min(asks[many]):.0f} to {100 * max(asks[many]):.0f}%, and errs by "
            f"{100 * min(errs):.1f} to {100 * max(errs):.1f}%"
        ),
        (
            f"sweeps need {min(saved[many]):.2f} to {max(saved[many]):.2f} times the coalitions with M = {many} and "
            f"{min(saved[some]):.2f} to {max(saved[some]):.2f} times with M = {some}"
        ),
        f"sweeps err less than GTG in {better} of {len(rows)} games",
    ]


STUDY = study.Study(
    "shapley_approximation", Config(), QUICK, run, table, stated(checks), {"shapley_approximation": figure}
)

if __name__ == "__main__":
    study.main(STUDY)
