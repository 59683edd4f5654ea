"""Shapley values are mean contributions over all orders, and the only values that fulfill the axioms."""

import itertools
from fractions import Fraction as Q
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.conformance import games
from fedtheory.valuation.axioms import efficiency, null_player, symmetry
from fedtheory.valuation.games import shapley, utility_table

UTILITIES = games()
FEW = settings(max_examples=15)  # each game has up to 32 numbers, of which a wrong sign or place shows in almost any


def players_of(table: list[Q]) -> int:
    return len(table).bit_length() - 1


def by_orders(table: list[Q]) -> list[Q]:
    """Mean over all orders, the definition."""
    n = players_of(table)
    total = [Q(0)] * n
    orders = list(itertools.permutations(range(n)))
    for order in orders:
        arrived = 0
        for player in order:
            total[player] += table[arrived | 1 << player] - table[arrived]
            arrived |= 1 << player
    return [value / len(orders) for value in total]


@FEW
@given(games(5))
def test_values_are_the_mean_gain_over_all_orders(table: list[Q]) -> None:
    assert shapley(table, players_of(table)).tolist() == by_orders(table)
    np.testing.assert_allclose(
        shapley([float(value) for value in table], players_of(table)), [float(v) for v in by_orders(table)], atol=1e-13
    )


@given(UTILITIES)
def test_values_hand_out_exactly_what_everybody_earns_together(table: list[Q]) -> None:
    assert efficiency(table, shapley(table, players_of(table))) == 0


@FEW
@given(games(5), st.fractions(-3, 3, max_denominator=5), st.fractions(-3, 3, max_denominator=5))
def test_values_are_linear_in_the_game(table: list[Q], a: Q, b: Q) -> None:
    n, other = players_of(table), [value * value - 1 for value in table]
    combined = [a * one + b * two for one, two in zip(table, other, strict=True)]
    assert (shapley(combined, n) == a * shapley(table, n) + b * shapley(other, n)).all()


@FEW
@given(games(5), st.data())
def test_a_player_who_adds_nothing_gets_nothing_and_equal_players_get_equal_values(table: list[Q], data: Any) -> None:
    n = players_of(table)
    idle = data.draw(st.integers(0, n - 1))
    without = [table[number & ~(1 << idle)] for number in range(1 << n)]
    values = shapley(without, n)
    assert values[idle] == 0
    assert 0 in null_player(without, values)
    by_size = [table[number.bit_count()] for number in range(1 << n)]
    equal = shapley(by_size, n)
    assert len(set(equal.tolist())) == 1
    assert len(symmetry(by_size, equal)) == n * (n - 1) // 2
    assert not any(symmetry(by_size, equal))


def test_wrong_values_leave_residuals() -> None:
    gloves = [0, 0, 0, 1, 0, 1, 0, 1]
    assert efficiency(gloves, [Q(2, 3), Q(1, 6), Q(1, 3)]) == Q(1, 6)
    assert symmetry(gloves, [Q(2, 3), Q(1, 6), Q(1, 3)]).tolist() == [Q(-1, 6)]
    assert null_player([0, 0, 1, 1], [Q(1, 5), Q(4, 5)]).tolist() == [Q(1, 5)]


def test_axioms_speak_of_those_only_who_are_idle_or_alike_in_every_coalition() -> None:
    # Either player alone completes the work: the second one to come adds nothing, and nobody is idle.
    assert null_player([0, 1, 1, 1], [1, 0]).size == 0
    # Players 0 and 1 are worth the same alone, and not with player 2.
    assert symmetry([0, 1, 1, 1, 4, 2, 3, 5], [1, 2, 7]).size == 0


def test_the_idle_and_the_alike_of_all_games_of_three_players_are_those_of_the_definition() -> None:
    subsets = [frozenset(k for k in range(3) if number >> k & 1) for number in range(8)]
    for table in itertools.product((0, 1), repeat=8):
        worth = dict(zip(subsets, table, strict=True))
        idle = [2**k for k in range(3) if all(worth[some | {k}] == worth[some] for some in subsets)]
        alike = [
            2**i - 2**j
            for i, j in itertools.combinations(range(3), 2)
            if all(worth[some | {i}] == worth[some | {j}] for some in subsets if not some & {i, j})
        ]
        assert null_player(list(table), [1, 2, 4]).tolist() == idle
        assert symmetry(list(table), [1, 2, 4]).tolist() == alike


def test_each_coalition_is_asked_for_once() -> None:
    asked: list[frozenset[int]] = []

    def utility(players: frozenset[int]) -> int:
        asked.append(players)
        return len(players)

    shapley(utility, 6)
    assert len(asked) == len(set(asked)) == 64


def test_the_table_is_in_bit_order() -> None:
    table = utility_table(lambda players: sum(10**k for k in players), 3)
    assert table.tolist() == [0, 1, 10, 11, 100, 101, 110, 111]


def test_twenty_players_are_enough_and_one_more_is_refused_with_the_way_out() -> None:
    n = 20
    table = np.array([number.bit_count() for number in range(1 << n)], dtype=float) ** 2
    # By symmetry everybody gets n^2 / n.
    np.testing.assert_allclose(shapley(table, n), np.full(n, float(n)), rtol=1e-12)
    with pytest.raises(ValueError, match=r"at most 20 for exact values .*, got 21; gtg_shapley"):
        shapley(len, 21)


@pytest.mark.parametrize(
    ("utility", "error", "sentence"),
    [
        (lambda players: "1" if 1 in players else 0, TypeError, r"got str for the coalition \[1\]"),
        ([0.0, 1.0, np.inf, 1.0], ValueError, r"got inf for the coalition \[1\]"),
        ([0.0, 1.0, 2.0], ValueError, r"shape \(4,\) for 2 players, got \(3,\)"),
    ],
)
def test_a_utility_that_is_no_number_is_refused_with_its_coalition(utility: Any, error: type, sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        shapley(utility, 2)


def test_a_table_is_exact_if_all_its_utilities_are():
    exact, mixed = (utility_table(lambda players, worth=worth: worth[len(players)], 1) for worth in ([0, 3], [0, 0.5]))
    assert exact.dtype == object
    assert exact.tolist() == [0, 3]
    assert mixed.dtype == np.float64
    assert mixed.tolist() == [0.0, 0.5]
