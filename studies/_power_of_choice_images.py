"""Runs of Power-of-Choice's deep network on images, each kept as it ends, so that a stopped study goes on."""

import hashlib
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import fedtheory as ft
from fedtheory.datasets.partition import capped_dirichlet_partition
from fedtheory.engine.schedule import Halving

# The supplementary code draws every partition with this seed, whatever seed it is started with.
_SEED_OF_THE_CODE = 2020


@dataclass(frozen=True)
class Setting:
    """What the paper's text and its supplementary code say, or one thing otherwise."""

    name: str
    """Its name in tables."""
    dropout: float = 0.5
    """Rate behind the second hidden layer."""
    shift: float = 0.1307
    """Subtracted from gray values in [0, 1] ..."""
    scale: float = 0.3081
    """... before these are divided by this."""
    step_factor: float = 1.0
    """Times the paper's step size."""
    one_pass: bool = False
    """Whether a client stops after one pass through its samples, before it has taken all local steps."""
    equal_weights: bool = False
    """Whether clients, or candidates, are drawn with equal probabilities, not in proportion to their samples."""
    by_size: bool = False
    """Whether models are averaged by the clients' numbers of samples, not with equal weights."""
    distinct: bool = False
    """Whether random selection draws without replacement."""
    start: int = 0
    """Which of a partition's starts all strategies begin at."""
    halving: bool = True
    """Whether the step size halves."""
    epochs: int | None = None
    """Passes that a client makes through its samples in a round, if not a number of local steps."""
    local_steps: int | None = None
    """Local steps, if not those of the size."""
    batch_size: int | None = None
    """Samples per local step, which no client has fewer of, if not those of the size."""
    num_clients: int | None = None
    """Clients K, if not those of the size."""
    take_turns: bool = False
    """Whether two groups of clients take turns, and a tenth of the group whose turn it is drops out, as in Figure 8."""
    one_partition: bool = False
    """Whether all seeds have the partition that the supplementary code draws, whose seed is fixed there."""
    batches: str = "epoch"
    """Batches in turn through a client's samples, or drawn anew for every step, as the supplementary code does."""
    same_clients: bool = False
    """Whether the clients, or candidates, that are drawn in the first round are those of every round."""


@dataclass(frozen=True)
class Size:
    """How much is trained."""

    images: str = "fashion-mnist"
    """Images: fashion-mnist, a folder with its four files, or digits for a small trial."""
    num_clients: int = 100
    """Clients K."""
    hidden: tuple[int, ...] = (64, 30)
    """Hidden units of each layer."""
    num_rounds: int = 400
    """Communication rounds."""
    local_steps: int = 30
    """Local steps tau."""
    batch_size: int = 64
    """Samples per local step; no client has fewer."""
    step_size: float = 0.005
    """Step size at the start."""
    halve_at: tuple[int, ...] = (150, 300)
    """Rounds at which it halves."""
    l2: float = 1e-4
    """Weight decay."""
    record_every: int = 4
    """Rounds from one evaluation to the next."""


def strategies(many: int, few: int, candidates: int, remembered: int, more: int) -> dict[str, Any]:
    """Return the strategies of Tables 1 and 2 in their order; the first has more clients than the others.

    After them pow-d with more candidates, as in Figure 5, and all with more clients, as in Figure 11.
    """
    as_many = candidates * many // few
    return {
        f"rand, m = {many}": ft.selection.Proportional(many),
        f"rand, m = {few}": ft.selection.Proportional(few),
        f"pow-d, d = {candidates}": ft.selection.PowerOfChoice(few, candidates),
        f"cpow-d, d = {candidates}": ft.selection.PowerOfChoice(few, candidates, loss="minibatch"),
        f"rpow-d, d = {remembered}": ft.selection.PowerOfChoice(few, remembered, loss="last"),
        "afl by reports": ft.selection.ActiveFederatedByReports(few),
        f"pow-d, d = {more}": ft.selection.PowerOfChoice(few, more),
        f"pow-d, m = {many}, d = {as_many}": ft.selection.PowerOfChoice(many, as_many),
        f"cpow-d, m = {many}, d = {as_many}": ft.selection.PowerOfChoice(many, as_many, loss="minibatch"),
        f"rpow-d, m = {many}, d = {remembered}": ft.selection.PowerOfChoice(many, remembered, loss="last"),
        f"afl by reports, m = {many}": ft.selection.ActiveFederatedByReports(many),
    }


def kept(folder: str, setting: Setting, size: Size, concentration: float, strategy: Any, seed: int) -> dict[str, Any]:
    """Return what ``trained`` does, from the folder if it was trained before."""
    # What differs only, so that a setting that is thought of later does not rename the runs of the others.
    differs = {f.name: getattr(setting, f.name) for f in fields(setting) if f.name != "name"}
    differs = {name: value for name, value in differs.items() if value != getattr(Setting(""), name)}
    key = repr((differs, size, concentration, strategy, seed))
    file = Path(folder, hashlib.sha256(key.encode()).hexdigest()[:16] + ".npz")
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        found, unfinished = trained(setting, size, concentration, strategy, seed), file.with_suffix(".partial.npz")
        np.savez(unfinished, key=key, **found)
        unfinished.rename(file)
    with np.load(file) as stored:
        if str(stored["key"]) != key:
            message = f"{file} must hold {key}, got {stored['key']}"
            raise ValueError(message)
        return {name: stored[name] for name in stored.files if name != "key"}


def trained(setting: Setting, size: Size, concentration: float, strategy: Any, seed: int) -> dict[str, Any]:
    """Train once; return the curves along the recorded rounds, accuracies in percent of the common test set.

    ``accuracy`` is that of the whole network, ``accuracy_dropping`` that of one that still drops units; ``loss`` is
    that of all clients by their samples, at every fifth recorded round.
    """
    if (setting.distinct or setting.same_clients) and isinstance(strategy, ft.selection.Proportional):
        strategy = ft.selection.PowerOfChoice(strategy.num_selected, strategy.num_selected)
    fed = _federation(setting, size, concentration, seed, strategy)
    if setting.take_turns:
        strategy = ft.selection.Available(strategy, ft.selection.AlternatingGroups(0.1))
    training = np.random.SeedSequence([seed, 1])
    run = ft.fedavg(
        fed,
        ft.selection.SizeWeighted(strategy) if setting.by_size else strategy,
        num_rounds=size.num_rounds,
        local_steps=_local_steps(fed, setting, size),
        batch_size=setting.batch_size or size.batch_size,
        batches=setting.batches,
        step_size=Halving(setting.step_factor * size.step_size, size.halve_at if setting.halving else ()),
        initial=fed.initial(np.random.default_rng([seed, 2, *([setting.start] if setting.start else [])])),
        rng=training,
        record=("models",),
        record_every=size.record_every,
        num_threads=1,
    )
    dropping = np.random.default_rng([seed, 3])
    return {
        "accuracy": 100 * fed.accuracy(run.models[0]),
        "loss": np.array([fed.losses(model) @ fed.data.weights for model in run.models[0, ::5]]),
        "accuracy_dropping": np.array([100 * _accuracy_dropping(fed, model, dropping) for model in run.models[0]]),
    }


def _local_steps(fed: Any, setting: Setting, size: Size) -> Any:
    per_pass = -(-fed.sample_counts // (setting.batch_size or size.batch_size))
    if setting.epochs is not None:
        return setting.epochs * per_pass
    steps = setting.local_steps or size.local_steps
    return np.minimum(steps, per_pass) if setting.one_pass else steps


def _federation(setting: Setting, size: Size, concentration: float, seed: int, strategy: Any) -> Any:
    """Return the clients, whose weights say how likely they are drawn."""
    num_clients = setting.num_clients or size.num_clients
    data = _data(
        size.images, num_clients, setting.batch_size or size.batch_size, concentration, setting.shift,
        setting.scale, None if setting.one_partition else seed,
    )  # fmt: skip
    weights: Any = np.full(num_clients, 1 / num_clients) if setting.equal_weights else None
    if setting.same_clients:
        if not (isinstance(strategy, ft.selection.PowerOfChoice) and isinstance(strategy.num_candidates, int)):
            message = f"the same clients in every round must be those of random selection or pow-d, got {strategy}"
            raise ValueError(message)
        # Nobody else has a weight, so that everybody who has one is drawn in every round.
        drawn = np.random.default_rng([seed, 4]).choice(
            num_clients, strategy.num_candidates, p=data.weights, replace=False
        )
        weights = np.bincount(drawn, minlength=num_clients) / strategy.num_candidates
    drops = (*(0.0 for _ in size.hidden[1:]), setting.dropout)
    return ft.PerceptronFederation(data, size.hidden, size.l2, weights, drops)


@lru_cache(maxsize=1)
def _data(
    images: str, num_clients: int, batch_size: int, concentration: float, shift: float, scale: float, seed: int | None
) -> Any:
    """Deal the images, with the common test set as held-out samples of the first client."""
    (x, y), (test_x, test_y) = _images(images)
    if seed is None:
        parts = _partition_of_the_code(y, num_clients, concentration)
    else:
        rng = np.random.default_rng([seed, 0])
        parts = capped_dirichlet_partition(y, num_clients, concentration, min_samples=batch_size, rng=rng)
    return ft.federation.FederatedData.from_partition(
        (x - shift) / scale, y, parts, test=((test_x - shift) / scale, test_y)
    )


def _partition_of_the_code(labels: Any, num_clients: int, concentration: float) -> list[Any]:
    """Return the partition of ``capped_dirichlet_partition`` that the supplementary code's own generator draws."""
    draw = np.random.RandomState(_SEED_OF_THE_CODE)
    sizes = np.zeros(num_clients, dtype=np.int64)
    while sizes.min() < 10:
        owners, sizes = np.empty(labels.size, dtype=np.int64), np.zeros(num_clients, dtype=np.int64)
        for label in range(10):
            rows = np.flatnonzero(labels == label)
            draw.shuffle(rows)
            shares = draw.dirichlet(np.repeat(concentration, num_clients)) * (sizes * num_clients < labels.size)
            cuts = (np.cumsum(shares / shares.sum()) * rows.size).astype(np.int64)[:-1]
            counts = np.diff(cuts, prepend=0, append=rows.size)
            owners[rows] = np.repeat(np.arange(num_clients), counts)
            sizes += counts
    return [np.flatnonzero(owners == k) for k in range(num_clients)]


def _images(name: str) -> Any:
    if name != "digits":
        # In double precision, before anything is subtracted.
        found = ft.datasets.fashion_mnist(None if name == "fashion-mnist" else name)
        return [(np.rint(255.0 * x) / 255.0, y) for x, y in found]
    data = ft.datasets.digits(1, 0, test_fraction=0.2)
    return (data.features, data.labels), (data.test_features, data.test_labels)


def _accuracy_dropping(fed: Any, model: Any, rng: np.random.Generator) -> float:
    """Return the share of test samples that the network gets right when it still drops units."""
    inputs, place = fed.data.test_features, 0
    for shape, rate in zip(fed.shapes, (*fed.dropout, None), strict=True):
        matrix = model[place : place + shape[0] * shape[1]].reshape(shape)
        place += matrix.size
        inputs = inputs @ matrix[:, :-1].T + matrix[:, -1]
        if rate is not None:
            inputs = np.maximum(inputs, 0.0) * (rng.random(inputs.shape) >= rate) / (1.0 - rate)
    return float(np.mean(inputs.argmax(axis=1) == fed.data.test_labels))
