"""Wrong statements about Shapley values, and defects of public code, are refuted."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fedtheory.claims import greedyfed
from fedtheory.claims.catalogue import known_claims
from fedtheory.claims.greedyfed import draw_game
from fedtheory.selection.uniform import Uniform
from fedtheory.theorem.findings import equal_to
from fedtheory.valuation import permutations as gtg
from fedtheory.valuation.games import shapley, utility_table
from tests.claims.refutation import refuted

CLAIMS = {key: claim for key, claim in known_claims().items() if key.startswith("greedyfed:")}
GLOVES = [Fraction(int(number & 1 and number > 1)) for number in range(8)]


def test_the_empty_coalition_is_not_the_zero_model() -> None:
    """A public implementation averages nobody to the model of zeros: what is handed out is not what was earned."""

    def check(rng: Any) -> Any:
        game = draw_game(rng)
        zeros = game._replace(before=0 * game.before)
        n = len(game.models)
        drop = game.loss(game.before) - game.loss(game.mean(range(n)))
        return equal_to(sum(shapley(zeros.utility, n)), drop)

    assert refuted(greedyfed.efficiency, check)


def signed(added: Any) -> bool:
    """Stop as a public implementation does: deviations are divided by the mean itself, not by its absolute value."""
    if len(added) < 20:
        return False
    means = np.cumsum(added, axis=0) / np.arange(1, len(added) + 1)[:, None]
    return bool((np.abs(means[-10:] - means[-1]).mean(axis=0) / means[-1] < 0.01).all())


def test_the_convergence_test_is_on_absolute_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where everybody does harm, a signed quotient is negative: the first sweep that may end the walk does."""
    table = -np.abs(np.random.default_rng(3).normal(size=16)).cumsum()

    def utility(players: frozenset[int]) -> float:
        return float(table[sum(1 << k for k in players)])

    exact = shapley(table, 4)
    honest = gtg.gtg_shapley(utility, 4, rng=1)
    monkeypatch.setattr(gtg, "_converged", signed)
    hasty = gtg.gtg_shapley(utility, 4, rng=1)
    assert (exact < 0).all()
    assert (hasty.num_permutations, hasty.stopped) == (20, "converged")
    assert honest.num_permutations > 40
    assert np.abs(hasty.values / exact - 1).max() > 0.05


def as_printed(table: Any, orders: Any, tau: int) -> list[Fraction]:
    """Algorithm 2 as printed, without truncation: one tau for the orders of a sweep, from which its averages come."""
    values = [Fraction(0)] * len(orders[0])
    for order in orders:
        for player, gain in greedyfed.gains(table, order).items():
            values[player] = Fraction(tau - 1, tau) * values[player] + Fraction(1, tau) * gain
    return values


def test_the_printed_counter_divides_by_zero_and_then_forgets() -> None:
    sweep = [(0, 1, 2), (1, 0, 2), (2, 1, 0)]
    with pytest.raises(ZeroDivisionError):
        as_printed(GLOVES, sweep, tau=0)
    # From 1 on each order replaces the one before. In the last one player 0 completes the first pair.
    assert as_printed(GLOVES, sweep, tau=1) == [1, 0, 0]
    means = [sum(greedyfed.gains(GLOVES, order)[k] for order in sweep) / 3 for k in range(3)]
    assert means == [Fraction(2, 3), Fraction(1, 3), 0]


def test_clients_of_different_sizes_are_not_symmetric() -> None:
    def check(rng: Any) -> Any:
        drawn = draw_game(rng, most=4)
        game = drawn._replace(models=(*drawn.models, drawn.models[0]), sizes=(*drawn.sizes, 2 * drawn.sizes[0]))
        found = shapley(game.utility, len(game.models))
        return equal_to(found[0], found[-1])

    assert refuted(greedyfed.symmetry, check)


def in_equal_parts(utility: Any, num_players: int) -> Any:
    """Values that are efficient, symmetric and linear, and no Shapley values: everybody gets the same."""
    table = utility_table(utility, num_players)
    return np.full(num_players, (table[-1] - table[0]) / num_players, dtype=object)


def rectified(utility: Any, num_players: int) -> Any:
    return np.maximum(shapley(utility, num_players), 0)


@pytest.mark.parametrize(
    ("claim", "wrong"),
    [(greedyfed.null_player, in_equal_parts), (greedyfed.linearity, rectified), (greedyfed.efficiency, rectified)],
    ids=["null player", "linearity", "efficiency"],
)
def test_values_that_break_an_axiom_are_caught(claim: Any, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(greedyfed, "shapley", wrong)
    assert refuted(claim)


def test_random_groups_are_no_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(greedyfed, "GreedyShapley", Uniform)
    assert refuted(greedyfed.turns, num_instances=20)


def test_truncation_at_twice_the_tolerance_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = gtg.gtg_shapley
    monkeypatch.setattr(greedyfed, "gtg_shapley", lambda utility, n, eps, rng: honest(utility, n, 2 * eps, rng=rng))
    assert refuted(greedyfed.truncated_sum)


def test_the_printed_counter_counts_the_last_order_only() -> None:
    finding = CLAIMS["greedyfed:printed-counter"].check(np.random.default_rng(0))
    assert finding.holds is False
    assert finding.predicted in (Fraction(2, 3), *shapley(GLOVES, 3))  # the worst of three clients


def test_values_of_the_truncated_game_are_those_of_the_theory_page() -> None:
    worth = (1, 1, -1)
    table = [sum((Fraction(worth[k]) for k in range(3) if number >> k & 1), Fraction(0)) for number in range(8)]
    walks = [
        greedyfed.gains(table, order, Fraction(1, 100))
        for first in range(3)
        for order in greedyfed.orders_from(first, 3)
    ]
    assert [sum(walk[k] for walk in walks) / 6 for k in range(3)] == [Fraction(2, 3), Fraction(2, 3), Fraction(-1, 3)]
