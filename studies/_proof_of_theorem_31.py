"""The proof of Theorem 3.1 of Power-of-Choice as a chain of inequalities, and the loss of each on an instance.

Quadratics are isotropic, and gradients have no noise. The state of a run at the start of a round is a weighted set of
models; expectations over the selected cohort are sums over all cohorts.
"""

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import fedtheory as ft
from fedtheory import study
from fedtheory.bounds import power_of_choice as poc
from fedtheory.bounds.power_of_choice import decaying_step_sizes
from fedtheory.plotting.style import log_places

if TYPE_CHECKING:
    from xarray import Dataset

DRIFT = (
    ("(13)-(16)", "Jensen, and the whole round"),
    ("(17)-(19)", "Cauchy-Schwarz over steps and clients"),
    ("(20)-(21)", "gradients by G2"),
    ("(22)-(23)", "step sizes by 2 eta_t"),
)
INEQUALITIES = (
    ("(33)", "Cauchy-Schwarz and AM-GM"),
    ("(35)", "Lemma B.1"),
    ("(36)", "strong convexity"),
    *((f"(37) {number}", reason) for number, reason in DRIFT),
    ("(38)", "Jensen"),
    ("(39)", "Lemma B.1"),
    ("(44)", "Lemma B.3"),
    ("(48)", "strong convexity"),
    ("(49)", "Cauchy-Schwarz and AM-GM"),
    ("(49) again", "Lemma B.1"),
    ("(51)", "coefficient by 1"),
    *((f"(53) {number}", reason) for number, reason in DRIFT),
    ("(54)", "cohort independent of the model"),
    ("(55)", "skew by rho_bar"),
    ("(55) again", "skew by rho_tilde"),
    ("(60)", "strong convexity"),
    ("(61)", "coefficient by 3/4 eta"),
    ("(62)", "coefficient by 1 - 3 L eta"),
)


class Cohorts(NamedTuple):
    """Shares of each client in every possible cohort, (C, K), and their probabilities at each model, (P, C)."""

    shares: Any
    chances: Any


class State(NamedTuple):
    """Models u at the start of a round, (P, v), and their probabilities, (P,)."""

    models: Any
    masses: Any


class Constants(NamedTuple):
    """Arguments of the bounds: G2 and the two skews are certified on the safe side."""

    local_steps: int
    num_selected: int
    G2: float
    rho_bar: float
    rho_tilde: float


class Values(NamedTuple):
    """Exact expectations at one step; "mean" is over the cohort, ``average`` is the mean model.

    Attributes
    ----------
    distance2, spread
        ``E |average - w*|^2`` and ``E mean |w_k - average|^2``.
    gradient2, mean_gradient2, gradient2_at_average
        ``E mean |grad F_k(w_k)|^2``, ``E |mean grad F_k(w_k)|^2`` and ``E mean |grad F_k(average)|^2``.
    pull, local_pull, cross
        ``E <average - w*, mean grad F_k(w_k)>``, ``E mean <w_k - w*, grad F_k(w_k)>`` and
        ``E mean <grad F_k(average), w_k - average>``.
    excess, excess_at_average, excess_of_others, excess_at_minimizer
        ``E mean (F_k - F_k*)`` at w_k, at the average, at the average of another cohort from the same start, at w*.
    """

    distance2: float
    spread: float
    gradient2: float
    mean_gradient2: float
    gradient2_at_average: float
    pull: float
    local_pull: float
    cross: float
    excess: float
    excess_at_average: float
    excess_of_others: float
    excess_at_minimizer: float


class Round(NamedTuple):
    """Values at the steps 0..tau of a round, and final models less w*, (P, C, v), with probabilities, (P, C)."""

    values: list[Values]
    ends: Any
    chances: Any


def follow_round(fed: Any, cohorts: Cohorts, state: State, etas: Any) -> Round:
    """Take the local steps of one round for all models and cohorts at once."""
    joint = state.masses[:, None] * cohorts.chances
    shrinkage, values = np.ones(fed.num_clients), []
    for step in range(len(etas) + 1):
        values.append(_values(fed, cohorts, joint, state, shrinkage))
        if step < len(etas):
            shrinkage = shrinkage * (1 - etas[step] * fed.curvatures)
    moved = (shrinkage - 1)[:, None] * (state.models[:, None, :] - fed.centers)
    return Round(values, cohorts.shares @ moved + (state.models - fed.minimizer)[:, None, :], joint)


def _values(fed: Any, cohorts: Cohorts, joint: Any, state: State, shrinkage: Any) -> Values:
    h, d = fed.curvatures, fed.centers - fed.minimizer
    offsets = state.models[:, None, :] - fed.centers
    y, g = (shrinkage - 1)[:, None] * offsets, (h * shrinkage)[:, None] * offsets
    start = (state.models - fed.minimizer)[:, None, :]
    share = cohorts.shares
    frequencies = state.masses[:, None] * (cohorts.chances @ share)
    y_bar, g_bar = share @ y, share @ g
    x_bar = y_bar + start

    def over_clients(per_client: Any) -> float:
        return float(np.sum(frequencies * per_client))

    def over_cohorts(per_cohort: Any) -> float:
        return float(np.sum(joint * per_cohort))

    def at_average(factors: Any, mix: Any) -> float:
        """Average ``sum_k mix_k factors_k |average - c_k|^2``."""
        constant, slope, bend = mix @ (factors * _square(d)), mix @ (factors[:, None] * d), mix @ factors
        return over_cohorts(bend * _square(x_bar) - 2 * np.sum(x_bar * slope, axis=-1) + constant)

    others = (cohorts.chances @ share)[:, None, :]
    pulled = share @ (h[:, None] * y)
    level = (share @ np.sum(h[:, None] * d * y, axis=-1)[..., None])[..., 0]
    slope = (share @ h)[:, None] * x_bar - share @ (h[:, None] * d)
    return Values(
        distance2=over_cohorts(_square(x_bar)),
        spread=over_clients(_square(y)) - over_cohorts(_square(y_bar)),
        gradient2=over_clients(_square(g)),
        mean_gradient2=over_cohorts(_square(g_bar)),
        gradient2_at_average=at_average(h**2, share),
        pull=over_cohorts(np.sum(x_bar * g_bar, axis=-1)),
        local_pull=over_clients(np.sum((y + start) * g, axis=-1)),
        cross=over_cohorts(np.sum(x_bar * pulled, axis=-1) - level - np.sum(y_bar * slope, axis=-1)),
        excess=over_clients(0.5 * _square(g) / h),
        excess_at_average=0.5 * at_average(h, share),
        excess_of_others=0.5 * at_average(h, others),
        excess_at_minimizer=over_clients(0.5 * h * _square(d)),
    )


def _square(x: Any) -> Any:
    return np.sum(x**2, axis=-1)


def losses_of_round(fed: Any, known: Constants, values: list[Values], etas: Any) -> Any:
    """Amount by which every inequality raises the bound on ``E |w_bar_{t+1} - w*|^2``, shape (tau, inequalities)."""
    return np.array(
        [
            _losses(fed, known, now, eta, _drift_chain(known, values, etas, step))
            for step, (now, eta) in enumerate(zip(values[:-1], etas, strict=True))
        ]
    )


def _drift_chain(known: Constants, values: list[Values], etas: Any, step: int) -> list[float]:
    """Sides of the proof of Lemma B.2 from (12) to (23), without noise."""
    tau, m, before = known.local_steps, known.num_selected, values[:-1]
    others = 4 * (m - 1) / m
    sides = [
        values[step].spread,
        2 * values[-1].spread,
        others * tau * etas[0] ** 2 * sum(now.gradient2 for now in before),
        others * tau**2 * etas[0] ** 2 * known.G2,
        16 * tau**2 * etas[step] ** 2 * known.G2,
    ]
    return list(np.diff(sides))


def _losses(fed: Any, known: Constants, now: Values, eta: float, drift: list[float]) -> list[float]:
    mu, L, gap = fed.strong_convexity, fed.smoothness, fed.objective_gap
    nu = 2 * eta * (1 - 2 * L * eta)
    slope = nu * (1 - eta * L)
    excess_of_average = 0.5 * float(fed.weights @ fed.curvatures) * now.distance2
    local_distance2 = now.distance2 + now.spread
    decrease = now.excess - now.excess_at_minimizer
    return [
        now.spread + eta**2 * now.gradient2 + 2 * eta * (now.pull - now.local_pull),
        eta**2 * (2 * L * now.excess - now.gradient2),
        2 * eta * (now.local_pull - decrease - mu / 2 * local_distance2),
        *drift,
        eta**2 * (now.gradient2 - now.mean_gradient2),
        eta**2 * (2 * L * now.excess - now.gradient2),
        eta * mu * now.spread,
        nu * (now.excess - now.excess_at_average - now.cross - mu / 2 * now.spread),
        nu * (now.cross + eta / 2 * now.gradient2_at_average + now.spread / (2 * eta)),
        nu * eta / 2 * (2 * L * now.excess_at_average - now.gradient2_at_average),
        now.spread * (1 - nu * (1 / (2 * eta) - mu / 2)),
        *drift,
        slope * (now.excess_at_average - now.excess_of_others),
        slope * (now.excess_of_others - known.rho_bar * (excess_of_average + gap)),
        2 * eta * (known.rho_tilde * gap - now.excess_at_minimizer),
        slope * known.rho_bar * (excess_of_average - mu / 2 * now.distance2),
        known.rho_bar * mu / 2 * now.distance2 * (slope - 0.75 * eta),
        known.rho_bar * gap * (slope - 2 * eta + 6 * eta**2 * L),
    ]


class Ledger(NamedTuple):
    """Losses propagated by the recursion (65) to every step, with the exact distances.

    Attributes
    ----------
    carried, sampling
        Propagated losses, (T + 1, inequalities), and the propagated sampling errors of the models at the starts of
        rounds, (T + 1,), which are zero if these are exact.
    distance2
        Exact ``E |w_bar_t - w*|^2``, (T + 1,).
    smallest
        Smallest loss of each inequality at any step, as a share of the one-step bound.
    mismatch
        Largest relative difference between the exact distance with all losses and the library's one-step bound.
    """

    carried: Any
    sampling: Any
    distance2: Any
    smallest: Any
    mismatch: float


def carry(fed: Any, known: Constants, etas: Any, rounds: Iterable[tuple[list[Values], Any]]) -> Ledger:
    """Process all rounds, each with the values at its steps and its step sizes."""
    contraction = 1 - etas * fed.strong_convexity * (1 + 0.375 * known.rho_bar)
    history, distances = [np.zeros(len(INEQUALITIES) + 1)], [float("nan")]
    smallest, mismatch = np.full(len(INEQUALITIES), np.inf), 0.0
    for values, sizes in rounds:
        now = np.array([value.distance2 for value in values])
        if len(history) > 1:
            history[-1][-1] += distances[-1] - now[0]
        bound, losses = one_step(fed, known, now[:-1], sizes), losses_of_round(fed, known, values, sizes)
        mismatch = max(mismatch, float(np.max(np.abs((now[1:] + losses.sum(axis=1)) / bound - 1))))
        smallest = np.minimum(smallest, (losses / bound[:, None]).min(axis=0))
        distances[-1:] = now
        for added in losses:
            history.append(contraction[len(history) - 1] * history[-1] + np.append(added, 0.0))
    carried = np.array(history)
    return Ledger(carried[:, :-1], carried[:, -1], np.array(distances), smallest, mismatch)


def constants(fed: Any, known: Constants) -> dict[str, Any]:
    """Arguments that all bounds of the theorem share."""
    curvature = {"mu": fed.strong_convexity, "L": fed.smoothness}
    return {**curvature, "sigma2": 0.0, "objective_gap": fed.objective_gap, **known._asdict()}


def one_step(fed: Any, known: Constants, distance2: Any, step_size: Any) -> Any:
    """Right-hand side of (64), by the library."""
    return poc.one_step.printed(distance2, step_size=step_size, **constants(fed, known))


Stepped = tuple[list[Values], Any]
"""Exact values at the steps of a round, and its step sizes."""


class Run(NamedTuple):
    """Clients, clients per round, local steps, all step sizes, and the first model."""

    fed: Any
    num_selected: int
    local_steps: int
    etas: Any
    initial: Any

    @property
    def rounds(self) -> Any:
        """Step sizes, one row per round."""
        return self.etas.reshape(-1, self.local_steps)

    def shares(self, cohorts: list[tuple[int, ...]]) -> Any:
        """Return the share of each client in each cohort, shape (C, K)."""
        counts = [[cohort.count(k) for k in range(self.fed.num_clients)] for cohort in cohorts]
        return np.array(counts) / self.num_selected


def exact_rounds(run: Run) -> Iterator[Stepped]:
    """Follow random selection in proportion to the weights, exactly.

    All values are quadratic in the model u at the start of the round, since the cohort does not depend on it. Therefore
    the law of u can be replaced by 2 v points with the same mean and covariance; both are propagated exactly over the
    rounds.
    """
    fed = run.fed
    cohorts = list(itertools.combinations_with_replacement(range(fed.num_clients), run.num_selected))
    chances = [_orders(cohort) * math.prod(float(fed.weights[k]) for k in cohort) for cohort in cohorts]
    law = Cohorts(run.shares(cohorts), np.tile(chances, (2 * fed.dim, 1)))
    mean, covariance = run.initial - fed.minimizer, np.zeros((fed.dim, fed.dim))
    for etas in run.rounds:
        points = fed.minimizer + _points(mean, covariance)
        after = follow_round(fed, law, State(points, np.full(len(points), 1 / len(points))), etas)
        yield after.values, etas
        mean = np.einsum("pc,pcv->v", after.chances, after.ends)
        spread = after.ends - mean
        covariance = np.einsum("pc,pcv,pcw->vw", after.chances, spread, spread)


def _orders(cohort: tuple[int, ...]) -> int:
    """Return the number of orders in which a cohort with copies can be drawn."""
    return math.factorial(len(cohort)) // math.prod(math.factorial(cohort.count(k)) for k in set(cohort))


def _points(mean: Any, covariance: Any) -> Any:
    values, vectors = np.linalg.eigh(covariance)
    legs = (np.sqrt(mean.size * np.maximum(values, 0.0)) * vectors).T
    return np.concatenate([mean + legs, mean - legs])


def simulated_starts(run: Run, strategy: Any, num_paths: int, seed: Any) -> Any:
    """Models at the starts of all rounds in simulated runs, shape (paths, rounds + 1, v)."""
    return ft.fedavg(
        run.fed, strategy, num_rounds=len(run.rounds), local_steps=run.local_steps, step_size=run.etas,
        initial=run.initial, num_replicates=num_paths, rng=seed, record=("models",),
    ).models  # fmt: skip


def rounds_from(run: Run, strategy: Any, starts: Any) -> Iterator[Stepped]:
    """Compute pow-d from given models at the starts of rounds, (P, rounds + 1, v), exactly given these models."""
    fed = run.fed
    cohorts = list(itertools.combinations(range(fed.num_clients), run.num_selected))
    shares, known = run.shares(cohorts), dict[bytes, list[float]]()
    for models, etas in zip(starts.transpose(1, 0, 2), run.rounds, strict=False):
        rankings = np.argsort(-fed.losses(models), axis=1)
        for ranking in rankings:
            if ranking.tobytes() not in known:
                known[ranking.tobytes()] = _law(strategy, fed.weights, ranking, cohorts)
        law = Cohorts(shares, np.array([known[ranking.tobytes()] for ranking in rankings]))
        yield (
            follow_round(fed, law, State(models, np.full(len(models), 1 / len(models))), etas).values,
            etas,
        )


def _law(strategy: Any, weights: Any, ranking: Any, cohorts: list[tuple[int, ...]]) -> list[float]:
    by_rank = np.empty(len(ranking))
    by_rank[ranking] = -np.arange(len(ranking))
    law = ft.sampling.cohort_law(weights, by_rank, strategy.num_selected, strategy.num_candidates)
    return [law.get(frozenset(cohort), 0.0) for cohort in cohorts]


FRAME = ("(67)  smoothness, F - F* by L/2 |w - w*|^2", "(66)  induction", "(7)  sum for the maximum")


def slack_of_the_proof(config: Any, progress: study.Progress) -> "Dataset":
    """Follow both strategies and propagate the losses of all inequalities."""
    import xarray

    problem, start = np.random.SeedSequence(config.seed).spawn(2)
    fed = ft.datasets.power_of_choice_quadratics(num_clients=config.proof_clients, rng=problem)
    initial = config.initial_scale * np.random.default_rng(start).standard_normal(fed.dim)
    etas = decaying_step_sizes(config.proof_rounds * config.local_steps, mu=fed.strong_convexity, L=fed.smoothness)
    setting = Run(fed, config.num_selected, config.local_steps, etas, initial)
    rand = ft.selection.Proportional(config.num_selected)
    biased = ft.selection.PowerOfChoice(config.num_selected, config.proof_candidates)
    paths = simulated_starts(setting, biased, config.num_paths, np.random.SeedSequence([config.seed, 1]))
    rounds = {
        "rand": (rand, exact_rounds(setting)),
        f"pow-d, d = {config.proof_candidates}": (biased, rounds_from(setting, biased, paths)),
    }
    parts = [
        # progress is reported by step sizes, since the rounds are generated lazily
        _followed(setting, strategy, (values for values, _ in zip(steps, progress(setting.rounds, name), strict=True)))
        for name, (strategy, steps) in rounds.items()
    ]
    return xarray.concat(parts, dim="strategy").assign_coords(strategy=list(rounds))


def _followed(problem: Run, strategy: Any, rounds: Any) -> "Dataset":
    """Propagate the losses over the steps, and compare every step with the library's one-step bound."""
    import xarray

    fed, known = problem.fed, _constants(problem, strategy)
    ledger = carry(fed, known, problem.etas, rounds)
    shown = log_places(len(problem.etas) + 1, 120)
    return xarray.Dataset(
        {
            "carried": (("step", "inequality"), ledger.carried[shown]),
            "sampling": ("step", ledger.sampling[shown]),
            "distance2": ("step", ledger.distance2[shown]),
            **{name: ("step", values) for name, values in _unrolled(problem, known, shown).items()},
            "expected": ("step", _expected(problem, strategy, shown)),
            "smallest": ("inequality", ledger.smallest),
            "mismatch": ledger.mismatch,
            "skew": ("which", [known.rho_bar, known.rho_tilde]),
        },
        coords={
            "step": shown,
            "inequality": [f"{equation}  {reason}" for equation, reason in INEQUALITIES],
            "which": ["rho_bar", "rho_tilde"],
        },
        attrs={"half_L": fed.smoothness / 2, "half_curvature": float(fed.weights @ fed.curvatures) / 2, "G2": known.G2},
    )


def _constants(problem: Run, strategy: Any) -> Constants:
    skews = ft.exact.selection_skew(problem.fed, strategy, num_models=100)
    G2 = ft.federation.gradient_bound(problem.fed, problem.initial, problem.etas).G2
    return Constants(problem.local_steps, problem.num_selected, G2, skews.rho_bar.lower, skews.rho_tilde.upper)


def _unrolled(problem: Run, known: Constants, shown: Any) -> dict[str, Any]:
    """Bounds on the squared distance by (65) and (66), and on the gap by (7)."""
    fed, mu, L = problem.fed, problem.fed.strong_convexity, problem.fed.smoothness
    distances = [float(np.sum((problem.initial - fed.minimizer) ** 2))]
    for eta in problem.etas:
        distances.append(float(one_step(fed, known, distances[-1], eta)))
    C = 32 * known.local_steps**2 * known.G2 + 6 * known.rho_bar * L * fed.objective_gap
    D = 2 * fed.objective_gap * (known.rho_tilde - known.rho_bar)
    gamma = 4 * L / mu
    psi = np.maximum(gamma * distances[0], 8 / (3 * known.rho_bar) * (C / mu**2 + D * (shown + gamma) / mu))
    closed = poc.decaying_steps_gap.printed(shown, initial_distance2=distances[0], **constants(fed, known))
    return {"unrolled": np.array(distances)[shown], "induction": psi / (shown + gamma), "printed": closed}


def _expected(problem: Run, strategy: Any, shown: Any) -> Any:
    """Exact gap by the moment recursion at the ends of rounds, NaN elsewhere: an independent computation for rand."""
    result, tau = np.full(len(shown), np.nan), problem.local_steps
    if isinstance(strategy.law(problem.fed.weights), ft.selection.Moments):
        gaps = ft.exact.expected_gap(
            problem.fed, strategy, len(problem.etas) // tau, tau, problem.etas, problem.initial
        )
        whole = shown % tau == 0
        result[whole] = gaps[shown[whole] // tau]
    return result


def levels(here: "Dataset") -> Any:
    """Bounds on the gap at one step: the gap itself, and the bound after every inequality in the proof's order."""
    half_L = here.attrs["half_L"]
    distance2, carried = float(here["distance2"]), here["carried"].values
    # Sampling errors are not losses of the proof; they are part of the exact initial value of the later rounds.
    after = distance2 + float(here["sampling"]) + np.concatenate([[0.0], np.cumsum(carried)])
    ends = [half_L * float(here["induction"]), float(here["printed"])]
    return np.array([here.attrs["half_curvature"] * distance2, *(half_L * after), *ends])


def inequalities(data: "Dataset") -> list[str]:
    """All inequalities in the proof's order."""
    return [FRAME[0], *map(str, data["inequality"].values), *FRAME[1:]]


def losses(proof: "Dataset", name: str) -> Any:
    """Return the increase of the bound at the last step by each inequality, in units of the error."""
    found = levels(proof.isel(step=-1).sel(strategy=name))
    return np.diff(found) / found[0]


def lemma_b2(here: "Dataset") -> tuple[float, float]:
    """Factors by which G2, and then the step sizes, increase the side of (37) without its small initial term."""
    first = [str(name).startswith("(37)") for name in here["inequality"].values]
    jensen, cauchy, gradients, sizes = here["carried"].values[first]
    before = jensen + cauchy
    return float((before + gradients) / before), float((before + gradients + sizes) / (before + gradients))


def findings_of_losses(proof: "Dataset") -> dict[str, study.Finding]:
    """Name the inequalities that lose most."""
    labels = inequalities(proof)
    rand, pow_d = (losses(proof, str(name)) for name in proof["strategy"].values)

    def of(*equations: str) -> Any:
        chosen = [label.startswith(equations) for label in labels]
        return np.array([one[chosen].sum() for one in (rand, pow_d)])

    lemma, induction, total = of("(37)", "(53)"), of("(66)"), np.array([rand.sum(), pow_d.sum()])
    by_start, by_sizes = zip(*(lemma_b2(proof.isel(step=-1, strategy=place)) for place in (0, 1)), strict=True)
    before = [label.partition("  ")[0] for label in labels[: [label[:4] for label in labels].index("(37)")]]
    worst, first = before[int(rand[: len(before)].argmax())], levels(proof.isel(step=-1, strategy=0))
    false_step = of("(54)")
    return {
        "Lemma B.2": study.Finding(
            "Lemma B.2, which is used twice, and the induction (66) have "
            f"{100 * (lemma + induction)[0] / total[0]:.1f}% of the loss for random selection "
            f"({100 * lemma[0] / total[0]:.0f}% and {100 * induction[0] / total[0]:.0f}%) and "
            f"{100 * (lemma + induction)[1] / total[1]:.1f}% for pow-d ({100 * lemma[1] / total[1]:.0f}% and "
            f"{100 * induction[1] / total[1]:.0f}%).",
            bool(((lemma + induction) / total > 0.95).all()),
        ),
        "factors": study.Finding(
            f"In Lemma B.2, G2 in the place of squared gradients is a factor of {by_start[0]:.0f} for random "
            f"selection and {by_start[1]:.0f} for pow-d, and the step sizes are a factor of {by_sizes[0]:.1f}.",
            min(by_start) > max(by_sizes) > 1,
        ),
        "before": study.Finding(
            f"Of the inequalities before Lemma B.2, {worst} loses most for random selection: "
            f"{rand[: len(before)].max():,.0f} times the error. The first one, (33), makes the bound "
            f"{first[2] / first[1]:.0f} times as large.",
            worst == "(36)" and bool(first[2] > 10 * first[1]),
        ),
        "false step": study.Finding(
            f"The loss of the false inequality (54) is negative: {false_step[0]:.1f} times the error for random "
            f"selection and {false_step[1]:.1f} times for pow-d.",
            bool((false_step < 0).all()),
        ),
    }


def findings_of_chain(proof: "Dataset") -> dict[str, study.Finding]:
    """Test that the chain of inequalities is complete, and that exactly one of them is false."""
    half, rand, smallest = proof.attrs["half_curvature"], proof.sel(strategy="rand"), proof["smallest"].min("strategy")
    total = proof["distance2"] + proof["sampling"] + proof["carried"].sum("inequality")
    negative = [str(label) for label in smallest["inequality"].values[smallest.values < -1e-12]]
    ordered = (proof["induction"] / proof["unrolled"], proof["printed"] / (proof.attrs["half_L"] * proof["induction"]))
    off = {
        "complete": float(proof["mismatch"].max()),
        "carried": float(abs(total / proof["unrolled"] - 1).max()),
        "exact": float(abs(half * rand["distance2"] / rand["expected"] - 1).max()),
        "sampled": float(abs(proof["sampling"] / proof["unrolled"]).max()),
    }
    sentences = {
        "complete": "The losses of the inequalities of each step add up to the one-step bound (64).",
        "carried": "The losses propagated over the steps add up to the unrolled bound.",
        "exact": "The exact error of random selection is that of the moment recursion.",
    }
    return {
        **{
            name: study.Finding(sentence, off[name] < 1e-9, f"largest relative difference {off[name]:.1e}")
            for name, sentence in sentences.items()
        },
        "sampled": study.Finding(
            f"The sample of models of pow-d changes the unrolled bound by at most {100 * off['sampled']:.2f}%.",
            off["sampled"] < 0.02,
        ),
        "false": study.Finding(
            "Of the inequalities of a step exactly one is false, (54), which treats the cohort as independent of the "
            "model.",
            len(negative) == 1 and negative[0].startswith("(54)"),
            f"false somewhere: {negative}",
        ),
        "ordered": study.Finding(
            "At every step the closed form is above the induction, and the induction above the unrolled bound.",
            all(bool((ratio >= 1 - 1e-9).all()) for ratio in ordered),
        ),
    }
