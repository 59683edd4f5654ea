"""Runs of Power-of-Choice and random selection, on drawn quadratics and on Synthetic(1, 1)."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from _repeated import fresh, geometric_limits

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


def speedups(data: "Dataset", criterion: str) -> Any:
    """Divide the rounds of random selection by those of each strategy, on the same data sets.

    The rounds are averaged geometrically over replicates, and NaN if one of them never reaches the threshold.
    """
    losses = data["loss"].transpose("instance", "num_selected", "strategy", "replicate", "round")
    values = (
        losses.values if criterion != CRITERIA[2] else losses.mean(["instance", "replicate"]).values[None, :, :, None]
    )
    rounds, window = data["round"].values, max(1, 10 // data.attrs["record_every"])
    if criterion == CRITERIA[1]:
        values = np.lib.stride_tricks.sliding_window_view(values, window, axis=-1).mean(axis=-1)
        rounds = rounds[window - 1 :]
    below = values <= data.attrs["threshold"]
    logs = np.log(np.maximum(np.where(below.any(axis=-1), rounds[below.argmax(axis=-1)], np.nan), 1)).mean(axis=-1)
    found = losses.isel(instance=slice(len(logs)), replicate=0, round=0, drop=True).copy(data=logs)
    return np.exp(found.sel(strategy=RAND) - found)


def gains(found: Any, name: str, *num_selected: int) -> Any:
    """Geometric means and limits of the speed-ups by two criteria, shape (numbers of clients, criteria, 3)."""
    own = [found[criterion].sel(strategy=name) for criterion in CRITERIA[:2]]
    return np.array([[_limits(one.sel(num_selected=m).values) for one in own] for m in num_selected])


def _limits(samples: Any) -> Any:
    return geometric_limits(samples) if np.isfinite(samples).all() else np.full(3, np.nan)


def floors(data: "Dataset") -> Any:
    """Mean loss over the last 50 rounds, averaged over replicates."""
    last = data["round"] > data["round"].max() - 50
    return data["loss"].where(last, drop=True).mean(["round", "replicate"])
