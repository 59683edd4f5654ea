"""GreedyFed's Tables I-IV (N = 300, M = 3, T = 400): runs, published accuracies, and findings on FashionMNIST."""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from _experiments import kept
from _images import Images, images_of, read_images
from _repeated import mean_and_limits, paired, with_limits
from _slides import intervals, name_rows

import fedtheory as ft
from fedtheory import study
from fedtheory.plotting.style import COLORS, MARKERS

if TYPE_CHECKING:
    from xarray import Dataset

ALGORITHMS = ("GreedyFed", "UCB", "S-FedAvg", "FedAvg", "FedProx", "Power-of-Choice", "Centralized")
# Entries of the tables: the setting's name after that of the base ("" for the base), and the share of the rounds.
ENTRIES = {
    "alpha = 0.0001": ("", 1.0), "alpha = 0.1": ("alpha = 0.1", 1.0), "alpha = 100": ("alpha = 100", 1.0),
    "T = 150": ("", 3 / 8), "T = 250": ("", 5 / 8), "T = 350": ("", 7 / 8),
    "x = 0.5": ("x = 0.5", 1.0), "x = 0.9": ("x = 0.9", 1.0),
    "sigma = 0.05": ("sigma = 0.05", 1.0), "sigma = 0.1": ("sigma = 0.1", 1.0),
}  # fmt: skip


class Published(NamedTuple):
    """Mean and standard deviation of five seeds."""

    mean: float
    deviation: float


_CENTRAL = Published(86.16, 0.32)
_ROWS = {
    "alpha = 0.0001": ((85.18, 0.33), (84.41, 0.68), (81.04, 6.09), (82.84, 1.29), (82.86, 1.21), (69.46, 7.34)),
    "alpha = 0.1": ((79.16, 0.62), (77.24, 1.24), (71.77, 5.87), (72.68, 5.79), (73.62, 5.72), (73.28, 3.45)),
    "alpha = 100": ((84.83, 0.42), (83.80, 0.73), (85.38, 0.38), (85.37, 0.49), (85.29, 0.52), (85.41, 0.22)),
    "T = 150": ((82.06, 0.51), (80.53, 2.34), (76.25, 4.95), (72.07, 9.28), (73.37, 7.10), (70.13, 5.94)),
    "T = 250": ((84.02, 0.37), (82.53, 1.16), (75.04, 6.75), (72.64, 12.22), (73.47, 10.06), (71.74, 9.18)),
    "T = 350": ((84.75, 0.29), (83.04, 1.67), (80.23, 5.86), (77.69, 7.64), (78.94, 5.66), (74.93, 12.11)),
    "x = 0.5": ((84.66, 0.55), (83.58, 1.15), (82.23, 2.11), (78.93, 5.20), (79.35, 4.61), (81.49, 3.12)),
    "x = 0.9": ((84.19, 0.19), (81.86, 2.56), (74.66, 10.17), (76.20, 6.53), (76.31, 6.01), (79.03, 4.63)),
    "sigma = 0.05": ((81.23, 0.55), (76.11, 2.28), (75.45, 3.72), (74.77, 2.12), (74.81, 2.06), (69.47, 5.08)),
    "sigma = 0.1": ((77.17, 0.73), (67.26, 7.29), (57.67, 7.49), (62.18, 4.39), (62.79, 4.71), (56.08, 8.06)),
}
_OTHER_CENTRAL = {
    "alpha = 0.1": (85.75, 0.37), "alpha = 100": (85.95, 0.24), "T = 150": (83.44, 0.38), "T = 250": (84.83, 0.55),
    "T = 350": (85.64, 0.41),
}  # fmt: skip
FASHION = {
    (entry, name): Published(*numbers)
    for entry, row in _ROWS.items()
    for name, numbers in zip(ALGORITHMS, (*row, _OTHER_CENTRAL.get(entry, _CENTRAL)), strict=True)
}
# A base is a law of the clients' classes; "as drawn" is alpha = 1e-4 with the underflow of double precision.
BASES = SINGLE, DRAWN = "one class", "as drawn"


@dataclass(frozen=True)
class Run:
    """Settings that all runs share."""

    data: tuple[str, ...]
    """Images: fashion-mnist, digits, or four IDX files (images and labels to train on, and to test)."""
    num_server: int
    """Images of the server, half for validation and half for the test."""
    num_clients: int
    """Clients N."""
    num_rounds: int
    """Rounds T."""
    step_size: float
    """Local step size."""
    hidden: tuple[int, ...]
    """Hidden layers."""
    record_every: int
    """Rounds between two tests."""
    min_samples: int
    """Fewest samples of a client."""
    num_selected: int = 3
    """Clients per round M."""
    num_epochs: int = 5
    """Local epochs E."""
    num_batches: int = 5
    """Mini-batches per epoch B."""


@dataclass(frozen=True)
class Setting:
    """Settings of the clients' heterogeneity."""

    base: str = SINGLE
    concentration: float = 1e-4
    stragglers: float = 0.0
    sigma: float = 0.0


SKEWS = {f"alpha = {alpha:g}": Setting(f"alpha = {alpha:g}", alpha) for alpha in (0.1, 100.0)}
SETTINGS = {base: Setting(base) for base in BASES} | SKEWS
SETTINGS |= {
    f"{base}, {kind} = {value}": Setting(base, **{"stragglers" if kind == "x" else "sigma": value})
    for base in BASES
    for kind, value in (("x", 0.5), ("x", 0.9), ("sigma", 0.05), ("sigma", 0.1))
}
# The paper reports the best variant of each algorithm.
VARIANTS: dict[str, dict[str, Any]] = {
    "GreedyFed": {
        name: {"averaging": name if name == "mean" else float(name)} for name in ("mean", "0", "0.1", "0.5", "0.9")
    },
    "UCB": {"0.01": {}, "1": {"exploration": 1.0}},
    "S-FedAvg": {"0.75": {}},
    "FedAvg": {"": {}},
    "FedProx": {name: {"proximal_weight": float(name)} for name in ("0.1", "0.01", "1", "10")},
    "Power-of-Choice": {"0.9": {}},
    "Centralized": {"": {}},
}
EVERY = tuple(", ".join(filter(None, (name, one))) for name, own in VARIANTS.items() for one in own)
FIRST = tuple(", ".join(filter(None, (name, next(iter(own))))) for name, own in VARIANTS.items())
MAIN = ("FedAvg", "GreedyFed, mean")


def refuse_unknown(config: Any, **known: Any) -> None:
    """Raise for parameters of a configuration that contain an unknown word."""
    for name, words in known.items():
        unknown = [word for word in getattr(config, name) if word not in words]
        if unknown:
            message = f"{name} must be among {'; '.join(words)}, got {unknown[0]}"
            raise ValueError(message)


@dataclass(frozen=True, eq=False)
class Dealt:
    """Clients with the server's test set, and the server's validation samples."""

    clients: "ft.federation.FederatedData"
    validation: "ft.federation.FederatedData"


def accuracy_curve(common: Run, setting: str, variant: str, seed: int) -> Any:
    """Test accuracy in percent at the recorded rounds; a variant is ``algorithm, parameter``."""
    import xarray

    run = train(common, deal_images(common, SETTINGS[setting], seed), SETTINGS[setting], variant, seed)
    return xarray.Dataset({"accuracy": ("round", accuracies(run))}, coords={"round": run.rounds})


@lru_cache(maxsize=1)
def _images(data: tuple[str, ...], num_server: int) -> Images:
    return read_images(data, num_server)


def deal_images(common: Run, how: Setting, seed: int) -> Dealt:
    """Partition the images by class shares; split the test images between validation and test."""
    images = _images(common.data, common.num_server).with_tests(common.num_server, seed)
    parts = ft.datasets.class_shares_partition(
        images.y, common.num_clients, how.concentration, min_samples=common.min_samples, underflow=how.base == DRAWN,
        rng=seed,
    )  # fmt: skip
    return _halved(images, parts)


@lru_cache(maxsize=1)
def deal(data: tuple[str, ...], num_server: int, num_clients: int, concentration: float, seed: int) -> Dealt:
    """Partition by a power law and Dirichlet shares of the classes; images without a test set are split."""
    images = images_of(data)
    rest = np.arange(len(images.y))
    if len(images.y_test):
        images = images.with_tests(num_server, seed)
    elif not 2 <= num_server < len(images.y):
        message = f"num_server must leave samples for clients, got {num_server} of {len(images.y)}"
        raise ValueError(message)
    else:
        order = np.random.default_rng([seed, 2]).permutation(rest)
        server, rest = order[:num_server], order[num_server:]
        images = images._replace(x_test=images.x[server], y_test=images.y[server])
    labels = images.y[rest]
    parts = ft.datasets.power_law_partition(labels, num_clients, concentration=concentration, min_samples=5, rng=seed)
    return _halved(images, [rest[part] for part in parts])


def _halved(images: Images, parts: Any) -> Dealt:
    """Split the test samples between validation and test at the server; clients keep their parts."""
    half, num_classes = len(images.y_test) // 2, int(max(images.y.max(), images.y_test.max())) + 1
    test = (images.x_test[half:], images.y_test[half:])
    clients = ft.federation.FederatedData.from_partition(
        images.x, images.y, parts, test=test, num_classes=num_classes, complete=False
    )
    server = [(images.x_test[:half], images.y_test[:half])]
    return Dealt(clients, ft.federation.FederatedData.from_clients(server, num_classes=num_classes))


def _strategy(name: str, m: int, averaging: Any = "mean", **exploration: Any) -> Any:
    uniform, fewer = ft.selection.Uniform(m), ft.selection.PowerOfChoice(m, ft.selection.DecayingCandidates(0.9))
    return {
        "GreedyFed": ft.selection.GreedyShapley(m, averaging=averaging),
        "UCB": ft.selection.UpperConfidenceShapley(m, **exploration),
        "S-FedAvg": ft.selection.SoftmaxShapley(m),
        "FedAvg": ft.selection.SizeWeighted(uniform),
        "FedProx": ft.selection.SizeWeighted(uniform),
        "Power-of-Choice": ft.selection.SizeWeighted(fewer),
        "Centralized": ft.selection.Full(),
    }[name]


def train(common: Run, dealt: Dealt, how: Setting, variant: str, seed: int) -> "ft.engine.Trajectory":
    """Run a variant of an algorithm; accuracy on the test samples is recorded."""
    name, _, parameter = variant.partition(", ")
    changes = dict(VARIANTS[name][parameter])
    data, epochs, batches = dealt.clients, common.num_epochs, common.num_batches
    central, proximal = name == "Centralized", changes.pop("proximal_weight", 0.0)
    pooled = ft.federation.FederatedData(data.features, data.labels, np.array([0, data.num_samples]), data.num_classes)
    fed = ft.PerceptronFederation(pooled if central else data, common.hidden)
    # The batch of a central step has as many samples as the chosen clients' batches together.
    central_batch = max(1, round(common.num_selected * data.num_samples / data.num_clients / batches))
    return ft.fedavg(
        fed,
        _strategy(name, common.num_selected, **changes),
        num_rounds=common.num_rounds,
        local_steps=epochs * batches if central else ft.engine.Stragglers(how.stragglers, epochs, batches, seed=seed),
        step_size=common.step_size,
        momentum=0.5,
        initial=fed.initial(seed),
        rng=seed,
        batch_size=central_batch if central else None,
        batches="epoch",
        num_batches=None if central else batches,
        proximal_weight=proximal,
        returned_noise=0.0 if central else ft.engine.privacy_noise(data.num_clients, how.sigma, seed),
        validation=ft.PerceptronFederation(dealt.validation, common.hidden),
        test=(data.test_features, data.test_labels),
        record=("accuracy",),
        record_every=common.record_every,
        num_threads=1,
    )


def accuracies(run: "ft.engine.Trajectory") -> Any:
    """Test accuracy at the recorded rounds, percent."""
    return 100 * run.recorded("accuracy")[0]


KINDS = ("equal shares of all", "one class", "other")
RIVALS = ("UCB", "S-FedAvg", "FedAvg", "FedProx", "Power-of-Choice")


def planned(config: Any) -> list[tuple[str, str, int]]:
    """Return the planned runs: variant, setting and seed; variants are chosen in the settings that have all of them."""
    refuse_unknown(config, settings=SETTINGS, choices=SETTINGS, variants=EVERY)
    return [
        (variant, setting, k)
        for k in range(config.num_seeds)
        for setting in config.settings
        for variant in (EVERY if setting in config.choices else dict.fromkeys((*MAIN, *config.variants)))
    ]


def tables(config: Any, progress: study.Progress) -> "Dataset":
    """Count draws, partition the images, and train the missing runs."""
    import xarray

    from fedtheory.datasets.class_shares import underflowing_shares

    jobs = planned(config)
    variants = [name for name in EVERY if any(name == job[0] for job in jobs)]
    rounds = np.arange(0, config.fashion.num_rounds + 1, config.fashion.record_every)
    # Missing runs are NaN.
    found = np.full((len(config.settings), len(variants), config.num_seeds, rounds.size), np.nan)
    curves: dict[tuple[str, str, int], Any] = {}
    for variant, setting, k in progress(jobs, "runs of the tables"):
        # Central training has neither stragglers nor noise.
        job = variant, SETTINGS[setting].base if variant == "Centralized" else setting, config.seed + k
        if job not in curves:
            how = {"common": config.fashion, "setting": job[1], "variant": variant}
            curves[job] = kept(config.runs, f"{variant}/{job[1]}", accuracy_curve, job[2], **how)["accuracy"]
        found[config.settings.index(setting), variants.index(variant), k] = curves[job]
    draws = underflowing_shares(np.random.default_rng([config.seed, 3]), 1e-4, config.num_draws, 10)
    alike, single = draws.max(axis=1) == draws.min(axis=1), draws.max(axis=1) > 0.999
    dealt = [deal_images(config.fashion, SETTINGS[base], config.seed).clients for base in BASES]
    shares = [ft.datasets.heterogeneity(clients).label_distributions for clients in dealt]
    return xarray.Dataset(
        {
            "accuracy": (("setting", "variant", "seed", "round"), found),
            "draws": ("kind", [int(alike.sum()), int(single.sum()), int((~alike & ~single).sum())]),
            "shares": (("base", "client", "class"), np.array(shares)),
        },
        coords={
            "setting": list(config.settings), "variant": variants, "round": rounds, "kind": list(KINDS),
            "base": list(BASES),
        },
        attrs={"published": int(config.fashion.data == ("fashion-mnist",))},
    )  # fmt: skip


Entry = dict[str, Any]
"""Accuracies by seed for each variant that was run."""


def entries(data: "Dataset") -> dict[tuple[str, str], Entry]:
    """Accuracies of each entry of the tables and each law of the clients' classes, if there are two."""
    rounds, variants = data["round"].values, data["variant"].values.tolist()
    settings = data["setting"].values.tolist()
    values = data["accuracy"].transpose("setting", "round", "variant", "seed").values
    found = {}
    for name, (suffix, share) in ENTRIES.items():
        for base in [suffix] if suffix in SETTINGS else BASES:
            setting = f"{base}, {suffix}" if suffix and base != suffix else base
            if setting in settings:
                here = values[settings.index(setting), np.searchsorted(rounds, share * float(rounds[-1]) - 1e-9)]
                found[name, base] = {
                    variant: own for variant, own in zip(variants, here, strict=True) if np.isfinite(own).any()
                }
    return found


def best(entry: Entry, algorithm: str) -> str:
    """Variant of the largest mean among those that were run, all with the same seeds."""
    own = [name for name in entry if name.partition(", ")[0] == algorithm]
    for other in own[1:]:
        paired(entry[own[0]], entry[other])
    return max(own, key=lambda name: float(np.nanmean(entry[name])))


def lead(entry: Entry, rival: str, *, choosing: bool = False) -> Any:
    """Accuracy of GreedyFed minus that of another algorithm by seed, for the first or the best variants of both."""
    first = {name.partition(", ")[0]: name for name in FIRST}
    names = [best(entry, name) if choosing else first[name] for name in ("GreedyFed", rival)]
    return paired(*(entry[name] for name in names))


def rows_of_fashion(data: "Dataset") -> list[dict[str, Any]]:
    """One row per entry, kind of clients and algorithm: the best variant, and the paper's."""
    rows = []
    for (name, base), entry in entries(data).items():
        for algorithm in dict.fromkeys(variant.partition(", ")[0] for variant in entry):
            variant, published = best(entry, algorithm), FASHION[name, algorithm]
            samples, fedavg = (entry[one][np.isfinite(entry[one])] for one in (variant, MAIN[0]))
            off = float(samples.mean()) - published.mean
            rows.append({
                "part": "FashionMNIST", "entry": name, "clients": base if base in BASES else "",
                "algorithm": algorithm, "best variant": variant.partition(", ")[2], "seeds": samples.size,
                "mean [%]": float(samples.mean()),
                "std": float(samples.std(ddof=1)) if samples.size > 1 else float("nan"),
                "less FedAvg": with_limits(paired(samples, fedavg), signed=True) if samples.size > 1 else "",
                "paper [%]": published.mean, "its std": published.deviation, "less the paper's": off,
                "within its std": "yes" if abs(off) <= published.deviation else "no",
            })  # fmt: skip
    return rows


def laws_of_fashion(data: "Dataset") -> dict[str, study.Finding]:
    """Test that all runs trained, and that draws underflow with the frequency that the law predicts."""
    first, last = data["accuracy"].isel(round=0).mean(), data["accuracy"].isel(round=-1).mean("seed")
    # A missing run has no numbers; a run has all of them, with all seeds.
    ran = np.isfinite(data["accuracy"].transpose("setting", "variant", "seed", "round").values)
    whole = ran.all(axis=(2, 3))
    least, counts = float(last.min()), data["draws"].values
    wanted, observed = ft.datasets.underflow_probability(1e-4, 10), counts[0] / counts.sum()
    # Hoeffding: a correct sampler deviates more with probability at most 1e-9.
    off = np.sqrt(np.log(2e9) / (2 * counts.sum()))
    single = float((data["shares"].sel(base=SINGLE).max("class") == 1).mean())
    return {
        "draws": study.Finding(
            f"Of {counts.sum():,} draws {100 * observed:.1f}% have equal shares of all ten classes, where the law "
            f"says {100 * wanted:.1f}%, {100 * counts[1] / counts.sum():.1f}% have one class, and "
            f"{100 * counts[2] / counts.sum():.1f}% anything else.",
            bool(abs(observed - wanted) <= off),
        ),
        "one class": study.Finding(
            f"Without the underflow {100 * single:.1f}% of the clients have one class.", single > 0.9
        ),
        "learns": study.Finding(
            f"On the images of the tables every algorithm learns: the least mean accuracy is {least:.1f}%.",
            least > float(first) + 10,
        ),
        "complete": study.Finding(
            "Every run of the tables has all seeds, and none diverged.",
            bool((whole == ran.any(axis=(2, 3))).all() and whole.any(axis=1).all()),
        ),
    }


def findings_of_fashion(data: "Dataset") -> dict[str, study.Finding]:
    """Compare GreedyFed with its rivals and with the paper's tables, on the same seeds."""
    found, last, seeds = entries(data), int(data["round"][-1]), data.sizes["seed"]
    by = {base: {name: entry for (name, own), entry in found.items() if own == base} for base in BASES}
    leads = {base: [mean_and_limits(lead(entry, "FedAvg")) for entry in by[base].values()] for base in BASES}
    ahead, behind = sum(low > 0 for _, low, _ in leads[DRAWN]), sum(high < 0 for *_, high in leads[SINGLE])
    samples = {base: lead(by[base]["alpha = 0.0001"], "FedAvg") for base in BASES}
    shown = {base: with_limits(one, signed=True) for base, one in samples.items()}
    (means, papers), size = _compared(by), len(by[DRAWN])
    to_ucb = [mean_and_limits(lead(entry, "UCB")) for entry in by[DRAWN].values()]
    level, late = (
        sum(low <= 0 <= high for _, low, high in to_ucb),
        with_limits(lead(by[DRAWN]["alpha = 0.0001"], "UCB"), signed=True),
    )
    four = _ahead(by[DRAWN], RIVALS[1:])
    five = [_ahead(by[DRAWN]), _ahead(by[SINGLE]), _ahead(by[DRAWN], choosing=True)]
    published = sum(
        all(FASHION[name, "GreedyFed"].mean > FASHION[name, one].mean for one in RIVALS) for name in by[DRAWN]
    )
    worth = {
        name: max(float(np.mean(entry[best(entry, name)] - entry[own])) for entry in by[DRAWN].values())
        for name, own in zip(("GreedyFed", "UCB", "FedProx"), (FIRST[0], FIRST[1], FIRST[4]), strict=True)
    }
    off = [_off(found, DRAWN), _off(found, DRAWN, choosing=True), _off(found, SINGLE)]
    return {
        "leads": study.Finding(
            f"GreedyFed's lead over FedAvg is significantly positive in {ahead} of {size} entries with clients as the "
            f"public code draws them, and significantly negative in {behind} of {size} with one class per client.",
            0 < ahead < size and 0 < behind < size,
        ),
        "base case": study.Finding(
            f"After {last} rounds, means of {seeds} seeds: with one class each FedAvg has {means[SINGLE][0]:.1f}% and "
            f"GreedyFed {means[SINGLE][1]:.1f}%, as drawn {means[DRAWN][0]:.1f}% and {means[DRAWN][1]:.1f}%, where "
            f"the paper has {papers[0]}% and {papers[1]}%.",
            means[SINGLE][1] < means[SINGLE][0] < papers[0] - 10 and abs(means[DRAWN][1] - papers[1]) < 2,
        ),
        "paired": study.Finding(
            f"In the base case the lead over FedAvg, paired by seed, is {shown[DRAWN]} points as drawn and "
            f"{shown[SINGLE]} with one class each; the paper's means are {papers[1] - papers[0]:+.1f} apart.",
            bool(mean_and_limits(samples[SINGLE])[2] < 0 < mean_and_limits(samples[DRAWN])[0]),
        ),
        "seeds": study.Finding(
            f"With one class each GreedyFed ends behind FedAvg with {(samples[SINGLE] < 0).sum()} of {seeds} seeds, "
            f"and with clients as drawn ahead with {(samples[DRAWN] > 0).sum()}.",
            bool((samples[SINGLE] < 0).all() and (samples[DRAWN] > 0).all()),
        ),
        "ranking": study.Finding(
            f"With clients as drawn GreedyFed's mean accuracy is above those of four of its five rivals in {four} of "
            f"{size} entries, and above all five in {five[0]}; with one class each above all five in {five[1]}; the "
            f"paper has it ahead in {published}.",
            four == size > five[0] > five[1],
        ),
        "UCB": study.Finding(
            f"UCB is level: in {level} of {size} entries the 95% interval of the lead over it contains 0, and after "
            f"{last} rounds it is {late} points.",
            level == size,
        ),
        "best variants": study.Finding(
            "With the best variant of each algorithm, chosen on the test images, GreedyFed is above all five in "
            f"{five[2]} of {size} entries.",
            five[0] < five[2] < size,
        ),
        "parameters": study.Finding(
            f"The best of five averagings is worth at most {worth['GreedyFed']:.1f} points to GreedyFed, the best of "
            f"four weights {worth['FedProx']:.1f} to FedProx, and the best of two explorations {worth['UCB']:.1f} to "
            "UCB.",
            0 <= max(worth.values()) < 5,
        ),
        "accuracies": study.Finding(
            f"As drawn the accuracies of all algorithms differ from the paper's by {off[0][0]:.1f} points on average, "
            f"{off[0][1]} of {off[0][2]} within its spread; with the best variants by {off[1][0]:.1f} points, "
            f"{off[1][1]} within; with one class each by {off[2][0]:.1f} points, {off[2][1]} within.",
            off[0][0] < 5 < off[2][0] and off[1][1] > off[0][1] > off[2][1],
        ),
        **_findings_of_entries(found),
    }


def _compared(by: dict[str, dict[str, Entry]]) -> tuple[dict[str, list[float]], list[float]]:
    """Mean accuracies of FedAvg and GreedyFed after all rounds of the base case, here and in the paper."""
    means = {base: [float(by[base]["alpha = 0.0001"][name].mean()) for name in MAIN] for base in BASES}
    return means, [FASHION["alpha = 0.0001", name].mean for name in ("FedAvg", "GreedyFed")]


def _ahead(own: dict[str, Entry], rivals: tuple[str, ...] = RIVALS, *, choosing: bool = False) -> int:
    """Count the entries in which GreedyFed's mean is above those of all rivals; two means can be exactly equal."""
    return sum(all(lead(one, rival, choosing=choosing).mean() > 1e-9 for rival in rivals) for one in own.values())


def _off(found: dict[tuple[str, str], Entry], base: str, *, choosing: bool = False) -> tuple[float, int, int]:
    """Mean distance from the paper's accuracies, how many are within its spread, and of how many."""
    offs = []
    for (name, own), entry in found.items():
        for first in FIRST if own == base else ():
            algorithm = first.partition(", ")[0]
            if algorithm != "Centralized":
                variant, published = best(entry, algorithm) if choosing else first, FASHION[name, algorithm]
                offs.append((abs(float(entry[variant].mean()) - published.mean), published.deviation))
    return float(np.mean([off for off, _ in offs])), sum(off <= spread for off, spread in offs), len(offs)


def _findings_of_entries(found: dict[tuple[str, str], Entry]) -> dict[str, study.Finding]:
    """Compare FedAvg and GreedyFed in the other entries of the tables."""

    def cell(name: str, base: str) -> tuple[str, bool]:
        fedavg, greedy = (float(found[name, base][one].mean()) for one in MAIN)
        paper = [f"{FASHION[name, one].mean:.1f}%" for one in ("FedAvg", "GreedyFed")]
        return (
            f"FedAvg {fedavg:.1f}% and GreedyFed {greedy:.1f}% with {name} (paper {' and '.join(paper)})",
            greedy > fedavg,
        )

    cells = {
        "skews": (
            "With other label skews",
            [cell(name, name) for name in ("alpha = 0.1", "alpha = 100")],
            [True, False],
        ),
        **{
            f"{kind}, {base}": (f"With {kind}, clients {where}", [cell(name, base) for name in names], wanted)
            for kind, names in (("stragglers", ("x = 0.5", "x = 0.9")), ("noise", ("sigma = 0.05", "sigma = 0.1")))
            for base, where, wanted in (
                (DRAWN, "as drawn", [True, True]),
                (SINGLE, "with one class each", [False, kind == "noise"]),
            )
        },
    }
    return {
        key: study.Finding(
            f"{start}: {'; '.join(words for words, _ in own)}.", [is_ahead for _, is_ahead in own] == wanted
        )
        for key, (start, own, wanted) in cells.items()
    }


def draw_draws(axes: Any, data: "Dataset") -> None:
    """Draw the shares of the draws with equal class shares, with one class, and with anything else."""
    shares, places = 100 * data["draws"].values / data["draws"].values.sum(), name_rows(axes, list(KINDS))
    axes.barh(places, shares, height=0.5, color=COLORS[2])
    for place, share in zip(places, shares, strict=True):
        axes.text(share + 1, place, f"{share:.1f}%", va="center", fontsize=9)
    law = 100 * ft.datasets.underflow_probability(1e-4, 10)
    axes.plot([law, law], [-0.32, 0.32], color="black", linewidth=2)
    axes.text(law, 0.36, "law of underflow", ha="center", fontsize=9)
    axes.set(xlabel="draws of a client's class shares [%]", xlim=(0, 70))


def draw_leads(axes: Any, data: "Dataset") -> None:
    """Draw leads over FedAvg in the entries of the base case."""
    found = entries(data)
    names = list(dict.fromkeys(name for name, base in found if base in BASES))
    words = [
        name.replace("alpha = 0.0001", r"$\alpha = 10^{-4}$").replace("sigma", r"noise $\sigma$") for name in names
    ]
    words = [word.replace("T =", "rounds T =").replace("x =", "stragglers x =") for word in words]
    places = name_rows(axes, words)
    axes.axvline(0, color="black", linewidth=0.8)
    for shift, number, label in ((-0.12, 0, "one class each"), (0.12, 1, "as drawn")):
        here = [i for i, name in enumerate(names) if (name, BASES[number]) in found]
        leads = [lead(found[names[i], BASES[number]], "FedAvg") for i in here]
        intervals(axes, leads, places[here] + shift, label=label, color=COLORS[number], marker=MARKERS[number])
    if data.attrs["published"]:
        papers = [FASHION[name, "GreedyFed"].mean - FASHION[name, "FedAvg"].mean for name in names]
        axes.plot(papers, places, "x", color="black", label="paper")
    axes.set_xlabel("lead over FedAvg on FashionMNIST [points]")
    axes.set_ylim(top=2.6)
    axes.legend(fontsize=8, loc="upper left", title="mean, 95%", title_fontsize=8)
