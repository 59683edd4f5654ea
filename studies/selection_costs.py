r"""
What does client selection cost, and what does it save?
=======================================================

**To a first accuracy it saves about half of the rounds and costs a few floats; in the end accuracies differ by less
than a point.**

**Question.** Tables 1 and 2 of Cho, Wang and Joshi (2020): rounds to a target accuracy, computing time per round and
final test accuracy of random selection (10 and 3 of 100 clients), pow-d, its variants cpow-d (losses estimated on one
mini-batch) and rpow-d (last reported losses, nobody is asked), and active federated learning. In the paper the variants
with 3 clients need about half the rounds of random selection with 10 and end 5 to 10 points above it. What remains of
that for a convex model, and what does each strategy send?

**Method.** Softmax regression on the digits of scikit-learn, or on other images (``--data fashion-mnist``, or four IDX
files, images and labels to train on, and to test, which then all accuracies are about), dealt to 100 clients by
Dirichlet shares of each class (concentration 0.3 and 2, as in the paper), 30 local steps on small batches. Each
instance is a new partition, the same for all strategies. The paper counts rounds to 60%, early in its training; short
steps show that phase, long ones the late rounds to 90%. Rounds to a target: the first recorded round whose accuracy
reaches it. Per round we count floats sent up, models sent down, and losses evaluated (a mini-batch counts as one); the
time is the processor's in this simulation, all clients one after the other, and without recording.

Active federated learning leaves things open, and three versions stand side by side. ``afl`` is Goetz et al. (2019):
valuations :math:`\sqrt{n_k} F_k`, and with m = 3 and a tenth explored nobody is explored. ``afl, plain losses``: two
clients by :math:`F_k`, one uniformly. ``afl by reports``: the same with the training losses that come with the updates;
clients that are dropped or have never reported come in by the uniform draw only, as in public code of the experiments.

**Reading.** First figure: rounds to the two targets, and floats sent up to the late one, means over partitions with 95%
intervals. Second: mean accuracy against rounds with short steps, random selection beside each kind of strategy.

**Where this differs from the paper.** Early its ratios come back. To 60%, pow-d with 3 clients needs 0.53 times the
rounds of random selection with 10 at concentration 0.3 and 0.61 times at 2 (the paper: 0.52 and 0.61), cpow-d 0.59 and
0.78 (0.47 and 0.66); rpow-d saves less here, 0.93 and 1.21 (0.57 and 0.73). Late, to 90%, little is left: 1.12 and 0.77
for pow-d, which is 24% to 30% fewer rounds than random selection with as many clients. Final accuracies differ by at
most 0.8 points, not by 5 to 10. Active federated learning depends on what one fills in: 2.23 and 2.74 for Goetz's, 1.30
and 1.28 with plain losses, 2.06 and 2.71 by reports, where random selection with 3 clients needs 1.66 and 2.01 and the
paper has 0.70 and 0.97. That a mini-batch estimates the losses as well as all samples do, and that last reported losses
do worse, but cost nothing, agrees with the paper. Asking the candidates costs 6 floats up, which is nothing beside 3
models, and 2 times as many models down.
"""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from _accuracy_runs import curves
from _images import dealt
from _repeated import mean_and_limits, with_limits

import fedtheory as ft
from fedtheory import study
from fedtheory.plotting.style import COLORS, MARKERS, appearance, legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

    from fedtheory.selection.rules import Strategy


@dataclass(frozen=True)
class Config:
    """Rounds, time, communication and accuracy of selection strategies: Tables 1 and 2 of the paper in kind."""

    data: tuple[str, ...] = ("digits",)
    """Images: digits, fashion-mnist, or four IDX files (images and labels to train on, and to test)."""
    num_clients: int = 100
    """Clients K."""
    concentrations: tuple[float, ...] = (0.3, 2.0)
    """Concentration of the Dirichlet shares, a table each in the paper."""
    many: int = 10
    """Clients per round of the baseline."""
    num_selected: int = 3
    """Clients per round of all others."""
    num_candidates: int = 6
    """Candidates of pow-d and cpow-d."""
    num_remembered: int = 50
    """Candidates of rpow-d."""
    targets: tuple[float, float] = (60.0, 90.0)
    """Test accuracy to reach early with short steps, and late with long ones, in percent."""
    num_rounds: int = 400
    """Communication rounds."""
    halve_at: tuple[int, ...] = (150, 300)
    """Rounds at which the step size halves."""
    local_steps: int = 30
    """Local steps per round."""
    batch_size: int = 8
    """Samples per local step."""
    step_sizes: tuple[float, float] = (7e-4, 0.01)
    """Step sizes at the start, short and long."""
    num_instances: int = 10
    """Partitions."""
    num_replicates: int = 2
    """Replicates per partition and strategy."""
    record_every: int = 2
    """Rounds from one evaluation to the next."""
    seed: int = 0
    """Entropy of partitions, batches and selections."""


QUICK = Config(
    num_clients=40, concentrations=(0.3,), many=4, num_remembered=20, targets=(50.0, 85.0), num_rounds=80,
    halve_at=(40, 60), num_instances=2,
)  # fmt: skip

PHASES = ("early", "late")
COSTS = ("floats up", "models down", "losses evaluated")


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Simulate every strategy on every partition."""
    import xarray

    jobs = [(c, i) for c in config.concentrations for i in range(config.num_instances)]
    found = [_instance(config, *job) for job in progress(jobs, "partitions")]
    shape = (len(config.concentrations), config.num_instances)
    dims = ("concentration", "instance", "strategy")
    arrays = {name: np.array([one[name] for one in found]) for name in found[0]}
    last = {"accuracy": ("phase", "round"), "costs": ("cost",), "seconds": ()}
    return xarray.Dataset(
        {name: ((*dims, *last[name]), values.reshape(*shape, *values.shape[1:])) for name, values in arrays.items()},
        coords={
            "concentration": list(config.concentrations),
            "strategy": list(_strategies(config, np.ones(config.num_clients, dtype=int), num_classes=2)),
            "round": np.arange(arrays["accuracy"].shape[-1]) * config.record_every,
            "cost": list(COSTS),
            "phase": list(PHASES),
            "target": ("phase", list(config.targets)),
        },
    )


def _strategies(config: Config, sample_counts: Any, num_classes: int) -> "dict[str, Strategy]":

    m, d, remembered = config.num_selected, config.num_candidates, config.num_remembered
    # The model starts at zero, where every sample's loss is log C.
    start, alike = float(np.log(num_classes)), (1,) * len(sample_counts)
    return {
        f"rand, m = {config.many}": ft.selection.Proportional(config.many),
        f"rand, m = {m}": ft.selection.Proportional(m),
        f"pow-d, d = {d}": ft.selection.PowerOfChoice(m, d),
        f"cpow-d, d = {d}": ft.selection.PowerOfChoice(m, d, loss="minibatch"),
        f"rpow-d, d = {remembered}": ft.selection.PowerOfChoice(m, remembered, loss="last"),
        "afl": ft.selection.ActiveFederated(m, sample_counts, initial_loss=start),
        "afl, plain losses": ft.selection.ActiveFederated(m, alike, explored=1 / 3, initial_loss=start),
        "afl by reports": ft.selection.ActiveFederatedByReports(m),
    }


def _federation(config: Config, concentration: float, partition: Any) -> Any:
    """Deal digits, of which every client holds a tenth out, or images that have a test set; a batch is left."""
    how = {"concentration": concentration, "min_samples": config.batch_size + 1}
    return ft.SoftmaxFederation(dealt(config.data, config.num_clients, partition, **how))


def _instance(config: Config, concentration: float, index: int) -> dict[str, Any]:

    partition, training = np.random.SeedSequence([config.seed, index]).spawn(2)
    fed = _federation(config, concentration, partition)
    strategies = _strategies(config, fed.sample_counts, fed.data.num_classes).values()
    runs = [[curves(fed, strategy, config, size, training) for size in config.step_sizes] for strategy in strategies]
    return {
        "accuracy": [[100 * one.accuracy.mean(axis=0) for one in both] for both in runs],
        "costs": [both[-1].costs for both in runs],
        "seconds": [_seconds_per_round(fed, strategy, config) for strategy in strategies],
    }


def _seconds_per_round(fed: Any, strategy: "Strategy", config: Config) -> float:

    start = time.process_time()
    ft.fedavg(
        fed, strategy, num_rounds=config.num_rounds, local_steps=config.local_steps, batch_size=config.batch_size,
        step_size=config.step_sizes[-1], record=("loss",), record_every=config.num_rounds,
    )  # fmt: skip
    return (time.process_time() - start) / config.num_rounds


def _rounds_to_target(data: "Dataset") -> Any:
    """First recorded round at the target of each phase, NaN if there is none."""
    reached = data["accuracy"] >= data["target"]
    return data["round"].isel(round=reached.argmax("round")).where(reached.any("round"))


def _final(data: "Dataset") -> Any:
    """Accuracy averaged over the last tenth of the rounds with long steps."""
    late = data["round"] > 0.9 * data["round"].max()
    return data["accuracy"].sel(phase=PHASES[-1]).where(late, drop=True).mean("round")


def _arrival(rounds: Any, base: Any, target: float) -> dict[str, Any]:
    """Give rounds to a target, and over those of the first row, if both arrived on all partitions."""
    arrived = int(np.isfinite(rounds).sum())
    complete = arrived == rounds.size and bool(np.isfinite(base).all())
    words = with_limits(rounds) if complete else f"reached {arrived} times"
    ratio = round(float(rounds.mean() / base.mean()), 2) if complete else ""
    return {f"rounds to {target:g}%": words, f"ratio, {target:g}%": ratio}


def table(data: "Dataset") -> study.Table:
    """One row per concentration and strategy."""
    rounds, final, rows = _rounds_to_target(data), _final(data), []
    milliseconds = 1e3 * data["seconds"].median("instance")
    names = data["strategy"].values
    for concentration in data["concentration"].values:
        for name in names:
            here, base = ({"concentration": concentration, "strategy": which} for which in (name, names[0]))
            row: dict[str, Any] = {"concentration": float(concentration), "strategy": str(name)}
            for phase, target in zip(PHASES, data["target"].values, strict=True):
                own, many = (rounds.sel(phase=phase, **which).values for which in (here, base))
                row |= _arrival(own, many, float(target))
            lead = with_limits(final.sel(here) - final.sel(base), 2, signed=True)
            row["ms per round"] = round(float(milliseconds.sel(here)), 3)
            row |= {cost: float(data["costs"].sel(cost=cost, **here).mean()) for cost in COSTS}
            row["final accuracy [%]"] = with_limits(final.sel(here))
            row["final - first row"] = "" if name == names[0] else lead
            rows.append(row)
    return study.Table(
        rows,
        title="Costs and gains of selection",
        caption="Means over partitions [95% interval]; ratio: of the rounds to those of the first row, early with short"
        " steps, late with long ones; costs per round."
        " The paper (deep model, images of clothes, target 60%): ratios 0.52, 0.47, 0.57, 0.70 at concentration 0.3 and"
        " 0.61, 0.66, 0.73, 0.97 at 2 for pow-d, cpow-d, rpow-d, afl; accuracies 5 and 10 points above the first row.",
    )


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test what the table is taken to show."""
    up, down, evaluated = (data["costs"].sel(cost=cost) for cost in COSTS)
    names = [str(name) for name in data["strategy"].values]
    asking, silent, few = names[2:4], names[4], names[1]
    more = (up.sel(strategy=silent) - up.sel(strategy=few)).values
    final = _final(data).mean("instance")
    spread = float((final.max("strategy") - final.min("strategy")).max())
    downs = {name: float(down.sel(strategy=name).mean()) for name in (*asking, silent)}
    return {
        "rpow-d evaluates nothing and sends one number per selected client": study.Check(
            bool((evaluated.sel(strategy=silent) == 0).all() and (more == down.sel(strategy=few).values).all()),
            f"{float(more.mean()):g} more floats than rand",
        ),
        "asking candidates sends them the model": study.Check(
            all(downs[name] > downs[silent] for name in asking), str(downs)
        ),
        "final accuracies lie within ten points": study.Check(spread < 10, f"{spread:.2f} points"),
    }


def cost_figure(data: "Dataset") -> "Figure":
    """Draw rounds to both targets, and floats sent up to the late one: means with 95% intervals."""
    import matplotlib.pyplot as plt

    names, rounds = list(map(str, data["strategy"].values)), _rounds_to_target(data)
    early, late = (f"{target:g}%" for target in data["target"].values)
    sent = rounds.sel(phase=PHASES[1]) * data["costs"].sel(cost=COSTS[0]) / 1000
    columns = {
        f"rounds to {early}, short steps": rounds.sel(phase=PHASES[0]),
        f"rounds to {late}, long steps": rounds.sel(phase=PHASES[1]),
        f"thousand floats sent up to {late}": sent,
    }
    with appearance():
        figure, panels = plt.subplots(1, 3, figsize=(10, 1 + 0.35 * len(names)), sharey=True)
        for axes, (title, values) in zip(panels, columns.items(), strict=True):
            for i, concentration in enumerate(data["concentration"].values):
                for place, name in enumerate(names):
                    arrived = values.sel(concentration=concentration, strategy=name).dropna("instance")
                    if arrived.size < 2:
                        continue
                    mean, lower, upper = mean_and_limits(arrived)
                    axes.errorbar(
                        mean, place + 0.15 * (2 * i - 1), xerr=[[mean - lower], [upper - mean]], color=COLORS[i],
                        marker=MARKERS[i], linestyle="", capsize=2, label=f"concentration {concentration:g}",
                    )  # fmt: skip
            axes.set_xlabel(title)
            axes.set_yticks(range(len(names)), labels=names)
        panels[0].invert_yaxis()
        return legend_below(figure)


def accuracy_figure(data: "Dataset") -> "Figure":
    """Mean test accuracy with short steps against rounds; random selection beside each kind of strategy."""
    import matplotlib.pyplot as plt

    names = list(map(str, data["strategy"].values))
    kinds = {"power of choice": names[:5], "active federated learning": [*names[:2], *names[5:]]}
    colors, markers = (*COLORS, "#888888"), (*MARKERS, "*")
    look = {name: {"color": colors[i], "marker": markers[i]} for i, name in enumerate(names)}
    rows = data.sizes["concentration"]
    with appearance():
        figure, panels = plt.subplots(rows, 2, figsize=(9, 1.4 + 3 * rows), squeeze=False, sharey=True, sharex=True)
        for row, concentration in zip(panels, data["concentration"].values, strict=True):
            for axes, (kind, shown) in zip(row, kinds.items(), strict=True):
                for place, name in enumerate(shown):
                    mean = data["accuracy"].sel(concentration=concentration, strategy=name, phase=PHASES[0])
                    axes.plot(
                        data["round"][1:], mean.mean("instance")[1:], **look[name],
                        markevery=(0.05 + 0.02 * place, 0.12), label=name,
                    )  # fmt: skip
                axes.axhline(data["target"].sel(phase=PHASES[0]), color="black", linestyle=":", label="target")
                axes.set_xscale("log")
                axes.set_title(f"{kind}, concentration {concentration:g}")
            row[0].set_ylabel("test accuracy [%], short steps")
        for axes in panels[-1]:
            axes.set_xlabel("round")
        return legend_below(figure, num_columns=3)


def said(data: "Dataset") -> list[str]:
    """Numbers of the page, and of the page about all figures; the paper's are those of its tables."""
    rounds, final = _rounds_to_target(data).mean("instance"), _final(data).mean("instance")
    ratios = rounds / rounds.isel(strategy=0)
    early, late = (
        [[f"{x:.2f}" for x in row] for row in ratios.sel(phase=phase).transpose("strategy", "concentration").values]
        for phase in PHASES
    )
    many, few, costs = 10, 3, data["costs"].mean(["concentration", "instance"])
    saved = 1 - ratios.sel(phase=PHASES[1]).isel(strategy=2) / ratios.sel(phase=PHASES[1]).isel(strategy=1)
    apart = float((final.max("strategy") - final.min("strategy")).max())
    asked = float(costs.sel(cost=COSTS[0]).isel(strategy=2) - costs.sel(cost=COSTS[0]).isel(strategy=1))
    sent = float(costs.sel(cost=COSTS[1]).isel(strategy=1))
    twice = float(costs.sel(cost=COSTS[1]).isel(strategy=2)) / sent
    low, high = (data["concentration"].values[i] for i in (0, 1))
    return [
        (
            f"To 60%, pow-d with {few} clients needs {early[2][0]} times the rounds of random selection with "
            f"{many} at concentration {low:g} and {early[2][1]} times at {high:g} (the paper: 0.52 and 0.61), "
            f"cpow-d {early[3][0]} and {early[3][1]} (0.47 and 0.66); rpow-d saves less here, {early[4][0]} "
            f"and {early[4][1]} (0.57 and 0.73)"
        ),
        (
            f"Late, to 90%, little is left: {late[2][0]} and {late[2][1]} for pow-d, which is "
            f"{100 * float(saved.min()):.0f}% to {100 * float(saved.max()):.0f}% fewer rounds than random "
            "selection with as many clients"
        ),
        f"Final accuracies differ by at most {apart:.1f} points, not by 5 to 10",
        (
            f"{early[5][0]} and {early[5][1]} for Goetz's, {early[6][0]} and {early[6][1]} with plain losses, "
            f"{early[7][0]} and {early[7][1]} by reports, where random selection with {few} clients needs "
            f"{early[1][0]} and {early[1][1]} and the paper has 0.70 and 0.97"
        ),
        f"costs {asked:g} floats up, which is nothing beside {sent:g} models, and {twice:g} times as many models down",
        (
            f"over random selection with {many} clients pow-d needs {early[2][0]} times the rounds (paper "
            f"0.52), cpow-d {early[3][0]} (0.47), rpow-d {early[4][0]} (0.57), active federated learning "
            f"{early[5][0]}, and {early[6][0]} with plain losses (0.70); late, to 90%, little is left; final "
            f"accuracies differ by at most {apart:.1f} points, not by 5"
        ),
        (
            f"pow-d {early[2][1]} (paper 0.61), cpow-d {early[3][1]} (0.66), rpow-d {early[4][1]} (0.73), "
            f"active federated learning {early[5][1]}, and {early[6][1]} with plain losses (0.97)"
        ),
        f"final accuracies differ by at most {apart:.1f} points, not by 5 to 10",
    ]


STUDY = study.Study(
    name="selection_costs",
    config=Config(),
    quick=QUICK,
    run=run,
    table=table,
    checks=checks,
    figures={"costs": cost_figure, "accuracy": accuracy_figure},
    said=said,
)

if __name__ == "__main__":
    study.main(STUDY)
