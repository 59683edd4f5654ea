"""How far values may be off for rounding: in proportion to what the game is about, and no farther."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fedtheory.conformance import shapley as kit
from fedtheory.conformance._games import Game
from fedtheory.conformance._patience import Broken
from fedtheory.valuation.exact import shapley

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


@pytest.mark.parametrize("unit", [0.01, 1.0, 3e6])
@pytest.mark.parametrize("demand", ALLOWED, ids=lambda demand: demand.__name__)
def test_values_may_be_off_by_a_billionth_of_the_largest_utility(demand: Any, unit: float) -> None:
    # Players 0 and 1 add the same, 2 adds nothing.
    game = Game("two of three", tuple(unit * value for value in (0.0, 0.25, 0.25, 1.0) * 2))
    who, billionths = ALLOWED[demand]
    # What the game becomes where it is mapped: 2 U - 3 U^2, and U + 100.
    largest = {"_linear": max(abs(2 * u - 3 * u * u) for u in (unit, unit / 4)), "_offset": unit + 100}
    error = 1e-9 * billionths * largest.get(demand.__name__, unit) * np.array(who)
    demand(asked(0.9 * error), game)
    with pytest.raises(Broken):
        demand(asked(1.1 * error), game)
