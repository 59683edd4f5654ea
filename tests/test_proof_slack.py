"""The inequalities of the proof of Theorem 3.1 in the study of its slack, against single cohorts."""

# mypy: allow-untyped-defs, allow-untyped-calls, ignore-missing-imports

import importlib
import itertools
import math
from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.selection.power_of_choice import PowerOfChoice
from fedtheory.selection.proportional import Proportional

K, M, TAU = 4, 2, 3


@pytest.fixture(scope="module")
def modules():
    module = importlib.import_module("_proof_of_theorem_31")
    return module, module


@pytest.fixture(scope="module")
def run(modules):
    fed = ft.datasets.power_of_choice_quadratics(num_clients=K, dim=2, rng=5)
    etas = 1 / (fed.strong_convexity * np.arange(3 * TAU) + 4 * fed.smoothness)
    return modules[0].Run(fed, M, TAU, etas, np.array([3.0, -2.0]))


def local_models(fed, u, cohort, etas):
    models = np.tile(u, (len(cohort), 1))
    for eta in etas:
        models = models - eta * np.array([fed.gradients(w)[k] for k, w in zip(cohort, models, strict=True)])
    return models


def literal_values(fed, u, law, etas) -> dict[str, float]:
    """Every expectation from its definition: a loop over cohorts, one after the other."""
    total: dict[str, float] = {}
    frequencies = sum(chance * np.bincount(cohort, minlength=K) / M for cohort, chance in law)
    for cohort, chance in law:
        models = local_models(fed, u, cohort, etas)
        average = models.mean(axis=0)
        gradients = np.array([fed.gradients(w)[k] for k, w in zip(cohort, models, strict=True)])
        at_average = fed.gradients(average)[list(cohort)]
        excess = [fed.losses(w)[k] - fed.minima[k] for k, w in zip(cohort, models, strict=True)]
        apart = models - fed.minimizer
        values = {
            "distance2": np.sum((average - fed.minimizer) ** 2),
            "spread": np.mean(np.sum((models - average) ** 2, axis=1)),
            "gradient2": np.mean(np.sum(gradients**2, axis=1)),
            "mean_gradient2": np.sum(gradients.mean(axis=0) ** 2),
            "gradient2_at_average": np.mean(np.sum(at_average**2, axis=1)),
            "pull": (average - fed.minimizer) @ gradients.mean(axis=0),
            "local_pull": np.mean(np.sum(apart * gradients, axis=1)),
            "cross": np.mean(np.sum(at_average * (models - average), axis=1)),
            "excess": np.mean(excess),
            "excess_at_average": np.mean((fed.losses(average) - fed.minima)[list(cohort)]),
            "excess_of_others": frequencies @ (fed.losses(average) - fed.minima),
            "excess_at_minimizer": np.mean((fed.losses(fed.minimizer) - fed.minima)[list(cohort)]),
        }
        for name, value in values.items():
            total[name] = total.get(name, 0.0) + chance * float(value)
    return total


def with_replacement(weights) -> list[tuple[tuple[int, ...], float]]:
    return [(cohort, math.prod(float(weights[k]) for k in cohort)) for cohort in itertools.product(range(K), repeat=M)]


def assert_values(values: Any, literal: dict[str, float]) -> None:
    assert values._asdict() == pytest.approx(literal, rel=1e-11, abs=1e-12)


def test_the_values_of_the_first_round_of_random_selection_are_those_of_the_cohorts_one_by_one(modules, run):
    values, etas = next(modules[0].exact_rounds(run))
    law = with_replacement(run.fed.weights)
    for step, at in enumerate(values):
        assert_values(at, literal_values(run.fed, run.initial, law, etas[:step]))


def test_rounds_of_pow_d_from_given_models_are_those_of_the_cohorts_one_by_one(modules, run):
    from fedtheory.sampling.cohorts import cohort_law

    strategy = PowerOfChoice(M, 3)
    starts = np.random.default_rng(1).normal(size=(3, 3, 2))
    for t, (values, etas) in enumerate(modules[0].rounds_from(run, strategy, starts)):
        for step, at in enumerate(values):
            literal = []
            for u in starts[:, t]:
                chances = cohort_law(run.fed.weights, run.fed.losses(u), M, 3)
                literal.append(literal_values(run.fed, u, [(tuple(c), p) for c, p in chances.items()], etas[:step]))
            assert_values(at, {name: np.mean([one[name] for one in literal]) for name in literal[0]})


def known_constants(proof):
    return proof.Constants(local_steps=TAU, num_selected=M, G2=1e4, rho_bar=0.5, rho_tilde=2.0)


def test_the_losses_of_a_step_lead_from_the_exact_distance_to_the_one_step_bound_and_all_but_one_are_losses(
    modules, run
):
    cohorts, proof = modules
    known = known_constants(proof)
    for values, etas in cohorts.exact_rounds(run):
        losses = proof.losses_of_round(run.fed, known, values, etas)
        distances = np.array([at.distance2 for at in values])
        np.testing.assert_allclose(
            distances[1:] + losses.sum(axis=1), proof.one_step(run.fed, known, distances[:-1], etas), rtol=1e-12
        )
        equations = [equation for equation, _ in proof.INEQUALITIES]
        assert len(equations) == losses.shape[1]
        negative = {equations[j] for j in np.flatnonzero((losses < -1e-10).any(axis=0))}
        assert negative == {"(54)"}


def literal_drift_sides(fed, u, etas, G2) -> list[float]:
    """Sides (15), (16), (19), (20) and (23) of the proof of Lemma B.2, pair by pair; (15) at the last step."""
    sides = np.zeros(4)
    for cohort, chance in with_replacement(fed.weights):
        local = [local_models(fed, u, cohort, etas[:i]) for i in range(len(etas) + 1)]
        steps = [np.array([fed.gradients(w)[k] for k, w in zip(cohort, at, strict=True)]) for at in local[:-1]]
        for i, j in itertools.permutations(range(M), 2):
            moved = sum(eta * (g[j] - g[i]) for eta, g in zip(etas, steps, strict=True))
            bounded = 2 * sum(np.sum(g[j] ** 2) + np.sum(g[i] ** 2) for g in steps)
            sides += chance / M**2 * np.array([
                np.sum((local[-1][j] - local[-1][i]) ** 2),
                np.sum(moved**2),
                etas[0] ** 2 * len(etas) * bounded,
                etas[0] ** 2 * len(etas) ** 2 * 4 * G2,
            ])  # fmt: skip
    return [*sides, 16 * etas[-1] ** 2 * len(etas) ** 2 * G2]


def test_the_losses_of_lemma_b2_are_those_of_its_proof_pair_by_pair(modules, run):
    cohorts, proof = modules
    known = known_constants(proof)
    values, etas = next(cohorts.exact_rounds(run))
    at_end, whole, split, by_constant, last = literal_drift_sides(run.fed, run.initial, etas, known.G2)
    assert at_end == pytest.approx(whole, rel=1e-12)  # without noise the models differ by what their gradients did
    first = [equation for equation, _ in proof.INEQUALITIES].index("(37) (13)-(16)")
    for again in (first, first + 11):
        found = proof.losses_of_round(run.fed, known, values, etas)[-1][again : again + 4]
        spread = values[TAU - 1].spread
        expected = [whole - spread, split - whole, by_constant - split, last - by_constant]
        np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_carried_losses_and_exact_distances_add_up_to_the_unrolled_recursion(modules, run):
    cohorts, proof = modules
    known = known_constants(proof)
    starts = ft.fedavg(
        run.fed, Proportional(M), num_rounds=3, local_steps=TAU, step_size=run.etas, initial=run.initial,
        num_replicates=5, record=("models",), num_threads=1,
    ).models  # fmt: skip
    for rounds, sampled in (
        (cohorts.exact_rounds(run), False),
        (cohorts.rounds_from(run, PowerOfChoice(M, 3), starts), True),
    ):
        ledger = proof.carry(run.fed, known, run.etas, rounds)
        bound = ledger.distance2[0]
        for t, eta in enumerate(run.etas):
            assert ledger.distance2[t] + ledger.sampling[t] + ledger.carried[t].sum() == pytest.approx(bound, rel=1e-12)
            bound = float(proof.one_step(run.fed, known, bound, eta))
        # models of another run are not where the rounds before led to
        assert bool(np.abs(ledger.sampling).max() > 1e-9) == sampled
