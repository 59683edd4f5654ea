"""Optimal client sampling: runs with their bounds, optimal probabilities, and correlated samplings."""

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from _repeated import mean_and_limits, span

import fedtheory as ft
from fedtheory import study
from fedtheory._support.validate import Array
from fedtheory.bounds import optimal_client_sampling as ocs
from fedtheory.bounds.recursion import unrolled_gap
from fedtheory.errors import OracleError
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
    fed = ft.federation.NonconvexFederation(rng.uniform(0.5, 1.0, v), 2 * apart, weights)
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
        factors.append(ft.sampling.improvement_factor(norms, config.expected_size))
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


LONGEST = "OCS, longest steps"


def shares_of_bits(data: "Dataset", what: str = "reached_bits") -> Any:
    """Bits of OCS with its longest steps divided by those of the best rival, for every setting."""
    rivals = data[what].sel(strategy=["uniform", "full, longest steps"]).min("strategy")
    return (data[what].sel(strategy=LONGEST) / rivals).values


def findings_of_runs(data: "Dataset") -> dict[str, study.Finding]:
    """Compare bits, steps and errors of the strategies, bounds with errors, and runs with their exact expectation."""
    names, exact = data["strategy"].values.tolist(), data["exact_third"].values
    mean, lower, upper = data["third"].transpose("side", "setting", "strategy", "part").values
    # Half a band is about two standard errors, so this is five.
    deviation = float(np.nanmax(abs(mean - exact) / (1.25 * (upper - lower))))
    ends = dict(zip(names, mean[..., -1].T, strict=True))
    steps = dict(zip(names, data["step"].transpose("strategy", "setting").values, strict=True))
    rounds = dict(zip(names, data["reached_rounds"].transpose("strategy", "setting").values, strict=True))
    bits, (to_full, to_uniform) = (
        shares_of_bits(data),
        (steps[LONGEST] / steps[one] for one in ("full, longest steps", "uniform")),
    )
    saved, noisy = rounds[LONGEST] / rounds["uniform"], ends[LONGEST] / ends["full, longest steps"]
    last = data.isel(round=-1)
    orders = [
        np.argsort(one.values, axis=1, kind="stable") for one in (last["bound"], last["bounded"].sel(side="mean"))
    ]
    alike = int((orders[0] == orders[1]).all(axis=1).sum())
    tightest = min(float((data["bound"] / data["bounded"].sel(side="upper")).min()), float(data["nearest"].min()))
    alpha = data["alpha"].sel(strategy=["OCS", "AOCS", LONGEST]).values
    same = float(data["from_ocs"].sel(strategy="AOCS").max())
    slack = float((data["gamma"].min("place") / data["needed_gamma"]).sel(strategy=LONGEST).min())
    return {
        "bits": study.Finding(
            "To twice the final error of uniform sampling, optimal sampling with its longest steps sends "
            f"{span(bits, 2)} times the bits of its best rival.",
            bool((bits < 1).all()),
        ),
        "steps": study.Finding(
            f"The theorems allow optimal sampling {span(100 * to_full, 0)}% of the step size of full participation, "
            f"and {span(to_uniform)} times that of uniform sampling.",
            bool((to_full < 1 + 1e-9).all() and (to_uniform > 1).all() and to_full.min() < 0.5),
        ),
        "rounds": study.Finding(
            f"To this error it needs {span(saved, 2)} times the rounds of uniform sampling.", bool((saved < 1).all())
        ),
        "full": study.Finding(
            f"In the end its error is {span(noisy, 0)} times that of full participation with the longest steps.",
            bool((noisy > 1).all()),
        ),
        "between": study.Finding(
            "With equal steps optimal sampling ends between full participation and uniform sampling.",
            bool(((ends["full"] < ends["OCS"]) & (ends["OCS"] < ends["uniform"])).all()),
        ),
        "orders": study.Finding(
            f"In {alike} of {len(orders[0])} settings the unrolled bounds order the strategies as the runs do.",
            2 * alike >= len(orders[0]),
        ),
        "bounds hold": study.Finding(
            f"In all rounds the bounds are at least {tightest:.2f} times what they bound.", tightest >= 1
        ),
        "improvement": study.Finding(
            f"The improvement factor alpha of optimal sampling is {span(alpha, 3)}.",
            bool(alpha.min() >= 0 and alpha.max() < 1),
        ),
        "AOCS": study.Finding(
            "The approximate probabilities give the errors of the optimal ones in every round.",
            same < 1e-6,
            f"apart by {same:.1e}",
        ),
        "exact": study.Finding(
            "Full participation and uniform sampling on quadratics agree with their exact expectation.",
            deviation < 1,
            f"largest distance {deviation:.2f} times five standard errors",
        ),
        "admitted": study.Finding(
            "The theorems admit the longest steps of optimal sampling.",
            slack >= 1,
            f"smallest gamma / needed gamma {slack:.3f}",
        ),
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


CLOSED, FOUR, PRECISE, BARE = (
    "closed form",
    "AOCS, 4 rescalings",
    "Clarabel, tolerances 1e-12",
    "Clarabel, norms of 1e-6",
)


class _Answer(NamedTuple):
    """Quality of an answer: relative excess of its objective, residual of the conditions, largest error of p."""

    gap: float
    residual: float
    deviation: float


def _solved(norms: Any, m: float, *, solver: str, scale: float = 1.0, **settings: Any) -> Any:
    return ft.sampling.solver_probabilities(scale * norms, m, solver, normalize=scale == 1.0, **settings)[0]


def ways(config: Any, progress: study.Progress) -> "Dataset":
    """Compare every algorithm with the optimum on log-normal norms of each spread."""
    import xarray

    from fedtheory.sampling.reference import CLARABEL

    laws: dict[str, Callable[[Any, float], Any]] = {
        CLOSED: ft.sampling.optimal_probabilities,
        **{
            f"AOCS, {j} rescaling{'s' * (j > 1)}": partial(ft.sampling.approximate_probabilities, max_iterations=j)
            for j in (1, 2, 4)
        },
        PRECISE: partial(_solved, solver="CLARABEL", **CLARABEL),
        "Clarabel, default": partial(_solved, solver="CLARABEL"),
        BARE: partial(_solved, solver="CLARABEL", scale=1e-6),
        "SCS, default": partial(_solved, solver="SCS"),
    }
    m, answers, excesses = config.judged_size, [], []
    _, *seeds = np.random.SeedSequence(config.seed).spawn(len(config.spreads) + 1)
    for spread, seed in zip(config.spreads, seeds, strict=True):
        drawn = np.random.default_rng(seed).lognormal(0.0, spread, (config.judged_instances, config.judged_clients))
        for t in progress(drawn, f"probabilities, spread {spread:g}"):
            answers.append([_judged(law, t, m) for law in laws.values()])
        excesses.append([_excesses(t, m, config.max_rescalings) for t in drawn])
    shape = len(config.spreads), config.judged_instances, len(laws), -1
    return xarray.Dataset(
        {
            "answer": (("spread", "instance", "way", "measure"), np.reshape(answers, shape)),
            "excess": (("spread", "instance", "rescaling"), np.array(excesses)),
        },
        coords={
            "spread": list(config.spreads), "way": list(laws), "measure": list(_Answer._fields),
            "rescaling": np.arange(config.max_rescalings + 1),
        },
        attrs={"expected_size": m},
    )  # fmt: skip


def _judged(law: Callable[[Any, float], Any], norms: Any, m: float) -> _Answer:
    """Judge an answer, made feasible, against the exact optimum; NaN where there is none."""
    exact = np.array(ft.sampling.rational_probabilities(norms, m), dtype=np.float64)
    best = (norms**2 / exact).sum()
    try:
        p = np.clip(law(norms, m), 1e-12, 1.0)
    except OracleError:
        return _Answer(np.nan, np.nan, np.nan)
    p *= min(1.0, m / p.sum())
    found = ft.sampling.certificate(norms, p, m)
    return _Answer((norms**2 / p).sum() / best - 1, found.residual, np.abs(p - exact).max())


def _excesses(norms: Any, m: float, most: int) -> list[float]:
    """Variance above the optimal one after 0, 1, ... rescalings, in units of the uniform variance."""
    uniform = ft.sampling.variance(norms, np.full(norms.size, m / norms.size))
    best = ft.sampling.variance(norms, ft.sampling.optimal_probabilities(norms, m))
    return [(ft.sampling.variance(norms, p) - best) / uniform for p in ft.sampling.approximation_path(norms, m, most)]


def findings_of_ways(data: "Dataset") -> dict[str, study.Finding]:
    """Compare the closed form, rescalings and solvers with the exact optimum."""
    own = np.abs(data["answer"].sel(way=CLOSED).values).max()
    worst = data["answer"].max("instance")
    gap, steps = float(data["answer"].sel(measure="gap").min()), np.diff(data["excess"].values, axis=-1)
    enough = int(np.ceil(data.attrs["expected_size"])) - 1
    left = np.abs(data["excess"].sel(rescaling=slice(enough, None))).max().item()
    four, precise = (
        float(worst.sel(way=FOUR, measure="gap").max()),
        float(worst.sel(way=PRECISE, measure="deviation").max()),
    )
    bare = float(np.nan_to_num(data["answer"].sel(way=BARE, measure="deviation").values, nan=1.0).max())
    return {
        "closed form": study.Finding(
            "The closed form is the optimum up to rounding, and no other answer is better.",
            own < 1e-13 and gap > -1e-14,
            f"largest measure {own:.1e}, smallest gap {gap:.1e}",
        ),
        "rescalings": study.Finding(
            f"Each rescaling of AOCS lowers the variance, and after ceil(m) - 1 = {enough} of them it is optimal.",
            bool((steps <= 1e-15).all() and left < 1e-14),
            f"largest step {steps.max():.1e}, largest excess {left:.1e}",
        ),
        "four": study.Finding(
            f"The four rescalings of the published code leave a relative gap of at most {four:.0e}.", four < 1e-9
        ),
        "solver": study.Finding(
            f"With tolerances 1e-12 the probabilities of Clarabel are off by up to {precise:.1g}; for norms of 1e-6, "
            f"by up to {bare:.1g}.",
            bool(1e-5 < precise < bare),
        ),
    }


SAMPLINGS = ("systematic", "best for these updates")


def laws(config: Any, progress: study.Progress) -> "Dataset":
    """Compare variances on random instances, and under all changes of sign."""
    import xarray

    alignments = np.linspace(-1, 1, config.num_alignments)
    ratios = [
        [_instance_ratios(config, float(alignment), index) for index in range(config.drawn_instances)]
        for alignment in progress(alignments, "alignments")
    ]
    return xarray.Dataset(
        {
            "ratio": (("alignment", "instance", "sampling"), ratios),
            "sign_ratio": (("sampling", "pattern"), sign_ratios(config)),
        },
        coords={"alignment": alignments, "sampling": list(SAMPLINGS)},
    )


def updates(config: Any, alignment: float, index: int) -> Any:
    """Weighted updates, shape (n, v), with a common direction or with two opposite directions."""
    rng = np.random.default_rng([config.seed, index])
    n, v = config.drawn_clients, config.drawn_dim
    weights = rng.lognormal(0, 0.5, n)
    own, common = rng.normal(size=(n, v)), rng.normal(size=v)
    own /= np.linalg.norm(own, axis=1, keepdims=True)
    common /= np.linalg.norm(common)
    sides = np.where(np.arange(n) % 2, 1.0, np.sign(alignment) or 1.0)
    shared = abs(alignment) * sides[:, None] * common + np.sqrt(1 - alignment**2) * own
    return weights[:, None] / weights.sum() * shared


def _instance_ratios(config: Any, alignment: float, index: int) -> list[float]:
    drawn = updates(config, alignment, index)
    matrices, independent = matrices_of(config, drawn)
    return [ft.sampling.estimator_variance(matrix, drawn) / independent for matrix in matrices]


def matrices_of(config: Any, drawn: Any) -> tuple[list[Any], float]:
    """Probability matrices of the correlated samplings, and the variance of the optimal independent one."""
    norms = np.linalg.norm(drawn, axis=1)
    p = ft.sampling.optimal_probabilities(norms, config.drawn_size)
    return [systematic(p), best(p, drawn)], float(ft.sampling.variance(norms, p))


def systematic(p: Any) -> Any:
    """Return the probability matrix of a comb with teeth at distance 1 on the concatenated probabilities."""
    ends = np.cumsum(p)
    # The comb's offset u draws client i when a tooth u, u + 1, ... lies in [ends[i] - p[i], ends[i]).
    cuts = np.unique(np.concatenate([[0.0, 1.0], np.round(ends % 1, 14)]))
    middles = (cuts[1:] + cuts[:-1]) / 2
    members = np.floor(ends[None, :] - middles[:, None]) > np.floor(ends[None, :] - p - middles[:, None])
    return members.T * (np.diff(cuts) / np.diff(cuts).sum()) @ members


def best(p: Any, drawn: Any) -> Any:
    """Return the probability matrix of least variance among all samplings with these probabilities."""
    from scipy.optimize import linprog

    n = len(p)
    members = (np.arange(2**n)[:, None] >> np.arange(n)) & 1 == 1
    errors = (members / p) @ drawn - drawn.sum(axis=0)
    constraints = np.vstack([members.T, np.ones(2**n)])
    found = linprog(np.sum(errors**2, axis=1), A_eq=constraints, b_eq=np.append(p, 1.0), method="highs")
    if not found.success:
        message = f"the linear program of the best sampling must be solved, got: {found.message}"
        raise ValueError(message)
    chances = np.maximum(found.x, 0.0)
    return members.T * (chances / chances.sum()) @ members


def sign_ratios(config: Any) -> Any:
    """Variance over that of independent sampling for all signs of one instance, shape (samplings, patterns)."""
    drawn = updates(config, 0.9, 0)
    matrices, independent = matrices_of(config, drawn)
    products = drawn @ drawn.T
    patterns = np.array(list(itertools.product([1.0, -1.0], repeat=config.drawn_clients - 1)))
    # Flipping all signs at once has no effect, so the sign of the first client is fixed.
    signs = np.hstack([np.ones((len(patterns), 1)), patterns])
    ratios = []
    for matrix in matrices:
        p = np.diagonal(matrix)
        relative = (matrix / np.outer(p, p) - 1) * products
        ratios.append(np.sort(np.einsum("si,ij,sj->s", signs, relative, signs)) / independent)
    return ratios


def findings_of_laws(data: "Dataset") -> dict[str, study.Finding]:
    """Compare the variances of correlated samplings with the independent one."""
    comb, least = (data["ratio"].sel(sampling=name) for name in SAMPLINGS)
    means, place = comb.mean("instance").values, int((data["alignment"].values <= 0.5).sum())
    off = float(abs(data["sign_ratio"].mean("pattern") - 1).max())
    return {
        "systematic": study.Finding(
            f"For opposed updates systematic sampling has {means[0]:.2f} times the independent variance on average, "
            f"and for updates that agree with c > 0.5 at most {means[place:].max():.2f} times.",
            bool(means[0] > 1 > means[place:].max()),
        ),
        "equal": study.Finding(
            "For equal updates systematic sampling has no variance.", float(comb.isel(alignment=-1).max()) < 1e-7
        ),
        "best": study.Finding(
            f"The best law for given updates has at most {float(least.max()):.2f} times the independent variance, and "
            "never more than systematic sampling.",
            bool(float(least.max()) <= 1 + 1e-7 and float((least - comb).max()) <= 1e-7),
        ),
        "signs": study.Finding(
            "Over all signs of the updates the mean variance of both samplings is the independent variance.",
            off < 1e-7,
            f"off by {off:.1e}",
        ),
    }
