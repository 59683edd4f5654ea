"""Sampling among available clients, against all outcomes of availability and sampling."""

# mypy: allow-untyped-calls

from functools import partial
from itertools import product

import numpy as np
import pytest

from fedtheory.sampling import JointLaw, optimal_probabilities
from fedtheory.sampling.availability import available_probabilities, error_parts
from fedtheory.sampling.correlated import IndependentSampling


def instance(rng):
    n, d, outcomes = int(rng.integers(1, 5)), 2, 2
    members = rng.random((4, n)) < 0.6
    members[0] = True
    chances = rng.dirichlet(np.ones(4))
    updates = rng.normal(size=(outcomes, n, d)) * (rng.random((1, n, 1)) < 0.8)
    weights = rng.dirichlet(np.ones(outcomes))
    return updates, weights / weights.sum(), JointLaw(members, chances / chances.sum()), rng.normal(size=d)


def enumerated_error(updates, weights, law, gradient, probabilities):
    """Mean squared error over the updates, the available set and the sampled set, one by one."""
    q = np.diagonal(law.matrix)
    total = 0.0
    for weight, u in zip(weights, updates, strict=True):
        for here, chance in law.outcomes():
            p = probabilities(np.linalg.norm(u, axis=1), here)
            for drawn in product((False, True), repeat=len(q)):
                s = np.array(drawn)
                if (s & ~here).any():
                    continue
                likelihood = np.where(s, p, 1 - p)[here].prod()
                if likelihood > 0:
                    error = (u[s] / (q[s] * p[s])[:, None]).sum(axis=0) - gradient
                    total += weight * chance * likelihood * (error @ error)
    return total


def test_the_three_parts_add_up_to_the_error_over_all_outcomes() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        updates, weights, law, gradient = instance(rng)
        n = updates.shape[1]
        rule = partial(_rule, float(rng.uniform(0.3, n)), np.diagonal(law.matrix))
        parts = error_parts(updates, weights, law, gradient, rule)
        expected = enumerated_error(updates, weights, law, gradient, rule)
        assert parts.total == pytest.approx(expected, rel=1e-9)
        assert min(parts) >= -1e-12


def _rule(m, q, norms, available):
    return available_probabilities(norms, m, available, q)


def test_given_the_available_set_no_other_budgeted_probabilities_do_better() -> None:
    rng = np.random.default_rng(2)
    updates, weights, law, gradient = instance(np.random.default_rng(5))
    n = updates.shape[1]
    q = np.diagonal(law.matrix)
    best = error_parts(updates, weights, law, gradient, partial(_rule, 1.5, q)).sampling
    for _ in range(50):
        share = rng.dirichlet(np.ones(n))

        def other(_, available, share=share):
            part = np.where(available, share, 0)
            return np.minimum(1, 1.5 * part / part.sum())

        assert error_parts(updates, weights, law, gradient, other).sampling >= best - 1e-12


def test_when_everybody_is_always_available_nothing_changes() -> None:
    t = np.array([1.0, 2.0, 3.0, 10.0])
    p = available_probabilities(t, 2, np.ones(4, dtype=bool), np.ones(4))
    assert np.array_equal(p, optimal_probabilities(t, 2))
    always = JointLaw(np.ones((1, 4), dtype=bool), [1.0])
    parts = error_parts(t[None, :, None], [1.0], always, [16.0], lambda norms, here: p)
    assert parts.availability == parts.noise == 0


def test_independent_availability_costs_its_own_variance() -> None:
    # One update of length 2, available with probability 1/4, always used: 4 (4 - 1) = 12.
    law = IndependentSampling([0.25]).law
    parts = error_parts([[[2.0]]], [1.0], law, [2.0], lambda norms, here: np.ones(1))
    assert parts == (0, 12, 0)


def test_no_more_clients_are_expected_than_are_available() -> None:
    p = available_probabilities([1.0, 2.0, 3.0], 2.5, [False, True, True], [0.5, 0.5, 0.5])
    assert p.tolist() == [0, 1, 1]
    assert available_probabilities([1.0, 2.0], 1, [False, False], [0.5, 0.5]).tolist() == [0, 0]
