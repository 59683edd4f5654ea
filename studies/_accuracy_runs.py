"""Runs of softmax regression on real clients, with test accuracy along the way: shared by two studies."""

from typing import Any, NamedTuple

import numpy as np
from _repeated import fresh

import fedtheory as ft
from fedtheory.engine.schedule import Halving


class Curves(NamedTuple):
    """One strategy on one federation: recorded rounds, test accuracy and loss (replicate, round), and costs per round.

    ``costs`` are floats sent up, models sent down and client losses evaluated, per round.
    """

    rounds: Any
    accuracy: Any
    loss: Any
    costs: Any


def curves(fed: Any, strategy: Any, config: Any, step_size: float, seed: np.random.SeedSequence) -> Curves:
    """Run one strategy with the configuration's rounds, steps, batches and halvings of a step size."""
    costs = ("uplink", "broadcasts", "evaluations")
    run = ft.fedavg(
        fed, strategy, num_rounds=config.num_rounds, local_steps=config.local_steps, batch_size=config.batch_size,
        step_size=Halving(step_size, config.halve_at), num_replicates=config.num_replicates,
        record=("loss", "models", *costs), record_every=config.record_every,
        rng=fresh(seed),
    )  # fmt: skip
    per_round = [run.recorded(name)[:, -1].mean() / run.rounds[-1] for name in costs]
    return Curves(run.rounds, fed.accuracy(run.models), run.loss, np.array(per_round))
