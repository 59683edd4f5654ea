"""Runs of softmax regression on real clients, with test accuracy along the way: shared by two studies."""

from typing import Any, NamedTuple

import numpy as np


class Curves(NamedTuple):
    """One strategy on one federation: recorded rounds, test accuracy and loss (replicate, round), and costs per round.

    ``costs`` are floats sent up, models sent down and client losses evaluated, per round.
    """

    rounds: Any
    accuracy: Any
    loss: Any
    costs: Any


def curves(fed: Any, strategy: Any, config: Any, seed: np.random.SeedSequence) -> Curves:
    """Run one strategy with the configuration's rounds, steps, batches and halvings."""
    import fedtheory as ft
    from fedtheory.engine.schedule import Halving

    costs = ("uplink", "broadcasts", "evaluations")
    run = ft.fedavg(
        fed, strategy, num_rounds=config.num_rounds, local_steps=config.local_steps, batch_size=config.batch_size,
        step_size=Halving(config.step_size, config.halve_at), num_replicates=config.num_replicates,
        record=("loss", "models", *costs), record_every=config.record_every,
        rng=np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key),
    )  # fmt: skip
    per_round = [run.recorded(name)[:, -1].mean() / run.rounds[-1] for name in costs]
    return Curves(run.rounds, fed.accuracy(run.models), run.loss, np.array(per_round))


def mean_and_limits(values: Any) -> tuple[float, float, float]:
    """Mean with 95% Student-t limits."""
    from scipy.special import stdtrit

    values = np.asarray(values, dtype=np.float64)
    margin = float(stdtrit(values.size - 1, 0.975)) * values.std(ddof=1) / np.sqrt(values.size)
    return float(values.mean()), float(values.mean() - margin), float(values.mean() + margin)


def with_limits(values: Any, digits: int = 1, *, signed: bool = False) -> str:
    """Mean and 95% limits as words."""
    sign = "+" if signed else ""
    mean, low, high = mean_and_limits(values)
    return f"{mean:{sign}.{digits}f} [{low:{sign}.{digits}f}, {high:{sign}.{digits}f}]"


def band(values: Any) -> Any:
    """Mean and limits over the first axis of (instance, place), shape (3, place)."""
    return np.array([mean_and_limits(column) for column in np.asarray(values).T]).T
