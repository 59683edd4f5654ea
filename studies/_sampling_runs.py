"""Runs of client sampling with their bounds, for the study of its convergence."""

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from _checks import Check
from _repeated import mean_and_limits

import fedtheory as ft
from fedtheory import study
from fedtheory._support.validate import Array
from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.bounds.recursion import unrolled_gap
from fedtheory.plotting.style import log_places

if TYPE_CHECKING:
    from xarray import Dataset

FLOAT_BITS = 64
PROBLEMS, METHODS = ("quadratics", "wells"), ("DSGD", "FedAvg")
STRATEGIES = ("full", "full, longest steps", "uniform", "OCS", "AOCS", "OCS, longest steps")


class Setting(NamedTuple):
    """A problem with a method: the longest effective step for a given gamma, and its parts."""

    config: Any
    problem: str
    fed: Any
    initial: Any
    local_steps: int
    server_step_size: float

    def longest_step(self, gamma: float) -> float:
        """Longest effective step that the theorems allow when gamma is never smaller."""
        if self.local_steps == 1:
            return gamma / float(self.fed.smoothness)
        return min(1 / 16, gamma / 8) / float(self.fed.smoothness)

    def local_step_size(self, step: float) -> float:
        return step / (self.local_steps * self.server_step_size)


def _problem(config: Any, problem: str) -> tuple[Any, Array]:
    rng = np.random.default_rng([config.seed, int(problem == "wells")])
    n, v = config.num_clients, config.dim
    weights = rng.lognormal(0, config.dispersion, n)
    weights /= weights.sum()
    apart = rng.lognormal(0, config.dispersion, (n, 1)) * rng.normal(size=(n, v)) / np.sqrt(v)
    if problem == "quadratics":
        fed: Any = ft.QuadraticFederation(rng.uniform(1, 4, (n, v)), apart, weights)
        return fed, np.asarray(fed.minimizer + 10 * rng.normal(size=v) / np.sqrt(v))
    fed = ft.federation.NonconvexFederation.tilt(rng.uniform(0.5, 1.0, v), 2 * apart, weights)
    # Around 1 to the right and left of the bottom: phi is concave beyond 1/sqrt(3).
    return fed, rng.choice([-1.0, 1.0], v) * rng.uniform(0.5, 1.5, v)


def _setting(config: Any, problem: str, method: str) -> Setting:
    fed, initial = _problem(config, problem)
    if method == "DSGD":
        return Setting(config, problem, fed, initial, 1, 1.0)
    # Theorems 17 and 18 require a long server step, and therefore short local ones.
    return Setting(config, problem, fed, initial, config.local_steps, 1 / np.sqrt(fed.weights @ fed.weights))


def runs(config: Any, progress: study.Progress) -> "Dataset":
    """Run every strategy with every method on every problem."""
    import xarray

    pairs = list(itertools.product(PROBLEMS, METHODS))
    answers = [_answer(config, problem, method, STRATEGIES) for problem, method in progress(pairs, "runs")]
    data: Dataset = xarray.concat(answers, dim="setting")
    return data.assign_coords(setting=[f"{problem}, {method}" for problem, method in pairs])


def _answer(config: Any, problem: str, method: str, strategies: Sequence[str]) -> "Dataset":
    """Run every strategy on one problem with one method."""
    import xarray

    setting, m = _setting(config, problem, method), config.expected_size
    steps = dict.fromkeys(strategies, setting.longest_step(m / config.num_clients))
    steps["full, longest steps"] = setting.longest_step(1.0)
    records: dict[str, dict[str, Any]] = {}
    for name in strategies:
        if name == "OCS, longest steps":
            steps[name] = setting.longest_step(0.9 * float(records["OCS"]["gamma"].min()))
        records[name] = _simulated(setting, name, steps[name])
    dims = {
        "gap": ("side", "round"), "third": ("part", "side"), "exact": ("round",), "exact_third": ("part",),
        "bits": ("round",), "bounded": ("side", "round"), "bound": ("round",), "alpha": ("place",),
        "gamma": ("place",), "step": (), "needed_gamma": (),
    }  # fmt: skip
    data = xarray.Dataset(
        {name: (("strategy", *own), [records[s][name] for s in strategies]) for name, own in dims.items()},
        coords={"strategy": list(strategies), "side": ["mean", "lower", "upper"], "place": _places(config)},
    ).assign_coords(round=np.arange(config.num_rounds + 1))
    return _summed_up(data).isel(round=log_places(config.num_rounds + 1, config.num_recorded))


def _summed_up(data: "Dataset") -> "Dataset":
    """Add summaries over all rounds: ratios of the bound, differences to OCS's gaps, rounds and bits until a gap.

    This gap is twice the final mean gap of uniform sampling; NaN if it is never reached.
    """
    gap = data["gap"].sel(side="mean")
    below = gap <= 2 * data["third"].sel(strategy="uniform", side="mean").isel(part=-1)
    first = below.argmax("round")
    found = below.any("round")
    return data.assign(
        from_ocs=abs(gap / gap.sel(strategy="OCS") - 1).max("round").drop_vars("side"),
        nearest=(data["bound"] / data["bounded"].sel(side="upper")).min("round"),
        reached_rounds=data["round"].isel(round=first).where(found).drop_vars("round"),
        reached_bits=data["bits"].isel(round=first).where(found).drop_vars("round"),
    )


def _places(config: Any) -> Any:
    return log_places(config.num_rounds, config.num_places)


def _strategy(config: Any, name: str) -> Any:
    m = config.expected_size
    if name.startswith("full"):
        return ft.selection.Full()
    laws: dict[str, Any] = {"uniform": "uniform", "AOCS": "approximate"}
    return ft.selection.Independent(m, laws.get(name, "optimal"), config.max_iterations)


def _simulated(setting: Setting, name: str, step: float) -> dict[str, Any]:
    config, strategy = setting.config, _strategy(setting.config, name)
    run_of: dict[str, Any] = {
        "num_rounds": config.num_rounds,
        "local_steps": setting.local_steps,
        "step_size": setting.local_step_size(step),
        "server_step_size": setting.server_step_size,
        "initial": setting.initial,
        "gradient_noise": config.gradient_noise,
    }
    seed = np.random.SeedSequence([config.seed, 2])
    trajectory = ft.fedavg(
        setting.fed,
        strategy,
        **run_of,
        num_replicates=config.num_replicates,
        rng=seed,
        record=("gap", "uplink", "models"),
    )
    exact = np.full(config.num_rounds + 1, np.nan)
    if setting.problem == "quadratics" and name.split(",", maxsplit=1)[0] in ("full", "uniform"):
        exact = ft.exact.expected_gap(setting.fed, strategy, **run_of)
    alpha = _improvement_factors(setting, name, step, trajectory.models)
    gamma = np.array(
        [ft.sampling.relative_improvement_factor(a, config.num_clients, config.expected_size) for a in alpha]
    )
    thirds = np.array_split(trajectory.gap, 3, axis=1)
    return {
        "gap": np.stack(trajectory.band("gap")),
        "third": [mean_and_limits(part.mean(axis=1, keepdims=True))[:, 0] for part in thirds],
        "exact": exact,
        "exact_third": [part.mean() for part in np.array_split(exact, 3)],
        "bits": FLOAT_BITS * trajectory.uplink.mean(axis=0),
        "bounded": mean_and_limits(_bounded_by_theorem(setting, trajectory)),
        "bound": _bound(setting, step, gamma),
        "alpha": alpha,
        "gamma": gamma,
        "step": step,
        "needed_gamma": step * setting.fed.smoothness * (1 if setting.local_steps == 1 else 8),
    }


def _bounded_by_theorem(setting: Setting, trajectory: Any) -> Array:
    """Return the gap for quadratics, and for wells the squared gradient averaged over all past rounds."""
    if setting.problem == "quadratics":
        return np.asarray(trajectory.gap)
    squares = np.stack([np.sum(setting.fed.gradient(models) ** 2, axis=-1) for models in trajectory.models])
    averages = np.cumsum(squares, axis=1)[:, :-1] / np.arange(1, squares.shape[1])
    # There is no average before the first round.
    return np.concatenate([squares[:, :1], averages], axis=1)


def _improvement_factors(setting: Setting, name: str, step: float, models: Array) -> Array:
    """Ratio of expectations over the replicates, at the rounds that ``_places`` names."""
    config, places = setting.config, _places(setting.config)
    if name.startswith("full") or name == "uniform":
        return np.full(places.size, 0.0 if name.startswith("full") else 1.0)
    rng = np.random.default_rng([config.seed, 3])
    factors = []
    for place in places:
        updates = _updates(setting, step, models[:, place], rng)
        norms = setting.fed.weights * np.linalg.norm(updates, axis=-1)
        factors.append(ft.sampling.expected_improvement_factor(norms, config.expected_size))
    return np.array(factors)


def _updates(setting: Setting, step: float, models: Array, rng: np.random.Generator) -> Array:
    """Return the updates of all clients from each model, with fresh noise; shape (replicates, n, v)."""
    eta, scale = setting.local_step_size(step), np.sqrt(setting.config.gradient_noise / setting.config.dim)
    gradients = setting.fed.gradients(models)
    local = np.repeat(models[:, None, :], setting.config.num_clients, axis=1)
    start = local
    for s in range(setting.local_steps):
        if s > 0:
            gradients = np.einsum("rkkv->rkv", setting.fed.gradients(local))
        local = local - eta * (gradients + scale * rng.standard_normal(local.shape))
    return start - local


def _bound(setting: Setting, step: float, gamma: Array) -> Array:
    """Bound on the expected gap (quadratics) or on the averaged squared gradient (wells), for every round."""
    config, fed = setting.config, setting.fed
    rounds = np.arange(config.num_rounds)
    inverse_gamma = np.interp(rounds, _places(config), 1 / gamma)
    shared: dict[str, Any] = {
        "L": fed.smoothness,
        "smallest_gamma": float(gamma.min()),
        "max_weight": float(fed.weights.max()),
        "sum_squared_weights": float(fed.weights @ fed.weights),
        "relative_noise": 0.0,
        "sigma2": config.gradient_noise,
    }
    split = {"server_step_size": setting.server_step_size, "local_steps": setting.local_steps}
    if setting.problem == "quadratics":
        recursion: Any = ocs.dsgd_contraction if setting.local_steps == 1 else ocs.fedavg_contraction
        wanted = {"local_steps": 1} if setting.local_steps == 1 else split
        distance2 = float(np.sum((setting.initial - fed.minimizer) ** 2))
        return unrolled_gap(
            recursion, initial_distance2=distance2, step_sizes=np.full(config.num_rounds, step),
            mean_inverse_gamma=inverse_gamma, mu=fed.strong_convexity, objective_gap=fed.objective_gap,
            **wanted, **shared,
        )  # fmt: skip
    average: Any = ocs.dsgd_average_gradient if setting.local_steps == 1 else ocs.fedavg_average_gradient
    values = average(
        rounds + 1, initial_gap=float(fed.excess(setting.initial)), step_size=step,
        mean_inverse_gamma=np.cumsum(inverse_gamma) / (rounds + 1), dissimilarity=fed.dissimilarity,
        **({} if setting.local_steps == 1 else split), **shared,
    )  # fmt: skip
    return np.concatenate([[np.inf], values])


def _increasing(*values: Any) -> Check:
    """Whether each array is larger than the previous one, elementwise."""
    words = (" < ".join(f"{value:.3g}" for value in column) for column in np.transpose(values))
    return Check(bool((np.diff(values, axis=0) > 0).all()), "; ".join(words))


def checks_of_runs(data: "Dataset") -> dict[str, Check]:
    """Test the statements of the page."""
    exact = data["exact_third"].values
    mean, lower, upper = (data["third"].sel(side=side).values for side in ("mean", "lower", "upper"))
    # Half a band is about two standard errors, so this is five.
    deviation = float(np.nanmax(abs(mean - exact) / (1.25 * (upper - lower))))
    ratios = data["bound"] / data["bounded"].sel(side="upper")
    tightest = min(float(ratios.min()), float(data["nearest"].min()))
    alpha = data["alpha"].sel(strategy=["OCS", "AOCS", "OCS, longest steps"])
    curves = data["gap"].sel(side="mean")
    recorded = abs(curves.sel(strategy="AOCS") / curves.sel(strategy="OCS") - 1)
    same = max(float(recorded.max()), float(data["from_ocs"].sel(strategy="AOCS").max()))
    ends = data["third"].sel(side="mean").isel(part=-1)
    full, ocs, uniform = (ends.sel(strategy=name).values for name in ("full", "OCS", "uniform"))
    slack = float((data["gamma"].min("place") / data["needed_gamma"]).sel(strategy="OCS, longest steps").min())
    return {
        "full and uniform agree with their exact expectation": Check(
            deviation < 1, f"largest distance {deviation:.2f} times five standard errors"
        ),
        "the bounds lie above the measurements": Check(tightest >= 1, f"smallest ratio {tightest:.3g}"),
        "the improvement factor lies in [0, 1]": Check(
            float(alpha.min()) >= 0 and float(alpha.max()) <= 1, f"{float(alpha.min()):.3f} to {float(alpha.max()):.3f}"
        ),
        "AOCS is OCS, round by round": Check(same < 1e-6, f"largest relative difference {same:.2g}"),
        "with equal steps OCS ends between full and uniform": _increasing(full, ocs, uniform),
        "the longest steps of OCS are ones that the theorem admits": Check(
            slack >= 1, f"smallest gamma / needed gamma {slack:.3f}"
        ),
        **_savings(data),
    }


def _savings(data: "Dataset") -> dict[str, Check]:
    """Test that OCS saves rounds and bits if all strategies take the longest steps that the theorems allow."""

    def saves(what: str, *others: str) -> Check:
        best = data[what].sel(strategy=list(others)).min("strategy")
        ratios = (data[what].sel(strategy="OCS, longest steps") / best).values
        return Check(bool(ratios.max() < 1), "ratios " + ", ".join(f"{ratio:.2f}" for ratio in ratios))

    return {
        "with the longest steps OCS needs fewer bits than uniform and full": saves(
            "reached_bits", "uniform", "full, longest steps"
        ),
        "with the longest steps OCS needs fewer rounds than uniform": saves("reached_rounds", "uniform"),
    }


def rows_of_runs(found: "Dataset") -> list[dict[str, Any]]:
    """One row per setting and strategy."""
    rows: list[dict[str, Any]] = []
    for setting, name in itertools.product(map(str, found["setting"].values), STRATEGIES):
        here, reached = found.sel(setting=setting, strategy=name), found["reached_bits"].sel(setting=setting)
        (mean, lower, upper), last = here["third"].isel(part=-1).values, here.isel(round=-1)
        bits, uniform, full = (float(reached.sel(strategy=one)) for one in (name, "uniform", "full, longest steps"))
        rows.append({
            "problem, method": setting, "strategy": name, "step size": float(here["step"]), "final gap": float(mean),
            "+- (95%)": float(upper - lower) / 2, "rounds": float(here["reached_rounds"]), "Mbit": bits / 1e6,
            "bits / uniform": bits / uniform, "bits / full, longest": bits / full, "alpha": float(here["alpha"].mean()),
            "bound / measured": float(last["bound"] / last["bounded"].sel(side="mean")),
        })  # fmt: skip
    return rows
