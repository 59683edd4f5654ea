"""Games by their tables of utilities, on which functions that value players are asked."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory._support.wording import short
from fedtheory.conformance._timeouts import Broken

__all__ = ["Game", "drawn_games"]


class Game(NamedTuple):
    """A game by its table of utilities in bit order: entry ``sum of 2^k over k in A`` is that of A."""

    name: str
    table: tuple[Any, ...]

    @property
    def num_players(self) -> int:
        """Return n."""
        return len(self.table).bit_length() - 1

    @property
    def given(self) -> dict[str, Any]:
        """The game by name, for messages."""
        return {"game": self.name, "utilities": [float(value) for value in self.table]}

    @property
    def unit(self) -> float:
        """The largest utility, for rounding."""
        return float(max(map(abs, self.table)))

    def utility(self, coalition: Iterable[int]) -> float:
        """Return what a coalition is worth; ``Broken`` if it is none."""
        try:
            players = [int(k) for k in coalition]
        except TypeError as error:
            raise Broken(f"must ask for coalitions of players, asked for {short(coalition)}", **self.given) from error
        if len(set(players)) < len(players) or not all(0 <= k < self.num_players for k in players):
            wanted = f"different players of 0..{self.num_players - 1}"
            raise Broken(f"coalitions must be {wanted}, asked for {sorted(players)}", **self.given)
        return float(self.table[sum(1 << k for k in players)])

    def mapped(self, name: str, change: Callable[[Any], Any]) -> "Game":
        """Return a game with other utilities."""
        return Game(f"{self.name} {name}", tuple(map(change, self.table)))


def drawn_games(rng: np.random.Generator) -> list[Game]:
    """Games by increasing size: some with a worth of nobody, losses, null players, and players who are alike."""

    def drawn(n: int) -> tuple[Any, ...]:
        return tuple(Fraction(int(x), 4) for x in rng.integers(-36, 40, 1 << n))

    gloves = tuple(int(a & 1 and a & 6 and 1) for a in range(8))
    base = drawn(3)
    idle = tuple(base[(a & 1) | (a >> 1 & 6)] for a in range(16))
    alike = tuple(Fraction(a.bit_count() ** 2, 2) for a in range(16))
    return [
        Game("two players", (0, 1, 3, 10)),
        Game("two players, nobody worth 5", (5, 6, 8, 15)),
        Game("gloves", gloves),
        Game("three players who lose", tuple(-abs(value) - 1 for value in drawn(3))),
        Game("three players, nobody worth something", drawn(3)),
        Game("squares of numbers", alike),
        Game("player 1 adds nothing", idle),
        Game("four players", drawn(4)),
        Game("five players", drawn(5)),
    ]
