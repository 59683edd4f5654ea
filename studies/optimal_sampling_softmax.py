r"""
Optimal client sampling of softmax models with tuned steps
==========================================================

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

**Figure.** Left and middle: accuracy against bits, with 95% intervals over data sets. Right: leads of OCS over uniform
sampling, paired by data set.
"""

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from _repeated import geometric_limits, geometric_words, mean_and_limits, mean_words, with_limits
from _slides import intervals, level, marked, name_rows
from _tuned_sampling import FULL, OPTIMAL, UNIFORM, lead_of, reached, share_of_bits, tuned_runs

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


def findings(data: "Dataset") -> dict[str, study.Finding]:
    """Compare final accuracies, bits and step sizes of the methods on the same data sets."""
    sizes, at = data["size"].values.tolist(), f"{data.attrs['target']:g}%"
    apart = float(abs(data["accuracy"].sel(strategy="AOCS") - data["accuracy"].sel(strategy=OPTIMAL)).max())
    same = {
        "AOCS": study.Finding(
            "The approximate probabilities give the same accuracies as the optimal ones.", apart < 1e-9
        )
    }
    if data.sizes["instance"] < 5 or data.sizes["kind"] < 3 or len(sizes) < 2:
        return same
    near, even, pool = (data.sel(kind=kind) for kind in data["kind"].values)
    m, more = (f"m = {size:g}" for size in sizes[:2])
    steps = near["step_size"].sel(strategy=OPTIMAL) / near["step_size"].sel(strategy=UNIFORM)
    leads = [[lead_of(here, size) for size in sizes] for here in (near, even, pool)]
    limits = np.array([[mean_and_limits(one) for one in own] for own in leads])
    words = [
        f"{with_limits(own[0])} points above uniform sampling with {m}, and {with_limits(own[1])} points with {more}"
        for own in leads
    ]
    bits = [
        [share_of_bits(here, size, name) for name in (UNIFORM, FULL)]
        for here, size in ((near, sizes[0]), (near, sizes[1]), (pool, sizes[0]))
    ]
    sent = [[geometric_words(one, ".2f") for one in own] for own in bits]
    saves = [all(geometric_limits(one)[2] < 1 for one in own) for own in bits]
    final = (
        data["accuracy"]
        .isel(round=-1, size=0)
        .sel(strategy=[OPTIMAL, FULL])
        .mean("instance")
        .transpose("kind", "strategy")
        .values
    )
    rounds = reached(near, "rounds").isel(size=0).mean("instance", skipna=False)
    needed = {name: float(rounds.sel(strategy=name)) for name in (OPTIMAL, FULL, UNIFORM)}
    return {
        "kinds": study.Finding(
            f"With {m} optimal sampling ends {with_limits(leads[0][0])} points above uniform sampling on unbalanced "
            f"clients, and {with_limits(leads[1][0])} points on balanced ones.",
            bool(limits[0, 0, 1] > max(0, limits[1, 0, 2])),
        ),
        "unbalanced": study.Finding(
            f"On unbalanced clients optimal sampling ends {words[0]}.", bool((limits[0, :, 1] > 0).all())
        ),
        "balanced": study.Finding(
            f"On balanced clients optimal sampling ends {words[1]}.",
            bool(limits[1, 0, 1] < 0 < limits[1, 1, 1] and limits[1, :, 0].max() < 1),
        ),
        "full": study.Finding(
            f"On unbalanced clients with {m} optimal sampling ends at {final[0, 0]:.1f}%, and full participation at "
            f"{final[0, 1]:.1f}%.",
            bool(final[0, 0] < final[0, 1] < final[0, 0] + 1),
        ),
        "rounds": study.Finding(
            f"On unbalanced clients with {m} optimal sampling needs {needed[OPTIMAL]:.1f} rounds to {at}, full "
            f"participation {needed[FULL]:.1f}, and uniform sampling {needed[UNIFORM]:.1f}.",
            needed[FULL] < needed[OPTIMAL] < needed[UNIFORM],
        ),
        "bits": study.Finding(
            f"On unbalanced clients with {m} optimal sampling sends {sent[0][0]} times the bits of uniform sampling "
            f"to {at}, and {sent[0][1]} times those of full participation.",
            saves[0],
        ),
        "more bits": study.Finding(
            f"With {more} it sends {sent[1][0]} times the bits of uniform sampling, and {sent[1][1]} times those of "
            "full participation.",
            saves[1],
        ),
        "steps": study.Finding(
            "On unbalanced clients the tuned step size of optimal sampling is "
            f"{' and '.join(f'{step:g}' for step in steps.values)} times that of uniform sampling.",
            bool((steps > 1).all()),
        ),
        "pool": study.Finding(
            f"With {m} of {int(pool['num_clients'])} unbalanced clients optimal sampling ends at {final[2, 0]:.1f}%, "
            f"full participation at {final[2, 1]:.1f}%, and uniform sampling {with_limits(leads[2][0])} points below "
            "optimal sampling.",
            bool(limits[2, 0, 1] > 0 and final[2, 0] < final[2, 1]),
        ),
        "bits of the pool": study.Finding(
            f"With {m} of {int(pool['num_clients'])} unbalanced clients it sends {sent[2][0]} times the bits of "
            f"uniform sampling to {at}, and {sent[2][1]} times those of full participation.",
            saves[2],
        ),
        **same,
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
        return drawn


STUDY = study.Study(
    "optimal_sampling_softmax", Config(), QUICK, run, table, findings, {"optimal_sampling_softmax": figure}
)

if __name__ == "__main__":
    study.main(STUDY)
