"""Stored runs that are repeated on every platform: ``python -m tests.saved_runs`` writes them."""

from pathlib import Path

import fedtheory as ft
from fedtheory.engine.trajectory import Trajectory

FOLDER = Path(__file__).parent / "engine" / "saved_runs"


def runs() -> dict[str, Trajectory]:
    """Return a run of each family: noise, ties and mini-batches draw from all streams."""
    fed = ft.QuadraticFederation([1.0, 2.0, 3.0], [[0.0], [2.0], [7.0]], [0.5, 0.3, 0.2], minima=[1.0, -1.0, 0.1])
    samples = [([[0.1], [1.0], [3.0]], [0, 1, 1]), ([[2.0], [0.7], [-1.3]], [1, 0, 0]), ([[0.5], [-0.2]], [1, 0])]
    softmax = ft.SoftmaxFederation(ft.federation.FederatedData.from_clients(samples), l2=0.1)
    settings = {"num_rounds": 40, "local_steps": 2, "step_size": 0.1, "num_replicates": 3, "rng": 7}
    pow_d = ft.selection.PowerOfChoice(1, 2)
    return {
        "quadratic": ft.fedavg(fed, pow_d, gradient_noise=0.5, record=("gap", "models"), **settings),
        "softmax": ft.fedavg(softmax, pow_d, batch_size=2, record=("gap", "models"), **settings),
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, run in runs().items():
        run.save(FOLDER / f"{name}.nc", overwrite=True)
