r"""
Six methods on one federation
=============================

**Question.** On the same heterogeneous clients, which method comes closest to the minimizer, per round and per number
sent?

**Method.** All clients take part with exact gradients and the longest step that SCAFFOLD's theorem allows. The
federations are quadratics with unequal curvatures, and Synthetic(1, 1) with softmax regression. The methods are
federated averaging, FedProx, FedNova with unequal local steps, SCAFFOLD, Scaffnew, and EF21 with top-k and one local
step.

**Figure.** Gaps divided by the initial gap, geometric means over federations with 95% bands: against rounds and against
models sent on quadratics, and against rounds on Synthetic(1, 1). The dotted line is the bound of SCAFFOLD's theorem,
and the horizontal line is the fixed point of averaging.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from _methods import NAMES, QUADRATICS, SYNTHETIC, findings_of_race, race, rows_of_race, sent
from _repeated import geometric_limits
from _slides import DASHES, level

from fedtheory import study
from fedtheory.plotting.style import COLORS, MARKERS, appearance

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Gaps of six methods against rounds and floats sent."""

    num_clients: int = 10
    """Clients K of both problems."""
    dim: int = 20
    """Coordinates of the quadratics."""
    condition: float = 20.0
    """L/mu of the quadratics."""
    local_steps: int = 5
    """Local steps tau; FedNova's clients take from 1 to tau."""
    num_rounds: int = 300
    """Communication rounds."""
    kept: int = 2
    """Coordinates that top-k keeps of the quadratics' 20; the share is the same for the other problem."""
    proximal_weight: float = 0.1
    """Weight of FedProx, as a share of L."""
    num_federations: int = 10
    """Federations of each problem."""
    seed: int = 0
    """Entropy."""


QUICK = Config(num_clients=4, dim=4, num_rounds=80, kept=1, num_federations=2)


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Train every method on the same federations."""
    return race(config, progress)


def table(data: "Dataset") -> study.Table:
    """One row per problem and method."""
    return study.Table(rows_of_race(data), "Six methods", "Geometric means over federations.")


def findings(data: "Dataset") -> dict[str, study.Finding]:
    """Compare gaps, rounds and models of the methods."""
    return findings_of_race(data)


def figure(data: "Dataset") -> "Figure":
    """Draw gaps against rounds and against models sent on quadratics, and against rounds on Synthetic(1, 1)."""
    import matplotlib.pyplot as plt

    last = data.sizes["round"] - 1
    bound = np.exp(np.log(data["bound"].transpose("federation", ...).values).mean(axis=0))
    floor = float(np.exp(np.log(data["floor"]).mean()))
    with appearance():
        drawn, panels = plt.subplots(1, 3, figsize=(13, 4.2), sharey=True)
        shown = zip(panels, (QUADRATICS, QUADRATICS, SYNTHETIC), (0, 1, 0), strict=True)
        for axes, problem, which in shown:
            for place, name in enumerate(NAMES):
                gaps = data["gap"].sel(problem=problem, algorithm=name).values
                mean, lower, upper = geometric_limits(np.maximum(gaps, 1e-15))
                x = sent(data, problem, name)[which].mean(axis=0)
                look: dict[str, Any] = {"color": COLORS[place], "linestyle": DASHES[place], "marker": MARKERS[place]}
                axes.plot(x, mean, label=name, markevery=(20 + 7 * place, 60), markersize=5, **look)
                axes.fill_between(x, lower, upper, color=COLORS[place], alpha=0.2, linewidth=0)
            axes.set(yscale="log", ylim=(1e-12, 3), xlim=(0, last), title=problem)
            axes.set_xlabel(("communication rounds", "models sent per client")[which])
        panels[0].plot(bound, ":", color="black")
        panels[0].text(0.6 * last, bound[int(0.55 * last)], " bound for\n SCAFFOLD", fontsize=9, va="bottom")
        for axes in panels[:2]:
            level(axes, floor, "fixed point of averaging", -1)
        panels[0].set_ylabel(r"$(F(w) - F^*)\,/\,(F(w_0) - F^*)$")
        panels[2].legend(fontsize=8, loc="lower left")
        return drawn


STUDY = study.Study(
    "one_federation_six_methods", Config(), QUICK, run, table, findings, {"one_federation_six_methods": figure}
)

if __name__ == "__main__":
    study.main(STUDY)
