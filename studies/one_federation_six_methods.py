r"""
Six methods on one federation, and the theorems about their rounds
==================================================================

**Question.** On the same heterogeneous clients, which method comes closest to the minimizer, per round and per number
sent? What do the theorems say about the worst round, how tight are they, and what is the fixed point of averaging?

**Method.** *Race*: all clients take part with exact gradients and the longest step that SCAFFOLD's theorem allows. The
federations are quadratics with unequal curvatures, and Synthetic(1, 1) with softmax regression. The methods are
federated averaging, FedProx, FedNova with unequal local steps, SCAFFOLD, Scaffnew, and EF21 with top-k and one local
step. *Theorems*: the worst contraction of a round is the value of a semidefinite program, with both sides proved in
rational numbers, for SCAFFOLD, for compressed gradients, error feedback and EF21, for a step of one drawn client, and
for FedProx (Theorem 4 of Li et al. (2020), and derived constants). Means of Scaffnew are exact over all coins. *Fixed
points* of two clients in the plane are exact rational numbers, for equal and unequal local steps.

**Figure.** Left and middle: gaps divided by the initial gap on quadratics, geometric means over federations with 95%
bands. The dotted line is the bound of SCAFFOLD's theorem, and the horizontal line is the fixed point of averaging.
Right: the theorem's bound divided by the certified worst case (for Scaffnew: by the exact mean on one federation), from
the smallest to the largest over step sizes; for FedProx, certified progress divided by guaranteed progress. For
:math:`\eta\tau L \le 1` a round of SCAFFOLD equals that number of steps of gradient descent.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import _methods as methods
import numpy as np
from _experiments import joined, part
from _repeated import geometric_limits
from _slides import DASHES, level, name_rows

from fedtheory import study
from fedtheory.plotting.style import COLORS, MARKERS, appearance

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Gaps of six methods against rounds and floats sent, and theorems about their rounds."""

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
    theorems: methods.Theorems = field(default_factory=methods.Theorems)
    """Step sizes and lengths at which theorems are compared with worst cases."""
    fixed_points: methods.FixedPoints = field(default_factory=methods.FixedPoints)
    """Step sizes and lengths of the runs that end at fixed points."""
    seed: int = 0
    """Entropy."""


QUICK = Config(
    num_clients=4, dim=4, num_rounds=80, kept=1, num_federations=2,
    theorems=methods.Theorems(
        local_steps=(2,), twentieths=(4, 10, 30), num_steps=20, exact_steps=5, num_replicates=300, num_probabilities=8,
        shares=(3, 10), num_rounds=1500, weights=(4, 12, 32), num_selected=(10, 1000),
    ),
    fixed_points=methods.FixedPoints(
        halvings=5, simulated=2, steps=(4, 16), zeta2=(0, 1), settling=(0.1, 0.5), run_time=100.0, num_replicates=8
    ),
)  # fmt: skip


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Train every method, certify the worst rounds, and compute fixed points of averaging."""
    return joined({
        "race": methods.race(config, progress), "scaffold": methods.scaffold(config.theorems, progress),
        "scaffnew": methods.scaffnew(config.theorems, progress, config.seed),
        "messages": methods.messages(config.theorems, progress),
        "proximal": methods.proximal(config.theorems, progress),
        "fixed_points": methods.fixed_points(config.fixed_points, progress),
        "drawn": methods.drawn(config.fixed_points, progress, config.seed),
    })  # fmt: skip


def table(data: "Dataset") -> study.Table:
    """One row per problem and method, and one per theorem."""
    rows = [*methods.rows_of_race(part(data, "race")), *methods.rows_of_theorems(data)]
    names = dict.fromkeys(name for row in rows for name in row)
    caption = "Gaps are geometric means over federations; ratios are over step sizes."
    return study.Table([dict.fromkeys(names, "") | row for row in rows], "Six methods, and their theorems", caption)


def findings(data: "Dataset") -> dict[str, study.Finding]:
    """Return the findings about the race, the theorems, and the fixed points."""
    race = methods.findings_of_race(part(data, "race"))
    return race | methods.findings_of_theorems(data) | methods.findings_of_fixed_points(data)


def figure(data: "Dataset") -> "Figure":
    """Draw gaps against rounds and against models sent, and the ratios of theorems to worst cases."""
    import matplotlib.pyplot as plt

    race = part(data, "race")
    here, last = race.sel(problem=methods.QUADRATICS), race.sizes["round"] - 1
    with appearance():
        figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 4.4))
        for place, name in enumerate(methods.NAMES):
            bands = geometric_limits(np.maximum(here["gap"].sel(algorithm=name).values, 1e-15))
            look: dict[str, Any] = {"color": COLORS[place], "linestyle": DASHES[place], "marker": MARKERS[place]}
            for axes, x in zip((left, middle), methods.sent(race, methods.QUADRATICS, name), strict=True):
                axes.plot(x.mean(axis=0), bands[0], label=name, markevery=(20 + 7 * place, 60), markersize=5, **look)
                axes.fill_between(x.mean(axis=0), bands[1], bands[2], color=COLORS[place], alpha=0.2, linewidth=0)
        bound = np.exp(np.log(here["bound"].transpose("federation", ...).values).mean(axis=0))
        left.plot(bound, ":", color="black")
        left.text(0.6 * last, bound[int(0.55 * last)], " bound for\n SCAFFOLD", fontsize=9, va="bottom")
        for axes in (left, middle):
            floor = float(np.exp(np.log(here["floor"]).mean()))
            level(axes, floor, "fixed point of averaging", -1)
            axes.set(yscale="log", ylim=(1e-12, 3), xlim=(0, last))
        left.set(xlabel="communication rounds", ylabel=r"$(F(w) - F^*)\,/\,(F(w_0) - F^*)$")
        middle.set(xlabel="models sent per client")
        middle.legend(fontsize=8, loc="lower right")
        found = methods.tightness(data)
        places = name_rows(right, list(found))
        for place, ratios in zip(places, found.values(), strict=True):
            right.plot([ratios.min(), ratios.max()], [place, place], "o-", color=COLORS[0])
        right.axvline(1, color="black", linewidth=0.8)
        right.set_ylim(top=1)
        right.text(1.1, 0.6, "bound is attained", fontsize=9, va="center")
        right.set(xscale="log", xlabel="bound / worst case, over step sizes")
        return figure


STUDY = study.Study(
    "one_federation_six_methods", Config(), QUICK, run, table, findings, {"one_federation_six_methods": figure}
)

if __name__ == "__main__":
    study.main(STUDY)
