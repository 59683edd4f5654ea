"""Shapley values: exact ones by their axioms and by all coalitions, estimates by their means."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array, RNGLike
from fedtheory._support.wording import short
from fedtheory.conformance._checks import FALSE_ALARMS, Check, conformance, named, seeds_of
from fedtheory.conformance._games import Game, drawn_games
from fedtheory.conformance._repeatable import children, other_randomness, same_generator
from fedtheory.conformance._selection_laws import grown
from fedtheory.conformance._timeouts import Broken, Watch
from fedtheory.conformance.results import Conformance
from fedtheory.statistics.evidence import against_mean, mixed, rejects
from fedtheory.valuation import axioms
from fedtheory.valuation.exact import shapley

__all__ = ["check_shapley"]

_ROUNDING = 1e-9
"""Relative to the largest utility: sums over a few dozen coalitions lose far less."""

Demand = Callable[["_Valuer", "Game"], None]


def check_shapley(
    function: Callable[..., Any],
    rng: RNGLike = 0,
    *,
    exact: bool = True,
    largest: float = 2.0,
    num_draws: int = 2000,
    exceptions: Mapping[str, str] | None = None,
    patience: float = 60.0,
) -> Conformance:
    r"""Check a function ``(utility, num_players) -> values`` or an estimator ``(utility, num_players, rng) -> values``.

    A utility takes a coalition, any iterable of player numbers 0..n-1, and returns a float. That of nobody need not be
    0: values split ``U(everybody) - U(nobody)``.

    Parameters
    ----------
    function
        Returns values, shape (n,); with ``exact=False`` it draws from the ``numpy.random.Generator`` that it is handed.
    rng
        Seed or SeedSequence of games and draws.
    exact
        Whether values are to be exact, up to rounding; otherwise unbiased.
    largest
        No estimate may be beyond so many times the difference of the largest and the smallest utility: means of what
        players add stay within 1.
    num_draws
        Most draws for each game of a random check.
    exceptions
        Names of checks to leave out, each with its reason.
    patience
        Seconds that one call may take.

    Returns
    -------
    Conformance
        What was asked, and the failures with their smallest cases.

    Raises
    ------
    ValueError
        As ``shapley_checks``; or if an exception names no check or gives no reason.

    Notes
    -----
    The checks: ``runs``, ``shape``, ``one player``; of exact values ``efficiency``, ``symmetry``, ``null player``,
    ``linearity``, ``values``; of estimates ``unbiased`` (refuses right code with probability at most 1e-6 per call),
    ``offset`` and ``negation`` (the same generator and a game plus a constant, or times -1: the same values, or times
    -1; a rule that stops early by a signed number does not pass), ``same generator``, ``other randomness``.

    Examples
    --------
    What each player adds to nobody:

    >>> def alone(utility, num_players):
    ...     return [utility([k]) - utility([]) for k in range(num_players)]
    >>> check_shapley(alone).failures[0].check
    'efficiency'
    """
    checks = shapley_checks(function, rng, exact=exact, largest=largest, num_draws=num_draws, patience=patience)
    return conformance(named(function), checks, exceptions or {})


def shapley_checks(
    function: Callable[..., Any],
    rng: RNGLike = 0,
    *,
    exact: bool = True,
    largest: float = 2.0,
    num_draws: int = 2000,
    patience: float = 60.0,
) -> list[Check]:
    """Return the checks that ``check_shapley`` makes, to be made one by one; the arguments are the same.

    Parameters
    ----------
    function, rng, exact, largest, num_draws, patience
        As of ``check_shapley``.

    Returns
    -------
    list[Check]
        In the order in which they are made; each is called without arguments.

    Raises
    ------
    ValueError
        If ``largest`` or ``patience`` is not positive, or there are fewer than 2 draws.

    Examples
    --------
    >>> from fedtheory import valuation
    >>> [check.name for check in shapley_checks(valuation.shapley)][:2]
    ['runs', 'shape']
    """
    watch, seeds = Watch(validate.positive("patience", patience)), validate.seed_sequence(rng)
    valuer = _Valuer(watch, function, validate.boolean("exact", exact))
    limits = validate.positive("largest", largest), validate.size("num_draws", num_draws, 2)
    games = drawn_games(np.random.default_rng(seeds_of(seeds, "games")))
    alone = [Game("one player", (2, 5)), Game("one player who loses", (1, -3))]
    demands: dict[str, tuple[Demand, list[Game]]] = {"runs": (_runs, games[:1]), "shape": (_shaped, games)}
    if exact:
        demands |= {"one player": (_values, alone), "efficiency": (_efficient, games), "symmetry": (_symmetric, games)}
        demands |= {"null player": (_null, games), "linearity": (_linear, games), "values": (_values, games)}
        return [Check(name, partial(_each, *demand, valuer), watch) for name, demand in demands.items()]
    small, losing = games[:6], games[3]
    unbiased, losses = partial(_unbiased, valuer, small, *limits), partial(valuer.estimate, losing)
    demands |= {"one player": (_shaped, alone), "offset": (_offset, small), "negation": (_negated, small)}
    works: dict[str, Callable[[], None]] = {name: partial(_each, *one, valuer) for name, one in demands.items()}
    works["unbiased"] = lambda: unbiased(seeds_of(seeds, "unbiased"), FALSE_ALARMS)
    works["same generator"] = lambda: same_generator(losses, seeds, losing.given)
    works["other randomness"] = lambda: other_randomness(losses, seeds, losing.given)
    return [Check(name, work, watch) for name, work in works.items()]


def _each(demand: Demand, games: list["Game"], valuer: "_Valuer") -> None:
    for game in games:
        demand(valuer, game)


class _Valuer(NamedTuple):
    """The function under check."""

    watch: Watch
    function: Callable[..., Any]
    exact: bool

    def raw(self, game: Game, rng: np.random.Generator) -> Any:
        """Ask for values, whatever they are."""
        arguments = (game.utility, game.num_players) if self.exact else (game.utility, game.num_players, rng)
        return self.watch.call(self.function, *arguments, case=game.given)

    def estimate(self, game: Game, rng: np.random.Generator) -> Array:
        """Ask for values, which must be as many finite numbers as there are players."""
        answer = self.raw(game, rng)
        try:
            values = np.array([float(value) for value in answer])
        except (TypeError, ValueError) as error:
            raise Broken(f"must return numbers, got {short(answer)}", **game.given) from error
        if values.shape != (game.num_players,):
            raise Broken(f"must return {game.num_players} values, got {values.size}", **game.given)
        if not np.isfinite(values).all():
            raise Broken(f"values must be finite, got {values.tolist()}", **game.given)
        return values

    def values(self, game: Game) -> Array:
        """Ask for values with a generator of our choice."""
        return self.estimate(game, np.random.default_rng(1))


def _runs(valuer: _Valuer, game: Game) -> None:
    valuer.raw(game, np.random.default_rng(1))


def _shaped(valuer: _Valuer, game: Game) -> None:
    valuer.values(game)


def _differ(one: Any, other: Any, unit: float) -> bool:
    """Whether numbers are farther apart than rounding puts them; there need not be any."""
    return bool(np.max(np.abs(np.subtract(one, other)), initial=0.0) > _ROUNDING * unit)


def _efficient(valuer: _Valuer, game: Game) -> None:
    values, earned = valuer.values(game), float(game.table[-1] - game.table[0])
    if _differ(values.sum(), earned, 10 * game.unit):
        sentence = f"values must add up to U(everybody) - U(nobody) = {earned:g}, got {values.sum():.9g}"
        raise Broken(sentence, **game.given)


def _symmetric(valuer: _Valuer, game: Game) -> None:
    values = valuer.values(game)
    differences = axioms.symmetry([float(value) for value in game.table], values)
    if _differ(differences, 0.0, game.unit):
        raise Broken(f"players who add the same must get the same, got {values.tolist()}", **game.given)


def _null(valuer: _Valuer, game: Game) -> None:
    values = valuer.values(game)
    idle = axioms.null_player([float(value) for value in game.table], values)
    if _differ(idle, 0.0, game.unit):
        raise Broken(f"who adds nothing must get nothing, got {values.tolist()}", **game.given)


def _linear(valuer: _Valuer, game: Game) -> None:
    other = game.mapped("squared", lambda value: value * value)
    both = Game(
        f"2 ({game.name}) - 3 (squared)", tuple(2 * a - 3 * b for a, b in zip(game.table, other.table, strict=True))
    )
    values, expected = valuer.values(both), 2 * valuer.values(game) - 3 * valuer.values(other)
    if _differ(values, expected, 10 * both.unit):
        raise Broken(f"values must be linear in the game, {expected.tolist()}, got {values.tolist()}", **both.given)


def _values(valuer: _Valuer, game: Game) -> None:
    values, expected = valuer.values(game), shapley(list(game.table), game.num_players).astype(np.float64)
    if _differ(values, expected, game.unit):
        raise Broken(f"values must be {expected.tolist()}, got {values.tolist()}", **game.given)


def _offset(valuer: _Valuer, game: Game) -> None:
    values, moved = valuer.values(game), valuer.values(game.mapped("plus 100", lambda value: value + 100))
    if _differ(values, moved, game.unit + 100):
        sentence = f"what all coalitions are worth more must not matter, got {values.tolist()} and {moved.tolist()}"
        raise Broken(sentence, **game.given)


def _negated(valuer: _Valuer, game: Game) -> None:
    values, turned = valuer.values(game), valuer.values(game.mapped("times -1", lambda value: -value))
    if _differ(values, -turned, game.unit):
        sentence = f"a game times -1 must have the values times -1, got {values.tolist()} and {turned.tolist()}"
        raise Broken(sentence, **game.given)


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
                raise Broken(f"{sentence}; give a larger largest= if that is meant", **game.given)
            errors = drawn - expected
            clean = expected + np.where(np.abs(errors) < _ROUNDING * game.unit, 0.0, errors)
            if rejects(mixed(list(against_mean(clean, expected, -limit, limit).T)), level / len(games)):
                found = f"{drawn.mean(axis=0).round(6).tolist()} over {len(drawn)} draws"
                raise Broken(f"the mean must be {expected.round(6).tolist()}, got {found}", **game.given)
