r"""
Which memory do compressed messages need?
=========================================

**A memory of what was not sent: without one, compressed gradients of several clients may diverge; with error feedback
they stop at a floor where minimizers differ, and with EF21 they reach the minimizer.**

**Question.** Clients send the largest entry of a vector of three. What does it help to remember what was not sent
(error feedback), or what the server knows already (EF21), and how fast are both, at best and here?

**Method.** The rate :math:`z^2` of both methods for every step size, with the certified worst case of a round; and
runs on three federations: one client, three clients with one minimizer, three clients with minimizers of their own.
Compressed gradients without a memory run beside them.

**Reading.** Left: rates are the worst cases at every step size; error feedback and EF21 have one and the same, that of
compressed gradients of one client is better. Right: gaps against rounds, and a line with the slope of the bound for
every function of the class, which one client nearly has. One client converges without a memory, here more slowly than
with one. Of several with one minimizer compressed gradients alone may grow without end: here they do. Where minimizers
differ error feedback stops at a floor, and EF21 does not.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import study
from fedtheory.bounds import error_feedback as bounds
from fedtheory.plotting.style import COLORS, appearance, legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Rates of error feedback, EF21 and compressed gradients, and runs of all three."""

    shares: tuple[int, ...] = (1, 3, 6, 8, 10, 11)
    """Step sizes of the worst cases, in tenths of the best one of error feedback."""
    num_rounds: int = 3000
    """Rounds of the runs."""
    step_size: float = 0.004
    """Of the runs."""


QUICK = Config(shares=(3, 10), num_rounds=1500)
CLASS = {"mu": Fraction(1, 10), "L": Fraction(1), "compression_error": Fraction(1, 2)}
BEST = Fraction(20, 33)  # 2 (1 - s)/((1 + s) (L + mu))
LONGEST = Fraction(4, 3)  # 2/((1 + s) L)
FEDERATIONS = ("one client", "three clients, one minimizer", "three clients that differ")
METHODS = ("compressed gradients", "error feedback", "EF21")


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Certify the worst rounds, and run."""
    import xarray

    worst, promised = [], []
    for tenth in progress(config.shares, "worst cases"):
        eta = BEST * tenth / 10
        known: dict[str, Any] = CLASS | {"step_size": eta}
        found = [
            ft.worst_case.compressed_gradients(1, gap=1, **known),
            ft.worst_case.error_feedback(1, potential=1, **known),
            ft.worst_case.ef21(1, potential=1, **known),
        ]
        worst.append([tuple(map(float, one.enclosure)) for one in found])
        rate = float(bounds.ef_round(Fraction(1), **known))
        promised.append([float(bounds.cgd_gap(1, initial_gap=Fraction(1), **known)), rate, rate])
    gaps = [[_gaps(config, fed, method) for method in methods()] for fed in progress(federations(), "runs")]
    return xarray.Dataset(
        {
            "worst": (("step", "way", "side"), worst),
            "promised": (("step", "way"), promised),
            "gap": (("federation", "way", "round"), gaps),
            "rate": _rate(config),
        },
        coords={
            "step": [float(BEST) * tenth / 10 for tenth in config.shares],
            "way": list(METHODS),
            "side": ["lower", "upper"],
            "federation": list(FEDERATIONS),
            "round": np.arange(len(gaps[0][0])) * _every(config),
        },
    )


def methods() -> list[Any]:
    """Compressed gradients, error feedback and EF21, with the largest of three entries sent."""
    top = ft.methods.TopK(1)
    return [ft.methods.Compressed(top), ft.methods.ErrorFeedback(top), ft.methods.EF21(top)]


def federations() -> list[ft.QuadraticFederation]:
    """One client, three with one minimizer whose compressed gradients diverge, and three that differ."""
    rows = np.array([[-3.0, 2, 2], [2, -3, 2], [2, 2, -3]])
    hessians = 2 * np.einsum("ki,kj->kij", rows, rows) + np.eye(3) / 2
    equal, weights = np.zeros((3, 3)), np.full(3, 1 / 3)
    return [
        ft.QuadraticFederation(hessians[:1], equal[:1], [1.0]),
        ft.QuadraticFederation(hessians, equal, weights),
        ft.QuadraticFederation(hessians, np.array([[1.0, 0, 1], [0, -2.0, 0], [1, 1, 0]]), weights),
    ]


def _every(config: Config) -> int:
    return max(1, config.num_rounds // 300)


def _gaps(config: Config, fed: ft.QuadraticFederation, method: Any) -> np.ndarray:
    found = ft.fedavg(
        fed, ft.selection.Full(), method=method, num_rounds=config.num_rounds, step_size=config.step_size,
        initial=fed.minimizer + 1.0, record_every=_every(config),
    )  # fmt: skip
    gaps: np.ndarray = found.gap[0]
    return gaps


def _rate(config: Config) -> float:
    """Return what the bound says of a round of error feedback and EF21 with the step size of the runs."""
    fed = federations()[1]
    known = {"mu": fed.strong_convexity, "L": fed.smoothness, "compression_error": (2 / 3) ** 0.5}
    return float(bounds.ef_round(1.0, step_size=config.step_size, **known))


def table(data: "Dataset") -> study.Table:
    """One row per federation and method."""
    rows = [
        {"federation": name, "method": method, "first gap": float(gaps[0]), "last gap": float(gaps[-1])}
        for name, here in zip(data["federation"].values, data["gap"].values, strict=True)
        for method, gaps in zip(data["way"].values, here, strict=True)
    ]
    return study.Table(rows, title="Gaps of compressed messages, the largest of three entries sent")


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test what the figure is taken to show."""
    lower, upper = (data["worst"].sel(side=side) for side in ("lower", "upper"))
    inside = bool(((data["promised"] >= lower * (1 - 1e-9)) & (data["promised"] <= upper * (1 + 1e-9))).all())
    ends = data["gap"].isel(round=-1) / data["gap"].isel(round=0)
    grown = float(ends.sel(federation=FEDERATIONS[1], way=METHODS[0]))
    common = float(ends.sel(federation=FEDERATIONS[1], way=list(METHODS[1:])).max())
    floor, none = (float(ends.sel(federation=FEDERATIONS[2], way=method)) for method in METHODS[1:])
    loosest = float((data["promised"] / lower).max())
    return {
        "the rates are the worst cases": study.Check(inside, f"looseness up to {loosest:.7f}"),
        "three clients without a memory diverge": study.Check(grown > 1e3, f"the gap grew by {grown:.2g}"),
        "with a memory they converge": study.Check(common < 1e-2, f"at most {common:.2g} of the first gap is left"),
        "EF21 goes below error feedback": study.Check(none < floor / 2, f"{none:.2g} and {floor:.2g} are left"),
    }


def figure(data: "Dataset") -> "Figure":
    """Rates on the left, and a panel of runs for each federation."""
    import matplotlib.pyplot as plt

    with appearance():
        drawn, panels = plt.subplots(1, 4, figsize=(15, 4.2))
        left = panels[0]
        dense = [Fraction(number, 100) * LONGEST for number in range(1, 101)]
        ours = [float(bounds.ef_round(Fraction(1), step_size=eta, **CLASS)) for eta in dense]
        alone = [float(bounds.cgd_gap(1, initial_gap=Fraction(1), step_size=eta, **CLASS)) for eta in dense]
        left.plot(list(map(float, dense)), alone, color=COLORS[0])
        left.plot(list(map(float, dense)), ours, color=COLORS[1])
        for rank, (method, marker) in enumerate(zip(METHODS, "osx", strict=True)):
            middle = data["worst"].sel(way=method).mean("side")
            left.plot(data["step"], middle, marker, color=COLORS[rank], fillstyle="none", label=f"worst case, {method}")
        left.axhline(1.0, color="black", linewidth=0.6)
        left.set(xlabel=r"step size, in $1/L$", ylabel="what a round leaves, at worst", ylim=(0.8, 1.3))
        left.set_title(r"$\mu = L/10$, $s = 1/2$")
        rounds = data["round"].values
        for panel, name in zip(panels[1:], data["federation"].values, strict=True):
            for rank, method in enumerate(METHODS):
                gaps = data["gap"].sel(federation=name, way=method)
                panel.plot(rounds, gaps, color=COLORS[rank], linestyle=["-", "--", ":"][rank], label=method)
            start = float(data["gap"].sel(federation=name).isel(round=0)[0])
            panel.plot(rounds, start * float(data["rate"]) ** rounds, color="black", label="slope of the bound")
            panel.set(xlabel="rounds", yscale="log", ylim=(start * 1e-12, start * 1e4), title=name)
        panels[1].set_ylabel(r"$F - F^*$")
        return legend_below(drawn, num_columns=4)


STUDY = study.Study("compressed_messages", Config(), QUICK, run, table, checks, {"compressed_messages": figure})

if __name__ == "__main__":
    study.main(STUDY)
