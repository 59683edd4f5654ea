r"""
Bits, probabilities and laws of optimal client sampling
=======================================================

**Question.** In the method of Chen, Horvath and Richtarik (2022) every client computes an update, and the norms of the
updates determine the probability of sending. How close does this come to full participation, what does it cost in bits,
and do the theorems predict the gain? Which algorithm finds the optimal probabilities, and is independent sampling the
best law?

**Method.** *Runs*: two problems with known constants, strongly convex quadratics and the non-convex wells
:math:`f_i(x)=\sum_ja_j\phi(x_j)+\langle b_i,x\rangle` with :math:`\phi(t)=t^2/(1+t^2)`. Data shares and distances
between the clients' optima are log-normal. The methods are DSGD (one local step) and FedAvg. Full participation,
independent uniform sampling, OCS (optimal probabilities) and AOCS (probabilities approximated by sums) run with the
longest step that the theorems allow for uniform sampling (:math:`\gamma = m/n`). Full participation and OCS also run
with the longest steps that the theorems allow for them. Each number sent to the server counts 64 bits.
*Probabilities*: results of the closed form, of AOCS and of convex solvers, made feasible, are compared with the optimum
in exact rational arithmetic, for log-normal norms. *Correlation*: two samplings with the same probabilities and another
law of pairs: *systematic* (points at distance 1 on the concatenated probabilities, always m clients), and the *best*
law for the given updates, by linear programming. Updates share a direction to the degree c; for negative c every second
client has the opposite direction.

**Figure.** Left: error against bits of FedAvg on quadratics, each strategy with its longest steps. Middle: variance
after rescalings of AOCS, which are steps of Newton's method. Right: variance of the correlated samplings; medians, and
ranges from the tenth to the ninetieth percentile.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from _experiments import joined, part
from _optimal_sampling import (
    SAMPLINGS,
    findings_of_laws,
    findings_of_runs,
    findings_of_ways,
    laws,
    rows_of_runs,
    runs,
    ways,
)
from _slides import curves, level, marked

from fedtheory import study
from fedtheory.plotting.style import COLORS, appearance

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Full, uniform and optimal client sampling: error per bit, optimal probabilities, and correlated samplings."""

    num_clients: int = 20
    """Clients n of the runs."""
    expected_size: int = 4
    """Expected number m of clients that send."""
    dim: int = 200
    """Parameters of the model, which determine the cost of the norms relative to that of the updates."""
    num_rounds: int = 1_000
    """Communication rounds."""
    local_steps: int = 4
    """Local steps R of FedAvg; DSGD takes one."""
    gradient_noise: float = 0.1
    """Variance sigma^2 of the gradient noise."""
    dispersion: float = 1.0
    """Standard deviation of the logarithms of data shares and of distances between the clients' optima."""
    max_iterations: int = 4
    """Rescalings allowed to AOCS."""
    num_recorded: int = 120
    """Rounds whose errors and bounds are kept, evenly spread on a logarithmic axis."""
    num_places: int = 25
    """Rounds at which the improvement factor is estimated."""
    num_replicates: int = 20
    """Replicates per strategy."""
    spreads: tuple[float, ...] = (1.0, 3.0)
    """Standard deviations of the logarithms of the norms whose probabilities are computed."""
    judged_clients: int = 30
    """Clients of the instances whose probabilities are computed."""
    judged_size: float = 12.0
    """Expected number m of sampled clients in these instances."""
    judged_instances: int = 25
    """Instances per spread."""
    max_rescalings: int = 12
    """Rescalings of AOCS that are followed."""
    drawn_clients: int = 8
    """Clients n of the instances of correlated sampling."""
    drawn_size: int = 3
    """Expected number m of sampled clients in these instances."""
    drawn_dim: int = 20
    """Parameters of these models."""
    num_alignments: int = 17
    """Degrees of agreement between the updates, from opposed to equal."""
    drawn_instances: int = 60
    """Instances for each of them."""
    seed: int = 0
    """Entropy of instances, noise and coins."""


QUICK = Config(
    num_clients=15, expected_size=3, dim=60, num_rounds=200, local_steps=2, num_places=8, judged_instances=4,
    drawn_clients=6, drawn_size=2, num_alignments=5, drawn_instances=8,
)  # fmt: skip


SHOWN = {
    "full, longest steps": "full participation", "uniform": "uniform sampling", "OCS, longest steps": "optimal sampling"
}  # fmt: skip


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Run every strategy, compare algorithms for the probabilities, and correlated samplings."""
    return joined({"runs": runs(config, progress), "ways": ways(config, progress), "laws": laws(config, progress)})


def table(data: "Dataset") -> study.Table:
    """One row per setting and strategy of the runs."""
    caption = (
        "Final gap: mean over the last third. Rounds and Mbit: until the mean gap is twice that of uniform sampling."
    )
    return study.Table(rows_of_runs(part(data, "runs")), "Error, rounds and bits of client sampling", caption)


def findings(data: "Dataset") -> dict[str, study.Finding]:
    """Return the findings of the runs, the probabilities, and the correlated samplings."""
    runs, ways, laws = (part(data, name) for name in ("runs", "ways", "laws"))
    return findings_of_runs(runs) | findings_of_ways(ways) | findings_of_laws(laws)


def figure(data: "Dataset") -> "Figure":
    """Draw error against bits of FedAvg on quadratics, variance after rescalings, and variance of correlated laws."""
    import matplotlib.pyplot as plt

    found, excess, ratio = part(data, "runs"), part(data, "ways")["excess"], part(data, "laws")["ratio"]
    here = found.sel(setting="quadratics, FedAvg").isel(round=slice(1, None))
    with appearance():
        drawn, (left, middle, right) = plt.subplots(1, 3, figsize=(12.5, 4.2), width_ratios=(1.4, 1, 1))
        left.set(
            xscale="log", yscale="log", xlabel="Mbit sent to the server", ylabel="$F(w) - F^*$, FedAvg, quadratics"
        )
        shown = {words: here.sel(strategy=name) for name, words in SHOWN.items()}
        marked(left, {words: (own["bits"].values / 1e6, own["gap"].values) for words, own in shown.items()}, every=12)
        for spread, color, dashes in zip(excess["spread"].values, COLORS, ("-", "--"), strict=False):
            values, x = excess.sel(spread=spread).values, excess["rescaling"].values
            middle.plot(x, np.median(values, axis=0), dashes, color=color, label=f"norms with log-spread {spread:g}")
            middle.fill_between(x, values.min(axis=0), values.max(axis=0), color=color, alpha=0.2)
        middle.set_yscale("symlog", linthresh=1e-15)  # linear below rounding errors, so that a zero is visible
        middle.set_yticks([0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 1])
        middle.set(xlabel="rescalings of AOCS", ylabel="excess variance / that of uniform sampling")
        middle.set_xticks(excess["rescaling"].values[::2])
        middle.set_ylim(-2e-16, 10)
        middle.legend(fontsize=8, title="median and range", title_fontsize=8)
        bands = {name: ratio.sel(sampling=name).quantile([0.5, 0.1, 0.9], "instance").values for name in SAMPLINGS}
        curves(right, ratio["alignment"].values, bands)
        level(right, 1, "independent sampling")
        right.set(xlabel="agreement c of the updates", ylabel="variance / that of independent sampling")
        return drawn


STUDY = study.Study(
    "optimal_sampling_convergence", Config(), QUICK, run, table, findings, {"optimal_sampling_convergence": figure}
)

if __name__ == "__main__":
    study.main(STUDY)
