r"""
What does a worst federation look like?
=======================================

**Its clients disagree across the way to the optimum, and at the start their losses are tied.**

**Question.** The worst case of a class is not only a number: the primal solution of its semidefinite program is a
federation that attains it. What do its clients do to federated averaging?

**Method.** Two clients, two rounds, with constants :math:`\mu = 1/10, L = 1, \Gamma = 1/2` and a start at distance 1
from the optimum: all clients, one of the two at random, and the one with the larger loss. The clients are the largest
functions that take the values and gradients of the solution; they are drawn in the plane that holds most of the start,
of the clients' minimizers and of the server's models. Plain training with these functions runs through all outcomes of
the selection.

**Reading.** Lines are level sets of the two clients, crosses their minimizers, the star is the optimum of F, and black
lines lead from the start, a square, through the server's models, which are dots. With all clients the worst case is
slow rather than adversarial: flat directions. With one client at random it is the disagreement of the minimizers,
across the way to the optimum, that throws the server about. The larger loss selects the client that pulls past the
optimum; in the worst case the losses are tied at the start, so that no rule that looks at losses could tell the clients
apart.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import study
from fedtheory.plotting.style import COLORS, appearance, legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

    from fedtheory._support.validate import Array


@dataclass(frozen=True)
class Config:
    """Worst federations of two clients under three ways of selecting."""

    num_points: int = 60
    """Grid points in each direction of a picture."""
    local_steps: int = 2
    """Local steps tau per round."""
    step_size: float = 0.5
    """Step size, as L = 1."""


QUICK = Config(num_points=12)

_CLASS: dict[str, Any] = {"mu": Fraction(1, 10), "L": 1, "distance2": 1, "objective_gap": Fraction(1, 2)}
_ONE: dict[str, Any] = {"sampling": "distinct", "num_clients": 2, "num_selected": 1}


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Find the worst federations, train them, and evaluate the clients' losses on a plane."""
    import xarray

    tau, eta = config.local_steps, Fraction(config.step_size)
    found = {
        "all clients": ft.worst_case.fedavg(tau, eta, **_CLASS, num_clients=2, num_rounds=2),
        "one at random": ft.worst_case.fedavg(tau, eta, **_CLASS, **_ONE, num_rounds=2),
        "the larger loss": ft.worst_case.power_of_choice(2, 2, 1, tau, eta, **_CLASS, num_rounds=2),
    }
    records = [_drawn(config, worst, _LAWS[name]) for name, worst in progress(found.items(), "federations")]
    dims = {
        "losses": ("client", "y", "x"),
        "minimizers": ("client", "axis"),
        "paths": ("outcome", "round", "axis"),
        "ticks": ("x",),
        "enclosure": ("side",),
        "attained": (),
        "held": (),
    }
    return xarray.Dataset(
        {name: (("strategy", *own), np.array([record[name] for record in records])) for name, own in dims.items()},
        coords={"strategy": list(found), "side": ["lower", "upper"]},
    )


def _larger(losses: "Array") -> "Array":
    """Select the first client whose loss is the largest, up to the digits that an instance has."""
    return np.eye(2)[[int(np.argmax(losses > losses.max() - 1e-4))]]


_LAWS: dict[str, Callable[["Array"], "Array"]] = {
    "all clients": lambda _: np.array([[0.5, 0.5]]),
    "one at random": lambda _: np.eye(2),
    "the larger loss": _larger,
}
"""Coefficients of the clients' updates in each outcome of a round, from the losses at its start."""


def _drawn(config: Config, worst: Any, law: Callable[["Array"], "Array"]) -> dict[str, Any]:
    instance = worst.instance()
    minimizers = np.array([client.points[np.argmin(client.values)] for client in instance.clients])
    paths = _paths(instance, law, config)
    together = np.concatenate([minimizers, paths.reshape(-1, instance.dim)])
    _, lengths, rows = np.linalg.svd(together, full_matrices=False)
    plane = rows[:2]
    ticks = np.linspace(-1.25, 1.25, config.num_points) * np.abs(together @ plane.T).max()
    points = np.stack(np.meshgrid(ticks, ticks), axis=-1) @ plane
    return {
        "losses": [np.apply_along_axis(client.loss, -1, points) for client in instance.clients],
        "minimizers": minimizers @ plane.T,
        "paths": paths @ plane.T,
        "ticks": ticks,
        "enclosure": [float(end) for end in worst.enclosure],
        # All outcomes of a round are equally likely, and w* is the origin.
        "attained": float((paths[:, -1] ** 2).sum(axis=-1).mean()),
        "held": float((lengths[:2] ** 2).sum() / (lengths**2).sum()),
    }


def _paths(instance: Any, law: Callable[["Array"], "Array"], config: Config) -> "Array":
    """Follow the server through two rounds of at most two outcomes each; a single outcome is followed four times."""
    eta = float(Fraction(config.step_size))

    def after(w: "Array", choice: int) -> "Array":
        outcomes = law(np.array([client.loss(w) for client in instance.clients]))
        updates = []
        for client in instance.clients:
            y = w
            for _ in range(config.local_steps):
                y = y - eta * client.gradient(y)
            updates.append(y - w)
        found: Array = w + outcomes[min(choice, len(outcomes) - 1)] @ np.array(updates)
        return found

    paths = []
    for first in (0, 1):
        for second in (0, 1):
            middle = after(instance["start"], first)
            paths.append([instance["start"], middle, after(middle, second)])
    return np.array(paths)


def table(data: "Dataset") -> study.Table:
    """One row per strategy."""
    rows = [
        {
            "strategy": str(name),
            "worst case, at least": float(here["enclosure"][0]),
            "worst case, at most": float(here["enclosure"][1]),
            "attained by training": float(here["attained"]),
            "share in the plane": float(here["held"]),
        }
        for name, here in data.groupby("strategy", squeeze=False)
        for here in [here.isel(strategy=0)]
    ]
    return study.Table(rows, "Largest E |w_2 - w*|^2 after two rounds from |w_0 - w*|^2 = 1, and the federations drawn")


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Training attains what the programs prove."""
    missing = float(np.abs(data["attained"] / data["enclosure"].sel(side="lower") - 1).max())
    held = float(data["held"].min())
    return {
        "training the federations attains the worst cases": study.Check(missing < 1e-4, f"up to {missing:.1e}"),
        "the plane holds most of the federation": study.Check(held > 0.6, f"at least {held:.2f}"),
    }


def federation_figure(data: "Dataset") -> "Figure":
    """Draw level sets of the clients and the server's models, one panel per strategy."""
    import matplotlib.pyplot as plt

    names = list(map(str, data["strategy"].values))
    with appearance():
        figure, panels = plt.subplots(1, len(names), figsize=(1 + 4 * len(names), 4.8), squeeze=False)
        for name, axes in zip(names, panels[0], strict=True):
            here = data.sel(strategy=name)
            ticks = here["ticks"].values
            for losses, minimizer, color, label in zip(
                here["losses"].values, here["minimizers"].values, COLORS, ("client 1", "client 2"), strict=False
            ):
                levels = losses.min() + np.geomspace(0.02, 1, 7) * np.ptp(losses)
                axes.contour(ticks, ticks, losses, levels=levels, colors=color, linewidths=0.8, linestyles="solid")
                axes.plot(
                    *minimizer, "x", color=color, markersize=8, markeredgewidth=2, label=f"{label}, its minimizer"
                )
            for path in here["paths"].values:
                axes.plot(*path.T, "-o", color="black", markersize=3, linewidth=1, label="server")
            axes.plot(*here["paths"].values[0, 0], "s", color="black", label="start")
            axes.plot(0, 0, "*", color=COLORS[4], markersize=12, label="optimum of F")
            axes.set_aspect("equal")
            axes.set_title(f"{name}: {float(here['attained']):.4f}")
        return legend_below(figure, num_columns=5)


STUDY = study.Study(
    "worst_federation_picture", Config(), QUICK, run, table, checks, {"worst_federation_picture": federation_figure}
)

if __name__ == "__main__":
    study.main(STUDY)
