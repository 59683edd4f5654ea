"""Client sampling for softmax models on partitioned images, with a step size tuned for each method."""

from typing import TYPE_CHECKING, Any

import numpy as np
from _images import images_of
from _repeated import fresh, paired

import fedtheory as ft
from fedtheory import study

if TYPE_CHECKING:
    from xarray import Dataset

    from fedtheory.selection.rules import Strategy

FULL, UNIFORM, OPTIMAL = "full", "uniform", "OCS"
KINDS = ("unbalanced", "balanced", "three times as many")
FLOAT_BITS = 64


def tuned_runs(config: Any, progress: study.Progress) -> "Dataset":
    """Tune every method, then run it on other data sets."""
    import xarray

    if not 1 <= len(config.powers) == len(config.num_clients) <= len(KINDS):
        message = f"powers must be 1 to {len(KINDS)} and as many as num_clients, got {config.powers}"
        raise ValueError(message)
    cells = [(kind, m) for kind in range(len(config.powers)) for m in config.expected_sizes]
    found = [_cell(config, *cell) for cell in progress(cells, "data and budgets")]
    dims = {"accuracy": ("instance", "round"), "bits": ("instance", "round"), "step_size": ()}
    shape = (len(config.powers), len(config.expected_sizes))
    arrays = {name: np.array([[one[name] for one in cell] for cell in found]) for name in dims}
    return xarray.Dataset(
        {
            name: (("kind", "size", "strategy", *dims[name]), values.reshape(*shape, *values.shape[1:]))
            for name, values in arrays.items()
        },
        coords={
            "kind": list(KINDS[: len(config.powers)]),
            "num_clients": ("kind", list(config.num_clients)),
            "size": list(config.expected_sizes),
            "strategy": list(_methods(1.0)),
            "round": np.arange(config.num_rounds + 1),
        },
        attrs={"target": config.target},
    )


def _methods(expected_size: float) -> "dict[str, Strategy]":
    laws: dict[str, Any] = {UNIFORM: "uniform", OPTIMAL: "optimal", "AOCS": "approximate"}
    return {FULL: ft.selection.Full()} | {
        name: ft.selection.Independent(expected_size, law) for name, law in laws.items()
    }


def _cell(config: Any, kind: int, expected_size: float) -> list[dict[str, Any]]:
    """Accuracies and bits of every method with its own step size, for one kind of data and one budget."""
    tuning = range(config.num_instances, config.num_instances + config.num_tuning)
    results = []
    for method in _methods(expected_size).values():
        finals = [
            np.mean([_trained(config, kind, number, method, size)[0][-1] for number in tuning])
            for size in config.step_sizes
        ]
        best = config.step_sizes[int(np.argmax(finals))]
        both = [_trained(config, kind, number, method, best) for number in range(config.num_instances)]
        accuracy, bits = (np.array(part) for part in zip(*both, strict=True))
        results.append({"accuracy": accuracy, "bits": bits, "step_size": best})
    return results


def _trained(config: Any, kind: int, number: int, method: "Strategy", step_size: float) -> tuple[Any, Any]:
    """Test accuracy in percent and bits sent up after every round, means over the runs on one data set."""
    partition, training = np.random.SeedSequence([config.seed, kind, number]).spawn(2)
    fed = _federation(config, kind, partition)
    one_epoch = -(-fed.sample_counts // config.batch_size)
    trajectory = ft.fedavg(
        fed, method, num_rounds=config.num_rounds, local_steps=one_epoch, batch_size=config.batch_size,
        step_size=step_size, num_replicates=config.num_replicates, record=("models", "uplink"), rng=fresh(training),
    )  # fmt: skip
    return 100 * fed.accuracy(trajectory.models).mean(axis=0), FLOAT_BITS * trajectory.uplink.mean(axis=0)


def _federation(config: Any, kind: int, seed: np.random.SeedSequence) -> Any:
    images = images_of(config.data)
    deal, hold_out = seed.spawn(2)
    parts = ft.datasets.power_law_partition(
        images.y, config.num_clients[kind], power=config.powers[kind], concentration=config.concentration,
        min_samples=-(-5 * config.batch_size // 4), rng=np.random.default_rng(deal),
    )  # fmt: skip
    # Digits have no test set.
    held_out: dict[str, Any] = {"test_fraction": 0.2, "rng": hold_out}
    if len(images.y_test):
        held_out = {"test": (images.x_test, images.y_test)}
    return ft.SoftmaxFederation(ft.federation.FederatedData.from_partition(images.x, images.y, parts, **held_out))


def reached(data: "Dataset", name: str) -> Any:
    """Return the rounds or bits of the first record at the target, NaN if there is none."""
    there = data["accuracy"] >= data.attrs["target"]
    values = data["bits"] / 1e6 if name == "bits" else data["round"].broadcast_like(data["accuracy"])
    return values.isel(round=there.argmax("round")).where(there.any("round"))


def lead_of(here: "Dataset", size: float, name: str = OPTIMAL) -> Any:
    """Return the final accuracy of a method minus that of uniform sampling, on each data set."""
    final = here["accuracy"].isel(round=-1).sel(size=size)
    return paired(final.sel(strategy=name), final.sel(strategy=UNIFORM))


def share_of_bits(here: "Dataset", size: float, rival: str) -> Any:
    """Bits that OCS sends until the target, relative to another method on the same data sets."""
    sent = reached(here, "bits").sel(size=size)
    return (sent.sel(strategy=OPTIMAL) / sent.sel(strategy=rival)).values
