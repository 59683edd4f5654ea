"""What can be said of a gap from its constants, from the printed theorem to the worst case, and the measured gap."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from _bounds_along_a_run import unrolled_rounds

import fedtheory as ft
from fedtheory import study
from fedtheory.bounds import power_of_choice as poc
from fedtheory.plotting.style import log_places

if TYPE_CHECKING:
    from xarray import Dataset

    from fedtheory._support.validate import Array

CURVES = ("promise", "refined promise", "Theorem P", "Lemma W", "worst case", "worst quadratic", "measured")


def gap_curves(config: Any, progress: study.Progress) -> "Dataset":
    """Simulate every strategy, and compute what can be said about it from its constants."""
    import xarray

    problem, start = np.random.SeedSequence(config.seed).spawn(2)
    fed = ft.datasets.power_of_choice_quadratics(num_clients=config.num_clients, rng=problem)
    initial = config.initial_scale * np.random.default_rng(start).standard_normal(fed.dim)
    rounds, m = log_places(config.num_rounds + 1, 60), config.num_selected
    strategies: dict[str, Any] = {
        "full participation": ft.selection.Full(),
        "rand": ft.selection.Proportional(m),
        **{f"pow-d, d = {d}": ft.selection.PowerOfChoice(m, d) for d in config.num_candidates},
    }
    least_ratios, curves, skews = ft.exact.subset_minima(fed), [], []
    for strategy in progress(strategies.values(), "strategies"):
        skew = ft.exact.selection_skew(fed, strategy, num_models=50, least_ratios=least_ratios)
        pair = (skew.rho_diagonal.lower, skew.rho_tilde.upper)
        curves.append([*_curves(config, fed, initial, pair, rounds), _measured(config, fed, initial, strategy, rounds)])
        skews.append(pair)
    return xarray.Dataset(
        {"gap": (("strategy", "curve", "step"), curves), "skew": (("strategy", "which"), skews)},
        coords={
            "strategy": list(strategies),
            "curve": list(CURVES),
            "step": config.local_steps * rounds,
            "which": ["rho_diagonal", "rho_tilde"],
        },
    )


def _sizes(config: Any, fed: Any) -> "Array":
    steps: Array = poc.decaying_step_sizes(
        config.num_rounds * config.local_steps, mu=fed.strong_convexity, L=fed.smoothness
    )
    return steps


def _measured(config: Any, fed: Any, initial: "Array", strategy: Any, rounds: Any) -> "Array":
    found = ft.fedavg(
        fed, strategy, num_rounds=config.num_rounds, local_steps=config.local_steps, step_size=_sizes(config, fed),
        initial=initial, num_replicates=config.num_replicates, rng=np.random.SeedSequence([config.seed, 1]),
    )  # fmt: skip
    mean: Array = found.gap.mean(axis=0)[rounds]
    return mean


def _curves(config: Any, fed: Any, initial: "Array", skew: tuple[float, float], rounds: Any) -> "list[Array]":
    """Bounds in the order of ``CURVES``, as gaps."""
    tau, mu, L = config.local_steps, fed.strong_convexity, fed.smoothness
    sizes, distance2 = _sizes(config, fed), float(np.sum((initial - fed.minimizer) ** 2))
    known: dict[str, Any] = {"mu": mu, "L": L, "num_selected": config.num_selected}
    known |= {"rho_diagonal": skew[0], "rho_tilde": skew[1]}
    shared = {**known, "local_steps": tau, "sigma2": 0.0, "objective_gap": fed.objective_gap}
    start: dict[str, Any] = {"initial_distance2": distance2}
    G2 = ft.federation.gradient_bound(fed, initial, sizes, 0.0).G2
    far = poc.decaying_steps_distance(rounds, gamma=2 * tau * L / mu, **shared, **start)
    unrolled = unrolled_rounds(sizes, **shared, **start)
    return [
        poc.decaying_steps_gap(tau * rounds, **shared, **start, G2=G2),
        poc.refined_decaying_steps_gap(tau * rounds, **shared, **start, G2=G2),
        L / 2 * far,
        L / 2 * unrolled[rounds],
        *(
            L / 2 * _worst(sizes.reshape(-1, tau), distance2, fed.objective_gap, known, functions)[rounds]
            for functions in ("all", "quadratic")
        ),
    ]


def _worst(sizes: "Array", distance2: float, objective_gap: float, known: dict[str, Any], functions: str) -> "Array":
    """Compose the rounds' worst cases from their proved upper ends: they are attained round after round."""
    # Certificates are about rationals: floats are taken as the numbers that they are.
    constants: dict[str, Any] = {
        name: value if isinstance(value, int) else Fraction(value) for name, value in known.items()
    }
    distances = [Fraction(distance2)]
    for steps in sizes.tolist():
        found = ft.worst_case.skew_class(
            len(steps), [*map(Fraction, steps)], distance2=distances[-1], objective_gap=Fraction(objective_gap),
            functions=functions, **constants,
        )  # fmt: skip
        distances.append(Fraction(float(found.enclosure[1])))
    return np.array([*map(float, distances)])
