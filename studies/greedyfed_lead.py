r"""
For how long does greedy selection by Shapley values lead?
==========================================================

**For the first half of the rounds at the paper's step size: it leads early, is overtaken, and ends behind.**

**Question.** In its tables GreedyFed is ahead of FedAvg, mostly; on digits, in the study ``greedyfed_tables``, it ends
behind. Why? Is it the step size or the way values are averaged, are there too few rounds or clients, or is it greed?

**Method.** From the base of that study (the label skew is :math:`\alpha = 10^{-4}`, so that most clients have one
class) one number is changed at a time: the step size, the clients N, those per round M, how values are averaged, the
label skew. GreedyFed and FedAvg train on the same clients from the same model, seed by seed; the *lead* is the
difference of their test accuracies. What the selection came to is counted: *effective clients*
:math:`1/\sum_k f_k^2`, with :math:`f_k` the share of the updates that came from client k, and *effective classes*,
:math:`e^H` with H the entropy of the labels in the chosen clients' samples.

**Reading.** Bands are 95 % Student intervals of the mean lead. Whatever is changed, the picture is the same: GreedyFed
is ahead, by up to 31 points, once everybody had a turn, is then overtaken, and ends behind. *When* it is overtaken
depends on how fast training goes: with the paper's step size, 0.01, after 150 of the 320 rounds, with five times that
after 80. So a table that stops early, under the paper's tight budgets of rounds, has GreedyFed ahead, and a later one
has it behind. *That* it is overtaken is greed: it trains on 4 to 18 effective clients, which hold 5 to 8 effective
classes, and ends where these take it, while FedAvg trains on all and goes on. Forgetting old values makes it worse:
with averaging 0 and 0.5, where the fewest classes are left, it ends 26 and 23 points behind instead of 8, a paired
difference of 17 [8, 26] and 15 [8, 22]; with 0.9 and with twice the clients per round intervals of that difference
contain zero. Less label skew makes it better, by 6 [1, 11].
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from _greedyfed_runs import Dealt, Setting, accuracies, deal, train
from _images import images_of
from _repeated import span, with_limits

from fedtheory import study
from fedtheory.plotting.style import COLORS, MARKERS, appearance
from fedtheory.statistics import student_mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """Lead of GreedyFed over FedAvg, one parameter changed at a time."""

    data: tuple[str, ...] = ("digits",)
    """Images: digits, fashion-mnist, or four IDX files (images and labels to train on, and to test)."""
    step_size: float = 0.05
    """Local step size of the base."""
    num_clients: int = 60
    """Clients N of the base."""
    num_selected: int = 3
    """Clients per round M of the base."""
    averaging: float | Literal["mean"] = "mean"
    """How values are averaged in the base: mean, or the share that earlier ones keep."""
    concentration: float = 1e-4
    """Label skew of the base."""
    changes: tuple[str, ...] = (
        "step_size=0.01", "step_size=0.02", "num_clients=20", "num_clients=120", "num_selected=6", "averaging=0.0",
        "averaging=0.5", "averaging=0.9", "concentration=0.1",
    )  # fmt: skip
    """What is changed, one at a time."""
    num_rounds: int = 320
    """Rounds T."""
    num_epochs: int = 5
    """Local epochs E."""
    num_batches: int = 5
    """Mini-batches per epoch B."""
    hidden: tuple[int, ...] = (32,)
    """Hidden layers."""
    num_server: int = 600
    """Samples of the server, half for validation and half for the test."""
    num_seeds: int = 10
    """Seeds: each has its own partition, initial model and selections."""
    record_every: int = 10
    """Rounds between two tests."""
    seed: int = 0
    """First seed."""
    proximal_weight: float = 0.0
    """FedProx's weight, for both."""
    stragglers_drawn: Literal["once", "each round"] = "once"
    """When stragglers are drawn; there are none."""


QUICK = Config(num_clients=12, changes=("step_size=0.01",), num_rounds=40, num_seeds=4, num_server=1200, record_every=5)
ALGORITHMS = ("GreedyFed", "FedAvg")
FOUND = ("effective clients", "effective classes")


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Train both algorithms in every variation, seed by seed."""
    import xarray

    variations = {"base": config} | {change: changed(config, change) for change in config.changes}
    jobs = [(own, config.seed + s) for own in variations.values() for s in range(config.num_seeds)]
    curves, found = zip(*(_pair(own, seed) for own, seed in progress(jobs, "runs")), strict=True)
    shape = len(variations), config.num_seeds, len(ALGORITHMS)
    names = ("variation", "seed", "algorithm")
    return xarray.Dataset(
        {
            "accuracy": ((*names, "round"), np.array(curves).reshape(*shape, -1)),
            "found": ((*names, "number"), np.array(found).reshape(*shape, -1)),
        },
        coords={
            "variation": list(variations), "algorithm": list(ALGORITHMS), "number": list(FOUND),
            "round": np.arange(0, config.num_rounds + 1, config.record_every),
        },
    )  # fmt: skip


def changed(config: Config, change: str) -> Config:
    """Return the configuration after a change such as ``num_clients=20``."""
    name, _, value = change.partition("=")
    kinds = {"step_size": float, "num_clients": int, "num_selected": int, "averaging": float, "concentration": float}
    if name not in kinds:
        message = f"changes must be of {', '.join(kinds)}, got {change}"
        raise ValueError(message)
    return replace(config, **{name: kinds[name](value)})


def _pair(config: Config, seed: int) -> tuple[Any, Any]:
    """Accuracies of both algorithms, and what their selections came to."""
    dealt = deal(images_of(config.data), config.num_server, config.num_clients, config.concentration, seed)
    runs = [train(config, dealt, Setting(), name, seed) for name in ALGORITHMS]
    return [accuracies(one) for one in runs], [_spread(one.counts[0], dealt) for one in runs]


def _spread(counts: Any, dealt: Dealt) -> tuple[float, float]:
    """Effective clients, and effective classes of their samples."""
    shares = counts / counts.sum()
    labels = [np.bincount(dealt.clients.client(k)[1], minlength=dealt.clients.num_classes) for k in range(counts.size)]
    trained = counts @ np.array(labels)
    present = trained[trained > 0] / trained.sum()
    return float(1 / (shares**2).sum()), float(np.exp(-(present * np.log(present)).sum()))


def leads(data: "Dataset") -> Any:
    """GreedyFed's accuracy less FedAvg's, shape (variation, seed, round)."""
    return (data["accuracy"].sel(algorithm="GreedyFed") - data["accuracy"].sel(algorithm="FedAvg")).values


def table(data: "Dataset") -> study.Table:
    """One row per variation: the largest mean lead, until when there is one, and the end."""
    rows, rounds = [], data["round"].values
    for place, (name, lead) in enumerate(zip(data["variation"].values, leads(data), strict=True)):
        mean, top = lead.mean(axis=0), int(lead.mean(axis=0).argmax())
        behind = np.flatnonzero(mean[top:] <= 0)
        low, high = map(float, student_mean(lead[:, -1]))
        found = data["found"].values[place].mean(axis=0)
        rows.append(
            {"variation": str(name), "largest lead": float(mean[top]), "at round": int(rounds[top])}
            | {"behind from round": int(rounds[top + behind[0]]) if behind.size else "never"}
            | {"lead at the end": float(mean[-1]), "from": low, "to": high}
            | {f"{number}, {name}": float(found[j, i]) for i, number in enumerate(FOUND)
               for j, name in enumerate(data["algorithm"].values)}
        )  # fmt: skip
    caption = "Leads of GreedyFed over FedAvg in points, paired by seed, with 95 % intervals at the end."
    return study.Table(rows, title="For how long GreedyFed leads", caption=caption)


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test that the early lead is there, and that greedy selection is narrow."""
    top = leads(data).mean(axis=1).max(axis=1)
    clients = data["found"].sel(number="effective clients").mean("seed")
    ratio = (clients.sel(algorithm="GreedyFed") / clients.sel(algorithm="FedAvg")).values
    return {
        "GreedyFed is ahead at some time": study.Check(bool((top > 0).all()), f"largest leads {top.round(1)}"),
        "GreedyFed trains on fewer clients": study.Check(bool((ratio < 1).all()), f"shares {ratio.round(2)}"),
    }


def lead_figure(data: "Dataset") -> "Figure":
    """Lead against rounds: a panel for each parameter, the base in black in all of them."""
    import matplotlib.pyplot as plt

    groups: dict[str, list[int]] = {}
    for place, name in enumerate(data["variation"].values[1:], start=1):
        groups.setdefault(str(name).partition("=")[0], []).append(place)
    columns = min(3, len(groups))
    rows = -(-len(groups) // columns)
    size = (1 + 2.7 * columns, 2.8 * rows)
    with appearance():
        figure, panels = plt.subplots(rows, columns, figsize=size, layout="constrained", sharey=True, squeeze=False)
        for axes in panels.ravel()[len(groups) :]:
            axes.set_axis_off()
        for axes, (name, places) in zip(panels.ravel(), groups.items(), strict=False):
            for number, place in enumerate([0, *places]):
                _draw_lead(axes, data, place, "black" if number == 0 else COLORS[number - 1], MARKERS[number])
            axes.axhline(0.0, color="black", linewidth=0.8)
            axes.set_title(name.replace("_", " "))
            axes.set_xlabel("rounds")
            axes.legend(fontsize=8)
        for axes in panels[:, 0]:
            axes.set_ylabel("lead over FedAvg [points]")
        return figure


def _draw_lead(axes: Any, data: "Dataset", place: int, color: str, marker: str) -> None:
    lead, rounds = leads(data)[place], data["round"].values
    low, high = student_mean(lead)
    label = str(data["variation"].values[place]).partition("=")
    axes.plot(
        rounds, lead.mean(axis=0), color=color, marker=marker, markevery=max(1, rounds.size // 6), markersize=4,
        linewidth=1.2, label=label[2] or label[0],
    )  # fmt: skip
    axes.fill_between(rounds, low, high, color=color, alpha=0.1, linewidth=0)


def said(data: "Dataset") -> list[str]:
    """Numbers of the page, and of the page about all figures."""
    rows = {row["variation"]: row for row in table(data).rows}
    at_the_end = {name: lead[:, -1] for name, lead in zip(rows, leads(data), strict=True)}
    base, slow = rows["base"], rows["step_size=0.01"]
    rounds, most = int(data["round"][-1]), max(row["largest lead"] for row in rows.values())
    clients, classes = (span([row[f"{number}, GreedyFed"] for row in rows.values()], 0) for number in FOUND)
    last, half = (f"{-rows[f'averaging={share}']['lead at the end']:.0f}" for share in ("0.0", "0.5"))

    def against_base(name: str, sign: float) -> str:
        return with_limits(sign * (at_the_end["base"] - at_the_end[name]), 0)

    return [
        "95 % Student intervals",
        f"GreedyFed is ahead, by up to {most:.0f} points",
        (
            f"with the paper's step size, 0.01, after {slow['behind from round']} of the {rounds} rounds, with five "
            f"times that after {base['behind from round']}"
        ),
        f"it trains on {clients} effective clients, which hold {classes} effective classes",
        (
            f"with averaging 0 and 0.5, where the fewest classes are left, it ends {last} and {half} points behind "
            f"instead of {-base['lead at the end']:.0f}, a paired difference of {against_base('averaging=0.0', 1)} and "
            f"{against_base('averaging=0.5', 1)}; with 0.9 and"
        ),
        f"Less label skew makes it better, by {against_base('concentration=0.1', -1)}",
        (
            f"GreedyFed is ahead by up to {most:.0f} points, is overtaken (at step size 0.01 after "
            f"{slow['behind from round']} of {rounds} rounds)"
        ),
    ]


STUDY = study.Study(
    name="greedyfed_lead",
    config=Config(),
    quick=QUICK,
    run=run,
    table=table,
    checks=checks,
    figures={"lead_against_rounds": lead_figure},
    said=said,
)

if __name__ == "__main__":
    study.main(STUDY)
