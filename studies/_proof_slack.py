"""Loss of each inequality in the proof of Theorem 3.1, on quadratics with all cohorts enumerated."""

import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import _proof_of_theorem_31 as proof
import numpy as np
from _checks import Check

import fedtheory as ft
from fedtheory import study
from fedtheory.bounds import power_of_choice as poc
from fedtheory.bounds.power_of_choice import decaying_step_sizes
from fedtheory.plotting.style import log_places

if TYPE_CHECKING:
    from xarray import Dataset

Stepped = tuple[list[proof.Values], Any]
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
    law = proof.Cohorts(run.shares(cohorts), np.tile(chances, (2 * fed.dim, 1)))
    mean, covariance = run.initial - fed.minimizer, np.zeros((fed.dim, fed.dim))
    for etas in run.rounds:
        points = fed.minimizer + _points(mean, covariance)
        after = proof.follow_round(fed, law, proof.State(points, np.full(len(points), 1 / len(points))), etas)
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
        law = proof.Cohorts(shares, np.array([known[ranking.tobytes()] for ranking in rankings]))
        yield (
            proof.follow_round(fed, law, proof.State(models, np.full(len(models), 1 / len(models))), etas).values,
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
    ledger = proof.carry(fed, known, problem.etas, rounds)
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
            "inequality": [f"{equation}  {reason}" for equation, reason in proof.INEQUALITIES],
            "which": ["rho_bar", "rho_tilde"],
        },
        attrs={"half_L": fed.smoothness / 2, "half_curvature": float(fed.weights @ fed.curvatures) / 2, "G2": known.G2},
    )


def _constants(problem: Run, strategy: Any) -> proof.Constants:
    skews = ft.exact.selection_skew(problem.fed, strategy, num_models=100)
    G2 = ft.federation.gradient_bound(problem.fed, problem.initial, problem.etas).G2
    return proof.Constants(problem.local_steps, problem.num_selected, G2, skews.rho_bar.lower, skews.rho_tilde.upper)


def _unrolled(problem: Run, known: proof.Constants, shown: Any) -> dict[str, Any]:
    """Bounds on the squared distance by (65) and (66), and on the gap by (7)."""
    fed, mu, L = problem.fed, problem.fed.strong_convexity, problem.fed.smoothness
    distances = [float(np.sum((problem.initial - fed.minimizer) ** 2))]
    for eta in problem.etas:
        distances.append(float(proof.one_step(fed, known, distances[-1], eta)))
    C = 32 * known.local_steps**2 * known.G2 + 6 * known.rho_bar * L * fed.objective_gap
    D = 2 * fed.objective_gap * (known.rho_tilde - known.rho_bar)
    gamma = 4 * L / mu
    psi = np.maximum(gamma * distances[0], 8 / (3 * known.rho_bar) * (C / mu**2 + D * (shown + gamma) / mu))
    closed = poc.decaying_steps_gap.printed(shown, initial_distance2=distances[0], **proof.constants(fed, known))
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


def chain_checks(proof: "Dataset") -> dict[str, Check]:
    """Test that the chain of inequalities is complete, and that exactly one of them is false."""
    half, rand, smallest = proof.attrs["half_curvature"], proof.sel(strategy="rand"), proof["smallest"].min("strategy")
    total = proof["distance2"] + proof["sampling"] + proof["carried"].sum("inequality")
    negative = [str(label) for label in smallest["inequality"].values[smallest.values < -1e-12]]
    ordered = bool((proof["printed"] >= proof.attrs["half_L"] * proof["induction"] * (1 - 1e-9)).all())
    ordered &= bool((proof["induction"] >= proof["unrolled"] * (1 - 1e-9)).all())

    def small(off: Any, limit: float = 1e-9) -> Check:
        return Check(float(off.max()) < limit, f"largest relative difference {float(off.max()):.1e}")

    return {
        "the inequalities of every step add up to (64)": small(proof["mismatch"]),
        "the losses carried along add up to the unrolled bound": small(abs(total / proof["unrolled"] - 1)),
        "the law of rand is that of the moment recursion": small(abs(half * rand["distance2"] / rand["expected"] - 1)),
        "sampled models shift the bound little": small(abs(proof["sampling"] / proof["unrolled"]), 0.02),
        "no inequality but (54) is false": Check(
            len(negative) == 1 and negative[0].startswith("(54)"), f"false somewhere: {negative}"
        ),
        "unrolled, induction and closed form are ordered": Check(ordered, "at every step"),
    }
