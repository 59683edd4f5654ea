"""Checks of exact and estimated Shapley values."""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array, RNGLike
from fedtheory._support.wording import truncate
from fedtheory.conformance import _checks
from fedtheory.conformance._checks import Check, Failed, Kit, ask, children, excused, numbers, seeds_of
from fedtheory.conformance._selection_laws import grown
from fedtheory.statistics.evidence import against_mean, mixed, rejects
from fedtheory.valuation import axioms
from fedtheory.valuation.games import shapley

__all__ = ["check_shapley"]


class Game(NamedTuple):
    """A game as its table of utilities in bit order: entry ``sum of 2^k over k in A`` is the utility of A."""

    name: str
    table: tuple[Any, ...]

    @property
    def num_players(self) -> int:
        """Number n of players."""
        return len(self.table).bit_length() - 1

    @property
    def given(self) -> dict[str, Any]:
        """The game by name, for messages."""
        return {"game": self.name, "utilities": [float(value) for value in self.table]}

    @property
    def unit(self) -> float:
        """The largest absolute utility, as the unit of rounding."""
        return float(max(map(abs, self.table)))

    def utility(self, coalition: Iterable[int]) -> float:
        """Return the utility of a coalition; raise ``Failed`` if it is none."""
        try:
            players = [int(k) for k in coalition]
        except TypeError as error:
            raise Failed(
                f"must evaluate the utility at coalitions of players, got {truncate(coalition)}", **self.given
            ) from error
        if len(set(players)) < len(players) or not all(0 <= k < self.num_players for k in players):
            wanted = f"different players of 0..{self.num_players - 1}"
            raise Failed(f"coalitions must be {wanted}, got {sorted(players)}", **self.given)
        return float(self.table[sum(1 << k for k in players)])

    def mapped(self, name: str, change: Callable[[Any], Any]) -> "Game":
        """Return a game with transformed utilities."""
        return Game(f"{self.name} {name}", tuple(map(change, self.table)))


def drawn_games(rng: np.random.Generator) -> list[Game]:
    """Return games of increasing size with nonzero empty coalitions, losses, null players, symmetric players."""

    def drawn(n: int) -> tuple[Any, ...]:
        return tuple(Fraction(int(x), 4) for x in rng.integers(-36, 40, 1 << n))

    gloves = tuple(int(a & 1 and a & 6 and 1) for a in range(8))
    base = drawn(3)
    idle = tuple(base[(a & 1) | (a >> 1 & 6)] for a in range(16))
    by_size = tuple(Fraction(a.bit_count() ** 2, 2) for a in range(16))
    return [
        Game("two players", (0, 1, 3, 10)),
        Game("two players, empty coalition worth 5", (5, 6, 8, 15)),
        Game("gloves", gloves),
        Game("three players with losses", tuple(-abs(value) - 1 for value in drawn(3))),
        Game("three players, empty coalition not worth 0", drawn(3)),
        Game("squared sizes", by_size),
        Game("player 1 adds nothing", idle),
        Game("four players", drawn(4)),
        Game("five players", drawn(5)),
    ]


_ROUNDING = 1e-9
"""Tolerance relative to the largest utility; sums over a few dozen coalitions lose far less."""

Demand = Callable[["_Valuer", "Game"], Any]


@Kit
def check_shapley(
    function: Callable[..., Any],
    rng: RNGLike = 0,
    *,
    exact: bool = True,
    largest: float = 2.0,
    num_draws: int = 2000,
    exceptions: Mapping[str, str] | None = None,
) -> list[Check]:
    r"""Check a function ``(utility, num_players) -> values`` or an estimator ``(utility, num_players, rng) -> values``.

    A utility is a function of a coalition, an iterable of player numbers 0..n-1, that returns a float. The utility of
    the empty coalition need not be 0: the values sum to ``U(all players) - U(empty coalition)``.

    Parameters
    ----------
    function
        Returns values, shape (n,); with ``exact=False`` it must draw from the given ``numpy.random.Generator``.
    rng
        Seed or SeedSequence of games and draws.
    exact
        Whether the values must be exact, up to rounding; otherwise they must be unbiased.
    largest
        Limit of the absolute value of an estimate, in units of the difference between the largest and the smallest
        utility. Means of marginal contributions stay within 1.
    num_draws
        Largest number of draws for each game of a random check.
    exceptions
        Names of checks to skip, each with the reason.

    Notes
    -----
    The checks are ``runs``, ``shape``, ``one player``; for exact values ``efficiency``, ``symmetry``, ``null player``,
    ``linearity``, ``values``; for estimates ``unbiased`` (rejects correct code with probability at most 1e-6 per call),
    ``same generator``, ``other randomness``, ``offset`` and ``negation``. The last two use the same generator for a
    game plus a constant, which must not change the values, and for a game times -1, which must negate them; a rule that
    truncates by a signed number does not pass.

    Examples
    --------
    The marginal contributions to the empty coalition:

    >>> def alone(utility, num_players):
    ...     return [utility([k]) - utility([]) for k in range(num_players)]
    >>> check_shapley(alone).failures[0].check
    'efficiency'
    """
    seeds = validate.seed_sequence(rng)
    validate.function("function", function, "a utility and a number of players")
    valuer = _Valuer(function, validate.boolean("exact", exact))
    limits = validate.double("largest", validate.positive("largest", largest)), validate.size("num_draws", num_draws, 2)
    games = drawn_games(np.random.default_rng(seeds_of(seeds, "games")))
    alone = [Game("one player", (2, 5)), Game("one player with a loss", (1, -3))]
    demands: dict[str, tuple[Demand, list[Game]]] = {"runs": (_runs, games[:1]), "shape": (_Valuer.values, games)}
    if exact:
        demands |= {"one player": (_values, alone), "efficiency": (_efficient, games), "symmetry": (_symmetric, games)}
        demands |= {"null player": (_null, games), "linearity": (_linear, games), "values": (_values, games)}
        return excused([Check(name, partial(_each, *demand, valuer)) for name, demand in demands.items()], exceptions)
    small, losing = games[:6], games[3]
    unbiased, losses = partial(_unbiased, valuer, small, *limits), partial(valuer.estimate, losing)
    demands |= {"one player": (_Valuer.values, alone), "offset": (_offset, small), "negation": (_negated, small)}
    works: dict[str, Callable[[], None]] = {name: partial(_each, *one, valuer) for name, one in demands.items()}
    works["unbiased"] = lambda: unbiased(seeds_of(seeds, "unbiased"), _checks.FALSE_ALARMS)
    works["same generator"] = lambda: _checks.same_generator(losses, seeds, losing.given)
    works["other randomness"] = lambda: _checks.other_randomness(losses, seeds, losing.given)
    return excused([Check(name, work) for name, work in works.items()], exceptions)


def _each(demand: Demand, games: list["Game"], valuer: "_Valuer") -> None:
    for game in games:
        demand(valuer, game)


class _Valuer(NamedTuple):
    """The function under check."""

    function: Callable[..., Any]
    exact: bool

    def raw(self, game: Game, rng: np.random.Generator) -> Any:
        """Call the function without validation of the values."""
        arguments = (game.utility, game.num_players) if self.exact else (game.utility, game.num_players, rng)
        return ask(self.function, *arguments, case=game.given)

    def estimate(self, game: Game, rng: np.random.Generator) -> Array:
        """Call the function; the values must be finite and have one entry per player."""
        return numbers(self.raw(game, rng), (game.num_players,), game.given)

    def values(self, game: Game) -> Array:
        """Call the function with a fixed generator."""
        return self.estimate(game, np.random.default_rng(1))


def _runs(valuer: _Valuer, game: Game) -> None:
    valuer.raw(game, np.random.default_rng(1))


def _differ(one: Any, other: Any, unit: float) -> bool:
    """Whether numbers differ by more than rounding; arrays may be empty."""
    return bool(np.max(np.abs(np.subtract(one, other)), initial=0.0) > _ROUNDING * unit)


def _efficient(valuer: _Valuer, game: Game) -> None:
    values, earned = valuer.values(game), float(game.table[-1] - game.table[0])
    if _differ(values.sum(), earned, 10 * game.unit):
        sentence = f"values must add up to U(all players) - U(empty coalition) = {earned:g}, got {values.sum():.9g}"
        raise Failed(sentence, **game.given)


def _symmetric(valuer: _Valuer, game: Game) -> None:
    values = valuer.values(game)
    differences = axioms.symmetry([float(value) for value in game.table], values)
    if _differ(differences, 0.0, game.unit):
        raise Failed(f"players with equal contributions must have equal values, got {values.tolist()}", **game.given)


def _null(valuer: _Valuer, game: Game) -> None:
    values = valuer.values(game)
    idle = axioms.null_player([float(value) for value in game.table], values)
    if _differ(idle, 0.0, game.unit):
        raise Failed(f"players without contributions must have the value 0, got {values.tolist()}", **game.given)


def _linear(valuer: _Valuer, game: Game) -> None:
    other = game.mapped("squared", lambda value: value * value)
    both = Game(
        f"2 ({game.name}) - 3 (squared)", tuple(2 * a - 3 * b for a, b in zip(game.table, other.table, strict=True))
    )
    values, expected = valuer.values(both), 2 * valuer.values(game) - 3 * valuer.values(other)
    if _differ(values, expected, 10 * both.unit):
        raise Failed(f"values must be linear in the game, {expected.tolist()}, got {values.tolist()}", **both.given)


def _values(valuer: _Valuer, game: Game) -> None:
    values, expected = valuer.values(game), shapley(list(game.table), game.num_players).astype(np.float64)
    if _differ(values, expected, game.unit):
        raise Failed(f"values must be {expected.tolist()}, got {values.tolist()}", **game.given)


def _offset(valuer: _Valuer, game: Game) -> None:
    values, moved = valuer.values(game), valuer.values(game.mapped("plus 100", lambda value: value + 100))
    if _differ(values, moved, game.unit + 100):
        sentence = (
            f"a constant added to all utilities must not change the values, got {values.tolist()} and {moved.tolist()}"
        )
        raise Failed(sentence, **game.given)


def _negated(valuer: _Valuer, game: Game) -> None:
    values, turned = valuer.values(game), valuer.values(game.mapped("times -1", lambda value: -value))
    if _differ(values, -turned, game.unit):
        sentence = f"a game times -1 must have the values times -1, got {values.tolist()} and {turned.tolist()}"
        raise Failed(sentence, **game.given)


def _unbiased(
    valuer: _Valuer, games: list[Game], largest: float, num_draws: int, seeds: np.random.SeedSequence, level: float
) -> None:
    for game, seed in zip(games, children(seeds, len(games)), strict=True):
        expected = shapley(list(game.table), game.num_players).astype(np.float64)
        limit, rng = largest * float(max(game.table) - min(game.table)), np.random.default_rng(seed)
        drawn = np.empty((0, game.num_players))
        for size in grown(num_draws):
            drawn = np.concatenate([drawn, [valuer.estimate(game, rng) for _ in range(size)]])
            if np.abs(drawn).max() > limit:
                sentence = f"an estimate must be within {limit:g}, got {np.abs(drawn).max():.4g}"
                raise Failed(f"{sentence}; give a larger largest= if this is intended", **game.given)
            errors = drawn - expected
            clean = expected + np.where(np.abs(errors) < _ROUNDING * game.unit, 0.0, errors)
            if rejects(mixed(list(against_mean(clean, expected, -limit, limit).T)), level / len(games)):
                found = f"{drawn.mean(axis=0).round(6).tolist()} over {len(drawn)} draws"
                raise Failed(f"the mean must be {expected.round(6).tolist()}, got {found}", **game.given)
