"""Runs of Power-of-Choice and random selection, on drawn quadratics and on Synthetic(1, 1)."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from _repeated import fresh

import fedtheory as ft
from fedtheory import study

if TYPE_CHECKING:
    from xarray import Dataset

    from fedtheory.selection.rules import Strategy

RAND, ADAPTIVE = "rand", "adapow-d"


class _Curves(NamedTuple):
    """One strategy on one instance: rounds to each threshold per replicate, final gap, curves, shares of selections."""

    hits: Any
    final_gap: float
    band: Any
    shares: Any


def race_on_quadratic(config: Any, progress: study.Progress) -> "Dataset":
    """Simulate every strategy on every instance of every size."""
    import xarray

    sizes = []
    for size in config.num_clients:
        jobs = progress(range(config.num_instances), f"K = {size}")
        sizes.append(_assembled(config, size, [_quadratic_instance(config, size, index) for index in jobs]))
    data: Dataset = xarray.concat(sizes, dim="num_clients", join="outer")
    return data.assign_coords(num_clients=list(config.num_clients))


def _num_selected(config: Any, num_clients: int) -> int:
    m: int = max(1, round(config.selected_share * num_clients))
    return m


def _quadratic_instance(config: Any, num_clients: int, index: int) -> dict[str, Any]:
    problem, start, selection = np.random.SeedSequence([config.seed, num_clients, index]).spawn(3)
    fed = ft.datasets.power_of_choice_quadratics(num_clients=num_clients, rng=problem)
    initial = config.initial_scale * np.random.default_rng(start).standard_normal(fed.dim)
    m, halving = _num_selected(config, num_clients), ft.selection.HalvingCandidates(every=config.halve_every)
    strategies: dict[str, Strategy] = {
        RAND: ft.selection.Proportional(m),
        **{
            f"pow-d, d = {c}m": ft.selection.PowerOfChoice(m, min(c * m, num_clients))
            for c in config.candidates_per_selected
        },
        ADAPTIVE: ft.selection.PowerOfChoice(m, halving),
    }
    curves = {name: _simulated(config, fed, one, initial, selection) for name, one in strategies.items()}
    ceiling = fed.smoothness / fed.mean_curvature[0, 0]
    return {"curves": curves, "minimum": fed.minimum, "weights": fed.weights, "ceiling": ceiling}


def _simulated(config: Any, fed: Any, strategy: "Strategy", initial: Any, selection: Any) -> _Curves:
    run = ft.fedavg(
        fed, strategy, num_rounds=config.num_rounds, local_steps=config.local_steps, step_size=config.step_size,
        initial=initial, num_replicates=config.num_replicates, rng=fresh(selection),
    )  # fmt: skip
    below = run.gap[:, None, :] <= np.asarray(config.thresholds)[:, None] * run.gap[0, 0]
    hits = np.where(below.any(axis=-1), below.argmax(axis=-1), np.nan)
    shares = run.counts.sum(axis=0) / run.counts.sum()
    return _Curves(hits, float(run.gap[:, -(config.num_rounds // 20) :].mean()), np.stack(run.band("gap")), shares)


def _assembled(config: Any, num_clients: int, instances: list[dict[str, Any]]) -> "Dataset":
    import xarray

    first = instances[0]["curves"]
    early, late = (np.linspace(0, end, 201).astype(int) for end in (config.num_rounds // 4, config.num_rounds))
    shown, names = np.union1d(early, late), list(first)
    # (instance, strategy, replicate, threshold)
    hits = np.array([[instance["curves"][name].hits for name in names] for instance in instances])
    log_hits = np.log(np.maximum(hits, 1)).mean(axis=2)
    final = [[instance["curves"][name].final_gap for name in names] for instance in instances]
    return xarray.Dataset(
        {
            "band": (("strategy", "side", "round"), [first[name].band[:, shown] for name in names]),
            "share": (("strategy", "client"), [first[name].shares for name in names]),
            "weight": ("client", instances[0]["weights"]),
            "minimum": instances[0]["minimum"],
            "ceiling": ("instance", [instance["ceiling"] for instance in instances]),
            "rounds": (("instance", "strategy", "threshold"), np.exp(log_hits)),
            "speedup": (("instance", "strategy", "threshold"), np.exp(log_hits[:, :1] - log_hits)),
            "final_gap": (("instance", "strategy"), final),
        },
        coords={
            "strategy": names, "side": ["mean", "lower", "upper"], "round": shown, "client": np.arange(num_clients),
            "threshold": list(config.thresholds),
        },
        attrs={
            "selections": config.num_rounds * config.num_replicates * _num_selected(config, num_clients),
            "halve_every": config.halve_every, "selected_share": config.selected_share,
        },
    )  # fmt: skip


CRITERIA = ("first hit", "trailing mean", "mean curve")


def race_on_synthetic(config: Any, progress: study.Progress) -> "Dataset":
    """Simulate every strategy on every instance."""
    import xarray

    names = [RAND, *(f"pow-d, d = {c}m" for c in config.candidates_per_selected), ADAPTIVE]
    # (instance, m, strategy, replicate, recorded round)
    losses = np.array(
        [_synthetic_instance(config, index) for index in progress(range(config.num_instances), "data sets")]
    )
    return xarray.Dataset(
        {"loss": (("instance", "num_selected", "strategy", "replicate", "round"), losses)},
        coords={
            "num_selected": list(config.num_selected), "strategy": names,
            "round": np.arange(losses.shape[-1]) * config.record_every,
        },
        attrs={"threshold": config.threshold, "record_every": config.record_every},
    )  # fmt: skip


def _synthetic_instance(config: Any, index: int) -> Any:
    problem, training = np.random.SeedSequence([config.seed, index]).spawn(2)
    # Nine tenths of the samples are for training, which is enough to fill a batch.
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
    """Mean over replicates of the logarithm of the round at the threshold; NaN if one never reaches it."""
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
