"""Runs of Power-of-Choice and random selection on Synthetic(1, 1)."""

from typing import TYPE_CHECKING, Any

import numpy as np
from _repeated import fresh

import fedtheory as ft
from fedtheory import study

if TYPE_CHECKING:
    from xarray import Dataset

RAND, ADAPTIVE = "rand", "adapow-d"
CRITERIA = ("first hit", "trailing mean", "mean curve")


def race(config: Any, progress: study.Progress) -> "Dataset":
    """Simulate every strategy on every instance."""
    import xarray

    names = [RAND, *(f"pow-d, d = {c}m" for c in config.candidates_per_selected), ADAPTIVE]
    # (instance, m, strategy, replicate, recorded round)
    losses = np.array([_instance(config, index) for index in progress(range(config.num_instances), "data sets")])
    return xarray.Dataset(
        {"loss": (("instance", "num_selected", "strategy", "replicate", "round"), losses)},
        coords={
            "num_selected": list(config.num_selected), "strategy": names,
            "round": np.arange(losses.shape[-1]) * config.record_every,
        },
        attrs={"threshold": config.threshold, "record_every": config.record_every},
    )  # fmt: skip


def _instance(config: Any, index: int) -> Any:
    problem, training = np.random.SeedSequence([config.seed, index]).spawn(2)
    # Nine tenths of the samples are for training: enough of them to fill a batch.
    fewest = -(-10 * config.batch_size // 9)
    fed = ft.SoftmaxFederation(ft.datasets.synthetic(1, 1, config.num_clients, problem, min_samples=fewest))

    def losses(strategy: Any) -> Any:
        return ft.fedavg(
            fed, strategy, num_rounds=config.num_rounds, local_steps=config.local_steps,
            step_size=ft.engine.Halving(config.step_size, config.halve_at), batch_size=config.batch_size,
            num_replicates=config.num_replicates, record=("loss",), record_every=config.record_every,
            rng=fresh(training),
        ).loss  # fmt: skip

    def strategies(m: int) -> list[Any]:
        counts = [min(c * m, config.num_clients) for c in config.candidates_per_selected]
        biased = [ft.selection.PowerOfChoice(m, d) for d in (*counts, ft.selection.HalfTimeCandidates())]
        return [ft.selection.Proportional(m), *biased]

    return [[losses(strategy) for strategy in strategies(m)] for m in config.num_selected]


def _log_rounds(data: "Dataset", criterion: str) -> Any:
    """Logarithm of the round in which the threshold is reached, averaged over replicates; NaN if one never did."""
    losses = data["loss"]
    if criterion == "trailing mean":
        losses = losses.rolling(round=max(1, 10 // data.attrs["record_every"])).mean()
    elif criterion == "mean curve":
        losses = losses.mean(["instance", "replicate"]).expand_dims(["instance", "replicate"])
    below = losses <= data.attrs["threshold"]
    logs: Any = np.log(data["round"].isel(round=below.argmax("round")).where(below.any("round")))
    return logs.mean("replicate", skipna=False)


def speedups(data: "Dataset", criterion: str) -> Any:
    """Divide the rounds of random selection by those of each strategy, on the same data sets."""
    logs = _log_rounds(data, criterion)
    return np.exp(logs.sel(strategy=RAND) - logs)
