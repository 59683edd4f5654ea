r"""
How much is a round of SCAFFOLD worth?
======================================

**As much as its local steps of gradient descent, exactly, as long as
:math:`\eta\tau L \le 1`.**

**Question.** SCAFFOLD's theorems are in O-notation. By how much does a round of tau local steps contract exactly, and
from which step size on do control variates cost something?

**Method.** All clients take part with exact gradients; the functions are mu-strongly convex and L-smooth. The potential
is :math:`|w - w^*|^2 + \eta^2\tau^2` times the mean squared error of the control variates. Its worst contraction in a
round is a semidefinite program, proved from both sides in rationals. Against it stand :math:`(1 - \eta\mu)^{2\tau}`,
which is proved for :math:`\eta\tau L \le 1`, the bound for any stable step size, and the slowest of two quadratics.

**Reading.** Up to the vertical line, :math:`\eta\tau L = 1`, the worst case is the theorem's: a round is worth exactly
tau steps of gradient descent. Beyond it that stays so for a while, until the control variates, which are as old as a
round, become the slower part.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import fedtheory as ft
from fedtheory import study
from fedtheory.bounds import scaffold as sc
from fedtheory.plotting.bound import theory
from fedtheory.plotting.style import appearance, legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """The worst contraction of a round against its step size."""

    condition: int = 10
    """L/mu; L is 1."""
    local_steps: tuple[int, ...] = (2, 5)
    """Local steps tau, one panel each."""
    twentieths: tuple[int, ...] = (1, 2, 3, 4, 6, 8, 10, 12, 15, 18, 20, 23, 26, 30, 33, 36)
    """Step sizes in twentieths of 1/L."""


QUICK = Config(local_steps=(2,), twentieths=(4, 10, 30))


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Solve and prove the program of every round."""
    records = []
    mu = Fraction(1, config.condition)
    for tau in config.local_steps:
        for number in progress(config.twentieths, f"tau = {tau}"):
            eta = Fraction(number, 20)
            if eta * (1 + mu) >= 2:
                continue
            lower, upper = ft.worst_case.scaffold(tau, eta, mu=mu, L=1).enclosure
            known: dict[str, Any] = {"step_size": eta, "mu": mu, "L": Fraction(1), "local_steps": tau}
            variates: Any = sc.one_round(Fraction(0), control_error2=1 / (eta * tau) ** 2, **known)
            steep: Any = sum((1 - eta) ** i for i in range(tau)) / tau
            records.append({
                "local_steps": tau, "step_size": float(eta), "lower": float(lower), "upper": float(upper),
                "steps": float((1 - eta * mu) ** (2 * tau)),
                "bound": max(float((1 - eta * mu) ** (2 * tau)), float(variates)),
                "quadratics": max(float((1 - eta * mu) ** (2 * tau)), float((1 - steep) ** 2)),
            })  # fmt: skip
    return study.from_records(records)


def table(data: "Dataset") -> study.Table:
    """One row per round."""
    names = ("local_steps", "step_size", "lower", "upper", "steps", "bound", "quadratics")
    rows = zip(*(data[name].values for name in names), strict=True)
    heads = ("tau", "eta L", "worst case, at least", "at most", "(1 - eta mu)^(2 tau)", "bound", "two quadratics")
    records = [dict(zip(heads, map(float, row), strict=True)) for row in rows]
    return study.Table([{**record, "tau": int(record["tau"])} for record in records])


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test what the figure is taken to show."""
    short = (data["step_size"] * data["local_steps"] <= 1).values
    apart = float(abs(data["upper"] / data["steps"] - 1).values[short].max())
    above = float((data["upper"] / data["bound"]).max())
    below = float((data["upper"] / data["quadratics"]).min())
    slower = float((data["lower"] / data["steps"]).max())
    return {
        "for short rounds the worst case is tau gradient steps": study.Check(apart < 1e-6, f"apart by {apart:.1e}"),
        "no worst case exceeds the bound": study.Check(above < 1 + 1e-6, f"largest ratio {above:.7f}"),
        "two quadratics are no worse than the worst": study.Check(below > 1 - 1e-9, f"smallest ratio {below:.7f}"),
        "long rounds are worth less": study.Check(slower > 1.001, f"largest ratio {slower:.3f}"),
    }


def rounds_figure(data: "Dataset") -> "Figure":
    """One panel per number of local steps."""
    import matplotlib.pyplot as plt

    sizes = sorted(set(data["local_steps"].values.tolist()))
    with appearance():
        figure, panels = plt.subplots(1, len(sizes), figsize=(1 + 4.6 * len(sizes), 4), sharey=True, squeeze=False)
        for axes, tau in zip(panels[0], sizes, strict=True):
            here = data.isel({data["local_steps"].dims[0]: data["local_steps"].values == tau})
            eta = here["step_size"].values
            theory(axes, eta, here["bound"].values, label="bound, any stable step", rank=0)
            theory(axes, eta, here["steps"].values, label="tau gradient steps", rank=1)
            theory(axes, eta, here["quadratics"].values, label="two quadratics", rank=2)
            axes.plot(eta, here["upper"].values, "o", color="black", fillstyle="none", label="worst case, proved")
            axes.axvline(1 / tau, color="grey", linewidth=0.8)
            axes.set_yscale("log")
            axes.set_xlabel(r"step size $\eta L$")
            axes.set_title(f"{tau} local steps")
        panels[0, 0].set_ylabel("what a round leaves of the potential")
        return legend_below(figure, num_columns=4)


STUDY = study.Study("scaffold_rounds", Config(), QUICK, run, table, checks, figures={"scaffold_rounds": rounds_figure})

if __name__ == "__main__":
    study.main(STUDY)
