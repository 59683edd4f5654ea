"""The compiled values of a round equal those of ``fedtheory.valuation``, with the same random draws."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit

from fedtheory.valuation import rounds
from fedtheory.valuation.games import shapley
from fedtheory.valuation.permutations import gtg_shapley

value_cohort = njit(rounds.value_cohort)


@njit
def rough_loss(problem, model):
    """A loss that no symmetry makes simple, and no number where the model is beyond what the problem allows."""
    center, most = problem.center, problem.most
    if model[0] > most:
        return np.nan
    total = 0.0
    for j in range(model.size):
        total += np.abs(model[j] - center[j]) ** 1.5 + 0.3 * np.sin(3 * model[j])
    return total


class Problem(NamedTuple):
    """What the loss reads."""

    center: Any
    most: float


class Round:
    """A random round of n clients with its utility as a plain function."""

    def __init__(self, n, seed=0, spread=1.0):
        rng = np.random.default_rng(seed)
        self.problem = Problem(rng.normal(size=3), np.inf)
        self.start, self.updates = rng.normal(size=3), spread * rng.normal(size=(n, 3))
        self.shares = rng.integers(1, 9, size=n).astype(float)

    def utility(self, players):
        chosen = sorted(players)
        shares = self.shares[chosen]
        mean = shares @ self.updates[chosen] / shares.sum() if chosen else np.zeros(3)
        return -float(rough_loss(self.problem, self.start + mean))

    def values(self, method, *, tolerance=0.0, seed=0):
        n = self.shares.size
        values = np.full(n, 9.0)
        asked = value_cohort(
            rough_loss, self.problem, self.start, self.updates, self.shares,
            method, tolerance, np.random.default_rng(np.random.SeedSequence(seed)),
            np.empty(1 << n), np.empty(3), values,
        )  # fmt: skip
        return values, asked


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_exact_values_are_those_of_all_coalitions(n):
    a_round = Round(n, seed=n)
    values, asked = a_round.values(rounds.EXACT)
    np.testing.assert_allclose(values, shapley(a_round.utility, n), atol=1e-13)
    assert asked == 2**n


@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("tolerance", [0.0, 1e-3, 0.3])
@pytest.mark.parametrize("spread", [0.01, 1.0])
def test_truncated_values_draw_truncate_and_stop_as_the_plain_ones(n, tolerance, spread):
    for seed in range(3):
        a_round = Round(n, seed=10 * n + seed, spread=spread)
        values, asked = a_round.values(rounds.TRUNCATED, tolerance=tolerance, seed=seed)
        found = gtg_shapley(a_round.utility, n, tolerance, rng=seed)
        np.testing.assert_allclose(values, found.values, atol=1e-13)
        assert asked == found.num_evaluations


@pytest.mark.parametrize("method", [rounds.EXACT, rounds.TRUNCATED])
def test_a_loss_that_is_no_number_makes_all_values_none(method):
    a_round = Round(3)
    a_round.problem = a_round.problem._replace(most=a_round.start[0] + np.median(a_round.updates[:, 0]))
    values, _ = a_round.values(method)
    assert np.isnan(values).all()


def test_a_round_that_changes_nothing_is_worth_nothing():
    a_round = Round(4, spread=1e-9)
    values, asked = a_round.values(rounds.TRUNCATED, tolerance=1e-4)
    assert (values.tolist(), asked) == ([0.0] * 4, 2)
