"""Rounding tolerance of Shapley values, in proportion to the utilities."""

import itertools
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fedtheory.conformance import shapley as kit
from fedtheory.conformance._checks import Failed
from fedtheory.conformance.shapley import Game
from fedtheory.valuation.games import shapley

# Who is off, and by how many billionths of the largest utility.
ALLOWED: dict[Any, tuple[list[int], float]] = {
    kit._efficient: ([1, 0, 0], 10),
    kit._symmetric: ([1, 0, 0], 1),
    kit._null: ([0, 0, 1], 1),
    kit._linear: ([0, 1, 0], 10),
    kit._values: ([0, 1, 0], 1),
    kit._offset: ([1, 0, 0], 1),
    kit._negated: ([0, 0, 1], 1),
}


def asked(errors: Any) -> Any:
    """Exact values, of which those of the first game asked about are off."""
    off: Iterator[Any] = iter([np.asarray(errors)])

    def values(game: Game) -> Any:
        return shapley(list(game.table), game.num_players).astype(float) + next(off, 0.0)

    return SimpleNamespace(values=values)


@pytest.mark.parametrize("unit", [0.01, -1.0, 3e6])
@pytest.mark.parametrize("demand", ALLOWED, ids=lambda demand: demand.__name__)
def test_values_may_be_off_by_a_billionth_of_the_largest_utility(demand: Any, unit: float) -> None:
    # Players 0 and 1 add the same, 2 adds nothing.
    game = Game("two of three", tuple(unit * value for value in (0.0, 0.25, 0.25, 1.0) * 2))
    who, billionths = ALLOWED[demand]
    # What the game becomes where it is mapped: 2 U - 3 U^2, and U + 100.
    largest = {"_linear": max(abs(2 * u - 3 * u * u) for u in (unit, unit / 4)), "_offset": abs(unit) + 100}
    error = 1e-9 * billionths * largest.get(demand.__name__, abs(unit)) * np.sign(unit) * np.array(who)
    demand(asked(0.999 * error), game)
    with pytest.raises(Failed):
        demand(asked(1.001 * error), game)


# Player 0 adds 3, player 1 takes 1; the largest and the smallest utility are 4 apart.
TWO = (0.0, 3.0, -1.0, 2.0)


def is_accepted(estimates: Any, unit: float, largest: float) -> bool:
    """Whether estimates that come one after the other, in such units, are within the limit and right on average."""
    left = itertools.cycle(np.array(estimates) * unit)
    valuer: Any = SimpleNamespace(estimate=lambda *_: next(left))
    game = Game("two players", tuple(unit * value for value in TWO))
    try:
        kit._unbiased(valuer, [game], largest, 500, np.random.SeedSequence(0), 1e-6)
    except Failed:
        return False
    return True


@pytest.mark.parametrize("unit", [0.01, -1.0, 3e6])
def test_estimates_may_be_as_far_from_zero_as_utilities_are_apart_and_no_farther(unit: float) -> None:
    assert is_accepted([[4.0, -4.0], [2.0, 2.0]], unit, largest=1.0)
    assert not is_accepted([[4.0001, -1.0], [1.9999, -1.0]], unit, largest=1.0)
    assert not is_accepted([[3.0, -4.0001], [3.0, 2.0001]], unit, largest=1.0)
    assert is_accepted([[4.0001, -4.0001], [1.9999, 2.0001]], unit, largest=1.0001)


@pytest.mark.parametrize("unit", [0.01, -1.0, 3e6])
def test_a_mean_at_the_limit_may_be_missed_by_a_billionth_of_the_largest_utility(unit: float) -> None:
    # Three quarters of 4 are what player 0 adds: estimates there cannot be off on average unless all are.
    assert is_accepted([[3.0 - 3 * 0.9e-9, -1.0]], unit, largest=0.75)
    assert not is_accepted([[3.0 - 3 * 1.1e-9, -1.0]], unit, largest=0.75)
