r"""
Power-of-Choice with a deep network on FashionMNIST
===================================================

**Question.** Figures 5, 6, 8 and 11 to 15 and Tables 1 and 2 of Cho, Wang and Joshi (2020) are about a deep network on
FashionMNIST. There random selection of 3 of 100 clients needs 234 rounds to 60% and ends at 64.9%, Power-of-Choice with
6 candidates 89 rounds and 76.5%. Are these numbers reproduced at the paper's settings? If not, which setting would have
to differ? What do the variants save and cost?

**Method.** *FashionMNIST* follows the text and the supplementary code of the paper: a perceptron 784-64-30-10 with
dropout 1/2 behind the second hidden layer, gray values :math:`(x - .1307)/.3081`, weight decay 1e-4, 100 clients with
Dirichlet shares of each class that leave out a client with a hundredth of the images, 30 local steps on batches of 64
in a fixed order of a client's images, step size 0.005 halved at rounds 150 and 300, 400 rounds, equal initial models
for all strategies. Each setting changes one or a few of these: a shorter step; *one pass* (a client stops after one
pass over its images); *equal weights* of clients when they are drawn; *averages by size*; drawing *without
replacement*; *no dropout*; unscaled *gray values*; *another start*; *batches drawn anew* and *the code's partition*, as
in the supplementary code; *the same clients* in every round, which happens if a generator is seeded again in each
round; *as a public rerun* (peng-ju/Power-of-Choice: a tenth of the step, with both); and the parameters of Figures 8 to
15. Most settings are run on one partition or for 100 rounds, as the table says. *Digits*: softmax regression on
scikit-learn's digits, 100 clients, short steps to 60% and long ones to 90%. Runs on FashionMNIST are kept in the folder
of ``--runs``, so that a stopped study continues.

**Figure.** Left: the lead of Power-of-Choice, paired by partition (95% intervals where there are several), and the
paper's lead. Middle: accuracies as published, and those of Table 1. Right: rounds to the target on digits, divided by
those of random selection with more clients, and the paper's ratios.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import _fmnist as fmnist
import _fmnist_digits as digits
from _experiments import joined, part
from _fmnist import BASE, PLANNED, SHORT, Size
from _slides import intervals, name_rows

from fedtheory import study
from fedtheory.plotting.style import COLORS, MARKERS, appearance

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Power-of-Choice on FashionMNIST, at the paper's settings and at others, and on digits."""

    size: Size = field(default_factory=Size)
    """Sizes of the runs on FashionMNIST."""
    settings: tuple[str, ...] = PLANNED
    """Settings by name."""
    concentrations: tuple[float, ...] = (0.3, 2.0)
    """Concentrations of the Dirichlet shares."""
    many: int = 10
    """Clients per round of the first strategy."""
    few: int = 3
    """Clients per round of the others."""
    num_candidates: int = 6
    """Candidates d of pow-d and cpow-d; pow-d with many clients has the same number per client."""
    more_candidates: int = 15
    """Candidates of pow-d with more candidates."""
    num_remembered: int = 50
    """Candidates of rpow-d."""
    target: float = 60.0
    """Test accuracy to reach, in percent."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """Partitions of FashionMNIST, with a start and batches each."""
    early_rounds: int = 100
    """Rounds of incomplete runs."""
    runs: str | None = "results/power_of_choice_fmnist-runs"
    """Folder in which every run on FashionMNIST is stored; by default no run is stored."""
    data: tuple[str, ...] = ("digits",)
    """Images of the second part: digits, fashion-mnist, or four IDX files (to train on, and to test)."""
    digits_clients: int = 100
    """Clients K on digits."""
    digits_rounds: int = 400
    """Communication rounds on digits."""
    digits_halve_at: tuple[int, ...] = (150, 300)
    """Rounds at which the step size halves on digits."""
    digits_steps: int = 30
    """Local steps on digits."""
    digits_batch: int = 8
    """Samples per local step on digits."""
    digits_step_sizes: tuple[float, float] = (7e-4, 0.01)
    """Step sizes at the start on digits, short and long."""
    digits_targets: tuple[float, float] = (60.0, 90.0)
    """Test accuracy to reach on digits with short steps and with long ones, in percent."""
    num_replicates: int = 2
    """Replicates per partition of digits and strategy."""
    cost_instances: int = 10
    """Partitions of digits."""
    seed: int = 0
    """Entropy of digits."""


QUICK = Config(
    size=Size(
        images="digits", num_clients=20, hidden=(20, 12), num_rounds=40, local_steps=10, batch_size=16, step_size=0.1,
        halve_at=(20, 30), record_every=2,
    ),
    settings=(BASE, SHORT, "one pass"), many=4, few=2, num_candidates=4, more_candidates=8, num_remembered=10,
    early_rounds=20, runs=None, digits_clients=40, digits_rounds=60, digits_halve_at=(30, 45), digits_steps=10,
    digits_step_sizes=(0.003, 0.03), digits_targets=(50.0, 85.0), concentrations=(0.3,), cost_instances=2,
    num_replicates=1, seeds=(0, 1),
)  # fmt: skip


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Train the planned runs, or read the stored ones."""
    costs = digits.costs(config, progress)
    return joined({"fashion": fmnist.fashion(config, progress), "costs": costs})


def table(data: "Dataset") -> study.Table:
    """One row per setting, concentration and strategy, with the paper's fmnist."""
    rows = [*fmnist.rows_of_fashion(part(data, "fashion")), *digits.rows_of_digits(part(data, "costs"))]
    caption = "Accuracies are means over the last tenth of the rounds [95% interval over partitions]; leads are paired."
    return study.Table(rows, f"Power-of-Choice on images, to {data.attrs['fashion_target']:g}%", caption)


def findings(data: "Dataset") -> dict[str, study.Finding]:
    """Return the findings about the paper's figures and tables if they were run, and what holds in small runs."""
    fashion, costs = part(data, "fashion"), part(data, "costs")
    found: dict[str, study.Finding] = {}
    if fashion.attrs["published"] and set(fmnist.PLANNED) <= set(fashion["setting"].values):
        found |= fmnist.findings_of_fashion(fashion) | digits.findings_of_costs(costs)
    return found | fmnist.laws_of_fashion(fashion) | digits.laws_of_costs(costs)


def figure(data: "Dataset") -> "Figure":
    """Draw leads by setting, published accuracies, and ratios of rounds on digits, with the paper's values."""
    import matplotlib.pyplot as plt

    runs, costs = fmnist.Runs(part(data, "fashion")), part(data, "costs")
    alpha, paper = float(costs["concentration"][0]), fmnist.PUBLISHED[0.3]
    leads, ends, ratios = fmnist.leads(runs, alpha), fmnist.ends(runs, alpha), digits.ratios(costs, alpha)
    far = paper[2][1] - paper[1][1]
    with appearance():
        drawn, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4.4))
        intervals(left, list(leads.values()), name_rows(left, list(leads)), color=COLORS[0], marker=MARKERS[0])
        left.axvline(far, color="black", linestyle="--", linewidth=1)
        left.set_ylim(top=1.6)
        left.text(far, 1.1, "paper ", ha="right", va="center", fontsize=9)
        left.text(0.3, 1.1, "hollow: one partition", va="center", fontsize=9)
        left.set_xlabel("lead of pow-d over random selection [points]")
        places = name_rows(middle, list(ends))
        intervals(
            middle, list(ends.values()), places, color=COLORS[1], marker=MARKERS[1], label="paper's settings, 95%"
        )
        middle.plot(
            [accuracy for _, accuracy in paper][: len(places)], places, "x", color="black", label="paper, Table 1"
        )
        middle.set_xlabel("test accuracy [%]")
        places = name_rows(right, list(ratios))
        intervals(right, list(ratios.values()), places, color=COLORS[2], marker=MARKERS[2], label="digits, 95%")
        right.plot(
            [rounds / paper[0][0] for rounds, _ in paper[2:]], places, "x", color="black", label="paper, Table 1"
        )
        right.set_xlabel(f"rounds to {data.attrs['fashion_target']:g}% / rounds of rand, m = {runs.many}")
        for axes in (left, right):
            axes.axvline(0 if axes is left else 1, color="black", linewidth=0.8)
        for axes in (middle, right):
            axes.set_ylim(top=1.4)
            axes.legend(fontsize=8, loc="upper left")
        return drawn


STUDY = study.Study("power_of_choice_fmnist", Config(), QUICK, run, table, findings, {"power_of_choice_fmnist": figure})

if __name__ == "__main__":
    study.main(STUDY)
