"""Runs of Power-of-Choice's deep network on FashionMNIST: settings, plan, and single runs."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from _experiments import kept

import fedtheory as ft
from fedtheory import study

if TYPE_CHECKING:
    from xarray import Dataset

# The supplementary code draws every partition with this seed, for every seed of the run.
_SEED_OF_THE_CODE = 2020
BASE, SAME, CODE, PASS = "as published", "the same clients", "the code's partition", "one pass"
TENTH, SHORT, RERUN = "a tenth of the step", "a sixth of the step, one pass", "as a public rerun"
WIDE, LONG, TURNS, CROWD = "batches of 128", "100 local steps", "groups take turns", "500 clients"
GRAY, ANEW = "gray values in [0, 1]", "batches drawn anew"


@dataclass(frozen=True)
class Setting:
    """Setting of the paper's text and its supplementary code, or a change of it."""

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
    batches: Literal["step", "epoch"] = "epoch"
    """Batches in turn through a client's samples, or drawn anew for every step, as the supplementary code does."""
    same_clients: bool = False
    """Whether the clients, or candidates, that are drawn in the first round are those of every round."""


@dataclass(frozen=True)
class Size:
    """Sizes of the runs."""

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


SETTINGS = {
    setting.name: setting
    for setting in (
        Setting(BASE),
        Setting(TENTH, step_factor=0.1),
        Setting(PASS, one_pass=True),
        Setting(f"{TENTH}, {PASS}", step_factor=0.1, one_pass=True),
        Setting(SHORT, step_factor=1 / 6, one_pass=True),
        Setting("equal weights", equal_weights=True),
        Setting("averages by size", by_size=True),
        Setting("without replacement", distinct=True),
        Setting("no dropout", dropout=0.0),
        Setting(GRAY, shift=0.0, scale=1.0),
        Setting("another start", start=1),
        Setting(SAME, same_clients=True),
        Setting(CODE, one_partition=True),
        Setting(ANEW, batches="step"),
        Setting(RERUN, step_factor=0.1, one_partition=True, batches="step"),
        Setting(WIDE, batch_size=128),
        Setting(LONG, local_steps=100),
        Setting(TURNS, take_turns=True),
        Setting(CROWD, num_clients=500, batch_size=10),
    )
}


def strategies(config: Any) -> dict[str, Any]:
    """Return the strategies of Tables 1 and 2 in their order; the first strategy has more clients than the others.

    They are followed by pow-d with more candidates, as in Figure 5, and by all strategies with more clients, as in
    Figure 11.
    """
    many, few, d, more, last = (
        config.many,
        config.few,
        config.num_candidates,
        config.more_candidates,
        config.num_remembered,
    )
    as_many = d * many // few
    return {
        f"rand, m = {many}": ft.selection.Proportional(many),
        f"rand, m = {few}": ft.selection.Proportional(few),
        f"pow-d, d = {d}": ft.selection.PowerOfChoice(few, d),
        f"cpow-d, d = {d}": ft.selection.PowerOfChoice(few, d, loss="minibatch"),
        f"rpow-d, d = {last}": ft.selection.PowerOfChoice(few, last, loss="last"),
        "afl by reports": ft.selection.ActiveFederatedByReports(few),
        f"pow-d, d = {more}": ft.selection.PowerOfChoice(few, more),
        f"pow-d, m = {many}, d = {as_many}": ft.selection.PowerOfChoice(many, as_many),
        f"cpow-d, m = {many}, d = {as_many}": ft.selection.PowerOfChoice(many, as_many, loss="minibatch"),
        f"rpow-d, m = {many}, d = {last}": ft.selection.PowerOfChoice(many, last, loss="last"),
        f"afl by reports, m = {many}": ft.selection.ActiveFederatedByReports(many),
    }


# Settings, strategies by number, numbers of concentrations and partitions, and whether to run all rounds.
MAIN, TABLES, WIDER = (1, 2), (3, 4, 5), (0, 7, 8, 9, 10)
PLAN = (
    ((BASE,), (*MAIN, *TABLES), 2, 3, True),
    ((BASE,), (6, *WIDER), 2, 1, True),
    ((TENTH, SHORT), MAIN, 1, 3, True),
    ((TENTH, SHORT), MAIN, 2, 1, True),
    ((f"{TENTH}, {PASS}", RERUN, SAME), MAIN, 2, 1, True),
    ((WIDE, LONG, TURNS), (*MAIN, *TABLES), 2, 1, True),
    ((CROWD,), WIDER, 2, 1, True),
    ((SAME, PASS), MAIN, 1, 3, False),
    ((GRAY,), MAIN, 1, 1, False),
    (("equal weights", "no dropout", "another start", ANEW, CODE), MAIN[:1], 1, 3, False),
    (("without replacement", "averages by size"), MAIN[:1], 1, 1, False),
)

PLANNED = tuple(dict.fromkeys(name for names, *_ in PLAN for name in names))


def planned(config: Any) -> list[tuple[str, float, int, str, bool]]:
    """Return the planned runs: setting, concentration, seed, strategy, and whether to run all rounds."""
    unknown = [name for name in config.settings if name not in SETTINGS]
    if unknown:
        message = f"settings must be among {', '.join(SETTINGS)}, got {unknown[0]}"
        raise ValueError(message)
    names = list(strategies(config))
    jobs = {
        (setting, concentration, seed, names[i]): whole
        for settings, chosen, alphas, seeds, whole in reversed(PLAN)
        for setting in settings
        if setting in config.settings
        for concentration in config.concentrations[:alphas]
        for seed in config.seeds[:seeds]
        for i in chosen
    }
    order = list(config.settings)
    return [(*job, whole) for job, whole in sorted(jobs.items(), key=lambda one: (order.index(one[0][0]), one[0][1:3]))]


def fashion(config: Any, progress: study.Progress) -> "Dataset":
    """Train the planned runs, or read stored ones; short runs are bit-identical to the start of complete ones."""
    import xarray

    jobs = planned(config)
    found = [_run(config, *job) for job in progress(jobs, "runs on FashionMNIST")]
    rounds = np.arange(0, config.size.num_rounds + 1, config.size.record_every)
    accuracy = np.full((len(jobs), rounds.size), np.nan)
    for row, one in zip(accuracy, found, strict=True):
        row[: one.sizes["round"]] = one["accuracy"]
    labels = dict(zip(("setting", "concentration", "seed", "strategy"), zip(*jobs, strict=True), strict=False))
    return xarray.Dataset(
        {
            **{name: ("run", np.array(values)) for name, values in labels.items()},
            "accuracy": (("run", "round"), accuracy),
            "loss_ratio": ("run", [float(one["loss_ratio"]) for one in found]),
            "dropping": ("run", [float(one["dropping"]) for one in found]),
        },
        coords={"round": rounds},
        attrs={"target": config.target, "published": int(config.size.images == "fashion-mnist")},
    )


def _run(config: Any, setting: str, concentration: float, seed: int, name: str, whole: bool) -> "Dataset":
    size = config.size if whole else replace(config.size, num_rounds=config.early_rounds)
    return kept(
        config.runs, f"{setting}/{concentration:g}/{name}/{size.num_rounds}", trained, seed, setting=SETTINGS[setting],
        size=size, concentration=concentration, strategy=strategies(config)[name],
    )  # fmt: skip


def trained(setting: Setting, size: Size, concentration: float, strategy: Any, seed: int) -> "Dataset":
    """Train once; return accuracies in percent of the common test set along the recorded rounds.

    ``loss_ratio`` is the last training loss over the first, and ``dropping`` the accuracy over the last tenth of the
    rounds of a network that still drops units.
    """
    import xarray

    if (setting.distinct or setting.same_clients) and isinstance(strategy, ft.selection.Proportional):
        strategy = ft.selection.PowerOfChoice(strategy.num_selected, strategy.num_selected)
    fed = _federation(setting, size, concentration, seed, strategy)
    if setting.take_turns:
        strategy = ft.selection.Available(strategy, ft.selection.AlternatingGroups(0.1))
    run = ft.fedavg(
        fed,
        ft.selection.SizeWeighted(strategy) if setting.by_size else strategy,
        num_rounds=size.num_rounds,
        local_steps=_local_steps(fed, setting, size),
        batch_size=setting.batch_size or size.batch_size,
        batches=setting.batches,
        step_size=ft.engine.Halving(setting.step_factor * size.step_size, size.halve_at),
        initial=fed.initial(np.random.default_rng([seed, 2, *([setting.start] if setting.start else [])])),
        rng=np.random.SeedSequence([seed, 1]),
        record=("models",),
        record_every=size.record_every,
        num_threads=1,
    )
    models, dropping = run.models[0], np.random.default_rng([seed, 3])
    first, last = (float(fed.losses(model) @ fed.data.weights) for model in models[[0, -1]])
    still = [100 * _accuracy_dropping(fed, model, dropping) for model in models]
    late = run.rounds > 0.9 * run.rounds[-1]
    return xarray.Dataset(
        {
            "accuracy": ("round", 100 * fed.accuracy(models)),
            "loss_ratio": last / first,
            "dropping": float(np.mean(np.array(still)[late])),
        },
        coords={"round": run.rounds},
    )


def _local_steps(fed: Any, setting: Setting, size: Size) -> Any:
    per_pass = -(-fed.sample_counts // (setting.batch_size or size.batch_size))
    steps = setting.local_steps or size.local_steps
    return np.minimum(steps, per_pass) if setting.one_pass else steps


def _federation(setting: Setting, size: Size, concentration: float, seed: int, strategy: Any) -> Any:
    """Return the clients; their weights are the probabilities of selection."""
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
        # Only these clients have positive weights, so that all of them are drawn in every round.
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
    """Partition the images, with the common test set as held-out samples of the first client."""
    (x, y), (test_x, test_y) = _images(images)
    if seed is None:
        parts = _partition_of_the_code(y, num_clients, concentration)
    else:
        rng = np.random.default_rng([seed, 0])
        parts = ft.datasets.capped_dirichlet_partition(y, num_clients, concentration, min_samples=batch_size, rng=rng)
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
        # In double precision, before any subtraction.
        found = ft.datasets.fashion_mnist(None if name == "fashion-mnist" else name)
        return [(np.rint(255.0 * x) / 255.0, y) for x, y in found]
    data = ft.datasets.digits(1, 0, test_fraction=0.2)
    return (data.features, data.labels), (data.test_features, data.test_labels)


def _accuracy_dropping(fed: Any, model: Any, rng: np.random.Generator) -> float:
    """Return the test accuracy of the network with dropout."""
    inputs, place = fed.data.test_features, 0
    for shape, rate in zip(fed.shapes, (*fed.dropout, None), strict=True):
        matrix = model[place : place + shape[0] * shape[1]].reshape(shape)
        place += matrix.size
        inputs = inputs @ matrix[:, :-1].T + matrix[:, -1]
        if rate is not None:
            inputs = np.maximum(inputs, 0.0) * (rng.random(inputs.shape) >= rate) / (1.0 - rate)
    return float(np.mean(inputs.argmax(axis=1) == fed.data.test_labels))
