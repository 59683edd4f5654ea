"""Error floors of Power-of-Choice: predicted, simulated, and what the bias terms of theorems say."""

from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import study
from fedtheory.statistics import student_mean

if TYPE_CHECKING:
    from xarray import Dataset

BIASES = ("small-step bias", "corrected bias", "printed bias")


def floors(config: Any, progress: study.Progress) -> "Dataset":
    """Predict, simulate and bound the floor for every number of candidates."""
    import xarray

    sizes = [_size(config, size, progress) for size in config.num_clients]
    data: Dataset = xarray.concat(sizes, dim="num_clients", join="exact")
    return data.assign_coords(num_clients=list(config.num_clients))


def _size(config: Any, num_clients: int, progress: study.Progress) -> "Dataset":
    import xarray

    fed = ft.datasets.power_of_choice_quadratics(num_clients=num_clients, rng=config.seed)
    m = max(1, round(config.selected_share * num_clients))
    counts = [max(m, round(share * num_clients)) for share in config.candidate_shares]
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
    # The corrected theorem takes skews up to 79, which is far above what occurs here.
    corrected = 8 * kappa * gap * (tilde - diagonal) / (8 + 3 * diagonal)
    printed = 8 / 3 * kappa * gap * (tilde / bar - 1) if bar > 0 else float("inf")
    return gap * (tilde / diagonal - 1), corrected, printed
