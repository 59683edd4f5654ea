"""Worst federations of two clients under three selection rules, trained and drawn in a plane."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from _checks import Check

import fedtheory as ft
from fedtheory import study
from fedtheory.plotting.style import COLORS

if TYPE_CHECKING:
    from xarray import Dataset

    from fedtheory._support.validate import Array


@dataclass(frozen=True)
class Picture:
    """Settings of the training of worst federations and of their drawing."""

    num_points: int = 40
    """Grid points in each direction of a picture."""
    local_steps: int = 2
    """Local steps tau per round."""
    step_size: float = 0.5
    """Step size, as L = 1."""


_CLASS: dict[str, Any] = {"mu": Fraction(1, 10), "L": 1, "distance2": 1, "objective_gap": Fraction(1, 2)}
_ONE: dict[str, Any] = {"sampling": "distinct", "num_clients": 2, "num_selected": 1}


def pictures(config: Picture, progress: study.Progress) -> "Dataset":
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
    """Select the first client with the largest loss, up to the precision of an instance."""
    return np.eye(2)[[int(np.argmax(losses > losses.max() - 1e-4))]]


_LAWS: dict[str, Callable[["Array"], "Array"]] = {
    "all clients": lambda _: np.array([[0.5, 0.5]]),
    "one at random": lambda _: np.eye(2),
    "the larger loss": _larger,
}
"""Coefficients of the clients' updates in each outcome of a round, from the losses at its start."""


def _drawn(config: Picture, worst: Any, law: Callable[["Array"], "Array"]) -> dict[str, Any]:
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


def _paths(instance: Any, law: Callable[["Array"], "Array"], config: Picture) -> "Array":
    """Follow the server through two rounds with at most two outcomes each; a single outcome is followed four times."""
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


def rows_of_pictures(data: "Dataset") -> list[dict[str, Any]]:
    """One row per selection rule: the largest E |w_2 - w*|^2 after two rounds from |w_0 - w*|^2 = 1."""
    return [
        {"selection": str(name), "worst case, at least": float(low), "at most": float(high), "trained": float(trained)}
        for name, (low, high), trained in zip(
            data["strategy"].values, data["enclosure"].values, data["attained"].values, strict=True
        )
    ]


def checks_of_pictures(data: "Dataset") -> dict[str, Check]:
    """Test that training attains the proved values."""
    missing = float(np.abs(data["attained"] / data["enclosure"].sel(side="lower") - 1).max())
    held = float(data["held"].min())
    return {
        "training the worst federations attains the worst cases": Check(missing < 1e-4, f"up to {missing:.1e}"),
        "the plane holds most of the federation": Check(held > 0.6, f"at least {held:.2f}"),
    }


TITLES = {"one at random": "random selection", "the larger loss": "selection of the larger loss"}


def draw_picture(axes: Any, data: "Dataset", name: str) -> None:
    """Draw level sets of the clients, their minimizers, and the server's models."""
    here = data.sel(strategy=name)
    ticks, looks = here["ticks"].values, zip(COLORS, ("solid", "dashed"), ("x", "+"), ("1", "2"), strict=False)
    for losses, minimizer, (color, dashes, marker, number) in zip(
        here["losses"].values, here["minimizers"].values, looks, strict=False
    ):
        levels = losses.min() + np.geomspace(0.02, 1, 7) * np.ptp(losses)
        axes.contour(ticks, ticks, losses, levels=levels, colors=color, linewidths=0.8, linestyles=dashes)
        axes.plot(*minimizer, marker, color=color, markersize=9, markeredgewidth=2)
        axes.annotate(f"$w_{number}^*$", minimizer, xytext=(6, 6), textcoords="offset points", color=color)
    for path in here["paths"].values:
        axes.plot(*path.T, "-o", color="black", markersize=3, linewidth=1)
    start = here["paths"].values[0, 0]
    axes.plot(*start, "s", color="black")
    axes.annotate("start", start, xytext=(-34, 6), textcoords="offset points")
    axes.plot(0, 0, "*", color="black", markersize=11)
    axes.annotate("$w^*$", (0, 0), xytext=(-18, -14), textcoords="offset points")
    axes.set(
        aspect="equal", title=f"worst federation, {TITLES[name]}", xlabel="first coordinate", ylabel="second coordinate"
    )
    axes.grid(visible=False)
