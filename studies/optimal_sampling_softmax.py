r"""
What does optimal client sampling gain where few clients hold the data?
=======================================================================

**On unbalanced clients some points of accuracy over uniform sampling with three clients a round, on balanced ones next
to nothing.**

**Question.** Figures 3 to 13 of Chen, Horvath and Richtarik (2022) train networks on images and text: of 32 clients,
m = 3 may send in a round (6 in others). With step sizes tuned for each method, optimal sampling (OCS) follows
full participation per round, and sends far fewer bits than it or uniform sampling to the same accuracy, the more
unbalanced the clients the better. What remains of that for a convex model on images that everybody has?

**Method.** Softmax regression on the digits of scikit-learn, dealt to 32 clients. Unbalanced: sizes proportional to
:math:`u^{1/0.2}`, u uniform, so that a few clients hold most images; balanced: sizes alike. For the two pools of
clients of Figures 6 and 7 unbalanced ones are also dealt to three times as many, who cannot be as unlike, for each
keeps a batch. Classes are skewed in all (Dirichlet shares of concentration 1 for each client). As in the paper every
client takes one epoch of local steps on small batches, so that larger clients go further; full participation,
independent uniform sampling, OCS and AOCS (with its four rescalings). The step size of each method is the one of a grid
of powers of two that has the highest final accuracy on data sets of their own; figures and tables are from others. Bits
are 64 for each number sent up: updates, and the norms and sums that (A)OCS asks for. To a target: first round at which
the accuracy, averaged over the runs on a data set, is there.

**Reading.** The second figure has the two pools. Upper row: accuracy against rounds; lower row: against bits sent up.
AOCS is OCS, as its rescalings find the optimal probabilities.

On unbalanced clients the paper's picture comes back. With m = 3, OCS ends less than a point below full participation
(95.1% against 96.0%) and 5.8 [3.8, 7.8] points above uniform sampling. To 85% it needs 4.9 rounds, full participation
2.1 and uniform sampling 23.4, and 0.60 megabits where uniform sampling needs 3.05 and full participation 2.77. With
m = 6 the lead over uniform sampling is 1.8 [1.2, 2.4] points, and 0.39 times its bits are enough. The tuning confirms
that OCS allows longer steps than uniform sampling, 16 times as long here with m = 3 and 4 times with m = 6, as long as
those of full participation.

On balanced clients little is left: the final accuracies of OCS and uniform sampling differ by 0.4 [-0.2, 1.1]
points with m = 3 and by 0.7 [0.2, 1.2] with m = 6, and the bits to 85% are the same within their intervals.

Three times as many clients, of which as few send, make it harder for all: with m = 3 of 96 clients OCS ends at 93.4%,
full participation at 95.1%, and uniform sampling 2.8 [1.3, 4.3] points below OCS, which sends 0.10 times the bits of
full participation to 85%, and 0.80 times those of uniform sampling.

**Where this differs from the paper.** In balanced clients: the paper sees a gain on CIFAR100, whose clients all have as
many images, and explains it by norms of updates that differ nevertheless; here they do not differ enough. The paper
draws 32 clients of a large pool in every round, here there are these 32. With balanced clients full participation and
OCS take the longest steps of the grid, 4.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from _images import images_of
from _repeated import fresh, mean_and_limits, with_limits

import fedtheory as ft
from fedtheory import study
from fedtheory.plotting.bound import measured
from fedtheory.plotting.style import COLORS, MARKERS, appearance, legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset

    from fedtheory.selection.rules import Strategy


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

FULL, UNIFORM, OPTIMAL = "full", "uniform", "OCS"
KINDS = ("unbalanced", "balanced", "three times as many")
FLOAT_BITS = 64


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Tune every method, then run it on other data sets."""
    import xarray

    if not 1 <= len(config.powers) == len(config.num_clients) <= len(KINDS):
        message = f"powers must be 1 to {len(KINDS)} and as many as num_clients, got {config.powers}"
        raise ValueError(message)
    cells = [(kind, m) for kind in range(len(config.powers)) for m in config.expected_sizes]
    found = [_cell(config, *cell) for cell in progress(cells, "data and budgets")]
    dims = {"accuracy": ("instance", "round"), "bits": ("instance", "round"), "step_size": ()}
    shape = (len(config.powers), len(config.expected_sizes))
    arrays = {name: np.array([[one[name] for one in cell] for cell in found]) for name in dims}
    return xarray.Dataset(
        {
            name: (("kind", "size", "strategy", *dims[name]), values.reshape(*shape, *values.shape[1:]))
            for name, values in arrays.items()
        },
        coords={
            "kind": list(KINDS[: len(config.powers)]),
            "num_clients": ("kind", list(config.num_clients)),
            "size": list(config.expected_sizes),
            "strategy": list(_methods(1.0)),
            "round": np.arange(config.num_rounds + 1),
        },
        attrs={"target": config.target},
    )


def _methods(expected_size: float) -> "dict[str, Strategy]":
    laws = {UNIFORM: "uniform", OPTIMAL: "optimal", "AOCS": "approximate"}
    return {FULL: ft.selection.Full()} | {
        name: ft.selection.Independent(expected_size, law) for name, law in laws.items()
    }


def _cell(config: Config, kind: int, expected_size: float) -> list[dict[str, Any]]:
    """Accuracies and bits of every method with its own step size, for one kind of data and one budget."""
    tuning = range(config.num_instances, config.num_instances + config.num_tuning)
    results = []
    for method in _methods(expected_size).values():
        finals = [
            np.mean([_trained(config, kind, number, method, size)[0][-1] for number in tuning])
            for size in config.step_sizes
        ]
        best = config.step_sizes[int(np.argmax(finals))]
        both = [_trained(config, kind, number, method, best) for number in range(config.num_instances)]
        accuracy, bits = (np.array(part) for part in zip(*both, strict=True))
        results.append({"accuracy": accuracy, "bits": bits, "step_size": best})
    return results


def _trained(config: Config, kind: int, number: int, method: "Strategy", step_size: float) -> tuple[Any, Any]:
    """Test accuracy in percent and bits sent up after every round, means over the runs on one data set."""
    partition, training = np.random.SeedSequence([config.seed, kind, number]).spawn(2)
    fed = _federation(config, kind, partition)
    one_epoch = -(-fed.sample_counts // config.batch_size)
    trajectory = ft.fedavg(
        fed, method, num_rounds=config.num_rounds, local_steps=one_epoch, batch_size=config.batch_size,
        step_size=step_size, num_replicates=config.num_replicates, record=("models", "uplink"), rng=fresh(training),
    )  # fmt: skip
    return 100 * fed.accuracy(trajectory.models).mean(axis=0), FLOAT_BITS * trajectory.uplink.mean(axis=0)


def _federation(config: Config, kind: int, seed: np.random.SeedSequence) -> Any:
    images = images_of(config.data)
    deal, hold_out = seed.spawn(2)
    parts = ft.datasets.power_law_partition(
        images.y, config.num_clients[kind], power=config.powers[kind], concentration=config.concentration,
        min_samples=-(-5 * config.batch_size // 4), rng=np.random.default_rng(deal),
    )  # fmt: skip
    # Digits have no test set of their own.
    held_out: dict[str, Any] = {"test_fraction": 0.2, "rng": hold_out}
    if len(images.y_test):
        held_out = {"test": (images.x_test, images.y_test)}
    return ft.SoftmaxFederation(ft.federation.FederatedData.from_partition(images.x, images.y, parts, **held_out))


def _reached(data: "Dataset", name: str) -> Any:
    """Find rounds or bits at the first record at the target, NaN if there is none."""
    there = data["accuracy"] >= data.attrs["target"]
    values = data["bits"] if name == "bits" else data["round"].broadcast_like(data["accuracy"])
    return values.isel(round=there.argmax("round")).where(there.any("round"))


def _words(samples: Any, digits: int = 1) -> str:
    arrived = int(np.isfinite(samples).sum())
    return with_limits(samples, digits) if arrived == len(samples) else f"reached in {arrived} of {len(samples)}"


def table(data: "Dataset") -> study.Table:
    """One row per kind of data, budget and method."""
    rounds, bits = _reached(data, "rounds"), _reached(data, "bits")
    target, rows = data.attrs["target"], []
    for kind in data["kind"].values:
        for size in data["size"].values:
            for name in map(str, data["strategy"].values):
                at = {"kind": kind, "size": size, "strategy": name}
                final = data["accuracy"].isel(round=-1)
                lead = final.sel(at) - final.sel({**at, "strategy": UNIFORM})
                row: dict[str, Any] = {"data": str(kind), "m": float(size), "strategy": name}
                row["step size"] = float(data["step_size"].sel(at))
                row["final accuracy [%]"] = with_limits(final.sel(at))
                row["minus uniform"] = "" if name == UNIFORM else with_limits(lead, 1, signed=True)
                row[f"rounds to {target:g}%"] = _words(rounds.sel(at).values)
                row[f"megabits to {target:g}%"] = _words(1e-6 * bits.sel(at).values, 2)
                rows.append(row)
    return study.Table(
        rows,
        title="Optimal client sampling of softmax models, tuned step sizes",
        caption=f"Means over data sets [95% interval], after {int(data['round'][-1])} rounds; differences are paired.",
    )


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test what the figures are taken to show."""
    bits, sent = np.log(_reached(data, "bits").isel(kind=0)).mean("instance"), data["bits"].isel(round=-1)
    saved = {name: float((bits.sel(strategy=OPTIMAL) - bits.sel(strategy=name)).max()) for name in (FULL, UNIFORM)}
    share = sent.sel(strategy=OPTIMAL) / sent.sel(strategy=FULL) - data["size"] / data["num_clients"]
    final = data["accuracy"].isel(round=-1).mean("instance").isel(kind=0)
    lead = float((final.sel(strategy=OPTIMAL) - final.sel(strategy=UNIFORM)).min())
    steps = data["step_size"].isel(kind=0)
    return {
        "on unbalanced clients OCS reaches the target with the fewest bits": study.Check(
            max(saved.values()) < 0,
            ", ".join(f"{np.exp(-gain):.2f} times those of {name}" for name, gain in saved.items()),
        ),
        "on unbalanced clients OCS ends above uniform": study.Check(lead > 0, f"at least {lead:.2f} points"),
        "on unbalanced clients uniform takes no longer steps than OCS": study.Check(
            bool((steps.sel(strategy=UNIFORM) <= steps.sel(strategy=OPTIMAL)).all()), f"{steps.values.tolist()}"
        ),
        "OCS sends its share of the updates and little else": study.Check(
            float(abs(share).max()) < 0.05, f"apart by at most {float(abs(share).max()):.3f}"
        ),
    }


def accuracy_figure(data: "Dataset") -> "Figure":
    """Unbalanced and balanced clients."""
    return _columns(data.isel(kind=slice(None, 2)))


def pools_figure(data: "Dataset") -> "Figure":
    """Unbalanced clients, and three times as many."""
    return _columns(data.isel(kind=slice(None, None, 2)))


def _columns(data: "Dataset") -> "Figure":
    """Test accuracy against rounds (above) and against bits (below), one column per kind of data and budget."""
    import matplotlib.pyplot as plt

    columns = [(kind, size) for kind in data["kind"].values for size in data["size"].values]
    with appearance():
        figure, panels = plt.subplots(
            2, len(columns), figsize=(2 + 2.8 * len(columns), 6.4), sharey=True, squeeze=False
        )
        for (kind, size), (above, below) in zip(columns, panels.T, strict=True):
            for name, color, marker in zip(data["strategy"].values, COLORS, MARKERS, strict=False):
                here = data.sel(kind=kind, size=size, strategy=name)
                curve = mean_and_limits(here["accuracy"].transpose("instance", "round"))
                sent = here["bits"].mean("instance")
                look: dict[str, Any] = {"label": str(name), "color": color, "marker": marker}
                measured(above, data["round"], *curve, **look)
                below.set_xscale("log")
                measured(below, sent[1:], *curve[:, 1:], **look)
            for axes in (above, below):
                axes.axhline(data.attrs["target"], color="black", linestyle=":", label="target")
            above.set(title=f"{kind}, m = {size:g}", xlabel="communication round")
            below.set_xlabel("bits sent up")
        for axes in panels[:, 0]:
            axes.set(ylabel="test accuracy [%]", ylim=(20, 100))
        return legend_below(figure, num_columns=5)


def said(data: "Dataset") -> list[str]:
    """Numbers of the page."""
    near, even, many = (data.sel(kind=kind) for kind in KINDS)
    few, more = data["size"].values
    steps = near["step_size"].sel(strategy=OPTIMAL) / near["step_size"].sel(strategy=UNIFORM)
    final, rounds, sent = (
        [
            f"{float(values.sel(kind=KINDS[0], size=few, strategy=name).mean()):.{digits}f}"
            for name in (OPTIMAL, UNIFORM, FULL)
        ]
        for values, digits in (
            (data["accuracy"].isel(round=-1), 1),
            (_reached(data, "rounds"), 1),
            (1e-6 * _reached(data, "bits"), 2),
        )
    )
    bits = _reached(data, "bits").sel(kind=KINDS[0], size=more).mean("instance")
    share = float(bits.sel(strategy=OPTIMAL) / bits.sel(strategy=UNIFORM))
    target, num, pool = f"{data.attrs['target']:g}%", int(near["num_clients"]), int(many["num_clients"])
    balanced = f"differ by {_lead(even, few)} points with m = {few:g} and by {_lead(even, more)} with m = {more:g}"
    longest = float(even["step_size"].sel(strategy=[FULL, OPTIMAL]).min())
    return [
        f"OCS ends less than a point below full participation ({final[0]}% against {final[2]}%)",
        f"and {_lead(near, few)} points above uniform sampling",
        f"To {target} it needs {rounds[0]} rounds, full participation {rounds[2]} and uniform sampling {rounds[1]}",
        f"{sent[0]} megabits where uniform sampling needs {sent[1]} and full participation {sent[2]}",
        f"lead over uniform sampling is {_lead(near, more)} points, and {share:.2f} times its bits",
        f"{float(steps.sel(size=few)):g} times as long here with m = {few:g}",
        f"and {float(steps.sel(size=more)):g} times with m = {more:g}",
        f"the final accuracies of OCS and uniform sampling {balanced}, and the bits to {target}",
        f"draws {num} clients of a large pool in every round, here there are these {num}",
        f"longest steps of the grid, {longest:g}",
        f"digits on {num} unbalanced clients",
        f"OCS ends at {final[0]}%, full participation at {final[2]}%",
        f"to {target} it sends {sent[0]} megabits where uniform sends {sent[1]} and full {sent[2]}",
        f"OCS and uniform sampling {balanced}",
        *_said_of_the_pool(many, few, f"with m = {few:g} of {pool} clients"),
    ]


def _said_of_the_pool(many: "Dataset", size: float, clients: str) -> list[str]:
    """Numbers where there are more clients, of which as few send."""
    final, bits = many["accuracy"].isel(round=-1).sel(size=size).mean("instance"), _reached(many, "bits").sel(size=size)
    optimal, full = (f"{float(final.sel(strategy=name)):.1f}%" for name in (OPTIMAL, FULL))
    share, less = (
        float(bits.sel(strategy=OPTIMAL).mean() / bits.sel(strategy=name).mean()) for name in (FULL, UNIFORM)
    )
    below = f"uniform sampling {_lead(many, size)} points below OCS"
    target = f"{many.attrs['target']:g}%"
    sends = f"which sends {share:.2f} times the bits of full participation to {target}, and {less:.2f} times those of"
    return [f"{clients} OCS ends at {optimal}, full participation at {full}, and {below}, {sends}"]


def _lead(here: "Dataset", size: float) -> str:
    """How much more accurate OCS ends than uniform sampling, with limits."""
    final = here["accuracy"].isel(round=-1).sel(size=size)
    return with_limits(final.sel(strategy=OPTIMAL) - final.sel(strategy=UNIFORM))


STUDY = study.Study(
    name="optimal_sampling_softmax",
    config=Config(),
    quick=QUICK,
    run=run,
    table=table,
    checks=checks,
    figures={"accuracy": accuracy_figure, "pools": pools_figure},
    said=said,
)

if __name__ == "__main__":
    study.main(STUDY)
