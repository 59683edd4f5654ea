"""One run of GreedyFed's comparison on images that have a test set: half of it values clients, half tests."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from _greedyfed_runs import Dealt, Setting, accuracies, halved, train
from _images import Images, read_images

import fedtheory as ft
from fedtheory import selection

__all__ = ["BASES", "SETTINGS", "VARIANTS", "Run", "accuracy_curve", "deal_images"]

# A base is a law of the clients' classes; "as drawn" is that of 1e-4 with the underflow of double precision.
BASES = ("one class", "as drawn")
CONCENTRATIONS = {"one class": 1e-4, "as drawn": 1e-4, "alpha = 0.1": 0.1, "alpha = 100": 100.0}
SETTINGS: dict[str, tuple[str, Setting]] = {
    name: (name, Setting(concentration=alpha)) for name, alpha in CONCENTRATIONS.items()
} | {
    f"{base}, {kind} = {value}": (base, Setting(**{"stragglers" if kind == "x" else "sigma": value}))
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


@dataclass(frozen=True)
class Run:
    """What runs have in common."""

    data: tuple[str, ...]
    num_server: int
    num_clients: int
    num_selected: int
    num_rounds: int
    num_epochs: int
    num_batches: int
    step_size: float
    hidden: tuple[int, ...]
    record_every: int
    min_samples: int
    stragglers_drawn: str = "once"
    averaging: Any = "mean"
    proximal_weight: float = 0.0


def accuracy_curve(common: Run, setting: str, variant: str, seed: int) -> Any:
    """Test accuracy in percent at the recorded rounds; a variant is ``algorithm, parameter``."""
    import xarray

    name, _, parameter = variant.partition(", ")
    changes = dict(VARIANTS[name][parameter])
    exploration = changes.pop("exploration", None)
    strategy = None if exploration is None else selection.UpperConfidenceShapley(common.num_selected, exploration)
    base, how = SETTINGS[setting]
    dealt = deal_images(common, base, how.concentration, seed)
    run = train(replace(common, **changes), dealt, how, name, seed, strategy)
    return xarray.Dataset({"accuracy": ("round", accuracies(run))}, coords={"round": run.rounds})


@lru_cache(maxsize=1)
def _images(data: tuple[str, ...], num_server: int) -> Images:
    return read_images(data, num_server, 0)


def deal_images(common: Run, base: str, concentration: float, seed: int) -> Dealt:
    """Give each client its own shares of the classes, and half of the test images to validation and to the test."""
    images = _images(common.data, common.num_server).with_tests(common.num_server, seed)
    parts = ft.datasets.class_shares_partition(
        images.y, common.num_clients, concentration, min_samples=common.min_samples, underflow=base == "as drawn",
        rng=seed,
    )  # fmt: skip
    return halved(images, parts)
