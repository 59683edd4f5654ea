r"""
Power-of-Choice and random selection on random and worst federations
====================================================================

**Question.** Power-of-Choice (Cho, Wang and Joshi, 2020) descends faster than random selection and stops at a floor
above the minimum. Which of the two has the smaller error depends on the federation, on the number of rounds, and on the
measure of cost: rounds, or the floats that are sent to the server and back (candidates receive the model to evaluate
their losses).

**Method.** Random federations of quadratic clients have random curvatures, weights and optima. The initial model is
placed such that the heterogeneity :math:`\Gamma / (F(w_0) - F^*)` is log-uniform over four orders of magnitude. On each
federation eight selection rules run with several numbers of local steps and the same step size. The expected error of
random selection is exact and needs no simulation. The others are means over replicates. At equal cost a rule runs for
the number of rounds in which it sends as many floats as random selection. The grid, half an hour of processor, is run
by ``ft.sweep``: on processes by default, or on a Dask cluster, and continues after a stop.

*Worst federations*: the primal solution of a worst case's semidefinite program is a federation of two clients that
attains it in two rounds from distance 1, with :math:`\mu = 1/10, L = 1, \Gamma = 1/2`. It is trained through all
outcomes of the selection, and drawn in the plane that contains most of the initial model, of the minimizers and of the
server's models.

**Figure.** Left: the share of federations in which Power-of-Choice has a smaller error than random selection, with
exact 95% limits, against their heterogeneity, with one local step. The dotted line is the share in which random
selection is above the exact floor. The *mean field* of the table is the round with its exact expected coefficients; it
leaves out the randomness of the candidates. Middle and right: lines are level sets of the two clients, solid and
dashed, :math:`w_1^*, w_2^*` are their minimizers, the star is the optimum of F, and black lines connect the server's
models. The losses are tied at the initial model, so no rule that uses only losses can distinguish the clients.
"""

from dataclasses import dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from _experiments import joined, part
from _random_federations import (
    EARLY,
    Picture,
    Setting,
    block,
    counted,
    draw_picture,
    findings_of_counts,
    findings_of_pictures,
    pictures,
    rows_of_counts,
    rows_of_pictures,
    share,
)
from _slides import curves

import fedtheory as ft
from fedtheory import study
from fedtheory.plotting.style import appearance

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Random federations on which Power-of-Choice and random selection are compared."""

    num_clients: int = 10
    """Clients K."""
    dim: int = 4
    """Coordinates of a model."""
    num_selected: int = 2
    """Clients m selected in a round."""
    candidates: tuple[int, ...] = (2, 4, 6, 10)
    """Numbers d of candidates of pow-d."""
    predicted: tuple[int, ...] = (4, 10)
    """Numbers of candidates for which floor and mean field are computed and drawn."""
    num_rounds: int = 256
    """Longest training, a power of two."""
    local_steps: tuple[int, ...] = (1, 2, 4, 8)
    """Local steps tau, one column of panels each."""
    step_share: float = 0.05
    """Step size times the largest curvature."""
    num_replicates: int = 6
    """Replicates of each simulation."""
    num_blocks: int = 200
    """Configurations of the sweep for each tau."""
    block_size: int = 50
    """Federations in each configuration."""
    backend: str = "loky"
    """Backend of joblib for the sweep: loky (processes), threading, sequential or dask."""
    workers: int = 0
    """Number of configurations that run at once; 0 for the number of processors."""
    parts: str = "results/worst_federation_parts"
    """Folder of the sweep, which a later call continues; empty to keep the results in memory."""
    picture: Picture = field(default_factory=Picture)
    """Worst federations of two clients."""
    seed: int = 0
    """Entropy of the federations and the selections."""


QUICK = Config(
    num_rounds=64, local_steps=(2,), candidates=(4, 10), num_replicates=4, num_blocks=4, block_size=80,
    backend="sequential", parts="", picture=Picture(num_points=12),
)  # fmt: skip


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Sweep over the federations, count in bins of heterogeneity, and find worst federations."""
    setting = Setting(**{field.name: getattr(config, field.name) for field in fields(Setting)})
    found = ft.sweep(
        partial(block, setting=setting), {"block": range(config.num_blocks), "tau": config.local_steps},
        seeds=[config.seed], backend=config.backend, workers=config.workers or None,
        out=config.parts or None, progress=bool(config.parts),
    )  # fmt: skip
    if found.failures:
        message = f"{len(found.failures)} blocks failed, the first: {found.failures[0].error}"
        raise ValueError(message)
    counts = counted(found.data.isel(seed=0, drop=True)).assign_attrs(digest=found.digest)
    return joined({"phase": counts, "pictures": pictures(config.picture, progress)})


def table(data: "Dataset") -> study.Table:
    """One row per number of local steps and selection rule, and one per worst federation."""
    phase = part(data, "phase")
    rows = [*rows_of_counts(phase), *rows_of_pictures(part(data, "pictures"))]
    caption = f"{int(phase['federations'].sum())} federations; mean field and simulation agree in "
    names = {**rows[0], **rows[-1]}
    return study.Table(
        [dict.fromkeys(names, "") | row for row in rows], "Selection against random selection",
        f"{caption}{100 * float(phase['agreement']):.1f}%",
    )  # fmt: skip


def findings(data: "Dataset") -> dict[str, study.Finding]:
    """Return the findings about random and about worst federations."""
    return findings_of_counts(part(data, "phase")) | findings_of_pictures(part(data, "pictures"))


def figure(data: "Dataset") -> "Figure":
    """Draw the share of federations in which Power-of-Choice is ahead, and worst federations of two rules."""
    import matplotlib.pyplot as plt

    phase, pictures, total = part(data, "phase"), part(data, "pictures"), data["phase_federations"].values
    here, last = phase.isel(tau=0, d=-1), int(phase["horizon"].values[-1])
    d, heterogeneity = int(here["d"]), 10 ** phase["bin"].values
    ahead = here["ahead"].sel(strategy=f"pow-d, d = {d}")
    shown = {f"{t} rounds": ahead.sel(counted="rounds", horizon=t).values for t in (EARLY, 4 * EARLY, last)}
    bands = {name: share(counts, total) for name, counts in shown.items()}
    bands[f"cost of\n{last} rounds"] = share(ahead.sel(counted="floats", horizon=last).values, total)
    with appearance():
        drawn, (left, *others) = plt.subplots(1, 3, figsize=(13, 4.4))
        left.set(xscale="log", ylim=(-0.02, 1.02), ylabel="share of federations where pow-d is ahead")
        left.set_xlabel(r"heterogeneity $\Gamma\,/\,(F(w_0) - F^*)$")
        left.text(0.03, 0.5, "dotted: random selection\nis above pow-d's floor", transform=left.transAxes, fontsize=9)
        curves(left, heterogeneity, bands)
        for t in (EARLY, 4 * EARLY, last):
            above = 1 - here["floor"].sel(horizon=t).values / np.maximum(total, 1)
            left.plot(heterogeneity, above, ":", color="black", linewidth=1.2)
        for axes, name in zip(others, pictures["strategy"].values[1:], strict=True):
            draw_picture(axes, pictures, str(name))
        return drawn


STUDY = study.Study("worst_federation", Config(), QUICK, run, table, findings, {"worst_federation": figure})

if __name__ == "__main__":
    study.main(STUDY)
