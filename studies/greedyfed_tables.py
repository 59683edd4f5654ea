r"""
GreedyFed's gain needs the clients of its public code, half of which are i.i.d. by an underflow
===============================================================================================

**With clients as the public code draws them, greedy selection by Shapley values improves accuracy. With one class per
client, as the paper states, it does not.**

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
*Digits*: N = 60, T = 160, sizes from the density :math:`3x^2`, no underflow; then twice as many rounds, with one number
changed at a time. *Quadratics*, where values are exact Shapley values of the objective: many clients, and two, one per
round, whose local work ends at their minimizers. Of these two, greedy selection always selects the one with the larger
weight, unless it has the first turn and the start is so close to the minimum that both first turns increase the loss,
its own most.

**Reading.** Left: the class shares of clients as drawn, one bar per client. Middle: the lead of GreedyFed over FedAvg
in all entries of the base case, paired by seed, with 95% intervals, and the paper's lead. Right: the lead on digits
against rounds, with 95% intervals.

After 400 rounds, means of 5 seeds: with one class each FedAvg has 58.2 % and GreedyFed 39.7 %, as drawn 79.7 % and 84.5
%, where the paper has 82.84 % and 85.18 %. GreedyFed's lead over FedAvg, paired by seed, is +4.8 [-2.3, +11.9] points
as drawn and -18.5 [-29.7, -7.4] with one class each; the paper's means are +2.3 apart.

Here each algorithm has one parameter. With clients as drawn GreedyFed's mean accuracy is above those of four of its
five rivals in 8 of the 8 entries of the base case, and above all five in 3; with one class each above all five in 0;
the paper has it ahead in 8. UCB is level: in 8 of the 8 entries the 95% interval of the lead over it holds 0, after 400
rounds it is +0.0 [-0.7, +0.7] points. With the best variant of each algorithm, chosen on the test images, GreedyFed is
above all five in 7 of the 8. The choice of parameters matters little: the best of five averagings is worth at most 2.5
points to GreedyFed, the best of four weights 0.5 to FedProx, the best of two explorations 0.0 to UCB. Accuracies in all
of these entries: as drawn they differ from the paper's by 2.4 points, 31 of 48 within its spread, and with the best
variants by 2.3 points, 36 of 48 within its spread; with one class each by 28.0 points, 2 of 48 within its spread.

On digits GreedyFed ends behind FedAvg after every change: GreedyFed is ahead by up to 31 points, is overtaken (at step
size 0.01 after 150 of 320 rounds); with five times that step after 80. The cause is that it trains on few clients: it
trains on 4 to 18 effective clients, which hold 5 to 8 effective classes. Forgetting old values makes this worse: with
averaging 0 and 0.5 it ends 26 and 23 points behind instead of 8, a paired difference of 17 [8, 26] and 15 [8, 22]; less
label skew makes it better by 6 [1, 11]. On quadratics greedy selection has a bias 29 times that of uniform selection
with mean values and 139 times with latest ones.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import _greedyfed_digits as on_digits
import _greedyfed_fashion as on_fashion
import _greedyfed_quadratics as on_quadratics
from _checks import Check, stated
from _experiments import joined, part
from _greedyfed_runs import BASES, DRAWN, FIRST, MAIN, SETTINGS, SINGLE, Run
from _repeated import mean_and_limits
from _slides import curves, finding

from fedtheory import study
from fedtheory.plotting.style import appearance

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


FASHION_MNIST = Run(("fashion-mnist",), 10_000, 300, 400, 0.01, (50, 25), record_every=50, min_samples=31)
DIGITS = Run(("digits",), 600, 60, 160, 0.05, (32,), record_every=10, min_samples=5)


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
    digits_settings: tuple[str, ...] = tuple(name for name in SETTINGS if SETTINGS[name].base != DRAWN)
    """Settings on digits."""
    digits_seeds: int = 10
    """Seeds on digits."""
    lead_rounds: int = 320
    """Rounds of the runs in which one setting is changed."""
    changes: tuple[str, ...] = on_digits.CHANGES
    """Changes of one setting."""
    quadratics: on_quadratics.Quadratics = field(default_factory=on_quadratics.Quadratics)
    """Settings of pairs of clients, and of larger federations."""
    seed: int = 0
    """First seed."""


QUICK = Config(
    fashion=Run(("digits",), 600, 12, 24, 0.1, (16,), record_every=3, min_samples=5), settings=BASES, variants=MAIN,
    choices=(), num_seeds=2, num_draws=2_000, runs=None,
    digits=Run(("digits",), 1200, 12, 16, 0.05, (32,), record_every=2, min_samples=5),
    digits_settings=(SINGLE, f"{SINGLE}, sigma = 0.1"), digits_seeds=2, lead_rounds=40,
    changes=("step_size=0.01", "averaging=0", "averaging=0.5", "concentration=0.1"),
    quadratics=on_quadratics.Quadratics(
        num_starts=9, pair_rounds=100, num_replicates=4, num_clients=8, num_rounds=300, num_federations=2
    ),
)  # fmt: skip


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Train all runs that are not stored."""
    return joined({
        "fashion": on_fashion.tables(config, progress), "digits": on_digits.digits(config, progress),
        "leads": on_digits.leads(config, progress), "quadratics": on_quadratics.quadratics(config, progress),
    })  # fmt: skip


def table(data: "Dataset") -> study.Table:
    """One row per entry, kind of clients and algorithm; then leads after one change, and biases."""
    rows = [*on_fashion.rows_of_fashion(part(data, "fashion")), *on_digits.rows_of_digits(part(data, "digits"))]
    rows += [*on_digits.rows_of_leads(part(data, "leads")), *on_quadratics.rows_of_quadratics(part(data, "quadratics"))]
    names = dict.fromkeys(name for row in rows for name in row)
    caption = (
        "Differences to FedAvg are paired by seed, with 95% intervals; for digits, the paper's numbers are of MNIST."
    )
    return study.Table([dict.fromkeys(names, "") | row for row in rows], "Test accuracy", caption)


def checks(data: "Dataset") -> dict[str, Check]:
    """Test that all runs trained, the frequency of underflow, that greedy selection uses few clients, and the laws."""
    own = on_fashion.checks_of_fashion(part(data, "fashion")), on_digits.checks_of_digits(part(data, "digits"))
    rest = on_digits.checks_of_leads(part(data, "leads")), on_quadratics.checks_of_quadratics(part(data, "quadratics"))
    return own[0] | own[1] | rest[0] | rest[1]


def figure(data: "Dataset") -> "Figure":
    """Draw clients as drawn, leads over FedAvg in the entries of the base case, and leads on digits."""
    import matplotlib.pyplot as plt

    own, late = part(data, "fashion"), part(data, "leads")
    lead = dict(zip(map(str, late["change"].values), on_digits.lead_on_digits(late), strict=True))
    label = {
        on_digits.BASE: "base case",
        "step_size=0.01": "a fifth of\nthe step size",
        "averaging=0": "latest\nvalues",
    }
    label["concentration=0.1"] = "less label\nskew"
    bands = {words: mean_and_limits(lead[name]) for name, words in label.items() if name in lead}
    with appearance():
        drawn, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4.2), width_ratios=(0.8, 1.1, 1))
        on_fashion.draw_shares(left, own)
        ends = on_fashion.draw_leads(middle, own)
        right.set_xlabel("communication rounds")
        right.set_ylabel("lead over FedAvg on digits [points]")
        right.axhline(0, color="black", linewidth=0.8)
        right.set_ylim(min(band.min() for band in bands.values()) - 2, max(band.max() for band in bands.values()) + 2)
        curves(right, late["round"].values, bands)
        alike = own["draws"].values[0] / own["draws"].values.sum()
        words = {DRAWN: f"with clients as drawn, {alike:.0%} of which have all classes", SINGLE: "with one class each"}
        found = ", and ".join(f"{ends[base]:+.1f} points {words[base]}" for base in words if base in ends)
        return finding(drawn, f"GreedyFed's lead over FedAvg is {found}")


def said(data: "Dataset") -> list[str]:
    """Sentences of the page, and of the page about all figures."""
    found = on_fashion.said_of_fashion(part(data, "fashion")) + on_digits.said_of_digits(part(data, "digits"))
    found += on_digits.said_of_leads(part(data, "leads"))
    return found + on_quadratics.said_of_quadratics(part(data, "quadratics"))


STUDY = study.Study("greedyfed_tables", Config(), QUICK, run, table, stated(checks), {"greedyfed_tables": figure})

if __name__ == "__main__":
    study.main(STUDY)
