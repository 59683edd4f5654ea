"""Rounds of federated averaging on isotropic quadratics with all cohorts enumerated, for the study of proofs."""

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import _proof_of_theorem_31 as proof
import numpy as np

import fedtheory as ft

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

    All values are quadratic in the model u at the start of the round, since the cohort does not depend on it. So 2 v
    points with the mean and the covariance of u stand for its law; both are carried on exactly from round to round.
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
    """In how many orders a cohort with copies can be drawn."""
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
    """Follow pow-d from given models at the starts of rounds, (P, rounds + 1, v): given these, exactly."""
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
