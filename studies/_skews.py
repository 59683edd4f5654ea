"""Selection skews of Power-of-Choice: certified, estimated from simulated selections, and along a run."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import study

if TYPE_CHECKING:
    from xarray import Dataset

SKEWS = ("rho_bar", "rho_tilde", "rho_diagonal")


def skews(config: Any, progress: study.Progress) -> "Dataset":
    """Bound, estimate and sample the skews for every number of candidates."""
    import xarray

    sizes = [_size(config, size, progress) for size in config.num_clients]
    data: Dataset = xarray.concat(sizes, dim="num_clients", join="exact")
    return data.assign_coords(num_clients=list(config.num_clients))


def _size(config: Any, num_clients: int, progress: study.Progress) -> "Dataset":
    import xarray

    sample, draws = np.random.SeedSequence([config.seed, num_clients]).spawn(2)
    fed = ft.datasets.power_of_choice_quadratics(num_clients=num_clients, rng=config.seed)
    m = max(1, round(config.selected_share * num_clients))
    counts = [max(m, round(share * num_clients)) for share in config.candidate_shares]
    models = ft.exact.sampled_models(fed, config.estimator_models, rng=sample)
    least_ratios = ft.exact.subset_minima(fed)
    records = []
    for d in progress(counts, f"K = {num_clients}"):
        strategy = ft.selection.PowerOfChoice(m, d)
        intervals = ft.exact.selection_skew(fed, strategy, num_models=config.num_models, least_ratios=least_ratios)
        seed = np.random.SeedSequence(draws.entropy, spawn_key=(*draws.spawn_key, d))
        estimate = ft.exact.estimated_selection_skew(
            fed, strategy, models, num_draws=config.estimator_draws, rng=np.random.default_rng(seed)
        )
        records.append((
            [tuple(interval) for interval in intervals],
            [(one.value, one.standard_error) for one in estimate],
            _on_sample(fed, strategy, models),
            _least_along_a_run(config, fed, strategy),
        ))  # fmt: skip
    bounds, estimates, on_sample, along = (np.array(part) for part in zip(*records, strict=True))
    return xarray.Dataset(
        {
            "bounds": (("share", "skew", "side"), bounds),
            "estimate": (("share", "skew", "number"), estimates),
            "on_sample": (("share", "skew"), on_sample),
            "along": ("share", along),
            "candidates": ("share", np.array(counts, dtype=float)),
            "selected": m,
        },
        coords={
            "share": list(config.candidate_shares),
            "skew": list(SKEWS),
            "side": ["lower", "upper"],
            "number": ["value", "standard_error"],
        },
    )


def _on_sample(fed: Any, strategy: Any, models: Any) -> tuple[float, float, float]:
    """Extremes over the same sample of models as the estimator's, with exact selection frequencies."""
    points = np.vstack([fed.minimizer, models])
    skews = _skews(fed, strategy, points)
    return skews.min(), skews[:, 0].max(), np.diagonal(skews).min()


def _skews(fed: Any, strategy: Any, points: Any) -> Any:
    """Exact skews for all pairs of models w (rows) and w' (columns)."""
    losses = fed.losses(points)
    excess = losses - fed.local_minima
    ratios = excess / (excess @ fed.weights)[:, None]
    frequencies = [strategy.inclusion_probabilities(fed.weights, at) / strategy.num_selected for at in losses]
    return np.array(frequencies) @ ratios.T


def _least_along_a_run(config: Any, fed: Any, strategy: Any) -> float:
    """Smallest skew at the models of one run, each with itself."""
    models = ft.fedavg(
        fed, strategy, num_rounds=config.num_rounds, local_steps=2, step_size=2e-5, rng=config.seed,
        initial=10 * np.random.default_rng(config.seed).standard_normal(fed.dim), record=("models",),
        record_every=config.num_rounds // 100,
    ).models[0]  # fmt: skip
    return float(np.diagonal(_skews(fed, strategy, models)).min())


def outward(sides: Any) -> str:
    """Write certified sides with four digits that leave nothing out."""
    both = zip(sides, (ROUND_FLOOR, ROUND_CEILING), strict=True)
    low, high = (float(Context(4, rounding).create_decimal_from_float(float(side))) for side, rounding in both)
    return f"[{low:.4g}, {high:.4g}]"
