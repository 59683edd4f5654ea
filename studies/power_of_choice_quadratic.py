r"""
Speed and final gap of Power-of-Choice on quadratics
====================================================

**Question.** Cho, Wang and Joshi (2020) find on quadratics (their Figures 2 and 7) that pow-d, which trains the m of d
candidate clients with the largest losses, converges faster than random selection and ends on a floor. They find that
adapow-d, which decreases d to m, is as fast and has no floor. What is gained, and what does it cost?

**Method.** Appendix F: :math:`F_k(w) = \tfrac12 h_k |w|^2 - e_k^\top w + \dots` with :math:`h_k \sim U(1, 20)` in
dimension 5, data shares from a power law, K = 30 and 100 clients of which a tenth is selected, two local steps of size
:math:`2\cdot10^{-5}`. The paper does not state :math:`e_k`, the initial model and the number of rounds; here the first
two are Gaussian. The speed-up is the number of rounds that random selection needs to reach a fraction of the initial
gap, divided by that of a strategy. It is averaged geometrically over replicates and then over independently drawn
instances. The final gap is the mean over the last twentieth of the rounds.

**Figure.** Left: the gap of one instance with 95% bands. Middle and right: speed-ups and final gaps over the instances,
with 95% Student-t intervals. Far from the optimum the losses rank clients by curvature, so the contraction per step can
grow by at most :math:`\max_k h_k / \sum_k p_k h_k`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from _power_of_choice_races import ADAPTIVE, RAND, race_on_quadratic
from _repeated import geometric_limits, geometric_words, span
from _slides import curves, intervals, name_rows

from fedtheory import study
from fedtheory.plotting.style import COLORS, MARKERS, appearance

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Power-of-Choice on random quadratics: Figures 2 and 7 of the paper, with speed-ups and final gaps."""

    num_clients: tuple[int, ...] = (30, 100)
    """Clients K."""
    selected_share: float = 0.1
    """Share C of the clients that is selected in a round."""
    candidates_per_selected: tuple[int, ...] = (2, 3, 5, 10)
    """Candidates d of pow-d, as multiples of the number m of selected clients."""
    num_rounds: int = 60_000
    """Communication rounds."""
    halve_every: int = 5_000
    """Rounds after which adapow-d halves d, from K down to m."""
    local_steps: int = 2
    """Local steps tau per round."""
    step_size: float = 2e-5
    """Fixed step size."""
    initial_scale: float = 10.0
    """Standard deviation of each coordinate of the starting model."""
    thresholds: tuple[float, ...] = (0.5, 0.1, 0.01)
    """Fractions of the initial gap to reach."""
    num_instances: int = 8
    """Independently drawn federations."""
    num_replicates: int = 20
    """Replicates per federation and strategy."""
    seed: int = 0
    """Entropy of instances, starting models and selections."""


QUICK = Config(
    num_clients=(30,), candidates_per_selected=(2, 10), num_rounds=6_000, halve_every=500, step_size=2e-4,
    num_instances=3, num_replicates=4,
)  # fmt: skip


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Simulate every strategy on every instance."""
    return race_on_quadratic(config, progress)


def _ends(data: "Dataset", name: str) -> Any:
    """Divide the final gaps by those of random selection on the same instances."""
    return (data["final_gap"].sel(strategy=name) / data["final_gap"].sel(strategy=RAND)).values


def table(data: "Dataset") -> study.Table:
    """One row per size and strategy."""
    rows = []
    for size in data["num_clients"].values:
        here = data.sel(num_clients=size)
        for name in map(str, data["strategy"].values):
            row: dict[str, Any] = {"K": int(size), "strategy": name}
            row["final gap F - F*"] = float(here["final_gap"].sel(strategy=name).mean())
            row["times that of random selection"] = geometric_words(_ends(here, name))
            for threshold in data["threshold"].values:
                cell = here["speedup"].sel(strategy=name, threshold=threshold).values
                row[f"speed-up to {threshold:.0%} of the gap"] = geometric_words(cell)
            rows.append(row)
    return study.Table(rows, "Power-of-Choice on the quadratics of Appendix F", "Geometric means [95% interval].")


def findings(data: "Dataset") -> dict[str, study.Finding]:
    """Compare speed, final gaps, and selected shares with those of random selection on the same instances."""
    names, sizes = [str(name) for name in data["strategy"].values], data["num_clients"].values.tolist()
    few, most, early = names[1], names[-2], data["speedup"].isel(threshold=0).drop_sel(strategy=RAND)
    logs: Any = np.log(data["speedup"])
    gains = np.exp(logs.mean("instance", skipna=False))  # if all instances have reached the threshold
    first = gains.isel(threshold=0)
    ends = (data["final_gap"] / data["final_gap"].sel(strategy=RAND)).sel(strategy=names[1:-1])
    heights = np.exp(np.log(ends.transpose("instance", "num_clients", "strategy").values).mean(axis=0))
    adaptive = [_ends(data.sel(num_clients=size), ADAPTIVE) for size in sizes]
    cells = [f"{geometric_words(one)} with {size} clients" for one, size in zip(adaptive, sizes, strict=True)]
    stretches = [_behind(data.sel(num_clients=size)) for size in sizes]
    rounds = [f"{begin:,} to {end:,} with {size} clients" for (begin, end), size in zip(stretches, sizes, strict=True)]
    ceiling, (follows, departs) = float(data["ceiling"].mean()), _deviations(data, RAND, most)
    return {
        "early and late": study.Finding(
            f"Power-of-Choice is {span(first.sel(strategy=names[1:-1]))} times as fast as random selection to half of "
            f"the initial gap, and ends at a gap {span(heights, 0)} times as large.",
            bool(early.min() > 1 and ends.min() > 1),
        ),
        "adaptive": study.Finding(
            "Once d has decreased to m, the final gap of adapow-d over that of random selection is "
            f"{' and '.join(cells)}.",
            all(0.5 < float(geometric_limits(one)[0]) < 2 for one in adaptive),
        ),
        "behind": study.Finding(
            "During the run the gap of adapow-d is larger than that of random selection from round "
            f"{' and from '.join(rounds)}.",
            all(0 < begin < end for begin, end in stretches),
        ),
        "candidates": study.Finding(
            "The final gap of pow-d grows with the number of candidates.",
            bool((np.diff(heights) > 0).all()),
            f"times that of random selection: {heights.round().tolist()}",
        ),
        "speed-ups": study.Finding(
            f"To all thresholds that are reached, the mean speed-ups are {span(gains.drop_sel(strategy=RAND))}: "
            f"{span(gains.sel(strategy=few))} with {few.partition(', ')[2]} and {span(gains.sel(strategy=most))} with "
            f"{most.partition(', ')[2]}.",
            bool(gains.drop_sel(strategy=RAND).min() > 1),
        ),
        "ceiling": study.Finding(
            f"To half of the gap the mean speed-ups are below the largest increase of the contraction, {ceiling:.2f}.",
            bool(first.max() < ceiling),
        ),
        "shares": study.Finding(
            "Random selection follows the data shares, and pow-d does not.",
            follows < 5 and departs > 20,
            f"largest distances: {follows:.1f} and {departs:.1f} standard errors",
        ),
    }


def _behind(here: "Dataset") -> tuple[int, int]:
    """Return the first rounds in a row in which adapow-d has a larger gap than random selection."""
    gap, rounds = here["band"].sel(side="mean"), here["round"].values
    behind = (gap.sel(strategy=ADAPTIVE) > gap.sel(strategy=RAND)).values
    first = int(behind.argmax())
    return int(rounds[first]), int(rounds[first:][np.append(behind[first:], False).argmin() - 1])


def _deviations(data: "Dataset", *names: str) -> list[float]:
    """Largest distances between selected share and data share, in standard errors of multinomial draws."""
    here = data.isel(num_clients=0).dropna("client")
    error = np.sqrt(here["weight"] * (1 - here["weight"]) / data.attrs["selections"])
    return [float((abs(here["share"].sel(strategy=name) - here["weight"]) / error).max()) for name in names]


def figure(data: "Dataset") -> "Figure":
    """Draw gaps of one instance, and speed-ups and final gaps over all instances."""
    import matplotlib.pyplot as plt

    names, first = [str(name) for name in data["strategy"].values], data.isel(num_clients=0)
    with appearance():
        drawn, (gaps, speeds, floors) = plt.subplots(1, 3, figsize=(12, 4), width_ratios=(1.3, 1, 1))
        gaps.set(yscale="log", xlabel="communication rounds", ylabel="$F(w) - F^*$")
        gaps.set_title(f"{int(data['num_clients'][0])} clients")
        shown = {RAND: "random selection", **dict(zip(names[-2:], names[-2:], strict=True))}
        bands = {words: first["band"].sel(strategy=name).values for name, words in shown.items()}
        curves(gaps, data["round"].values, bands)
        heights = name_rows(speeds, names[1:])
        for place, size in enumerate(data["num_clients"].values):
            here = data.sel(num_clients=size)
            look: Any = {"color": COLORS[place], "marker": MARKERS[place], "label": f"{size} clients"}
            early = list(here["speedup"].isel(threshold=0).transpose("strategy", "instance").values[1:])
            intervals(speeds, early, heights - 0.15 * place, geometric_limits, **look)
            ends = [_ends(here, name) for name in names[1:]]
            intervals(floors, ends, heights - 0.15 * place, geometric_limits, **look)
        for axes in (speeds, floors):
            axes.axvline(1, color="black", linewidth=0.8)
        speeds.set_xlabel("speed-up over random selection\nto half of the gap")
        floors.set_xlabel("final gap / that of\nrandom selection")
        name_rows(floors, ["" for _ in names[1:]])
        floors.set_xscale("log")
        speeds.legend()
        return drawn


STUDY = study.Study(
    "power_of_choice_quadratic", Config(), QUICK, run, table, findings, {"power_of_choice_quadratic": figure}
)

if __name__ == "__main__":
    study.main(STUDY)
