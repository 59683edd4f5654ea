"""Runs of FedALIGN, of priority clients only and of all clients, on shards of images and with noisy helpers."""

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np
from _images import Images, dealt, digits, read_images
from _repeated import fresh

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
# The matched quantity, updates applied per round, and features in [0, 1] or large ones.
ARMS = {
    "three updates": Scenario("large features", 0, ACCURACY, updates=3.0),
    "accuracy": Scenario("large features", 0, ACCURACY),
    "loss": Scenario("large features", 0),
    "stable": Scenario("features in [0, 1]", 0, ACCURACY),
}


def _trained(config: Any, fed: Any, scenario: Scenario, eps: float, seed: Any, **how: Any) -> tuple[Any, Any, Any]:
    """Train with a threshold after a warm-up of a tenth of the rounds; return federation, strategy and run.

    The first clients have priority; threshold 0 excludes all others, and infinity includes them.
    """
    aligned = ft.federation.prioritize(fed, np.arange(fed.num_clients) < scenario.num_priority)
    takes_part: Any = (
        ft.selection.Everyone() if scenario.fraction is None else ft.selection.UniformFraction(scenario.fraction)
    )
    strategy = ft.selection.LossMatching(
        aligned.priority, aligned.shares, eps, warmup_rounds=config.num_rounds // 10, match=scenario.match,
        participation=takes_part,
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
    found = ft.engine.inclusions(aligned, strategy, run, with_gaps=False)
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


def arms(config: Any, progress: study.Progress) -> "Dataset":
    """Vary the matched quantity, the number of updates per round, and the scale of features, one at a time."""
    import xarray

    cells = [(n, s) for n in range(config.arm_instances) for s in config.shards_per_client]
    pictures = _noisy_digits(config)
    found = [_arms(config, pictures, *cell) for cell in progress(cells, "arms")]
    shape = (config.arm_instances, len(config.shards_per_client), len(config.arm_priority), len(ARMS), 2, 2)
    arrays, dims = np.array(found).reshape(shape), ("instance", "shards", "priority", "arm", "who")
    return xarray.Dataset(
        {"accuracy": (dims, arrays[..., 0]), "included": (dims, arrays[..., 1])},
        coords={
            "shards": list(config.shards_per_client), "priority": list(config.arm_priority), "arm": list(ARMS),
            "who": [ALONE, ALIGNED],
        },
        attrs={"num_clients": config.num_clients},
    )  # fmt: skip


def _noisy_digits(config: Any) -> Images:
    """Return the images; digits have no test set, and receive noise that makes them as hard as FashionMNIST."""
    if config.data != ("digits",):
        return read_images(config.data, 0)
    images = digits()
    return images._replace(x=images.x + 0.4 * np.random.default_rng(config.seed).standard_normal(images.x.shape))


def _arms(config: Any, pictures: Images, number: int, per_client: int) -> list[Any]:
    """Accuracy and number of included others, by number of priority clients, arm and strategy."""
    deal, training = np.random.SeedSequence([config.seed, number]).spawn(2)
    found = []
    for first in config.arm_priority:
        known: dict[tuple[Any, ...], tuple[float, float]] = {}
        for arm in ARMS.values():
            data, test = arm_shards(config, pictures, per_client, fresh(deal), stable=arm.name == "features in [0, 1]")
            for eps in (0.0, config.threshold):
                # Training alone does not depend on the matched quantity.
                key = (arm.updates, arm.name, eps, arm.match if eps else "")
                if key not in known:
                    known[key] = _arm(config, data, test, arm._replace(num_priority=first), eps, fresh(training))
                found.append(known[key])
    return found


def arm_shards(config: Any, pictures: Images, per_client: int, seed: Any, *, stable: bool) -> tuple[Any, Any]:
    """Training data of all clients, and the images and labels held out."""
    images, labels, *test = pictures
    rng = np.random.default_rng(seed)
    if len(test[1]) == 0:
        held, train = np.split(rng.permutation(labels.size), [int(0.4 * labels.size)])
        images, labels, test = images[train], labels[train], [images[held], labels[held]]
    # For a linear model, features of digits times 3.5 have the effect of images enlarged to 28 x 28 pixels.
    x, x_test = (one if stable else config.enlarged * (one - 0.1307) / 0.3081 for one in (images, test[0]))
    # Uni-class: the cuts are at the class boundaries, and each class has its share of the shards.
    cut = ft.datasets.shard_partition(labels, config.num_shards, 1, rng=rng)
    drawn = rng.integers(len(cut), size=(config.num_clients, per_client))
    rows = [np.concatenate([cut[i] for i in own]) for own in drawn]
    clients = [(x[k], labels[k]) for k in rows]
    data = ft.federation.FederatedData.from_clients(clients, num_classes=int(labels.max()) + 1)
    return data, (x_test, test[1])


def _arm(config: Any, data: Any, test: Any, arm: Scenario, eps: float, seed: Any) -> tuple[float, float]:
    first, warmup = arm.num_priority, config.num_rounds // 10
    *_, run = _trained(
        config, ft.SoftmaxFederation(data), arm, eps, seed, record=("models", "selected"),
        batch_size=min(config.batch_size, int(data.sample_counts.min())),
    )  # fmt: skip
    included = (run.recorded("selected")[0, warmup:-1] >= first).sum(axis=1).mean()
    own = np.bincount(np.concatenate([data.client(k)[1] for k in range(first)]), minlength=data.num_classes)
    late, (images, labels) = run.models[0, -(config.num_rounds // 10) :], test
    return weighted_accuracy(late, images, labels, own / own.sum()), float(included)


def weighted_accuracy(models: Any, images: Any, labels: Any, shares: Any) -> float:
    """Mean accuracy of models, with the classes in given shares."""
    inputs = np.column_stack([images, np.ones(len(images))])
    logits = inputs @ models.reshape(len(models), shares.size, -1).transpose(0, 2, 1)
    right = (logits.argmax(axis=-1) == labels).mean(axis=0)
    return float(sum(share * right[labels == c].mean() for c, share in enumerate(shares) if share))


def noisy(config: Any, progress: study.Progress) -> "Dataset":
    """Run on Synthetic(1, 1) with ten others, whose data are noisy copies of the pooled priority data."""
    import xarray

    names = list(_thresholds(config))
    found = [_noisy(config, number) for number in progress(range(config.noisy_instances), "noisy helpers")]
    dims = {"loss": (), "accuracy": (), "loss_before": (), "last_loss": (), "included": ("client",)}
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
        "loss_before": loss[warmup],
        "last_loss": loss[-1],
        "included": (cohorts[:, :, None] == np.arange(10, 20)).any(axis=1).mean(axis=0),
    }
