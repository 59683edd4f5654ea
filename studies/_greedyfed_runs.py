"""Runs of GreedyFed's comparison: data at the server and at clients, seven algorithms, one accuracy curve each."""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from _greedyfed_published import ENTRIES
from _images import Images, images_of, read_images

import fedtheory as ft

if TYPE_CHECKING:
    from xarray import Dataset

# A base is a law of the clients' classes; "as drawn" is that of 1e-4 with the underflow of double precision.
BASES = SINGLE, DRAWN = "one class", "as drawn"


@dataclass(frozen=True)
class Run:
    """What runs have in common."""

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
    """What makes clients differ."""

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
# What the paper reports is the best of an algorithm's variants.
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
    """Refuse parameters of a configuration that hold an unknown word."""
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
    return read_images(data, num_server, 0)


def deal_images(common: Run, how: Setting, seed: int) -> Dealt:
    """Give each client its own shares of the classes, and half of the test images to validation and to the test."""
    images = _images(common.data, common.num_server).with_tests(common.num_server, seed)
    parts = ft.datasets.class_shares_partition(
        images.y, common.num_clients, how.concentration, min_samples=common.min_samples, underflow=how.base == DRAWN,
        rng=seed,
    )  # fmt: skip
    return _halved(images, parts)


@lru_cache(maxsize=1)
def deal(data: tuple[str, ...], num_server: int, num_clients: int, concentration: float, seed: int) -> Dealt:
    """Deal to clients by a power law and Dirichlet shares of the classes; what has no test set gives one up."""
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
    """Give the server half of the test samples for validation, and half for the test; clients get their parts."""
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
    # A central step sees as many samples as the chosen clients together see in one of theirs.
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
