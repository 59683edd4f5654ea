r"""
Optimal client sampling gains accuracy where few clients hold the data
======================================================================

**On unbalanced clients with three clients per round it gains some points of accuracy over uniform sampling. On balanced
clients it gains almost nothing.**

**Question.** Figures 3 to 13 of Chen, Horvath and Richtarik (2022) train networks on images and text: of 32 clients, m
= 3 may send in a round (6 in others). With step sizes tuned for each method, optimal sampling (OCS) follows full
participation per round. To reach the same accuracy it sends far fewer bits than full participation or uniform sampling,
and the advantage grows with the imbalance of the clients. Does this hold for a convex model?

**Method.** Softmax regression on the digits of scikit-learn, partitioned among 32 clients. Unbalanced clients have
sizes proportional to :math:`u^{1/0.2}`, u uniform; balanced clients have equal sizes. For the two pools of Figures 6
and 7, unbalanced data are also divided among three times as many clients. Classes are skewed in all cases (Dirichlet
shares of concentration 1). As in the paper every client takes one epoch of local steps, with full participation,
independent uniform sampling, OCS and AOCS. The step size of each method is the power of two with the highest final
accuracy on other data sets. Each number sent to the server counts 64 bits: updates, and the norms and sums that OCS and
AOCS need.

**Reading.** Left and middle: accuracy against bits, with 95% intervals over data sets. Right: paired leads of OCS over
uniform sampling. AOCS equals OCS, as its rescalings find the optimal probabilities.

On unbalanced clients the paper's result is reproduced. With m = 3, OCS ends less than a point below full participation
(95.1% against 96.0%) and 5.8 [3.8, 7.8] points above uniform sampling. To 85% it needs 4.9 rounds, full participation
2.1 and uniform sampling 23.4; to 85% it sends 0.60 megabits where uniform sampling needs 3.05 and full participation
2.77. With m = 6 the lead over uniform sampling is 1.8 [1.2, 2.4] points, and 0.39 times its bits are enough. OCS allows
longer steps than uniform sampling, 16 times as long here with m = 3 and 4 times with m = 6. On balanced clients, as in
the paper's CIFAR100, the final accuracies of OCS and uniform sampling differ by 0.4 [-0.2, 1.1] points with m = 3 and
by 0.7 [0.2, 1.2] with m = 6. In the larger pool all methods are less accurate: with m = 3 of 96 clients OCS ends at
93.4%, full participation at 95.1%, and uniform sampling 2.8 [1.3, 4.3] points below OCS, which sends 0.10 times the
bits of full participation to 85%, and 0.80 times those of uniform sampling.
"""

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from _checks import Check, stated
from _repeated import mean_and_limits, mean_words, with_limits
from _slides import finding, intervals, level, marked, name_rows
from _tuned_sampling import FULL, KINDS, OPTIMAL, UNIFORM, lead_of, reached, shares_of_bits, tuned_runs

from fedtheory import study
from fedtheory.plotting.style import COLORS, MARKERS, appearance

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Optimal client sampling of softmax models with tuned step sizes: accuracy against rounds and bits."""

    data: tuple[str, ...] = ("digits",)
    """Images: digits, fashion-mnist, or four IDX files (images and labels to train on, and to test)."""
    num_clients: tuple[int, ...] = (32, 32, 96)
    """Clients n of each kind of data."""
    expected_sizes: tuple[float, ...] = (3.0, 6.0)
    """Expected numbers m of clients that send, each on data of both kinds."""
    powers: tuple[float, ...] = (0.2, 100.0, 0.2)
    """Sizes of the clients of each kind are u^(1/power): unbalanced, balanced, and unbalanced again."""
    concentration: float = 1.0
    """Concentration of the Dirichlet shares of the classes at a client."""
    batch_size: int = 8
    """Samples per local step; no client has fewer."""
    step_sizes: tuple[float, ...] = (0.03125, 0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
    """Grid from which the step size of each method is chosen."""
    num_rounds: int = 60
    """Communication rounds."""
    target: float = 85.0
    """Test accuracy to reach, in percent."""
    num_tuning: int = 3
    """Data sets on which step sizes are chosen."""
    num_instances: int = 12
    """Data sets of figures and tables."""
    num_replicates: int = 2
    """Runs of each method on a data set."""
    seed: int = 0
    """Entropy of data, batches and coins."""


QUICK = Config(
    num_clients=(32,), expected_sizes=(3.0,), powers=(0.2,), step_sizes=(0.125, 0.5), num_rounds=20, num_tuning=1,
    num_instances=3, num_replicates=2, target=70.0,
)  # fmt: skip


SHOWN = {FULL: "full participation", UNIFORM: "uniform sampling", OPTIMAL: "optimal sampling"}


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Tune every method, then run it on other data sets."""
    return tuned_runs(config, progress)


def table(data: "Dataset") -> study.Table:
    """One row per kind of data, budget and method."""
    target, rows = f"{data.attrs['target']:g}%", []
    for kind, size in itertools.product(data["kind"].values, data["size"].values):
        for name in map(str, data["strategy"].values):
            at, lead = {"kind": kind, "size": size, "strategy": name}, lead_of(data.sel(kind=kind), size, name)
            rows.append({
                "data": str(kind), "m": float(size), "strategy": name, "step size": float(data["step_size"].sel(at)),
                "final accuracy [%]": with_limits(data["accuracy"].isel(round=-1).sel(at)),
                "minus uniform": "" if name == UNIFORM else with_limits(lead, 1, signed=True),
                f"rounds to {target}": mean_words(reached(data, "rounds").sel(at).values),
                f"megabits to {target}": mean_words(reached(data, "bits").sel(at).values, 2),
            })  # fmt: skip
    caption = f"Means over data sets [95% interval], after {int(data['round'][-1])} rounds; differences are paired."
    return study.Table(rows, "Optimal client sampling of softmax models, tuned step sizes", caption)


def checks(data: "Dataset") -> dict[str, Check]:
    """Test the statements of the page."""
    bits = np.log(reached(data, "bits").isel(kind=0)).mean("instance")
    saved = {name: float((bits.sel(strategy=OPTIMAL) - bits.sel(strategy=name)).max()) for name in (FULL, UNIFORM)}
    lead = min(float(lead_of(data.isel(kind=0), size).mean()) for size in data["size"].values)
    steps = data["step_size"].isel(kind=0)
    return {
        "on unbalanced clients OCS reaches the target with the fewest bits": Check(
            max(saved.values()) < 0, f"logarithms of the ratios {saved}"
        ),
        "on unbalanced clients OCS ends above uniform": Check(lead > 0, f"at least {lead:.2f} points"),
        "on unbalanced clients uniform takes no longer steps than OCS": Check(
            bool((steps.sel(strategy=UNIFORM) <= steps.sel(strategy=OPTIMAL)).all()), f"{steps.values.tolist()}"
        ),
    }


def figure(data: "Dataset") -> "Figure":
    """Draw accuracy against bits on unbalanced and balanced clients, and final leads of OCS over uniform sampling."""
    import matplotlib.pyplot as plt

    kinds, size = [str(kind) for kind in data["kind"].values], data["size"].values[0]
    with appearance():
        drawn, panels = plt.subplots(1, 3, figsize=(12.5, 4), width_ratios=(1, 1, 0.8))
        for axes, kind in zip(panels[:2], kinds, strict=False):
            axes.set(xscale="log", xlabel="Mbit sent to the server", ylim=(20, 100))
            axes.set_title(f"{kind} clients, {size:g} per round")
            here = data.sel(kind=kind, size=size).isel(round=slice(1, None)).transpose("strategy", "instance", "round")
            own = {words: here.sel(strategy=name) for name, words in SHOWN.items()}
            sent = {name: one["bits"].values.mean(axis=0) / 1e6 for name, one in own.items()}
            marked(axes, {name: (sent[name], mean_and_limits(one["accuracy"])) for name, one in own.items()}, every=6)
            level(axes, data.attrs["target"], f"target {data.attrs['target']:g}%", -1)
        panels[0].set_ylabel("test accuracy [%]")
        places = name_rows(panels[2], [f"{kind} clients" for kind in kinds])
        for row, m in enumerate(data["size"].values):
            leads = [lead_of(data.sel(kind=kind), m) for kind in kinds]
            look: Any = {"color": COLORS[row], "marker": MARKERS[row], "label": f"{m:g} clients per round"}
            intervals(panels[2], leads, places - 0.15 * row, **look)
        panels[2].axvline(0, color="black", linewidth=0.8)
        panels[2].set_xlabel("final lead over uniform sampling [points]")
        panels[2].legend()
        means = [float(lead_of(data.sel(kind=kind), size).mean()) for kind in kinds[:2]]
        sentence = "Optimal sampling ends {:.1f} points above uniform sampling on unbalanced clients"
        return finding(drawn, (sentence + ", {:.1f} on balanced ones" if len(means) > 1 else sentence).format(*means))


def said(data: "Dataset") -> list[str]:
    """Sentences of the page, and of the page about all figures."""
    near, even, many = (data.sel(kind=kind) for kind in KINDS)
    few, more = data["size"].values
    near_steps, at = near["step_size"], f"{data.attrs['target']:g}%"
    steps = near_steps.sel(strategy=OPTIMAL) / near_steps.sel(strategy=UNIFORM)

    def of(here: "Dataset", what: str, digits: int, size: float = few) -> list[str]:
        """Means of OCS, uniform sampling and full participation over the same data sets."""
        values = here["accuracy"].isel(round=-1) if what == "final" else reached(here, what)
        means = values.sel(size=size, strategy=[OPTIMAL, UNIFORM, FULL]).mean("instance", skipna=False).values
        return [f"{mean:.{digits}f}" for mean in means]

    def lead(here: "Dataset", size: float = few) -> str:
        return with_limits(lead_of(here, size))

    final, rounds, sent = of(near, "final", 1), of(near, "rounds", 1), of(near, "bits", 2)
    ends = of(many, "final", 1)
    (less, least), (fewer, _) = shares_of_bits(many, few), shares_of_bits(near, more)
    balanced = f"differ by {lead(even)} points with m = {few:g} and by {lead(even, more)} with m = {more:g}"
    return [
        f"OCS ends less than a point below full participation ({final[0]}% against {final[2]}%)",
        f"and {lead(near)} points above uniform sampling",
        f"To {at} it needs {rounds[0]} rounds, full participation {rounds[2]} and uniform sampling {rounds[1]}",
        f"to {at} it sends {sent[0]} megabits where uniform sampling needs {sent[1]} and full participation {sent[2]}",
        f"lead over uniform sampling is {lead(near, more)} points, and {fewer:.2f} times its bits",
        f"{float(steps[0]):g} times as long here with m = {few:g} and {float(steps[1]):g} times with m = {more:g}",
        f"OCS and uniform sampling {balanced}",
        f"digits on {int(near['num_clients'])} unbalanced clients",
        f"of {int(many['num_clients'])} clients OCS ends at {ends[0]}%, full participation at {ends[2]}%, and",
        f"uniform sampling {lead(many)} points below OCS, which sends {least:.2f} times the bits of full participation",
        f"to {at}, and {less:.2f} times those of",
    ]


STUDY = study.Study(
    "optimal_sampling_softmax", Config(), QUICK, run, table, stated(checks), {"optimal_sampling_softmax": figure}
)

if __name__ == "__main__":
    study.main(STUDY)
