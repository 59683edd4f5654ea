r"""
GreedyFed's tables, and greedy selection on digits and quadratics
=================================================================

**Question.** GreedyFed (Singhal, Pandey, Popovski 2024) reports, in its Tables I to IV, higher and steadier test
accuracy than five baselines under label skew, few rounds, stragglers and privacy noise. The base case of all four is
the label skew :math:`\alpha = 10^{-4}`, at which each client should have one class. Can the tables be reproduced, do
these clients have one class, and to which model does greedy selection converge?

**Method.** *FashionMNIST* at the paper's sizes: N = 300, M = 3, T = 400, a perceptron 784-50-25-10, E = 5 epochs of B =
5 mini-batches, momentum 0.5, half of the test images for validation and half for the test, common seeds. The authors'
public code draws a client's class shares from a Dirichlet law, as ten normalized gamma variables. In double precision a
gamma variable of shape :math:`10^{-4}` is below :math:`2^{-1022}` with probability :math:`2^{-1022 \alpha}/\Gamma(1 +
\alpha)` = 0.93. If all ten are, which has probability 0.493, all shares are 0.1. Clients *as drawn* have that
underflow, *one class* clients do not. Runs are kept in the folder of ``--runs``, so that a stopped study continues.
*Digits*: N = 60, T = 320, sizes from the density :math:`3x^2`, no underflow, with one number changed at a time.
*Quadratics*, where values are exact Shapley values of the objective: many clients, and two, one per round, whose local
work ends at their minimizers. Of these two, greedy selection always selects the one with the larger weight, unless it
has the first turn and the start is so close to the minimum that both first turns increase the loss, its own most.

**Figure.** Left: draws of class shares in double precision, and the probability of the underflow. Middle: the lead of
GreedyFed over FedAvg in all entries of the base case, paired by seed, with 95% intervals, and the paper's lead; each
algorithm has one parameter. Right: the lead on digits against rounds, with 95% intervals.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import _greedyfed_causes as causes
import _greedyfed_fashion as on_fashion
from _experiments import joined, part
from _greedyfed_fashion import BASES, DRAWN, EVERY, FIRST, MAIN, SETTINGS, Run
from _repeated import mean_and_limits
from _slides import curves

from fedtheory import study
from fedtheory.plotting.style import appearance

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


FASHION_MNIST = Run(("fashion-mnist",), 10_000, 300, 400, 0.01, (50, 25), record_every=50, min_samples=31)
DIGITS = Run(("digits",), 600, 60, 320, 0.05, (32,), record_every=10, min_samples=5)


@dataclass(frozen=True)
class Config:
    """GreedyFed and its rivals on FashionMNIST and on digits, and greedy selection on quadratics."""

    fashion: Run = FASHION_MNIST
    """Common settings of the runs of the tables."""
    settings: tuple[str, ...] = tuple(SETTINGS)
    """Settings of the tables."""
    variants: tuple[str, ...] = FIRST
    """Algorithms, each with its parameter if it has one; FedAvg and GreedyFed are always run."""
    choices: tuple[str, ...] = tuple(name for name in SETTINGS if SETTINGS[name].base == DRAWN)
    """Settings in which all variants of all algorithms are run, to measure the effect of choosing the best."""
    num_seeds: int = 5
    """Seeds of the tables: each has its own partition, initial model and selections."""
    num_draws: int = 30_000
    """Number of draws of class shares."""
    runs: str | None = "results/greedyfed_tables-runs"
    """Folder in which each run of the tables is stored; None stores no run."""
    digits: Run = DIGITS
    """Common settings of the runs on digits."""
    digits_seeds: int = 10
    """Seeds on digits."""
    changes: tuple[str, ...] = causes.CHANGES
    """Changes of one setting."""
    quadratics: causes.Quadratics = field(default_factory=causes.Quadratics)
    """Settings of pairs of clients, and of larger federations."""
    seed: int = 0
    """First seed."""


QUICK = Config(
    fashion=Run(("digits",), 600, 12, 24, 0.1, (16,), record_every=3, min_samples=5), settings=BASES, variants=MAIN,
    choices=(), num_seeds=2, num_draws=2_000, runs=None,
    digits=Run(("digits",), 1200, 12, 40, 0.05, (32,), record_every=2, min_samples=5),
    digits_seeds=2,
    changes=("step_size=0.01", "averaging=0", "averaging=0.5", "concentration=0.1"),
    quadratics=causes.Quadratics(
        num_starts=9, pair_rounds=100, num_replicates=4, num_clients=8, num_rounds=300, num_federations=2
    ),
)  # fmt: skip


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Train all runs that are not stored."""
    return joined({
        "leads": causes.leads(config, progress), "fashion": on_fashion.tables(config, progress),
        "quadratics": causes.quadratics(config, progress),
    })  # fmt: skip


def table(data: "Dataset") -> study.Table:
    """One row per entry, kind of clients and algorithm; then leads after one change, and biases."""
    rows = [*on_fashion.rows_of_fashion(part(data, "fashion")), *causes.rows_of_leads(part(data, "leads"))]
    rows += causes.rows_of_quadratics(part(data, "quadratics"))
    names = dict.fromkeys(name for row in rows for name in row)
    caption = "Differences to FedAvg are paired by seed, with 95% intervals."
    return study.Table([dict.fromkeys(names, "") | row for row in rows], "Test accuracy", caption)


def findings(data: "Dataset") -> dict[str, study.Finding]:
    """Return the findings of the tables if they were run as published, and of the causes."""
    fashion, leads, quadratics = (part(data, name) for name in ("fashion", "leads", "quadratics"))
    found, laws = dict[str, study.Finding](), on_fashion.laws_of_fashion(fashion)
    is_published = fashion.attrs["published"] and set(EVERY) <= set(fashion["variant"].values)
    if is_published and fashion.sizes["seed"] >= 5 and laws["complete"].holds:
        found |= on_fashion.findings_of_fashion(fashion)
    if set(causes.CHANGES) <= set(leads["change"].values) and leads.sizes["seed"] >= 5:
        found |= causes.findings_of_leads(leads)
    return found | laws | causes.laws_of_leads(leads) | causes.findings_of_quadratics(quadratics)


def figure(data: "Dataset") -> "Figure":
    """Draw clients as drawn, leads over FedAvg in the entries of the base case, and leads on digits."""
    import matplotlib.pyplot as plt

    own, late = part(data, "fashion"), part(data, "leads")
    lead = dict(zip(map(str, late["change"].values), causes.lead_on_digits(late), strict=True))
    label = {
        causes.BASE: "base case", "step_size=0.01": "a fifth of\nthe step size", "averaging=0": "latest\nvalues",
        "concentration=0.1": "less label\nskew",
    }  # fmt: skip
    bands = {words: mean_and_limits(lead[name]) for name, words in label.items() if name in lead}
    with appearance():
        drawn, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4.2), width_ratios=(0.7, 1.1, 1))
        on_fashion.draw_draws(left, own)
        on_fashion.draw_leads(middle, own)
        right.set_xlabel("communication rounds")
        right.set_ylabel("lead over FedAvg on digits [points]")
        right.axhline(0, color="black", linewidth=0.8)
        right.set_ylim(min(band.min() for band in bands.values()) - 2, max(band.max() for band in bands.values()) + 2)
        curves(right, late["round"].values, bands)
        return drawn


STUDY = study.Study("greedyfed_tables", Config(), QUICK, run, table, findings, {"greedyfed_tables": figure})

if __name__ == "__main__":
    study.main(STUDY)
