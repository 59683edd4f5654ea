r"""
Where does Power-of-Choice beat random selection?
=================================================

**Early, and where clients are alike: its error floor decides, sooner the more heterogeneity and candidates there are.**

**Question.** Power-of-Choice (Cho, Wang and Joshi, 2020) descends faster than random selection, and settles at a floor
above the minimum. Which of the two is ahead depends on the federation, on how long one trains, and on what is counted:
rounds, or the floats that are sent to the server and back (candidates are sent the model to evaluate their losses).

**Method.** Random federations of quadratic clients: curvatures, weights and optima are random, and the start is placed
such that the heterogeneity :math:`\Gamma / (F(w_0) - F^*)` is log-uniform over four powers of ten. On each, eight ways
of selecting, several numbers of local steps, and the same step size. Random selection needs no simulation: its
expected error is exact. The others are means over replicates. At equal cost each gets as many rounds as what random
selection sends pays for. The grid, half an hour of processor, is run by ``ft.sweep``: on processes by default, or on a
Dask cluster, and it goes on where it was when it is started again.

**Reading.** Color: the share of federations in which Power-of-Choice is ahead after so many rounds (upper rows), or
after as many floats as so many rounds of random selection send (lower rows). Solid line: where the *mean field* (the
round with its exact expected coefficients, without noise) is ahead in half of them. Dashed: where the exact error of
random selection falls below the exact floor in half of them; above it and to its right Power-of-Choice cannot catch up.
A line is missing where no half is crossed. The two lines nearly coincide, and with d = 10, where all clients are
candidates and nothing is left to chance, the color changes there: the floor decides who is ahead, the earlier the more
heterogeneity and candidates there are. With d = 4 the color changes before the lines, since the mean field leaves out
the chance by which candidates are drawn: after 256 rounds of four and eight local steps it has pow-d ahead in 66% and
91% of the federations, the simulation in 31% and 52%. When all that is sent is counted, candidates beyond m cost more
than they bring, but in long runs with eight local steps, where d = 4 is even; dark stripes are costs that pay for no
further whole round. rpow-d, which asks nobody, is ahead early there, too (table), and the most behind in the end.
"""

from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from _random_federations import COUNTED, LEAST, MOST, Setting, block

import fedtheory as ft
from fedtheory import study
from fedtheory.plotting.style import appearance

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


# Where half of the federations are on either side: what is drawn, how, and what the legend says.
BORDERS: dict[str, tuple[Any, str]] = {
    "field": ("-", "ahead in half of them by the mean field"),
    "floor": ("--", "random selection below the floor in half of them"),
}


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
    """Those for which floor and mean field are computed, and that are drawn."""
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
    """Federations in each of them."""
    backend: str = "loky"
    """Where they run, a backend of joblib: loky (processes), threading, sequential or dask."""
    workers: int = 0
    """So many at once; 0 for as many as there are processors."""
    parts: str = "results/worst_federation_parts"
    """Folder of the sweep, which goes on there; empty to keep it in memory."""
    seed: int = 0
    """Entropy of the federations and the selections."""


QUICK = Config(
    num_rounds=64, local_steps=(2,), candidates=(4, 10), num_replicates=4, num_blocks=2, block_size=40,
    backend="sequential", parts="",
)  # fmt: skip

NUM_BINS = 16


def run(config: Config, progress: study.Progress) -> "Dataset":  # noqa: ARG001 # the sweep shows its own
    """Sweep over the federations, and count in bins of heterogeneity."""
    setting = Setting(**{field.name: getattr(config, field.name) for field in fields(Setting)})
    found = ft.sweep(
        partial(block, setting=setting), {"block": range(config.num_blocks), "tau": config.local_steps},
        seeds=[config.seed], backend=config.backend, workers=config.workers or None,
        out=config.parts or None, progress=bool(config.parts),
    )  # fmt: skip
    if found.failures:
        message = f"{len(found.failures)} blocks failed, the first: {found.failures[0].error}"
        raise ValueError(message)
    return _counted(found.data.isel(seed=0, drop=True)).assign_attrs(digest=found.digest)


def _counted(data: "Dataset") -> "Dataset":
    """Count federations, and in how many of them each is ahead, in bins of heterogeneity."""
    import xarray

    flat = data.stack(one=("block", "federation")).drop_vars(["one", "block", "federation"])
    edges = np.linspace(LEAST, MOST, NUM_BINS + 1)
    place = np.clip(np.digitize(flat["heterogeneity"].isel(tau=0).values, edges) - 1, 0, NUM_BINS - 1)
    counts = [
        flat[["ahead", "field", "floor"]].isel(one=np.flatnonzero(place == i)).sum("one") for i in range(NUM_BINS)
    ]
    agree = (
        flat["ahead"].sel(strategy=[f"pow-d, d = {d}" for d in flat["d"].values]).values == flat["field"].values
    ).mean()
    worst = flat["ratio"].max("one").rename("worst_ratio")
    where = flat["ratio"].argmax("one").rename("worst_federation")
    middle = flat["ratio"].median("one").rename("median_ratio")
    return xarray.concat(counts, dim="bin").assign(
        bin=(edges[:-1] + edges[1:]) / 2, federations=("bin", np.bincount(place, minlength=NUM_BINS)),
        agreement=float(agree), worst_ratio=worst, worst_federation=where, median_ratio=middle,
    )  # fmt: skip


def table(data: "Dataset") -> study.Table:
    """One row per number of local steps and way of selecting."""
    rows, total, last = [], float(data["federations"].sum()), int(data["horizon"][-1])
    for tau in data["tau"].values:
        for name in data["strategy"].values:
            here = data.sel(tau=tau, strategy=name)
            share = here["ahead"].sum("bin") / total
            rows.append(
                {
                    "selection": str(name),
                    "tau": int(tau),
                    "ahead after 8 rounds [%]": 100 * float(share.sel(counted="rounds", horizon=8)),
                    f"after {last} [%]": 100 * float(share.sel(counted="rounds", horizon=last)),
                    "at equal floats, 8 [%]": 100 * float(share.sel(counted="floats", horizon=8)),
                    f"at equal floats, {last} [%]": 100 * float(share.sel(counted="floats", horizon=last)),
                    "median error / rand's": float(here["median_ratio"]),
                    "worst": float(here["worst_ratio"]),
                    "worst federation": int(here["worst_federation"]),
                }
            )
    caption = f"{total:.0f} federations; errors after {last} rounds; mean field and simulation agree in "
    return study.Table(rows, "Selection against random selection", f"{caption}{100 * float(data['agreement']):.1f}%")


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test what the figure is taken to show."""
    total = data["federations"]
    most = f"pow-d, d = {int(data['d'][-1])}"
    shares = data["ahead"].sel(strategy=most) / total
    here = shares.sel(counted="rounds")
    early, late = here.isel(bin=slice(0, 4)).sel(horizon=8).mean(), here.isel(bin=slice(-4, None), horizon=-1).mean()
    rounds, floats = (float(shares.sel(counted=name).mean()) for name in COUNTED)
    beyond = data["floor"].sum(["bin"]) / total.sum()
    agreement = float(data["agreement"])
    return {
        "with little heterogeneity it is ahead early": study.Check(float(early) > 0.9, f"in {float(early):.3f}"),
        "with much it is behind in the end": study.Check(float(late) < 0.1, f"ahead in {float(late):.3f}"),
        "what is sent counts against it": study.Check(floats < rounds, f"ahead in {floats:.3f} after {rounds:.3f}"),
        "the mean field tells who is ahead": study.Check(agreement > 0.85, f"agrees in {agreement:.3f}"),
        "more candidates, higher floor": study.Check(
            bool((beyond.diff("d") >= 0).all()), f"smallest difference {float(beyond.diff('d').min()):.3f}"
        ),
    }


def phase_diagram(data: "Dataset") -> "Figure":
    """Draw a row of panels for each number of candidates and what is counted, a column for each tau."""
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    taus, rows = data["tau"].values, [(counted, int(d)) for counted in COUNTED for d in data["d"].values]
    with appearance():
        figure, panels = plt.subplots(
            len(rows),
            len(taus),
            figsize=(2 + 1.8 * len(taus), 1 + 1.8 * len(rows)),
            sharex=True,
            sharey=True,
            squeeze=False,
        )
        for (counted, d), line in zip(rows, panels, strict=True):
            for tau, axes in zip(taus, line, strict=True):
                drawn = _phase(axes, data.sel(tau=tau, counted=counted, d=d), f"pow-d, d = {d}")
            line[0].set_ylabel(f"$d = {d}$, equal {counted}\n" + r"$\Gamma\,/\,(F(w_0) - F^*)$")
        for tau, axes in zip(taus, panels[0], strict=True):
            axes.set_title(rf"$\tau = {tau}$")
        for axes in panels[-1]:
            axes.set_xlabel("rounds of rand")
        figure.colorbar(drawn, ax=panels, label="share of federations in which pow-d is ahead", shrink=0.6)
        lines = [Line2D([], [], color="black", linestyle=style, label=said) for style, said in BORDERS.values()]
        figure.legend(handles=lines, loc="outside lower center")
        return figure


def _phase(axes: Any, here: "Dataset", name: str) -> Any:
    x, y, total = here["horizon"].values, 10 ** here["bin"].values, here["federations"].values[:, None]
    share = here["ahead"].sel(strategy=name).transpose("bin", "horizon").values / np.maximum(total, 1)
    drawn = axes.pcolormesh(_edges(x), _edges(y), share, cmap="PuOr", vmin=0, vmax=1)
    for what, (style, _) in BORDERS.items():
        values = here[what].transpose("bin", "horizon").values / np.maximum(total, 1)
        if values.min() < 0.5 < values.max():
            axes.contour(x, y, values, levels=[0.5], colors="black", linestyles=style, linewidths=1.3)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.grid(visible=False)
    return drawn


def _edges(centers: Any) -> Any:
    """Edges of cells around their centers on a logarithmic axis."""
    logarithms = np.log(centers)
    inner = (logarithms[1:] + logarithms[:-1]) / 2
    return np.exp([2 * logarithms[0] - inner[0], *inner, 2 * logarithms[-1] - inner[-1]])


def said(data: "Dataset") -> list[str]:
    """Numbers of the page."""
    here = data.sel(counted="rounds", tau=[4, 8]).isel(horizon=-1)
    ahead = (here["field"].sel(d=4), here["ahead"].sel(strategy="pow-d, d = 4"))
    field, runs = ((100 * counts.sum("bin") / data["federations"].sum()).values for counts in ahead)
    return [
        (
            f"after {int(data['horizon'][-1])} rounds of four and eight local steps it has pow-d ahead in "
            f"{field[0]:.0f}% and {field[1]:.0f}% of the federations, the simulation in {runs[0]:.0f}% and "
            f"{runs[1]:.0f}%"
        )
    ]


STUDY = study.Study(
    "worst_federation", Config(), QUICK, run, table, checks, {"phase_diagram": phase_diagram}, said=said
)

if __name__ == "__main__":
    study.main(STUDY)
