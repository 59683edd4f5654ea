"""Runs of GreedyFed's Tables I-IV (N = 300, M = 3, T = 400), and the published accuracies."""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from _images import Images, images_of, read_images

import fedtheory as ft

if TYPE_CHECKING:
    from xarray import Dataset

ALGORITHMS = ("GreedyFed", "UCB", "S-FedAvg", "FedAvg", "FedProx", "Power-of-Choice", "Centralized")
# Table, entry, prefix of the setting's name ("" is the base), and the share of the rounds.
ENTRIES = {
    "alpha = 0.0001": ("I: label skew", "", 1.0),
    "alpha = 0.1": ("I: label skew", "alpha = 0.1", 1.0),
    "alpha = 100": ("I: label skew", "alpha = 100", 1.0),
    "T = 150": ("II: rounds", "", 3 / 8),
    "T = 250": ("II: rounds", "", 5 / 8),
    "T = 350": ("II: rounds", "", 7 / 8),
    "x = 0.5": ("III: stragglers", "x = 0.5", 1.0),
    "x = 0.9": ("III: stragglers", "x = 0.9", 1.0),
    "sigma = 0.05": ("IV: privacy", "sigma = 0.05", 1.0),
    "sigma = 0.1": ("IV: privacy", "sigma = 0.1", 1.0),
}


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
# Means only.
_MNIST = {
    "alpha = 0.0001": (94.06, 93.39, 91.94, 92.19, 92.18, 91.58, 95.37),
    "alpha = 0.1": (88.83, 87.70, 86.26, 88.86, 88.84, 88.27, 95.20),
    "alpha = 100": (93.98, 94.12, 94.77, 94.79, 94.78, 94.72, 95.32),
    "T = 150": (91.12, 90.26, 87.33, 87.56, 87.57, 85.26, 92.77),
    "T = 250": (92.90, 90.91, 91.26, 90.20, 90.22, 89.09, 94.27),
    "T = 350": (93.78, 92.40, 89.22, 89.50, 89.53, 91.20, 95.04),
    "x = 0.5": (93.70, 92.62, 91.57, 91.03, 91.05, 89.60, 95.37),
    "x = 0.9": (92.94, 91.84, 92.05, 88.44, 88.45, 90.24, 95.37),
    "sigma = 0.05": (90.79, 87.23, 79.17, 83.98, 83.95, 83.87, 95.37),
    "sigma = 0.1": (87.33, 75.36, 62.78, 63.63, 63.33, 58.22, 95.37),
}
MNIST = {(row, name): value for row, values in _MNIST.items() for name, value in zip(ALGORITHMS, values, strict=True)}


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
    clients = ft.federation.FederatedData.from_partition(images.x, images.y, parts, test=test, num_classes=num_classes)
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


def entries(data: "Dataset") -> dict[tuple[str, str], Any]:
    """Accuracies (variant, seed) of each entry of the tables and each law of the clients' classes, if there are two."""
    found = {}
    for name, (_, suffix, share) in ENTRIES.items():
        for base in [suffix] if suffix in SETTINGS else BASES:
            setting = f"{base}, {suffix}" if suffix and base != suffix else base
            if setting in data["setting"]:
                last = int(np.searchsorted(data["round"], share * float(data["round"][-1]) - 1e-9))
                found[name, base] = data["accuracy"].sel(setting=setting).isel(round=last)
    return found
