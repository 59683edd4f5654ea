"""Selection skews and error floors of Power-of-Choice on quadratics, by the number of candidates."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import study
from fedtheory.statistics import student_mean

if TYPE_CHECKING:
    from xarray import Dataset

SKEWS = ("rho_bar", "rho_tilde", "rho_diagonal")


def skews(config: Any, progress: study.Progress) -> "Dataset":
    """Bound, estimate and sample the skews for every number of candidates."""
    return _by_size(config, [_skews(config, size, progress) for size in config.num_clients])


def _case(config: Any, num_clients: int) -> tuple[Any, int, list[int]]:
    """Return the federation of a size, the number of selected clients, and the numbers of candidates."""
    fed = ft.datasets.power_of_choice_quadratics(num_clients=num_clients, rng=config.seed)
    m = max(1, round(config.selected_share * num_clients))
    return fed, m, [max(m, round(share * num_clients)) for share in config.candidate_shares]


def _by_size(config: Any, sizes: "list[Dataset]") -> "Dataset":
    import xarray

    data: Dataset = xarray.concat(sizes, dim="num_clients", join="exact")
    return data.assign_coords(num_clients=list(config.num_clients))


def _skews(config: Any, num_clients: int, progress: study.Progress) -> "Dataset":
    import xarray

    sample, draws = np.random.SeedSequence([config.seed, num_clients]).spawn(2)
    fed, m, counts = _case(config, num_clients)
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
    skews = _pairwise_skews(fed, strategy, points)
    return skews.min(), skews[:, 0].max(), np.diagonal(skews).min()


def _pairwise_skews(fed: Any, strategy: Any, points: Any) -> Any:
    """Exact skews for all pairs of models w (rows) and w' (columns)."""
    losses = fed.losses(points)
    excess = losses - fed.local_minima
    ratios = excess / (excess @ fed.weights)[:, None]
    frequencies = [strategy.inclusion_probabilities(fed.weights, at) / strategy.num_selected for at in losses]
    return np.array(frequencies) @ ratios.T


def _least_along_a_run(config: Any, fed: Any, strategy: Any) -> float:
    """Smallest skew at the models of one run, where each model is compared with itself."""
    models = ft.fedavg(
        fed, strategy, num_rounds=config.num_rounds, local_steps=2, step_size=2e-5, rng=config.seed,
        initial=10 * np.random.default_rng(config.seed).standard_normal(fed.dim), record=("models",),
        record_every=config.num_rounds // 100,
    ).models[0]  # fmt: skip
    return float(np.diagonal(_pairwise_skews(fed, strategy, models)).min())


def outward(sides: Any) -> str:
    """Format certified sides with four digits, rounded outward."""
    both = zip(sides, (ROUND_FLOOR, ROUND_CEILING), strict=True)
    low, high = (float(Context(4, rounding).create_decimal_from_float(float(side))) for side, rounding in both)
    return f"[{low:.4g}, {high:.4g}]"


BIASES = ("small-step bias", "corrected bias", "printed bias")


def floors(config: Any, progress: study.Progress) -> "Dataset":
    """Predict, simulate and bound the floor for every number of candidates."""
    return _by_size(config, [_floors(config, size, progress) for size in config.num_clients])


def _floors(config: Any, num_clients: int, progress: study.Progress) -> "Dataset":
    import xarray

    fed, m, counts = _case(config, num_clients)
    least_ratios = ft.exact.subset_minima(fed)
    floors, gaps, mean_fields, bands, biases = [], [], [], [], []
    for d in progress(counts, f"K = {num_clients}"):
        strategy = ft.selection.PowerOfChoice(m, d)
        floor = ft.exact.error_floor(fed, strategy)
        floors.append(floor.value)
        gaps.append(floor.gap)
        mean_fields.append(_mean_field(config, fed, strategy))
        bands.append([_settled(config, fed, strategy, eta) for eta in config.step_sizes])
        biases.append(_biases(fed, strategy, least_ratios))
    return xarray.Dataset(
        {
            "floor": ("share", floors),
            "duality_gap": ("share", gaps),
            "mean_field": ("share", mean_fields),
            "simulated": (("share", "step_size", "side"), bands),
            "bias": (("share", "form"), biases),
            "candidates": ("share", counts),
            "selected": m,
            "objective_gap": fed.objective_gap,
        },
        coords={
            "share": list(config.candidate_shares),
            "step_size": list(config.step_sizes),
            "side": ["mean", "lower", "upper"],
            "form": list(BIASES),
        },
    )


def _settled(config: Any, fed: Any, strategy: Any, step_size: float) -> tuple[float, float, float]:
    """Mean gap over the second half of a run from the optimum, with its 95% limits over replicates."""
    num_rounds = round(config.run_time / (step_size * config.local_steps))
    every = max(1, num_rounds // 1000)
    found = ft.fedavg(
        fed, strategy, num_rounds=num_rounds, local_steps=config.local_steps, step_size=step_size, record_every=every,
        initial=fed.minimizer, num_replicates=config.num_replicates, rng=np.random.SeedSequence([config.seed, 1]),
    )  # fmt: skip
    settled = found.gap[:, found.gap.shape[1] // 2 :].mean(axis=1)
    lower, upper = student_mean(settled)
    return float(settled.mean()), float(lower), float(upper)


def _mean_field(config: Any, fed: Any, strategy: Any) -> float:
    """Return the mean of the last quarter of the mean-field recursion with the longest step."""
    step_size = config.step_sizes[0]
    num_rounds = round(config.run_time / (step_size * config.local_steps))
    gaps = ft.exact.mean_field_gap(fed, strategy, num_rounds, config.local_steps, step_size, fed.minimizer)
    return float(gaps[-num_rounds // 4 :].mean())


def _biases(fed: Any, strategy: Any, least_ratios: Any) -> tuple[float, float, float]:
    """Return the small-step bias, and the limits of the corrected and the printed Theorem 3.1 for many steps."""
    skews = ft.exact.selection_skew(fed, strategy, num_models=100, least_ratios=least_ratios)
    gap, kappa = fed.objective_gap, fed.smoothness / fed.strong_convexity
    tilde, diagonal, bar = skews.rho_tilde.upper, skews.rho_diagonal.lower, skews.rho_bar.lower
    corrected = 8 * kappa * gap * (tilde - diagonal) / (8 + 3 * diagonal)
    printed = 8 / 3 * kappa * gap * (tilde / bar - 1) if bar > 0 else float("inf")
    return gap * (tilde / diagonal - 1), corrected, printed
