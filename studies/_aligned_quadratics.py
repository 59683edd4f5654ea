"""Measurements of the study of FedALIGN on quadratics."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import study
from fedtheory.bounds import fedalign as fa
from fedtheory.bounds.recursion import unrolled_gap
from fedtheory.statistics import student_mean

if TYPE_CHECKING:
    from xarray import Dataset

    from fedtheory._support.validate import Array
    from fedtheory.federation.prioritized import Prioritized


WORLDS, BOUNDS, ANNEALED = ("pooled", "private"), ("recursion", "corrected", "printed"), "annealed"


def errors_by_threshold(config: Any, progress: study.Progress) -> "Dataset":
    """Run every threshold in both worlds, reconstruct the inclusions, and evaluate the bounds after every round."""
    strategies = _thresholds(config)
    settings = {world: prepared(config, pooled=world == "pooled") for world in WORLDS}
    cases = [(world, name) for world in WORLDS for name in strategies]
    found = {
        (world, name): measurements(settings[world], strategies[name]) for world, name in progress(cases, "thresholds")
    }
    return _assembled(config, list(strategies), [[found[world, name] for name in strategies] for world in WORLDS])


def _thresholds(config: Any) -> dict[str, Any]:
    named: dict[str, Any] = {f"{eps:g}": eps for eps in config.thresholds}
    return {**named, ANNEALED: ft.selection.AnnealedThreshold(config.annealed_from, end=0.5)}


def _assembled(config: Any, names: list[str], records: list[list[dict[str, Any]]]) -> "Dataset":
    import xarray

    dims = {
        "error": ("side", "step"),
        "theta": ("limit", "step"),
        "rho": ("limit", "step"),
        "bound": ("form", "step"),
        "num_included": ("step",),
        "noise_free": (),
        "floor": (),
        "settled": (),
    }
    return xarray.Dataset(
        {
            name: (("world", "threshold", *own), [[record[name] for record in row] for row in records])
            for name, own in dims.items()
        },
        coords={
            "world": list(WORLDS),
            "threshold": names,
            "side": ["mean", "lower", "upper"],
            "limit": ["lower", "upper"],
            "form": list(BOUNDS),
            "step": config.local_steps * np.arange(1, config.num_rounds + 1),
        },
    )


@dataclass(frozen=True, eq=False)
class Setting:
    """One world with the constants that the bounds share."""

    config: Any
    aligned: "Prioritized"
    initial: "Array"
    step_sizes: "Array"
    constants: dict[str, Any]
    gamma: float


def prepared(config: Any, *, pooled: bool) -> Setting:
    """Make one world, its step sizes, and the constants that its bounds share."""
    aligned = _federation(config, pooled=pooled)
    fed = aligned.federation
    mu, L, tau = fed.strong_convexity, fed.smoothness, config.local_steps
    initial = fed.minimizer + 2.0
    sizes = fa.decaying_step_sizes(config.num_rounds * tau, mu=mu, L=L, local_steps=tau)
    region = ft.federation.gradient_bound(fed, initial, sizes, gradient_noise=config.gradient_noise)
    constants = {
        "mu": mu,
        "L": L,
        "local_steps": tau,
        "G2": region.G2,
        "sigma2": config.gradient_noise,
        "objective_gap": aligned.objective_gap,
        "initial_distance2": float(np.sum((initial - fed.minimizer) ** 2)),
    }
    return Setting(config, aligned, initial, sizes, constants, max(8 * L / mu, tau))


def _federation(config: Any, *, pooled: bool) -> "Prioritized":
    rng = np.random.default_rng(np.random.SeedSequence(config.seed).spawn(1)[0])
    first, others, dim = config.num_priority, config.num_others, config.dim
    curvatures = rng.uniform(0.5, 1.5, (first + others, dim))
    centers = config.spread * rng.standard_normal((first, dim))
    priority = ft.QuadraticFederation(curvatures[:first], centers, np.full(first, 1 / first))
    directions = rng.standard_normal((others, dim))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    away = priority.minimizer + np.linspace(0, config.farthest, others)[:, None] * directions
    minima = np.concatenate([np.zeros(first), np.full(others, priority.minimum if pooled else 0.0)])
    sizes = np.full(first + others, 1 / (first + others))
    fed = ft.QuadraticFederation(curvatures, np.vstack([centers, away]), sizes, minima)
    world: Prioritized = ft.federation.prioritize(fed, np.arange(first + others) < first)
    return world


def measurements(setting: Setting, threshold: Any) -> dict[str, Any]:
    """Measured error, number of included clients, theta and rho with limits, and bounds, at the end of every round."""
    config, aligned = setting.config, setting.aligned
    strategy = ft.selection.LossMatching(aligned.priority, aligned.shares, threshold)
    run_of: dict[str, Any] = {
        "num_rounds": config.num_rounds,
        "local_steps": config.local_steps,
        "step_size": setting.step_sizes,
        "initial": setting.initial,
        "record": ("gap", "models", "selected", "coefficients"),
    }
    seed = np.random.SeedSequence([config.seed, 1])
    replicates = {"gradient_noise": config.gradient_noise, "num_replicates": config.num_replicates}
    trajectory = ft.fedavg(aligned.federation, strategy, **run_of, **replicates, rng=seed)
    found = ft.exact.inclusions(aligned, strategy, trajectory)
    theta, rho = _alignment_terms(setting, found)
    printed_theta, printed_rho = _alignment_terms(setting, found, first_step=1)
    silent = ft.fedavg(aligned.federation, strategy, **run_of)
    return {
        "error": np.stack(trajectory.band("gap"))[:, 1:],
        "theta": theta,
        "rho": rho,
        "bound": _bounds(setting, found, (theta[1], rho[1]), (printed_theta[1], printed_rho[1])),
        "num_included": found.included[..., ~aligned.priority].sum(axis=-1).mean(axis=0),
        "noise_free": silent.gap[0, -1],
        **_floor(setting, ft.exact.inclusions(aligned, strategy, silent).included[0, -1], strategy),
    }


def _alignment_terms(setting: Setting, found: Any, first_step: int = 0) -> tuple["Array", "Array"]:
    """Return 95% limits of theta_T and rho_T at the end of every round, shape (2, rounds) each."""
    mu, L, local_steps = (setting.constants[name] for name in ("mu", "L", "local_steps"))
    sums: dict[str, Any] = {"gamma": setting.gamma, "local_steps": local_steps, "first_step": first_step}
    theta = student_mean(fa.theta(found.priority_weights, **sums))
    rho = student_mean(fa.rho(found.included_gaps, mu=mu, L=L, **sums))
    return np.array([*theta]).clip(0.0, 1.0), np.array([*rho]).clip(0.0)


def _bounds(setting: Setting, found: Any, terms: Any, printed: Any) -> "Array":
    """Return the unrolled recursion, and the corrected and the printed form with the upper ends of theta and rho."""
    config, known = setting.config, setting.constants
    horizons = config.local_steps * np.arange(1, config.num_rounds + 1)

    def per_step(samples: "Array", limit: float = np.inf) -> "Array":
        return np.repeat(np.minimum(student_mean(samples).upper, limit), config.local_steps)

    recursion = unrolled_gap(
        fa.refined_one_step,
        step_sizes=setting.step_sizes,
        priority_weight=per_step(found.priority_weights, 1.0),
        included_gap=per_step(found.included_gaps),
        squared_weights=per_step(np.sum(found.weights**2, axis=-1), 1.0),
        **known,
    )
    corrected = fa.full_participation_gap(horizons, theta=terms[0], rho=terms[1], **known)
    as_printed = fa.full_participation_gap.printed(horizons, theta=printed[0], rho=printed[1], **known)
    return np.stack([recursion[horizons], corrected, as_printed])


def _floor(setting: Setting, included: Any, strategy: Any) -> dict[str, Any]:
    """Return the floor of a run that always includes these clients, and whether their losses match at the floor."""
    config, aligned = setting.config, setting.aligned
    fed: Any = aligned.federation
    limit = ft.QuadraticFederation(fed.curvatures, fed.centers, aligned.shares * included, normalize=True).minimizer
    last = strategy.thresholds(config.num_rounds)[-1:]
    there = ft.selection.matches(fed.losses(limit)[None], fed.weights, last).matched[0]
    settled = np.array_equal(there[~aligned.priority], included[~aligned.priority])
    return {"floor": float(fed.excess(limit)), "settled": settled}
