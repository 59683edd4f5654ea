r"""
What do clients that differ at the optimum cost stochastic gradients?
=====================================================================

**Exactly what the bound on one step says, at every step size; over many steps a floor in proportion to the step, which
equal curvatures nearly reach.**

**Question.** One client, drawn at random, takes each step. How far from the minimizer may a step end, how does that
depend on its length, and where do many steps settle?

**Method.** The bound :math:`(k\sqrt\Delta+\sqrt{a^2\Delta+\eta^2\zeta^2})^2` on one step beside the certified worst
case over all clients with curvatures between mu and L; and runs on two federations of quadratics, with equal and with
unequal curvatures, beside the floor :math:`\eta\zeta^2/(\mu(2-\eta L))` of a fixed step size.

**Reading.** Left: the bound is the worst case at every step size, also beyond :math:`2/L`; no step size is free of
heterogeneity, and the best one is much shorter than :math:`1/L` if the clients differ much. Right: runs from the
minimizer, squared distances averaged over the second half of the steps and over replicates. Clients with equal
curvatures mu settle at :math:`\eta\zeta^2/(\mu(2-\eta\mu))`, exactly, which is nearly the floor for short steps; others
settle lower.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import study
from fedtheory.bounds import sgd
from fedtheory.plotting.style import COLORS, appearance, legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Steps of one drawn client: their worst case, and where they settle."""

    steps: tuple[int, ...] = (1, 2, 4, 8, 12, 16, 24, 32, 40, 48)
    """Step sizes of the worst cases, in sixteenths of 1/L."""
    zeta2: tuple[int, ...] = (0, 1, 4)
    """Heterogeneity, in L^2 times the squared distance."""
    settling: tuple[float, ...] = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 1.5)
    """Step sizes of the runs."""
    run_time: float = 400.0
    """Sum of the step sizes of a run."""
    num_replicates: int = 40
    """Replicates."""
    seed: int = 0
    """Entropy of the draws."""


QUICK = Config(steps=(4, 16), zeta2=(0, 1), settling=(0.1, 0.5), run_time=100.0, num_replicates=8)
MU, L = Fraction(1, 10), Fraction(1)


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Certify the worst steps, and let runs settle."""
    import xarray

    worst, promised = [], []
    for number in progress(config.steps, "worst cases"):
        known: dict[str, Any] = {
            "mu": MU,
            "L": L,
            "distance2": Fraction(1),
            "step_size": Fraction(number, 16) / L,
            "num_selected": 1,
        }
        given = [known | {"zeta2": Fraction(zeta2) if zeta2 else Fraction(1, 10**6)} for zeta2 in config.zeta2]
        sides = [ft.worst_case.heterogeneous_round(1, **one, sampling="independent").enclosure for one in given]
        worst.append([tuple(map(float, pair)) for pair in sides])
        promised.append([float(sgd.drawn_step(**one)) for one in given])
    settled = [[_settled(config, fed, eta) for fed in federations()] for eta in progress(config.settling, "runs")]
    return xarray.Dataset(
        {
            "worst": (("step", "zeta2", "side"), worst),
            "promised": (("step", "zeta2"), promised),
            "settled": (("step_size", "federation"), settled),
        },
        coords={
            "step": np.array(config.steps) / 16,
            "zeta2": list(config.zeta2),
            "side": ["lower", "upper"],
            "step_size": list(config.settling),
            "federation": ["curvatures mu", "curvatures mu and L"],
        },
    )


def federations() -> list[ft.QuadraticFederation]:
    """Two clients whose gradients at the minimizer 0 are 1 and -1, with equal and with unequal curvatures."""
    equal = ft.QuadraticFederation([0.1, 0.1], [[10.0], [-10.0]], [0.5, 0.5])
    return [equal, ft.QuadraticFederation([0.1, 1.0], [[10.0], [-1.0]], [0.5, 0.5])]


def _settled(config: Config, fed: ft.QuadraticFederation, step_size: float) -> float:
    """Mean squared distance from w*, in zeta2 = 1, over the second half of a run that starts there."""
    steps = round(config.run_time / step_size)
    found = ft.fedavg(
        fed, ft.selection.Proportional(1), num_rounds=steps, step_size=step_size, initial=fed.minimizer,
        num_replicates=config.num_replicates, rng=config.seed, record=("models",), record_every=max(1, steps // 2000),
    )  # fmt: skip
    away = ((found.models - fed.minimizer) ** 2).sum(axis=-1)
    return float(away[:, away.shape[1] // 2 :].mean())


def floor(step_size: np.ndarray, curvature: float) -> np.ndarray:
    """Return the floor of zeta2 = 1 where the last factor has this curvature."""
    return step_size / (0.1 * (2 - step_size * curvature))


def table(data: "Dataset") -> study.Table:
    """One row per step size of the runs."""
    sizes = data["step_size"].values
    rows = [
        {
            "step size": float(eta),
            "floor of the bound": float(floor(eta, 1.0)),
            "exact, curvatures mu": float(floor(eta, 0.1)),
            **{f"settled, {name}": float(value) for name, value in zip(data["federation"].values, there, strict=True)},
        }
        for eta, there in zip(sizes, data["settled"].values, strict=True)
    ]
    return study.Table(rows, title="Squared distances at which steps of one client settle, for zeta2 = 1")


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test what the figure is taken to show."""
    lower, upper = (data["worst"].sel(side=side) for side in ("lower", "upper"))
    inside = bool(((data["promised"] >= lower * (1 - 1e-9)) & (data["promised"] <= upper * (1 + 1e-9))).all())
    loosest = float((data["promised"] / lower).max())
    sizes = data["step_size"].values
    above = float((data["settled"].values / floor(sizes, 1.0)[:, None]).max())
    apart = float(abs(data["settled"].values[:, 0] / floor(sizes, 0.1) - 1).max())
    return {
        "the bound is the worst case": study.Check(inside, f"looseness up to {loosest:.7f}"),
        "no run settles above the floor": study.Check(above < 1.15, f"largest ratio {above:.3f}"),
        "equal curvatures settle where they must": study.Check(apart < 0.2, f"apart by at most {apart:.3f}"),
    }


def figure(data: "Dataset") -> "Figure":
    """Worst steps on the left, where runs settle on the right."""
    import matplotlib.pyplot as plt

    with appearance():
        drawn, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2))
        for rank, zeta2 in enumerate(data["zeta2"].values):
            here, color = data.sel(zeta2=zeta2), COLORS[rank]
            left.plot(data["step"], here["promised"], color=color, label=rf"bound, $\zeta^2 = {zeta2}\,L^2\Delta$")
            middle = here["worst"].mean("side")
            left.plot(data["step"], middle, "o", color=color, fillstyle="none", label="certified worst case")
        left.set(xlabel=r"step size, in $1/L$", ylabel=r"$E|w_+-w^*|^2\,/\,\Delta$", yscale="log")
        left.set_title("one step of one client")
        dense = np.geomspace(data["step_size"].values.min(), data["step_size"].values.max(), 200)
        right.plot(dense, floor(dense, 1.0), color="black", label="floor of the bound")
        right.plot(dense, floor(dense, 0.1), "--", color="black", label=r"exact floor, curvatures $\mu$")
        for rank, name in enumerate(data["federation"].values):
            there = data["settled"].sel(federation=name)
            right.plot(data["step_size"], there, "s^"[rank], color=COLORS[3 + rank], label=f"runs, {name}")
        right.set(xlabel=r"step size, in $1/L$", ylabel=r"$E|w-w^*|^2$ for $\zeta^2 = 1$", xscale="log", yscale="log")
        right.set_title("where many steps settle")
        return legend_below(drawn, num_columns=3)


STUDY = study.Study(
    "heterogeneity_at_the_optimum", Config(), QUICK, run, table, checks, {"heterogeneity_at_the_optimum": figure}
)

if __name__ == "__main__":
    study.main(STUDY)
