"""FedALIGN, priority clients only and all clients, on shards of images and with noisy helpers: runs and findings."""

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np
from _images import dealt
from _repeated import fresh, mean_and_limits, paired, span, with_limits

import fedtheory as ft
from fedtheory import study

if TYPE_CHECKING:
    from xarray import Dataset

ALONE, ALIGNED, EVERYBODY = STRATEGIES = ("priority only", "FedALIGN", "all")
LEVELS = ("low", "medium", "high")


class Scenario(NamedTuple):
    """Settings of a run: ``updates`` are applied per round, and ``fraction`` is the share of participants."""

    name: str
    num_priority: int
    match: Literal["loss", "minibatch accuracy"] = "loss"
    local_steps: int = 5
    updates: float = 1.0
    fraction: float | None = None
    proximal_weight: float = 0.0


ACCURACY: Final = "minibatch accuracy"
FASHION = (
    Scenario("2 priority, accuracy", 2, ACCURACY),
    Scenario("2 priority, loss", 2),
    Scenario("2 priority, three updates", 2, ACCURACY, updates=3.0),
    Scenario("6 priority, accuracy", 6, ACCURACY),
    Scenario("6 priority, loss", 6),
    Scenario("4 priority, FedProx", 4, ACCURACY, proximal_weight=1.0),
    Scenario("18 priority, accuracy", 18, ACCURACY),
    Scenario("18 priority, 30%", 18, ACCURACY, fraction=0.3),
    Scenario("9 priority, E = 3", 9, ACCURACY, local_steps=3),
)
DIGITS = (
    Scenario("2 priority", 2),
    Scenario("6 priority", 6),
    Scenario("18 priority", 18),
    Scenario("9 priority, E = 3", 9, local_steps=3),
    Scenario("18 priority, partial", 18, fraction=0.3),
    Scenario("4 priority, FedProx", 4, proximal_weight=1.0),
)


def _trained(config: Any, fed: Any, scenario: Scenario, eps: float, seed: Any, **how: Any) -> tuple[Any, Any, Any]:
    """Train with a threshold after a warm-up of a tenth of the rounds; return federation, strategy and run.

    The first clients have priority; threshold 0 excludes all others, and infinity includes them.
    """
    aligned = ft.federation.prioritize(fed, np.arange(fed.num_clients) < scenario.num_priority)
    strategy = ft.selection.LossMatching(
        aligned.priority, aligned.shares, eps, warmup_rounds=config.num_rounds // 10, match=scenario.match,
        fraction=scenario.fraction,
    )  # fmt: skip
    run = ft.fedavg(
        aligned.federation, strategy, num_rounds=config.num_rounds, local_steps=scenario.local_steps,
        step_size=config.step_size, server_step_size=scenario.updates, proximal_weight=scenario.proximal_weight,
        rng=seed, num_threads=1, **how,
    )  # fmt: skip
    return aligned, strategy, run


def fashion(config: Any, progress: study.Progress) -> "Dataset":
    """Run the scenarios of the figures on FashionMNIST."""
    import xarray

    pictures = _pictures(config)
    found = [_fashion(config, pictures, number) for number in progress(range(config.num_instances), "FashionMNIST")]
    dims = {"accuracy": ("round",), "included": ()}
    return xarray.Dataset(
        {
            name: (("instance", "scenario", "strategy", *own), np.array([one[name] for one in found]))
            for name, own in dims.items()
        },
        coords={
            "scenario": [scenario.name for scenario in FASHION],
            "strategy": list(STRATEGIES),
            "round": np.arange(0, config.num_rounds + 1, config.record_every),
        },
        attrs={"warmup": config.num_rounds // 10},
    )


def _pictures(config: Any) -> Any:
    if config.images == "digits":
        data = ft.datasets.digits(1, 0, test_fraction=0.3)
        both: Any = ((data.features, data.labels), (data.test_features, data.test_labels))
    else:
        both = ft.datasets.fashion_mnist(None if config.images == "fashion-mnist" else config.images)
    return [((x.astype(np.float64) - 0.1307) / 0.3081, y) for x, y in both]


def _fashion(config: Any, pictures: Any, number: int) -> dict[str, Any]:
    """Accuracies and numbers of included clients, by scenario and strategy."""
    deal, training = np.random.SeedSequence([config.seed, number]).spawn(2)
    x, y = pictures[0]
    parts = ft.datasets.shard_partition(y, config.num_clients, 2, rng=np.random.default_rng(deal))
    fed = ft.SoftmaxFederation(ft.federation.FederatedData.from_partition(x, y, parts))
    known: dict[tuple[Any, ...], dict[str, Any]] = {}

    def trained(scenario: Scenario, eps: float) -> dict[str, Any]:
        # Training alone or with all clients does not depend on the matched quantity.
        key = (*scenario[1:2], *scenario[3:], eps, scenario.match if eps == config.threshold else "")
        if key not in known:
            known[key] = _on_fashion(config, fed, pictures[1], scenario, eps, fresh(training))
        return known[key]

    found = [[trained(scenario, eps) for eps in (0.0, config.threshold, np.inf)] for scenario in FASHION]
    return {name: [[one[name] for one in row] for row in found] for name in found[0][0]}


def _on_fashion(config: Any, fed: Any, test: Any, scenario: Scenario, eps: float, seed: Any) -> dict[str, Any]:
    own = np.isin(test[1], np.unique(fed.data.labels[: fed.data.offsets[scenario.num_priority]]))
    *_, run = _trained(
        config, fed, scenario, eps, seed, batch_size=min(config.batch_size, int(fed.sample_counts.min())),
        test=(test[0][own], test[1][own]), record=("accuracy", "selected"), record_every=config.record_every,
    )  # fmt: skip
    chosen = run.recorded("selected")[0, run.rounds >= config.num_rounds // 10][:-1]
    return {
        "accuracy": run.recorded("accuracy")[0],
        "included": (chosen >= scenario.num_priority).sum(axis=1).mean(),
    }


def shards(config: Any, progress: study.Progress) -> "Dataset":
    """Run the scenarios on digits in shards of one class with matched losses, and train local models."""
    import xarray

    found = [_shards(config, number) for number in progress(range(config.num_instances), "shards of digits")]
    dims: dict[str, tuple[str, ...]] = dict.fromkeys(("loss", "accuracy"), ("scenario", "strategy", "round"))
    dims |= dict.fromkeys(("num_included", "num_willing"), ("scenario", "strategy"))
    return xarray.Dataset(
        {
            name: (("instance", *own), [one[name] for one in found])
            for name, own in {**dims, "own_classes": ("who", "model")}.items()
        },
        coords={
            "scenario": [scenario.name for scenario in DIGITS],
            "strategy": list(STRATEGIES),
            "round": np.arange(0, config.num_rounds + 1, config.num_rounds // 10),
            "who": ["included", "not included"],
            "model": ["FedALIGN", "local"],
        },
    )


def _shards(config: Any, number: int) -> dict[str, Any]:
    deal, training = np.random.SeedSequence([config.seed, number]).spawn(2)
    data = dealt(config.data, config.num_clients, deal, partition="shards", test_fraction=0.3)
    found = [
        [_on_digits(config, data, scenario, eps, fresh(training)) for eps in (0.0, config.threshold, np.inf)]
        for scenario in DIGITS
    ]
    names = ("loss", "accuracy", "num_included", "num_willing")
    collected: dict[str, Any] = {name: [[one[name] for one in row] for row in found] for name in names}
    return collected | {"own_classes": _local_models(config, data, found[0][1], fresh(training))}


def _on_digits(config: Any, data: Any, scenario: Scenario, eps: float, seed: Any) -> dict[str, Any]:
    first, warmup = scenario.num_priority, config.num_rounds // 10
    aligned, strategy, run = _trained(
        config, ft.SoftmaxFederation(data), scenario, eps, seed, batch_size=config.small_batch_size,
        record=("loss", "models", "selected", "coefficients"),
    )  # fmt: skip
    found = ft.exact.inclusions(aligned, strategy, run, with_gaps=False)
    included, willing = found.included[0], found.willing[0]
    return {
        "loss": run.loss[0, ::warmup],
        "accuracy": _accuracy(data, run.models[0, ::warmup], _classes(data, range(first))),
        "num_included": included[warmup:, first:].sum(axis=1).mean(),
        "num_willing": willing[warmup:, first:].sum(axis=1).mean(),
        "included": included[-1],
        "model": run.models[0, -1],
    }


def _classes(data: Any, clients: Any) -> Any:
    return np.unique(np.concatenate([data.client(k)[1] for k in clients]))


def _accuracy(data: Any, models: Any, classes: Any) -> Any:
    """Accuracy of models of shape (n, v) on the held-out images of some classes, shape (n,)."""
    rows = np.isin(data.test_labels, classes)
    inputs = np.column_stack([data.test_features[rows], np.ones(rows.sum())])
    logits = inputs @ models.reshape(len(models), data.num_classes, -1).transpose(0, 2, 1)
    return np.mean(np.argmax(logits, axis=-1) == data.test_labels[rows], axis=-1)


def _local_models(config: Any, data: Any, aligned: dict[str, Any], seed: Any) -> Any:
    """Mean accuracy of the common and the local models on each client's classes, by inclusion in the last round."""
    first, scores = DIGITS[0].num_priority, []
    for k in range(first, data.num_clients):
        alone = ft.fedavg(
            ft.SoftmaxFederation(data.take([k])), ft.selection.Full(), num_rounds=config.num_rounds,
            local_steps=DIGITS[0].local_steps, step_size=config.step_size, batch_size=config.small_batch_size,
            rng=fresh(seed), record=("models",), record_every=config.num_rounds,
        )  # fmt: skip
        scores.append(_accuracy(data, np.stack([aligned["model"], alone.models[0, -1]]), _classes(data, [k])))
    included = aligned["included"][first:]
    groups = [np.array(scores)[mask] for mask in (included, ~included)]
    return [group.mean(axis=0) if len(group) else np.full(2, np.nan) for group in groups]


def noisy(config: Any, progress: study.Progress) -> "Dataset":
    """Run on Synthetic(1, 1) with ten others, whose data are noisy copies of the pooled priority data."""
    import xarray

    names = list(_thresholds(config))
    found = [_noisy(config, number) for number in progress(range(config.noisy_instances), "noisy helpers")]
    dims = {"loss": (), "accuracy": (), "last_loss": (), "included": ("client",)}
    return xarray.Dataset(
        {
            of: (("instance", "level", "strategy", *own), [[[one[s][of] for s in names] for one in i] for i in found])
            for of, own in dims.items()
        },
        coords={
            "level": list(LEVELS[: len(config.skews)]), "strategy": names,
        },
    )  # fmt: skip


def _thresholds(config: Any) -> dict[str, tuple[float, str]]:
    """Return the threshold and the matched quantity, by name."""
    losses = {f"FedALIGN {eps:g}": (eps, "loss") for eps in config.noisy_thresholds}
    accuracies = {f"accuracy {eps:g}": (eps, ACCURACY) for eps in config.noisy_thresholds[:1]}
    return {ALONE: (0.0, "loss"), **losses, **accuracies, EVERYBODY: (float("inf"), "loss")}


def _noisy(config: Any, number: int) -> list[dict[str, dict[str, Any]]]:
    """Return the results of every strategy at every noise level of one instance."""
    data_seed, noise_seed, run_seed = np.random.SeedSequence([config.seed, number]).spawn(3)
    first = ft.datasets.synthetic(1.0, 1.0, 10, data_seed, max_samples=config.max_samples)
    found: list[dict[str, dict[str, Any]]] = []
    for skew in config.skews:
        # Spawning changes a seed sequence, so that every use gets a fresh copy.
        noise: dict[str, Any] = {"label_noise_skew": skew, "irrelevant_skew": skew, "rng": fresh(noise_seed)}
        fed = ft.SoftmaxFederation(ft.datasets.with_misaligned_clients(first, 10, **noise))
        results = {}
        for name, (eps, match) in _thresholds(config).items():
            # Training of the priority clients alone does not depend on the noise of the others.
            known = found and name == ALONE
            results[name] = found[0][name] if known else _with_noise(config, fed, eps, match, fresh(run_seed))
        found.append(results)
    return found


def _with_noise(config: Any, fed: Any, eps: float, match: Any, seed: Any) -> dict[str, Any]:
    aligned, _, run = _trained(
        config, fed, Scenario("", 10, match), eps, seed, batch_size=config.small_batch_size,
        record=("loss", "models", "selected"),
    )  # fmt: skip
    warmup, loss = config.num_rounds // 10, run.loss[0]
    # The last model is also recorded; no client is selected after it.
    cohorts = run.recorded("selected")[0, warmup:-1]
    return {
        # Means over the rounds after the warm-up, since mini-batches make the rounds fluctuate.
        "loss": loss[warmup + 1 :].mean(),
        "accuracy": aligned.federation.accuracy(run.models[0])[warmup + 1 :].mean(),
        "last_loss": loss[-1],
        "included": (cohorts[:, :, None] == np.arange(10, 20)).any(axis=1).mean(axis=0),
    }


def at_the_end(here: "Dataset", *, averaged: bool = False) -> Any:
    """Accuracy after the last round, or the mean over the last tenth of the rounds if accuracies fluctuate."""
    if averaged:
        return here["accuracy"].where(here["round"] > 0.9 * here["round"].max(), drop=True).mean("round")
    return here["accuracy"].isel(round=-1)


def gain(final: Any, over: str = ALONE) -> Any:
    """Differences between FedALIGN and another strategy, on the same instances."""
    return paired(final.sel(strategy=ALIGNED), final.sel(strategy=over))


def gains(final: Any, over: str) -> dict[str, Any]:
    """Mean gain and its limits by scenario."""
    own, other = (final.sel(strategy=one).transpose("instance", "scenario").values for one in (ALIGNED, over))
    return dict(zip(map(str, final["scenario"].values), mean_and_limits(own - other).T, strict=True))


def shown(limits: Any) -> str:
    """Mean gain with its interval as words."""
    mean, lower, upper = limits
    return f"{mean:+.3f} [{lower:+.3f}, {upper:+.3f}]"


def words(final: Any, over: str = ALONE) -> str:
    """Mean gain with its interval."""
    return with_limits(gain(final, over), 3, signed=True)


def findings_of_fashion(data: "Dataset") -> dict[str, study.Finding]:
    """Compare accuracies on FashionMNIST, in the panels of Figures 1, 4, 5 and 6."""
    final, num = at_the_end(data, averaged=True), data.sizes["instance"]
    alone, everyone = gains(final, ALONE), gains(final, EVERYBODY)
    two, losses, three, six, six_losses, four, eighteen, partial, nine = alone
    included = data["included"].sel(strategy=ALIGNED).mean("instance").values
    many, few = (
        [alone[name] for name in (six, nine, eighteen, partial)],
        [everyone[name] for name in (two, four, six, nine)],
    )
    return {
        "gains": study.Finding(
            "On FashionMNIST with accuracies matched, FedALIGN is significantly more accurate than the priority "
            f"clients alone with 6 to 18 of them, by {span([one[0] for one in many], 3)}, and than all clients with 2 "
            f"to 9, by {span([one[0] for one in few], 3)}.",
            all(one[1] > 0 for one in (*many, *few)),
        ),
        "losses": study.Finding(
            f"On FashionMNIST with losses matched, as in the theory, FedALIGN gains {shown(alone[losses])} over 2 "
            f"priority clients alone and {shown(alone[six_losses])} over 6.",
            bool(alone[losses][1] < 0 < alone[losses][2] and alone[six_losses][1] > 0),
        ),
        "figure 1": study.Finding(
            f"On FashionMNIST, {num} instances, 2 priority clients: {shown(everyone[two])} over all clients, and over "
            f"the priority clients alone {shown(alone[two])} with accuracies matched, {shown(alone[losses])} with "
            f"losses, and {shown(alone[three])} with three updates per round.",
            bool(everyone[two][1] > 0 and all(alone[name][1] < 0 < alone[name][2] for name in (two, losses, three))),
        ),
        "figure 4": study.Finding(
            f"On FashionMNIST, {num} instances, 4 priority clients, FedProx: {shown(everyone[four])} over all "
            f"clients, {shown(alone[four])} over the priority clients alone.",
            bool(everyone[four][1] > 0 > alone[four][1]),
        ),
        "figure 5": study.Finding(
            f"On FashionMNIST, {num} instances, 18 priority clients, 30% per round: {shown(alone[partial])} over the "
            f"priority clients alone, {shown(everyone[partial])} over all clients.",
            bool(alone[partial][1] > 0 > everyone[partial][1]),
        ),
        "figure 6": study.Finding(
            f"On FashionMNIST, {num} instances, {shown(alone[six])} over 6 priority clients alone and "
            f"{shown(everyone[six])} over all clients; {shown(alone[nine])} and {shown(everyone[nine])} with 9 and "
            f"three local steps; {shown(alone[eighteen])} and {shown(everyone[eighteen])} with 18.",
            all(
                one[1] > 0 for one in (*(alone[name] for name in (six, nine, eighteen)), everyone[six], everyone[nine])
            ),
        ),
        "included": study.Finding(
            f"On FashionMNIST with 2 priority clients {included[0]:.1f} others match in accuracy and "
            f"{included[1]:.1f} in loss.",
            bool(included[0] > included[1]),
        ),
    }


def laws_of_shards(data: "Dataset") -> dict[str, study.Finding]:
    """Test training losses, and for which clients FedALIGN's model is accurate."""
    last = data.isel(round=-1).mean("instance", skipna=True)
    alone, aligned, everybody = (last["loss"].sel(strategy=name).values for name in STRATEGIES)
    own = last["own_classes"].sel(model="FedALIGN")
    return {
        "lowest loss": study.Finding(
            "On digits the priority clients alone have the lowest training loss.",
            bool((alone < np.minimum(aligned, everybody)).all()),
            f"largest ratio {(alone / np.minimum(aligned, everybody)).max():.3g}",
        ),
        "served": study.Finding(
            "On digits the model of FedALIGN is more accurate for the clients that it includes than for the others.",
            bool(own.sel(who="included") > own.sel(who="not included")),
        ),
    }


def findings_of_shards(data: "Dataset") -> dict[str, study.Finding]:
    """Compare accuracies on digits with losses matched."""
    final, num = at_the_end(data), data.sizes["instance"]
    alone, everyone = gains(final, ALONE), gains(final, EVERYBODY)
    behind = [sum(one[2] < 0 for one in own.values()) for own in (alone, everyone)]
    common, local = (data["own_classes"].sel(model=model) for model in ("FedALIGN", "local"))
    there, absent = ([100 * float(one.sel(who=who).mean()) for one in (common, local)] for who in data["who"].values)
    minus = paired(common.sel(who="included"), local.sel(who="included"))
    return {
        "digits": study.Finding(
            "On digits with losses matched, FedALIGN is significantly less accurate than the priority clients alone "
            f"in {behind[0]} of {len(alone)} settings, and than all clients in {behind[1]}.",
            behind[0] >= 3 and behind[1] >= 3,
        ),
        "figure 3": study.Finding(
            f"On digits, {num} instances, the common model has {there[0]:.1f}% on the classes of an included client "
            f"and a model that the client trains alone {there[1]:.1f}%, a difference of "
            f"{with_limits(minus, 3, signed=True)}; for the others it is {absent[0]:.0f}% and {absent[1]:.0f}%.",
            bool(mean_and_limits(minus)[1] < 0 and absent[0] < 0.5 * absent[1]),
        ),
    }


def laws_of_noisy(data: "Dataset") -> dict[str, study.Finding]:
    """Test the cost of noisy helpers, and which clients are included."""
    aligned = [str(name) for name in data["strategy"].values[1:-1]]
    final = data["last_loss"].isel(level=-1).mean("instance")
    ratio = float((final.sel(strategy=aligned) / final.sel(strategy=EVERYBODY)).max())
    clean, noisiest = (
        data.isel(level=-1)["included"].sel(strategy=aligned).isel(client=k).mean("instance") for k in (0, -1)
    )
    return {
        "high noise": study.Finding(
            f"At the highest noise FedALIGN ends at no more than {ratio:.2f} times the training loss of all clients.",
            ratio < 1,
        ),
        "clean": study.Finding(
            "At the highest noise the client without noise is included more often than the noisiest one.",
            bool((clean > noisiest).all()),
            f"{float(clean.min()):.2f} against {float(noisiest.max()):.2f}",
        ),
    }


def findings_of_noisy(data: "Dataset") -> dict[str, study.Finding]:
    """Compare losses and accuracies with those of the priority clients alone, as in Figure 2."""
    mean, (low, *noisy) = data["loss"].mean("instance"), map(str, data["level"].values)
    below = 100 * (1 - mean / mean.sel(strategy=ALONE))
    matched = [str(name) for name in data["strategy"].values if str(name).startswith("FedALIGN")]
    *_, accurate = (str(name) for name in data["strategy"].values[1:-1])

    def against(level: str, strategy: str, name: str) -> Any:
        here = data[name].sel(level=level)
        return mean_and_limits(paired(here.sel(strategy=strategy), here.sel(strategy=ALONE)))

    clean, rest = (below.sel(level=level, strategy=matched).values for level in (low, noisy))
    gained = against(low, accurate, "accuracy")
    others = [against(level, name, "accuracy") for level in (low, *noisy) for name in (*matched, accurate)]
    nothing = sum(one[1] < 0 < one[2] for one in others)
    worse = [-float(below.sel(strategy=EVERYBODY, level=level)) for level in noisy]
    return {
        "figure 2": study.Finding(
            f"With noisy helpers the mean training loss after the warm-up is {span(clean, 0)}% (low noise) and "
            f"{span(rest, 0)}% (medium, high) below that of the priority clients alone.",
            bool(min(clean.min(), rest.min()) > 0),
        ),
        "noisy accuracy": study.Finding(
            f"With noisy helpers the accuracy gains {shown(gained)} at low noise with accuracies matched, and nothing "
            f"significant in the other {nothing} cases ({data.sizes['instance']} instances).",
            bool(gained[1] > 0 and nothing == len(others) - 1),
        ),
        "helpers": study.Finding(
            "With noisy helpers all clients together have a higher loss than the priority clients alone, by "
            f"{worse[0]:.0f}% at medium and {worse[1]:.0f}% at high noise.",
            all(against(level, EVERYBODY, "loss")[1] > 0 for level in noisy),
        ),
    }


PARTS = ("fashion", "shards", "noisy")


def findings_of_all(parts: "dict[str, Dataset]") -> dict[str, study.Finding]:
    """Return findings about means over instances if there are enough, and what holds in small runs."""
    found: dict[str, study.Finding] = {}
    if min(parts[name].sizes["instance"] for name in PARTS) >= 5:
        found |= findings_of_fashion(parts["fashion"]) | findings_of_shards(parts["shards"])
        found |= findings_of_noisy(parts["noisy"])
    return found | laws_of_shards(parts["shards"]) | laws_of_noisy(parts["noisy"])


def rows_of_all(parts: "dict[str, Dataset]") -> list[dict[str, Any]]:
    """One row per scenario, for tables."""

    def row(data: str, scenario: str, final: Any, included: Any) -> dict[str, Any]:
        rivals = [name for name in (ALONE, EVERYBODY) if name in final["strategy"]]
        means = {
            name: float(final.sel(strategy=name).mean()) if name in final["strategy"] else "" for name in STRATEGIES
        }
        found = {f"FedALIGN - {name}": words(final, name) if name in rivals else "" for name in (ALONE, EVERYBODY)}
        return {"data": data, "scenario": scenario, **means, "others included": float(included), **found}

    rows = []
    for label, name, averaged in (("images", "fashion", True), ("digits, losses matched", "shards", False)):
        here = parts[name]
        final = at_the_end(here, averaged=averaged)
        included = here["included" if averaged else "num_included"].sel(strategy=ALIGNED).mean("instance")
        rows += [row(label, str(s), final.sel(scenario=s), included.sel(scenario=s)) for s in here["scenario"].values]
    noisy = parts["noisy"]
    for level in map(str, noisy["level"].values):
        for name in map(str, noisy["strategy"].values[1:-1]):
            here = noisy.sel(level=level, strategy=[ALONE, name, EVERYBODY]).assign_coords(strategy=list(STRATEGIES))
            included = here["included"].sel(strategy=ALIGNED).sum("client").mean()
            rows.append(row("Synthetic(1, 1)", f"{level} noise, {name}", here["accuracy"], included))
    return rows
