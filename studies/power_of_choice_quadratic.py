r"""
On quadratics Power-of-Choice is faster at first and ends at a much larger gap
==============================================================================

**It is up to twice as fast at first. Its final gap is hundreds of times that of random selection, or more. adapow-d has
no floor once d has decreased to m.**

**Question.** Cho, Wang and Joshi (2020) find on quadratics (their Figures 2 and 7) that pow-d, which trains the m of d
candidate clients with the largest losses, converges faster than random selection and ends on a floor. They find that
adapow-d, which decreases d to m, is as fast and has no floor. What is gained, and what does it cost?

**Method.** Appendix F: :math:`F_k(w) = \tfrac12 h_k |w|^2 - e_k^\top w + \dots` with :math:`h_k \sim U(1, 20)` in
dimension 5, data shares from a power law, K = 30 and 100 clients of which a tenth is selected, two local steps of size
:math:`2\cdot10^{-5}`. The paper does not state :math:`e_k`, the initial model and the number of rounds; here the first
two are Gaussian. The speed-up is the number of rounds that random selection needs to reach a fraction of the initial
gap, divided by that of a strategy. It is averaged geometrically over replicates and then over independently drawn
instances. The final gap is the mean over the last twentieth of the rounds.

**Reading.** Left: the gap of one instance with 95% bands. Middle and right: speed-ups and final gaps over the
instances, with 95% Student-t intervals. Random selection follows the data shares, pow-d does not, as in Figure 7.

The final gaps of pow-d are 239 to 16,132 times that of random selection, and grow with the number of candidates. That
of adapow-d is 1.02 [0.935, 1.12] times as large as that of random selection for K = 30 and 0.846 [0.725, 0.989] times
for K = 100. During the run adapow-d stays on the floors of d = K, K/2, K/4, ...: from round 6,675 (K = 30) or 9,450 (K
= 100) on, until some thousand rounds after d has decreased to m, its gap is larger than that of random selection.

The mean speed-ups lie between 1.2 and 1.9: 1.3 to 1.4 with d = 2m, 1.8 to 1.9 with d = 10m. Far from the optimum the
losses rank clients by curvature, so the contraction per step can grow by at most :math:`\max_k h_k / \sum_k p_k h_k`,
which is 1.9 on average.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from _checks import Check, stated
from _power_of_choice_races import RAND, race_on_quadratic
from _repeated import geometric_limits, geometric_words, span
from _slides import curves, finding, intervals, name_rows

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
            row["times that of rand"] = geometric_words(_ends(here, name))
            for threshold in data["threshold"].values:
                cell = here["speedup"].sel(strategy=name, threshold=threshold).values
                row[f"speed-up to {threshold:.0%} of the gap"] = geometric_words(cell)
            rows.append(row)
    caption = f"Geometric means [95% interval]. Early no selection gains more than {float(data['ceiling'].mean()):.2f}."
    return study.Table(rows, "Power-of-Choice on the quadratics of Appendix F", caption)


def checks(data: "Dataset") -> dict[str, Check]:
    """Test the statements of the page."""
    names = [str(name) for name in data["strategy"].values]
    early: Any = data["speedup"].isel(threshold=0).drop_sel(strategy=RAND)
    floors = data["final_gap"].mean("instance")
    low, high = (floors.sel(strategy=names[place]).values for place in (1, -2))
    follows, departs = _deviations(data, RAND, names[-2])
    adaptive = [float(geometric_limits(_ends(data.sel(num_clients=K), names[-1]))[0]) for K in data["num_clients"]]
    ceiling, gain = float(data["ceiling"].mean()), float(np.exp(np.log(early).mean("instance").max()))
    return {
        "pow-d reaches the first threshold sooner than rand": Check(float(early.min()) > 1, span(early, 2)),
        "far from the optimum the speed-up stays below max h / mean h": Check(
            gain < ceiling, f"largest {gain:.2f} against {ceiling:.2f}"
        ),
        "more candidates end on a higher floor": Check(bool((high > low).all()), f"{low} and {high}"),
        "adapow-d ends where rand does once d is m": Check(
            0.5 < min(adaptive) <= max(adaptive) < 2, f"ratios {np.round(adaptive, 3)}"
        ),
        "rand follows the data shares": Check(follows < 5, f"{follows:.1f} standard errors"),
        "pow-d does not follow the data shares": Check(departs > 20, f"{departs:.1f} standard errors"),
    }


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
        bands = {name: first["band"].sel(strategy=name).values for name in (RAND, *names[-2:])}
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
        speeds.set_xlabel("speed-up over rand to half the gap")
        floors.set_xlabel("final gap / that of rand")
        name_rows(floors, ["" for _ in names[1:]])
        floors.set_xscale("log")
        speeds.legend()
        ends = [geometric_limits(_ends(first, name))[0] for name in names[1:-1]]
        sentence = "pow-d is faster at first, then ends {:.0f} to {:,.0f} times as high as rand; adapow-d has no floor"
        return finding(drawn, sentence.format(min(ends), max(ends)))


def said(data: "Dataset") -> list[str]:
    """Sentences of the page, and of the page about all figures."""
    names = [str(name) for name in data["strategy"].values if name != RAND]
    sizes = [data.sel(num_clients=size) for size in data["num_clients"].values]
    ends = [float(geometric_limits(_ends(here, name))[0]) for here in sizes for name in names[:-1]]
    first, second = (geometric_words(_ends(here, names[-1])) for here in sizes)
    logs: Any = np.log(data["speedup"])
    gains = np.exp(logs.mean("instance", skipna=False))  # if all instances have reached the threshold
    both, two, ten = (span(gains.sel(strategy=name)) for name in (names, names[0], names[-2]))
    gap = data["band"].sel(side="mean")
    behind = (gap.sel(strategy=names[-1]) > gap.sel(strategy=RAND)).transpose("num_clients", "round").values
    waits = [int(data["round"].values[one][0]) for one in behind]
    return [
        f"The final gaps of pow-d are {min(ends):,.0f} to {max(ends):,.0f} times that of random selection",
        f"{first} times as large as that of random selection for K = 30 and {second} times for K = 100",
        f"from round {waits[0]:,} (K = 30) or {waits[1]:,} (K = 100) on",
        f"The mean speed-ups lie between {both.replace(' to ', ' and ')}: {two} with d = 2m, {ten} with d = 10m",
        f"which is {float(data['ceiling'].mean()):.1f} on average",
        f"mean speed-ups of {both}",
        f"the final gap is {first} times that of random selection for K = 30, {second} times for K = 100",
    ]


STUDY = study.Study(
    "power_of_choice_quadratic", Config(), QUICK, run, table, stated(checks), {"power_of_choice_quadratic": figure}
)

if __name__ == "__main__":
    study.main(STUDY)
