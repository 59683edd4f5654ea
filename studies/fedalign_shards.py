r"""
Does FedALIGN help when every client knows few classes?
=======================================================

**Not as its theory states it: it gains nothing that these runs can show over the priority clients alone, and in most
settings it loses.**

**Question.** Figures 1 and 3 to 6 of Ravi and Shomorony (2023): 60 clients with two shards of one class each, a few of
them with priority. Does including clients with matching losses (threshold 0.2) beat the priority clients alone and
everybody? With more priority clients, with 3 instead of 5 local steps, when only 30% of the clients take part, on top
of FedProx? And is the resulting model better for a non-priority client than one that it trains alone?

**Method.** The paper uses FMNIST, EMNIST and CIFAR-10; we use the digits of scikit-learn (1797 images of 8 x 8 pixels,
21 training samples per client) and softmax regression, learning rate 0.1, batches of 10, 200 rounds of which 20 are
warm-up. The paper does not say on which images it tests; ours are all held-out images of the priority clients' classes.
Every instance deals the shards anew; differences to the priority clients alone are paired over instances. The last
comparison is over all held-out images of a non-priority client's own classes, for clients that FedALIGN includes in the
last round and for the others.

**Reading.** Numbers are of the full size, ten ways of dealing the shards (four minutes of processor), with paired 95%
intervals. Here the paper's result does not come back. With two priority clients FedALIGN keeps out the bulk of the
clients, whose inclusion multiplies the training loss by 8.2; a gain in accuracy is not seen (+0.005 [-0.016, +0.026]).
Everywhere else it ends below the priority clients alone: by 0.053 [0.020, 0.086] with 6 of them, 0.037 [0.013, 0.060]
with 18, 0.072 [0.042, 0.102] with 9 and three local steps, 0.029 [0.007, 0.052] at partial participation; on top of
FedProx the interval contains zero (-0.025 [-0.055, +0.005]). The training loss is lowest for the priority clients alone
in every scenario, though the losses of 5.6 to 19.0 others match. Everybody together has a high training loss and yet
the best test accuracy with 6, 9 and 18 priority clients, by 0.019 [0.009, 0.029] to 0.032 [0.018, 0.045]: what hurts
the objective can help the model. With 2 and 4 of them intervals contain zero. Those that FedALIGN includes get 98.2% on
their own classes, as a model trained alone does within two points (-0.005 [-0.015, +0.006]); those that it does not
include get 27% [23%, 30%] where a model trained alone gets 98%. So the incentive that Figure 3 shows is not seen here.

**Where this differs from the paper.** Here losses are matched, one update is applied a round, and steps do not
overshoot, as in the theory. The study of the arms of FedALIGN (``fedalign_arms``) takes these apart, on as few images.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from _images import dealt
from _repeated import fresh, mean_and_limits, with_limits

import fedtheory as ft
from fedtheory import study
from fedtheory.plotting.bound import measured
from fedtheory.plotting.style import COLORS, MARKERS, appearance, legend_below
from fedtheory.statistics import student_mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import Dataset


@dataclass(frozen=True)
class Config:
    """FedALIGN against priority clients alone, everybody and local models, on digits in shards of one class."""

    data: tuple[str, ...] = ("digits",)
    """Images: digits, fashion-mnist, or four IDX files (images and labels to train on, and to test)."""
    num_clients: int = 60
    """Clients, each with two shards."""
    threshold: float = 0.2
    """Threshold of FedALIGN."""
    num_rounds: int = 200
    """Communication rounds, the first tenth of them warm-up."""
    batch_size: int = 10
    """Samples per local step."""
    step_size: float = 0.1
    """Learning rate."""
    proximal_weight: float = 1.0
    """FedProx weight of the FedProx scenario."""
    fraction: float = 0.3
    """Share of the clients that take part in the scenario of partial participation."""
    test_fraction: float = 0.3
    """Share of each client's digits that is held out."""
    num_instances: int = 10
    """Ways of dealing the shards."""
    seed: int = 0
    """Entropy of shards and batches."""


QUICK = Config(num_rounds=40, num_instances=2)

STRATEGIES = ("priority only", "FedALIGN", "all")


class Scenario(NamedTuple):
    """What one row of figures of the paper varies."""

    name: str
    num_priority: int
    local_steps: int = 5
    partial: bool = False
    proximal: bool = False


SCENARIOS = (
    Scenario("2 priority", 2),
    Scenario("6 priority", 6),
    Scenario("18 priority", 18),
    Scenario("9 priority, E = 3", 9, local_steps=3),
    Scenario("18 priority, partial", 18, partial=True),
    Scenario("4 priority, FedProx", 4, proximal=True),
)


def run(config: Config, progress: study.Progress) -> "Dataset":
    """Run all scenarios on every instance, and train local models."""
    import xarray

    results = [_instance(config, number) for number in progress(range(config.num_instances), "instances")]
    dims: dict[str, tuple[str, ...]] = {
        "loss": ("instance", "scenario", "strategy", "round"),
        "accuracy": ("instance", "scenario", "strategy", "round"),
        "num_included": ("instance", "scenario", "strategy"),
        "num_willing": ("instance", "scenario", "strategy"),
        "own_classes": ("instance", "who", "model"),
    }
    variables = {name: (own, [result[name] for result in results]) for name, own in dims.items()}
    coords = {
        "scenario": [scenario.name for scenario in SCENARIOS],
        "strategy": list(STRATEGIES),
        "round": np.arange(config.num_rounds + 1),
        "who": ["included", "not included"],
        "model": ["FedALIGN", "local"],
    }
    return xarray.Dataset(variables, coords=coords, attrs={"warmup": config.num_rounds // 10})


def _instance(config: Config, number: int) -> dict[str, Any]:

    data_seed, run_seed = np.random.SeedSequence([config.seed, number]).spawn(2)
    how = {"partition": "shards", "test_fraction": config.test_fraction}
    data = dealt(config.data, config.num_clients, data_seed, **how)
    found = [
        [_trained(config, data, scenario, eps, fresh(run_seed)) for eps in (0.0, config.threshold, np.inf)]
        for scenario in SCENARIOS
    ]
    names = ("loss", "accuracy", "num_included", "num_willing")
    collected: dict[str, Any] = {name: [[one[name] for one in row] for row in found] for name in names}
    return {**collected, "own_classes": _local_models(config, data, found[0][1], fresh(run_seed))}


def _trained(config: Config, data: Any, scenario: Scenario, eps: float, seed: np.random.SeedSequence) -> dict[str, Any]:

    first, warmup = scenario.num_priority, config.num_rounds // 10
    # Shards are dealt at random, so that the first clients are any clients.
    aligned = ft.federation.prioritize(ft.SoftmaxFederation(data), np.arange(data.num_clients) < first)
    everyone: Any = ft.selection.Everyone()
    strategy = ft.selection.LossMatching(
        aligned.priority,
        aligned.shares,
        eps,
        warmup_rounds=warmup,
        participation=ft.selection.UniformFraction(config.fraction) if scenario.partial else everyone,
    )
    trajectory = ft.fedavg(
        aligned.federation,
        strategy,
        num_rounds=config.num_rounds,
        local_steps=scenario.local_steps,
        step_size=config.step_size,
        batch_size=config.batch_size,
        proximal_weight=config.proximal_weight if scenario.proximal else 0.0,
        rng=seed,
        record=("loss", "models", "selected", "coefficients"),
    )
    found = ft.engine.inclusions(aligned, strategy, trajectory, with_gaps=False)
    included, willing = found.included[0], found.willing[0]
    models = trajectory.models[0]
    return {
        "loss": trajectory.loss[0],
        "accuracy": _accuracy(data, models, _classes(data, range(first))),
        "num_included": included[warmup:, first:].sum(axis=1).mean(),
        "num_willing": willing[warmup:, first:].sum(axis=1).mean(),
        "included": included[-1],
        "model": models[-1],
    }


def _classes(data: Any, clients: Any) -> Any:
    return np.unique(np.concatenate([data.client(k)[1] for k in clients]))


def _accuracy(data: Any, models: Any, classes: Any) -> Any:
    """Share of the held-out images of some classes that models of shape (n, v) get right, shape (n,)."""
    rows = np.isin(data.test_labels, classes)
    inputs = np.column_stack([data.test_features[rows], np.ones(rows.sum())])
    logits = inputs @ models.reshape(len(models), data.num_classes, -1).transpose(0, 2, 1)
    return np.mean(np.argmax(logits, axis=-1) == data.test_labels[rows], axis=-1)


def _local_models(config: Config, data: Any, aligned: dict[str, Any], seed: np.random.SeedSequence) -> Any:
    """Mean accuracy on own classes of the common and of the local model, for clients included last and the others."""
    first = SCENARIOS[0].num_priority
    scores = []
    for k in range(first, data.num_clients):
        alone = ft.fedavg(
            ft.SoftmaxFederation(data.take([k])),
            ft.selection.Full(),
            num_rounds=config.num_rounds,
            local_steps=SCENARIOS[0].local_steps,
            step_size=config.step_size,
            batch_size=config.batch_size,
            rng=fresh(seed),
            record=("models",),
            record_every=config.num_rounds,
        )
        both = np.stack([aligned["model"], alone.models[0, -1]])
        scores.append(_accuracy(data, both, _classes(data, [k])))
    included = aligned["included"][first:]
    groups = [np.array(scores)[mask] for mask in (included, ~included)]
    return [group.mean(axis=0) if len(group) else np.full(2, np.nan) for group in groups]


def table(data: "Dataset") -> study.Table:
    """One row per scenario and strategy; differences to the priority clients alone are paired."""
    soon, last = 2 * int(data.attrs["warmup"]), int(data.sizes["round"]) - 1
    rows = []
    for scenario in data["scenario"].values:
        for strategy in STRATEGIES:
            here = data.sel(scenario=scenario, strategy=strategy)
            row: dict[str, Any] = {"scenario": str(scenario), "strategy": strategy}
            row["others willing"] = float(here["num_willing"].mean())
            row["others included"] = float(here["num_included"].mean())
            lead = (data["accuracy"] - data["accuracy"].sel(strategy=STRATEGIES[0])).sel(
                scenario=scenario, strategy=strategy
            )
            row[f"loss, round {last}"] = float(here["loss"].isel(round=last).mean())
            for at in (soon, last):
                row[f"accuracy, round {at}"] = float(here["accuracy"].isel(round=at).mean())
                row[f"minus priority, {at}"] = (
                    "" if strategy == STRATEGIES[0] else with_limits(lead.isel(round=at), 3, signed=True)
                )
            rows.append(row)
    parts = [_own_classes(data["own_classes"].sel(who=who), str(who)) for who in data["who"].values]
    caption = "Accuracy of non-priority clients on their own classes, 2 priority clients: " + "; ".join(parts) + "."
    return study.Table(rows, title="Shards of one class", caption=caption)


def _own_classes(own: Any, who: str) -> str:
    """Say what the common and the local model are worth to some clients, where there are such clients."""
    models = ", ".join(f"{model} {float(own.sel(model=model).mean()):.3f}" for model in own["model"].values)
    minus = (own.sel(model="FedALIGN") - own.sel(model="local")).dropna("instance")
    return f"{who}, {models}" + (f", difference {with_limits(minus, 3, signed=True)}" if minus.size > 1 else "")


def checks(data: "Dataset") -> dict[str, study.Check]:
    """Test what the figure is taken to show."""
    last = data.isel(round=-1).mean("instance", skipna=True)
    loss = last["loss"]
    few_priority = [scenario.name for scenario in SCENARIOS if scenario.num_priority <= 4]
    ratios = loss.sel(strategy="FedALIGN", scenario=few_priority) / loss.sel(strategy="all", scenario=few_priority)
    worst = float(ratios.max())
    lead = loss.sel(strategy="priority only") / loss.sel(strategy=["FedALIGN", "all"]).min("strategy")
    own = last["own_classes"]
    gap = float(own.sel(who="included", model="FedALIGN") - own.sel(who="not included", model="FedALIGN"))
    few = float(last["num_included"].sel(scenario="2 priority", strategy="FedALIGN"))
    share = few / float(last["num_included"].sel(scenario="2 priority", strategy="all"))
    return {
        "with few priority clients FedALIGN's training loss is below that of everybody": study.Check(
            worst < 1, f"largest ratio {worst:.3g}"
        ),
        "the priority clients alone have the lowest training loss": study.Check(
            float(lead.max()) < 1, f"largest ratio {float(lead.max()):.3g}"
        ),
        "FedALIGN serves those that it includes better than the others": study.Check(gap > 0, f"difference {gap:.3g}"),
        "few clients match two priority clients": study.Check(share < 0.4, f"share {share:.2f}"),
    }


def shards_figure(data: "Dataset") -> "Figure":
    """Training loss and test accuracy by scenario, and the accuracy of common and local models."""
    import matplotlib.pyplot as plt

    names = [str(name) for name in data["scenario"].values]
    with appearance():
        figure, panels = plt.subplots(4, 3, figsize=(9, 10.5), sharex=True)
        for i, name in enumerate(names):
            loss, accuracy = panels[2 * (i // 3) : 2 * (i // 3) + 2, i % 3]
            for strategy, color, marker in zip(STRATEGIES, COLORS, MARKERS, strict=False):
                look: dict[str, Any] = {"label": strategy, "color": color, "marker": marker}
                here = data.sel(scenario=name, strategy=strategy)
                for axes, values in ((loss, here["loss"].values), (accuracy, here["accuracy"].values)):
                    measured(axes, data["round"], values.mean(axis=0), *student_mean(values), **look)
            for axes in (loss, accuracy):
                axes.axvline(data.attrs["warmup"], color="#888888", linewidth=0.8, linestyle=":")
            loss.set(title=name, yscale="log", ylim=(3e-3, 10))
            accuracy.set_ylim(0.4, 1.0)
        for row, label in zip(panels, 2 * ("training loss $F$", "test accuracy,\npriority classes"), strict=True):
            row[0].set_ylabel(label)
        for axes in panels[-1]:
            axes.set_xlabel("round (dotted: end of warm-up)")
        return legend_below(figure, num_columns=3)


def said(data: "Dataset") -> list[str]:
    """Numbers of the page, and of the page about all figures."""
    last = data.isel(round=-1)
    lead = last["accuracy"] - last["accuracy"].sel(strategy=STRATEGIES[0])
    gain, everyone = lead.sel(strategy="FedALIGN"), lead.sel(strategy="all")

    def of(scenario: str, values: Any = gain, *, turned: bool = False) -> str:
        here = values.sel(scenario=scenario)
        return with_limits(-here, 3) if turned else with_limits(here, 3, signed=True)

    losses = last["loss"].sel(scenario="2 priority").mean("instance")
    included = data["num_included"].sel(strategy="FedALIGN").mean("instance").values
    helped = sorted(of(name, everyone).replace("+", "") for name in ("6 priority", "18 priority", "9 priority, E = 3"))
    own = data["own_classes"]
    common, local = (100 * own.sel(model=model) for model in ("FedALIGN", "local"))
    there, absent = common.sel(who="included").dropna("instance"), common.sel(who="not included").dropna("instance")
    minus = with_limits(
        (own.sel(model="FedALIGN") - own.sel(model="local")).sel(who="included").dropna("instance"), 3, signed=True
    )
    share = [f"{end:.0f}%" for end in mean_and_limits(absent.values)]
    others = f"{float(local.sel(who='not included').mean()):.0f}%"
    six, eighteen, nine, few = (
        of(name, turned=True) for name in ("6 priority", "18 priority", "9 priority, E = 3", "18 priority, partial")
    )
    proximal, num = of("4 priority, FedProx"), data.sizes["instance"]
    return [
        (
            "multiplies the training loss by "
            f"{float(losses.sel(strategy='all') / losses.sel(strategy='priority only')):.1f}"
        ),
        f"a gain in accuracy is not seen ({of('2 priority')})",
        (
            f"by {six} with 6 of them, {eighteen} with 18, {nine} with 9 and three local steps, {few} at "
            "partial participation"
        ),
        f"the interval contains zero ({proximal})",
        f"the losses of {included.min():.1f} to {included.max():.1f} others match",
        f"best test accuracy with 6, 9 and 18 priority clients, by {helped[0]} to {helped[-1]}",
        "With 2 and 4 of them intervals contain zero",
        f"get {float(there.mean()):.1f}% on their own classes",
        f"within two points ({minus})",
        (
            f"those that it does not include get {share[0]} [{share[1]}, {share[2]}] where a model trained "
            f"alone gets {others}"
        ),
        (
            f"for included clients {float(there.mean()):.1f}% against "
            f"{float(local.sel(who='included').mean()):.1f}% on own classes, {minus}, for the others "
            f"{share[0]} against {others} ({num} instances)"
        ),
        f"{proximal} against the priority clients alone ({num} instances)",
        f"{of('18 priority, partial')} against the priority clients alone ({num} instances)",
        (
            f"with 6 and 18 priority clients {six} and {eighteen} below them alone, with 9 and 3 local steps "
            f"{nine} ({num} instances)"
        ),
    ]


STUDY = study.Study(
    "fedalign_shards", Config(), QUICK, run, table, checks, {"fedalign_shards": shards_figure}, said=said
)

if __name__ == "__main__":
    study.main(STUDY)
