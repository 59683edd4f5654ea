"""Power-of-Choice's deep network on FashionMNIST: settings, plan, runs, and findings about its Tables 1 and 2."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from _experiments import kept
from _repeated import mean_and_limits, with_limits

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


# Rounds to 60%, final accuracy in percent; strategies in the order of ``strategies``.
PUBLISHED = {
    0.3: ((172, 71.21), (234, 64.87), (89, 76.47), (80, 76.63), (98, 76.56), (121, 73.28)),
    2.0: ((135, 63.50), (136, 66.03), (82, 73.81), (89, 73.36), (99, 72.52), (131, 70.64)),
}


class Runs:
    """The runs of a data set, by setting, concentration and strategy."""

    def __init__(self, data: "Dataset") -> None:
        self.rounds, self.target = data["round"].values, float(data.attrs["target"])
        self.settings = list(dict.fromkeys(map(str, data["setting"].values)))
        self.strategies = list(dict.fromkeys(map(str, data["strategy"].values)))
        self.many = max(int(name.rpartition(" ")[2]) for name in self.strategies if name.startswith("rand"))
        self.early = int(self.rounds[np.isfinite(data["accuracy"].values).sum(axis=1).min() - 1])
        keys = zip(*(data[name].values.tolist() for name in ("setting", "concentration", "strategy")), strict=True)
        self._found: dict[tuple[Any, ...], dict[int, Any]] = {}
        for key, seed, accuracy in zip(keys, data["seed"].values.tolist(), data["accuracy"].values, strict=True):
            self._found.setdefault(key, {})[seed] = accuracy

    @property
    def keys(self) -> list[tuple[str, float, str]]:
        """Return the settings, concentrations and strategies of all runs."""
        return [(str(setting), float(alpha), str(name)) for setting, alpha, name in self._found]

    def chosen(self, setting: str, concentration: float, name: str, *, whole: bool = True) -> dict[int, Any]:
        """Return accuracies by the seed of the partition: of complete runs, or of the first rounds of all runs."""
        found = self._found[setting, concentration, name]
        if whole:
            return {seed: found[seed] for seed in sorted(found) if np.isfinite(found[seed]).all()}
        return {seed: found[seed][self.rounds <= self.early] for seed in sorted(found)}

    def of(self, setting: str, concentration: float, name: str, *, whole: bool = True, first: bool = False) -> Any:
        """Accuracies by partition, shape (partitions, rounds), of all partitions or of the first one."""
        found = list(self.chosen(setting, concentration, name, whole=whole).values())
        return np.array(found[:1] if first else found)

    def differences(self, first: tuple[str, float, str], second: tuple[str, float, str], *, whole: bool = True) -> Any:
        """Return differences in accuracy at the end, or in the first rounds, on the same partitions."""
        both = [self.chosen(*key, whole=whole) for key in (first, second)]
        if list(both[0]) != list(both[1]):
            message = (
                f"a comparison must be of the same partitions on both sides, got {list(both[0])} and {list(both[1])}"
            )
            raise ValueError(message)
        of = self.last if whole else self.soon
        return of(np.array(list(both[0].values()))) - of(np.array(list(both[1].values())))

    def reached(self, accuracies: Any) -> Any:
        """Return the first recorded round at the target for each partition, NaN if there is none."""
        there = accuracies >= self.target
        return np.where(there.any(axis=1), self.rounds[there.argmax(axis=1)], np.nan)

    def last(self, accuracies: Any) -> Any:
        """Accuracy over the last tenth of the rounds by partition."""
        return accuracies[:, self.rounds > 0.9 * self.rounds[-1]].mean(axis=1)

    def soon(self, accuracies: Any) -> Any:
        """Accuracy over the second half of the first rounds by partition."""
        rounds = self.rounds[: accuracies.shape[1]]
        return accuracies[:, rounds > rounds[-1] / 2].mean(axis=1)


def shown(values: Any, digits: int) -> str:
    """Format the mean, with limits if there are several partitions, and their number if some are missing."""
    if not np.isfinite(values).all():
        return f"reached {np.isfinite(values).sum()} times of {values.size}"
    return with_limits(values, digits) if values.size > 1 else f"{values[0]:.{digits}f}"


def lead(runs: Runs, setting: str, concentration: float) -> Any:
    """Return the final accuracy of pow-d minus that of random selection, on the same partitions."""
    rand, pow_d = _main(runs)
    return runs.differences((setting, concentration, pow_d), (setting, concentration, rand))


def leads(runs: Runs, concentration: float) -> dict[str, Any]:
    """Return the leads of pow-d by setting, of complete runs; with many clients if there is no run with few."""
    found, (rand, pow_d) = {}, _main(runs)
    wide = [name for name in runs.strategies if "m = " in name and name != rand][:2]
    for setting in runs.settings:
        for first, second in ((rand, pow_d), wide):
            keys = (setting, concentration, second), (setting, concentration, first)
            if setting not in found and all(key in runs.keys and runs.chosen(*key) for key in keys):
                found[setting] = runs.differences(*keys)
    return found


def ends(runs: Runs, concentration: float) -> dict[str, Any]:
    """Accuracies at the end as published, in the order of Table 1."""
    names = [name for name in _in_order(runs) if (BASE, concentration, name) in runs.keys]
    return {name: runs.last(runs.of(BASE, concentration, name)) for name in names[: len(PUBLISHED[0.3])]}


def _main(runs: Runs) -> list[str]:
    """Random selection and pow-d with few clients."""
    return _in_order(runs)[1:3]


def _number(name: str) -> int:
    return int(name.rpartition(" ")[2])


def _in_order(runs: Runs) -> list[str]:
    """Strategies in the order of Tables 1 and 2, then pow-d with more candidates."""
    rand = sorted((name for name in runs.strategies if name.startswith("rand")), key=_number, reverse=True)
    pow_d, *more = sorted((name for name in runs.strategies if name.startswith("pow-d, d")), key=_number)
    kinds = ("cpow-d, d", "rpow-d, d", "afl by reports")
    others = [name for kind in kinds for name in runs.strategies if name.startswith(kind) and "m = " not in name]
    return [*rand, pow_d, *others, *more]


def rows_of_fashion(data: "Dataset") -> list[dict[str, Any]]:
    """One row per setting, concentration and strategy, with the paper's numbers."""
    runs, rows = Runs(data), []
    order = list(_in_order(runs))
    for setting, concentration, name in sorted(runs.keys, key=lambda key: (runs.settings.index(key[0]), key[1])):
        here = runs.of(setting, concentration, name)
        whole = bool(len(here))
        here = here if whole else runs.of(setting, concentration, name, whole=False)
        paper: Any = ("", "")
        if whole and setting == BASE and data.attrs["published"]:
            published = dict(zip(order, PUBLISHED.get(concentration, ()), strict=False))
            paper = published.get(name, paper)
        rivals, final = _main(runs), runs.last(here) if whole else runs.soon(here)
        leads = lead(runs, setting, concentration) if whole and name == rivals[1] else np.array([])
        rows.append({
            "setting": setting if whole else f"{setting}, to round {runs.early}", "concentration": concentration,
            "strategy": name, "partitions": len(here), "rounds to the target": shown(runs.reached(here), 0),
            "paper: rounds": paper[0], "accuracy [%]": shown(final, 1), "paper: accuracy": paper[1],
            "lead over rand, m = few": shown(leads, 1) if leads.size else "", "floats up": "", "models down": "",
        })  # fmt: skip
    return rows


def laws_of_fashion(data: "Dataset") -> dict[str, study.Finding]:
    """Test that all runs learn and, for complete runs, that losses decrease and that dropout costs accuracy."""
    runs, accuracy = Runs(data), data["accuracy"].values
    whole = np.isfinite(accuracy).all(axis=1)
    late = runs.last(accuracy[whole])
    gained = float((late - accuracy[whole, 0]).min())
    # The loss of a client that is never drawn may increase.
    drawn = np.array(["same clients" not in str(name) for name in data["setting"].values])
    ratios, dropping = data["loss_ratio"].values, data["dropping"].values
    fallen, lost = float(ratios[whole & drawn].max()), float((late - dropping[whole]).mean())
    return {
        "learns": study.Finding(f"Every complete run gains at least {gained:.0f} points of accuracy.", gained > 5),
        "losses": study.Finding(
            f"If all clients can be drawn, every complete run ends with at most {fallen:.2f} times the first training "
            "loss.",
            fallen < 1,
        ),
        "dropout": study.Finding(
            f"Units that are dropped during the test cost {lost:.1f} points of accuracy on average.", lost > 0
        ),
    }


def findings_of_fashion(data: "Dataset") -> dict[str, study.Finding]:
    """Compare accuracies, rounds and leads with those of Figures 5 to 15 and of Tables 1 and 2."""
    runs = Runs(data)
    return _findings_of_tables(runs) | _findings_of_changes(runs) | _findings_of_figures(runs)


def _findings_of_tables(runs: Runs) -> dict[str, study.Finding]:
    names = _in_order(runs)[: len(PUBLISHED[0.3])]
    ten, rand, pow_d, *others = names
    tables = {alpha: dict(zip(names, rows, strict=False)) for alpha, rows in PUBLISHED.items()}

    def row(alpha: float, name: str, *, first: bool = False) -> str:
        here, (rounds, accuracy) = runs.of(BASE, alpha, name, first=first), tables[alpha][name]
        label = "random selection" if name == rand else name.partition(",")[0]
        return f"{label} {shown(runs.reached(here), 0)} and {shown(runs.last(here), 1)}% ({rounds} and {accuracy:.2f}%)"

    def on_first(setting: str, alpha: float) -> tuple[str, Any]:
        """Return rounds and final accuracies of random selection and pow-d on the first partition."""
        pairs = [runs.of(setting, alpha, name, first=True) for name in (rand, pow_d)]
        (one, two), ends = ([float(of(pair)[0]) for pair in pairs] for of in (runs.reached, runs.last))
        return f"{one:.0f} and {two:.0f} rounds to {runs.target:g}%, and {ends[0]:.1f}% and {ends[1]:.1f}%", np.array(
            ends
        )

    base = [runs.of(BASE, 0.3, name) for name in (rand, pow_d)]
    rounds = [shown(runs.reached(one), 0) for one in base]
    (lead_here, low, high), paper = (
        mean_and_limits(lead(runs, BASE, 0.3)),
        {a: [tables[a][name] for name in (rand, pow_d)] for a in tables},
    )
    far = paper[0.3][1][1] - paper[0.3][0][1]
    every = [float(one.mean()) for one in leads(runs, 0.3).values()]
    short = [shown(runs.last(runs.of(SHORT, 0.3, name)), 1) for name in (rand, pow_d)]
    firsts = {(setting, alpha): on_first(setting, alpha) for setting in (TENTH, SHORT) for alpha in (0.3, 2.0)}
    ends = {alpha: np.array([one[1] for one in rows]) for alpha, rows in paper.items()}

    def like_random_selection(alpha: float) -> bool:
        """Whether a sixth of the step and one pass reproduce random selection, and not pow-d."""
        off = firsts[SHORT, alpha][1] - ends[alpha]
        return bool(abs(off[0]) < 3 and off[1] < -3)

    cells = {alpha: "; ".join(row(alpha, name) for name in (rand, pow_d, *others)) for alpha in tables}
    tens = [runs.last(runs.of(BASE, alpha, ten, first=True))[0] for alpha in tables]
    return {
        "lead": study.Finding(
            f"Power-of-Choice leads random selection by {lead_here:+.1f} [{low:+.1f}, {high:+.1f}] points as "
            f"published, where the paper has {far:+.1f}; the largest mean lead of any setting is {max(every):+.1f}.",
            bool(low > 0 and high < far and max(every) < far),
        ),
        "rounds": study.Finding(
            f"As published, on {len(base[0])} partitions random selection needs {rounds[0]} rounds to "
            f"{runs.target:g}% and pow-d {rounds[1]} (paper {paper[0.3][0][0]} and {paper[0.3][1][0]}).",
            all((runs.reached(one) < published).all() for one, (published, _) in zip(base, paper[0.3], strict=True)),
        ),
        "accurate": study.Finding(
            f"As published, random selection ends at {shown(runs.last(base[0]), 1)}% and pow-d at "
            f"{shown(runs.last(base[1]), 1)}% (paper {paper[0.3][0][1]}% and {paper[0.3][1][1]}%).",
            bool(
                mean_and_limits(runs.last(base[0]))[1] > paper[0.3][0][1]
                and abs(runs.last(base[1]).mean() - paper[0.3][1][1]) < 5
            ),
        ),
        "table 1": study.Finding(
            f"Rounds to {runs.target:g}% and accuracies at concentration 0.3, in brackets the paper's: {cells[0.3]}.",
            bool(mean_and_limits(runs.last(base[0]))[1] > paper[0.3][0][1]),
        ),
        "table 2": study.Finding(
            f"Rounds to {runs.target:g}% and accuracies at concentration 2, in brackets the paper's: {cells[2.0]}.",
            bool(mean_and_limits(runs.last(runs.of(BASE, 2.0, rand)))[1] > paper[2.0][0][1]),
        ),
        "ten clients": study.Finding(
            "On the first partition, with ten clients per round: "
            f"{' at concentration 0.3, '.join(row(alpha, ten, first=True) for alpha in tables)} at 2.",
            all(here > tables[alpha][ten][1] for here, alpha in zip(tens, tables, strict=True)),
        ),
        "tenth": study.Finding(
            f"With a tenth of the step, on the first partition: {firsts[TENTH, 0.3][0]} at concentration 0.3; "
            f"{firsts[TENTH, 2.0][0]} at 2.",
            all(bool(firsts[TENTH, alpha][1][0] > ends[alpha][0]) for alpha in tables),
        ),
        "sixth": study.Finding(
            f"With a sixth of the step and one pass, on the first partition: {firsts[SHORT, 0.3][0]} at concentration "
            f"0.3, as the paper for random selection and not for pow-d; {firsts[SHORT, 2.0][0]} at 2 (paper "
            f"{paper[2.0][0][0]} and {paper[2.0][1][0]}, {paper[2.0][0][1]}% and {paper[2.0][1][1]}%).",
            like_random_selection(0.3) and like_random_selection(2.0),
        ),
        "sixth, all": study.Finding(
            f"With a sixth of the step and one pass, on all partitions, random selection ends at {short[0]}% and "
            f"pow-d at {short[1]}%.",
            bool(runs.last(runs.of(SHORT, 0.3, pow_d)).mean() < ends[0.3][1] - 5),
        ),
    }


def _findings_of_changes(runs: Runs) -> dict[str, study.Finding]:
    """Compare the first rounds of random selection after one change with the published setting, paired by partition."""
    rand, changes = _main(runs)[0], {}
    base = (BASE, 0.3, rand)
    for setting in runs.settings:
        key = (setting, 0.3, rand)
        # The code's partition is a different one, so that differences cannot be paired.
        known = setting not in (BASE, CODE) and key in runs.keys
        if known and runs.chosen(*key, whole=False).keys() == runs.chosen(*base).keys():
            changes[setting] = runs.differences(key, base, whole=False)
    words = [f"{with_limits(one, signed=True)} with *{setting}*".replace("*", "'") for setting, one in changes.items()]
    own = {name: lead(runs, name, 0.3) for name in (BASE, TENTH, SHORT)}
    both = [with_limits(one, signed=True) for one in own.values()]
    return {
        "changes": study.Finding(
            f"In the first {runs.early} rounds random selection's accuracy changes by {', '.join(words)}.",
            all(mean_and_limits(changes[name])[2] < 0 for name in (TENTH, SHORT)),
        ),
        "leads": study.Finding(
            f"The lead of pow-d is {both[0]} points as published, {both[1]} with a tenth of the step, and {both[2]} "
            "with a sixth and one pass.",
            bool(mean_and_limits(own[BASE])[1] > 0 and mean_and_limits(own[SHORT])[1] < 0),
        ),
    }


def _findings_of_figures(runs: Runs) -> dict[str, study.Finding]:
    """State the final accuracies of the other figures, on the first partition."""
    *few, more = _in_order(runs)[1:]
    wide = [name for name in runs.strategies if "m = 10" in name]

    def ends(setting: str, names: list[str]) -> Any:
        """Return final accuracies, shape (concentrations, strategies)."""
        return np.array([[runs.last(runs.of(setting, a, n, first=True))[0] for n in names] for a in (0.3, 2.0)])

    def words(found: Any) -> str:
        cells = [", ".join(f"{end:.1f}%" for end in row) for row in found]
        return f"{cells[0]} at concentration 0.3 and {cells[1]} at 2"

    asked = {
        "figure 8": ("Where groups take turns", TURNS, few),
        "figure 9": ("With ten of 500 clients per round", CROWD, wide),
        "figure 11": ("With ten clients per round", BASE, wide), "figure 12": ("With batches of 128", WIDE, few),
        "figure 13": ("With 100 local steps", LONG, few),
    }  # fmt: skip
    found = {}
    for key, (where, setting, names) in asked.items():
        own = ends(setting, names)
        found[key] = study.Finding(
            f"{where}, random selection, pow-d, cpow-d, rpow-d and afl end at {words(own)}.",
            bool((own[:, 1] - own[:, 0] < 4).all()),
        )
    own = ends(BASE, [few[1], more])
    candidates = f"{few[1].partition('= ')[2]} and {more.partition('= ')[2]}"
    return found | {
        "figure 5": study.Finding(f"With {candidates} candidates pow-d ends at {words(own)}.", bool((own > 76).all()))
    }
