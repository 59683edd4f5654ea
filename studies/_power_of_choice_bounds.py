"""Bounds of Power-of-Choice on quadratics with known constants: along a run, and from the theorem to the worst case."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import study
from fedtheory.bounds import power_of_choice as poc
from fedtheory.bounds.recursion import unrolled_gap
from fedtheory.plotting.style import log_places

if TYPE_CHECKING:
    from xarray import Dataset

    from fedtheory._support.validate import Array
    from fedtheory.selection.rules import Strategy

BOUNDS = ("round lemma", "recursion", "corrected", "printed")
REGIMES, SIDES = ("decaying", "fixed"), ("mean", "lower", "upper")


@dataclass(frozen=True, eq=False)
class Setting:
    """The instance, the initial model, the step sizes of both regimes, and the constants that the bounds share."""

    config: Any
    fed: Any
    initial: "Array"
    step_sizes: dict[str, "Array"]
    constants: dict[str, dict[str, float]]
    distance2: float
    horizons: Any


def answer(config: Any, strategies: "dict[str, Strategy]", progress: study.Progress) -> "Dataset":
    """Simulate strategies with both kinds of step sizes, and evaluate the bounds along the runs."""
    import xarray

    setting = _setting(config)
    laws = {name: _laws(strategy, config) for name, strategy in strategies.items()}
    different = dict.fromkeys(law for by_round in laws.values() for law in by_round)
    least_ratios = ft.exact.subset_minima(setting.fed)
    skews = {law: _safe_skews(setting.fed, law, least_ratios) for law in progress(different, "skews")}
    records = [
        [
            _simulated(setting, strategies[name], laws[name][-1], regime)
            | _bounds(setting, regime, [skews[law] for law in laws[name]])
            for regime in REGIMES
        ]
        for name in progress(strategies, "strategies")
    ]
    dims = {
        "error": ("side", "step"), "exact": ("step",), "bound": ("form", "step"), "dominating": (), "skew": ("which",),
        "floor": (),
    }  # fmt: skip
    return xarray.Dataset(
        {
            name: (("strategy", "regime", *own), [[record[name] for record in both] for both in records])
            for name, own in dims.items()
        },
        coords={
            "strategy": list(strategies), "regime": list(REGIMES), "side": list(SIDES), "form": list(BOUNDS),
            "which": ["rho_bar", "rho_diagonal", "rho_tilde"], "step": setting.horizons,
        },
        attrs={"num_clients": config.num_clients},
    )  # fmt: skip


def _setting(config: Any) -> Setting:
    problem, start = np.random.SeedSequence(config.seed).spawn(2)
    fed = ft.datasets.power_of_choice_quadratics(num_clients=config.num_clients, rng=problem)
    initial = config.initial_scale * np.random.default_rng(start).standard_normal(fed.dim)
    curvature = {"mu": fed.strong_convexity, "L": fed.smoothness}
    num_steps = config.num_rounds * config.local_steps
    fixed = np.full(num_steps, config.fixed_step_size)
    sizes = {"decaying": poc.decaying_step_sizes(num_steps, **curvature), "fixed": fixed}
    shared = {"num_selected": config.num_selected, "sigma2": config.gradient_noise, "objective_gap": fed.objective_gap}
    constants = {
        regime: curvature | shared | {"G2": ft.federation.gradient_bound(fed, initial, steps, config.gradient_noise).G2}
        for regime, steps in sizes.items()
    }
    distance2 = float(np.sum((initial - fed.minimizer) ** 2))
    horizons = config.local_steps * log_places(config.num_rounds + 1, 150)
    return Setting(config, fed, initial, sizes, constants, distance2, horizons)


def _laws(strategy: Any, config: Any) -> list[Any]:
    """Return the selection law of every round; the number of candidates of adapow-d changes."""
    if not isinstance(strategy, ft.selection.PowerOfChoice) or isinstance(strategy.num_candidates, int):
        return [strategy] * config.num_rounds
    counts = strategy.candidate_counts(config.num_clients, config.num_rounds)
    return [ft.selection.PowerOfChoice(config.num_selected, int(count)) for count in counts]


def _simulated(setting: Setting, strategy: Any, last: Any, regime: str) -> dict[str, Any]:
    """Measured gap with its band, its exact expectation if selection ignores the model, and the last law's floor."""
    config, places = setting.config, setting.horizons // setting.config.local_steps
    run_of: dict[str, Any] = {
        "num_rounds": config.num_rounds, "local_steps": config.local_steps, "step_size": setting.step_sizes[regime],
        "initial": setting.initial, "gradient_noise": config.gradient_noise,
    }  # fmt: skip
    seed = np.random.SeedSequence([config.seed, 1])
    trajectory = ft.fedavg(setting.fed, strategy, **run_of, num_replicates=config.num_replicates, rng=seed)
    exact = np.full(places.size, np.nan)
    if isinstance(strategy.law(setting.fed.weights), ft.selection.Moments):
        exact = ft.exact.expected_gap(setting.fed, strategy, **run_of)[places]
    floor = ft.exact.error_floor(setting.fed, last).value
    return {"error": np.stack(trajectory.band("gap"))[:, places], "exact": exact, "floor": floor}


def _safe_skews(fed: Any, law: Any, least_ratios: "Array") -> tuple[float, float, float]:
    """Return certified lower bounds of rho_bar and the diagonal skew, and a certified upper bound of rho_tilde."""
    # The search tightens sides that are not used here.
    skew = ft.exact.selection_skew(fed, law, num_models=100, least_ratios=least_ratios)
    return skew.rho_bar.lower, skew.rho_diagonal.lower, skew.rho_tilde.upper


def unrolled_rounds(
    step_sizes: "Array",
    *,
    local_steps: int,
    initial_distance2: float,
    objective_gap: float,
    sigma2: float = 0.0,
    **known: Any,
) -> "Array":
    """Bounds on ``E |w - w*|^2`` after 0, ..., R rounds, from the inequality of each round; shape (R + 1,).

    The other constants are those of ``round_coefficients``, the skews numbers or one for each round.
    """
    rounds = np.reshape(step_sizes, (-1, local_steps))
    by = poc.round_coefficients(list(rounds.T), **known)
    offsets = by.objective_gap * objective_gap + by.sigma2 * sigma2
    distances = [initial_distance2]
    for slope, offset in zip(by.distance2.tolist(), offsets.tolist(), strict=True):
        distances.append(slope * distances[-1] + offset)
    return np.array(distances)


def _bounds(setting: Setting, regime: str, skews: list[tuple[float, float, float]]) -> dict[str, Any]:
    """All forms of the bound at the horizons, and the largest summand of the corrected one; skews of every round."""
    horizons, tau = setting.horizons, setting.config.local_steps
    constants: dict[str, Any] = setting.constants[regime]
    rho_bar, rho_diagonal, rho_tilde = np.array(skews).T
    start: dict[str, Any] = {"initial_distance2": setting.distance2, "local_steps": tau}
    in_steps: dict[str, Any] = {"rho_diagonal": np.repeat(rho_diagonal, tau), "rho_tilde": np.repeat(rho_tilde, tau)}
    sizes = setting.step_sizes[regime]
    recursion = unrolled_gap(poc.one_step, step_sizes=sizes, **constants, **start, **in_steps)[horizons]
    in_rounds: dict[str, Any] = {"rho_diagonal": rho_diagonal, "rho_tilde": rho_tilde}
    without_bound: dict[str, Any] = {name: value for name, value in constants.items() if name != "G2"}
    far = unrolled_rounds(sizes, **without_bound, **start, **in_rounds)[horizons // tau]
    bound: Any = poc.decaying_steps_gap
    if regime == "fixed":
        bound, gap = poc.fixed_step_gap, float(setting.fed.excess(setting.initial))
        start = {"initial_gap": gap, "step_size": setting.config.fixed_step_size, "local_steps": tau}
    # The closed forms hold with the worst skews over all rounds; a printed form is infinite if its skew is zero.
    overall = {**constants, **start, "rho_tilde": rho_tilde.max()}
    corrected = bound(horizons, rho_diagonal=rho_diagonal.min(), **overall)
    printed, _ = bound.printed(horizons, rho_bar=rho_bar.min(), strict=False, **overall)
    summands = bound.printed.terms(int(horizons[-1]), rho_bar=rho_diagonal.min(), **overall)
    forms = (constants["L"] / 2 * far, recursion, corrected, printed)
    return {
        "bound": np.stack([np.broadcast_to(values, horizons.shape) for values in forms]),
        "dominating": max(summands, key=lambda name: summands[name]),
        "skew": [rho_bar.min(), rho_diagonal.min(), rho_tilde.max()],
    }


CURVES = (
    "theorem", "refined theorem", "theorem without gradient bound", "round lemma", "worst case", "worst quadratic",
    "measured",
)  # fmt: skip


def gap_curves(config: Any, progress: study.Progress) -> "Dataset":
    """Simulate every strategy, and compute its bounds from its constants."""
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


def _worst(sizes: "Array", distance2: float, objective_gap: float, known: dict[str, Any], functions: Any) -> "Array":
    """Compose the worst cases of the rounds from their proved upper ends; they are attained in every round."""
    # Certificates are about rationals, and floats are used as their exact values.
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
