"""Runs of GreedyFed's comparison: data at the server and at clients, seven algorithms, one accuracy curve each."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from _images import Images

import fedtheory as ft
from fedtheory import selection
from fedtheory.federation.client_data import FederatedData

__all__ = ["ALGORITHMS", "SETTINGS", "Setting", "accuracies", "deal", "halved", "mixture_samples", "train"]

ALGORITHMS = ("GreedyFed", "UCB", "S-FedAvg", "FedAvg", "FedProx", "Power-of-Choice", "Centralized")


@dataclass(frozen=True)
class Setting:
    """What makes clients differ."""

    concentration: float = 1e-4
    stragglers: float = 0.0
    sigma: float = 0.0


SETTINGS = {
    "base": Setting(),
    "alpha = 0.1": Setting(concentration=0.1),
    "alpha = 100": Setting(concentration=100.0),
    "x = 0.5": Setting(stragglers=0.5),
    "x = 0.9": Setting(stragglers=0.9),
    "sigma = 0.05": Setting(sigma=0.05),
    "sigma = 0.1": Setting(sigma=0.1),
}


@dataclass(frozen=True, eq=False)
class Dealt:
    """Clients with the server's test set, and the server's validation samples."""

    clients: FederatedData
    validation: FederatedData


def mixture_samples(num_samples: int, num_features: int, contrast: float, seed: int) -> tuple[Any, Any]:
    """Ten classes, each a mixture of four bumpy prototypes in [0, 1] with noise: images in kind, not in content.

    Prototypes differ from what all have in common by a share ``contrast``; at 1 they can hardly be confused.
    """
    rng = np.random.default_rng([seed, 1])
    prototypes = rng.random((40, num_features)) ** 4
    labels, styles = rng.integers(10, size=num_samples), rng.integers(4, size=num_samples)
    means = contrast * prototypes + (1 - contrast) * prototypes.mean(axis=0)
    features = means[4 * labels + styles] + 0.35 * rng.standard_normal((num_samples, num_features))
    return np.clip(features, 0.0, 1.0), labels


def deal(images: Images, num_server: int, num_clients: int, concentration: float, seed: int) -> Dealt:
    """Deal to clients by a power law and Dirichlet shares of the classes; what has no test set gives one up."""
    rest = np.arange(len(images.y))
    if len(images.y_test):
        images = images.with_tests(num_server, seed)
    else:
        order = np.random.default_rng([seed, 2]).permutation(rest)
        server, rest = order[:num_server], order[num_server:]
        images = images._replace(x_test=images.x[server], y_test=images.y[server])
    labels = images.y[rest]
    parts = ft.datasets.power_law_partition(labels, num_clients, concentration=concentration, min_samples=5, rng=seed)
    return halved(images, [rest[part] for part in parts])


def halved(images: Images, parts: Any) -> Dealt:
    """Give the server half of the test samples for validation, and half for the test; clients get their parts."""
    half, num_classes = len(images.y_test) // 2, int(max(images.y.max(), images.y_test.max())) + 1
    test = (images.x_test[half:], images.y_test[half:])
    clients = FederatedData.from_partition(images.x, images.y, parts, test=test, num_classes=num_classes)
    server = [(images.x_test[:half], images.y_test[:half])]
    return Dealt(clients, FederatedData.from_clients(server, num_classes=num_classes))


def _strategy(name: str, config: Any) -> Any:
    m = config.num_selected
    return {
        "GreedyFed": selection.GreedyShapley(m, averaging=config.averaging),
        "UCB": selection.UpperConfidenceShapley(m),
        "S-FedAvg": selection.SoftmaxShapley(m),
        "FedAvg": selection.SizeWeighted(selection.Uniform(m)),
        "FedProx": selection.SizeWeighted(selection.Uniform(m)),
        "Power-of-Choice": selection.SizeWeighted(selection.PowerOfChoice(m, selection.DecayingCandidates(0.9))),
        "Centralized": selection.Full(),
    }[name]


def train(
    config: Any, dealt: Dealt, setting: Setting, name: str, seed: int, strategy: Any = None
) -> ft.engine.Trajectory:
    """Run an algorithm, by its name or with a strategy of its own; accuracy on the test samples is recorded."""
    data, steps = dealt.clients, config.num_epochs * config.num_batches
    central = name == "Centralized"
    pooled = FederatedData(data.features, data.labels, np.array([0, data.num_samples]), data.num_classes)
    fed = ft.PerceptronFederation(pooled if central else data, config.hidden)
    # A central step sees as many samples as the chosen clients together see in one of theirs.
    central_batch = max(1, round(config.num_selected * data.num_samples / data.num_clients / config.num_batches))
    slow = ft.engine.Stragglers(
        setting.stragglers, config.num_epochs, config.num_batches, drawn=config.stragglers_drawn, seed=seed
    )
    return ft.fedavg(
        fed,
        _strategy(name, config) if strategy is None else strategy,
        num_rounds=config.num_rounds,
        local_steps=steps if central else slow,
        step_size=config.step_size,
        momentum=0.5,
        initial=fed.initial(seed),
        rng=seed,
        batch_size=central_batch if central else None,
        batches="epoch",
        num_batches=None if central else config.num_batches,
        proximal_weight=config.proximal_weight if name == "FedProx" else 0.0,
        returned_noise=0.0 if central else ft.engine.privacy_noise(data.num_clients, setting.sigma, seed),
        validation=ft.PerceptronFederation(dealt.validation, config.hidden),
        test=(data.test_features, data.test_labels),
        record=("accuracy",),
        record_every=config.record_every,
        num_threads=1,
    )


def accuracies(run: ft.engine.Trajectory) -> Any:
    """Test accuracy at the recorded rounds, percent."""
    return 100 * run.recorded("accuracy")[0]
