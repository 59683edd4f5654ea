"""Estimates of Shapley values: unbiased without truncation, efficient up to the tolerance with it."""

import itertools
from typing import Any

import numpy as np
import pytest

from fedtheory.valuation import permutations as gtg
from fedtheory.valuation.games import Game, shapley
from fedtheory.valuation.permutations import gtg_shapley, marginals, sweep


def random_game(num_players: int, seed: int) -> Any:
    table = np.random.default_rng(seed).normal(size=2**num_players)
    return lambda players: float(table[sum(1 << k for k in players)])


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_the_mean_over_all_orders_that_begin_with_each_player_is_the_exact_value(n: int) -> None:
    """Over all sweeps every order comes up equally often, so that forcing each player to the front is unbiased."""
    utility = random_game(n, seed=n)
    game = Game(utility)
    by_first = [
        np.mean([marginals(game, [first, *rest]) for rest in itertools.permutations(set(range(n)) - {first})], axis=0)
        for first in range(n)
    ]
    np.testing.assert_allclose(np.mean(by_first, axis=0), shapley(utility, n), atol=1e-13)


def test_every_player_is_first_exactly_once_in_a_sweep() -> None:
    orders = list(sweep(5, np.random.default_rng(0)))
    assert [order[0] for order in orders] == list(range(5))
    assert all(sorted(order) == list(range(5)) for order in orders)
    rests = {tuple(order[1:]) for seed in range(200) for order in sweep(3, np.random.default_rng(seed))}
    assert rests == {rest for first in range(3) for rest in itertools.permutations(set(range(3)) - {first})}


def test_gtg_stops_between_rounds_when_the_round_changed_nothing() -> None:
    found = gtg_shapley(lambda players: 0.5 if len(players) == 1 else 1.0 * (len(players) > 2), 2, tolerance=0.1)
    assert (found.stopped, found.num_permutations, found.num_evaluations) == ("between-round truncation", 0, 2)
    assert found.values.tolist() == found.standard_errors.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("tolerance", [0.0, 2.0])
def test_what_differs_by_the_tolerance_is_not_within_it(tolerance: float) -> None:
    """Neither a round that earned just as much, nor players who come when just as much is left to earn."""

    def utility(players: frozenset[int]) -> float:
        return {0: 0.0, 1: 5.0 if 0 in players else 0.0, 2: tolerance}[len(players)]

    assert gtg_shapley(utility, 2, tolerance=tolerance).values.tolist() == shapley(utility, 2).tolist()
    assert marginals(Game(utility), [1, 0], tolerance).tolist() == [tolerance, 0.0]
    assert gtg_shapley(utility, 2, tolerance=tolerance + 5.5).stopped == "between-round truncation"


def test_what_gtg_hands_out_is_short_of_everything_by_less_than_the_tolerance() -> None:
    shortfalls = []
    for seed in range(20):
        utility = random_game(5, seed)
        found = gtg_shapley(utility, 5, tolerance=0.3, rng=seed)
        if found.num_permutations:
            shortfalls.append(abs(found.values.sum() - (utility(range(5)) - utility(()))))
    assert len(shortfalls) > 10
    assert max(shortfalls) < 0.3


def test_gtg_converges_to_the_exact_values_of_a_nearly_additive_game() -> None:
    worth = np.array([3.0, -1.0, 0.5])

    def utility(players: frozenset[int]) -> float:
        return float(sum(worth[list(players)]) + 0.01 * len(players) ** 2)

    found = gtg_shapley(utility, 3, rng=4)
    assert found.stopped == "converged"
    assert (np.abs(found.values - shapley(utility, 3)) <= 5 * found.standard_errors + 1e-12).all()


def test_values_below_zero_do_not_converge_at_once() -> None:
    """A criterion that divides by the signed value takes any spread of negative ones for convergence."""
    n = 3
    added = np.random.default_rng(0).normal(-1.0, 1.0, size=(8 * n, n))
    assert not gtg._converged(added)
    assert gtg._converged(np.full((20, n), -1.0))
    assert not gtg._converged(np.full((19, n), -1.0))


def test_standard_errors_are_those_of_independent_sweeps() -> None:
    found = gtg_shapley(random_game(4, seed=3), 4, tolerance=0.0, rng=5)
    scores = []
    for seed in range(100):
        again = gtg_shapley(random_game(4, seed=3), 4, tolerance=0.0, rng=100 + seed)
        scores.append((again.values - shapley(random_game(4, seed=3), 4)) / again.standard_errors)
    assert found.num_permutations >= 20
    # Stopping when means hardly change makes errors a little too small, not by half.
    assert 0.7 < np.mean(np.square(scores)) < 2.0


def test_a_hard_game_ends_after_fifty_orders_per_player() -> None:
    found = gtg_shapley(random_game(4, seed=3), 4)
    assert found.num_permutations <= 200
    spread = gtg_shapley(lambda players: 1e6 * ((sum(players) * 7919) % 5) + (len(players) == 4), 4, rng=1)
    assert (spread.stopped, spread.num_permutations) == ("all permutations", 200)


def test_the_same_seed_gives_the_same_bits() -> None:
    first, second = (gtg_shapley(random_game(4, 0), 4, rng=7) for _ in range(2))
    assert first.values.tobytes() == second.values.tobytes()


@pytest.mark.parametrize("n", [21, 40])
def test_estimates_take_more_players_than_exact_values(n: int) -> None:
    found = gtg_shapley(lambda players: float(sum(players)), n)
    np.testing.assert_allclose(found.values, np.arange(n), atol=1e-12)
