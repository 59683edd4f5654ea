"""Estimates of Shapley values from random orders of the players, complete or truncated (GTG-Shapley)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array, RNGLike
from fedtheory.valuation.games import Game, Utility

__all__ = ["Estimate", "gtg_shapley", "permutation_shapley"]


class Estimate(NamedTuple):
    """Estimated values and the number of evaluations.

    Attributes
    ----------
    values
        Shape (n,).
    standard_errors
        Shape (n,); infinite where one sample says nothing about them.
    num_evaluations
        Coalitions whose utility was asked for, each once.
    num_permutations
        Orders walked through.
    stopped
        Why it ended: ``all permutations``, ``converged`` or ``between-round truncation``.
    """

    values: Array
    standard_errors: Array
    num_evaluations: int
    num_permutations: int
    stopped: str


def marginals(game: Game, order: list[int], tolerance: float = 0.0) -> Array:
    """Gain that each player brings when the players arrive in an order, shape (n,).

    Once the utility of those who have arrived is within ``tolerance`` of that of all players, the others are taken
    to add nothing (strictly within: a tolerance of 0 truncates nothing).

    Returns
    -------
    Array
        Shape (n,), by player and not by place.

    Examples
    --------
    >>> game = Game(lambda players: len(players) ** 2)
    >>> marginals(game, [2, 0, 1])
    array([3., 5., 1.])
    >>> marginals(game, [2, 0, 1], tolerance=6.0)
    array([3., 0., 1.])
    """
    added = np.zeros(len(order))
    everybody, before = game(order), game(())
    for place, player in enumerate(order):
        if abs(everybody - before) < tolerance:
            break
        after = game(order[: place + 1])
        added[player] = after - before
        before = after
    return added


def sweep(num_players: int, rng: np.random.Generator) -> Iterator[list[int]]:
    """Yield one random order for each player to begin with: every player is first exactly once.

    >>> [order[0] for order in sweep(3, np.random.default_rng(0))]
    [0, 1, 2]
    """
    for first in range(num_players):
        others = [player for player in range(num_players) if player != first]
        yield [first, *(others[place] for place in rng.permutation(num_players - 1))]


def permutation_shapley(
    utility: Utility, num_players: int, *, num_permutations: int = 1000, first: str = "any", rng: RNGLike = 0
) -> Estimate:
    """Unbiased estimates of Shapley values: mean contributions over random orders of the players.

    Parameters
    ----------
    utility
        Function of a coalition, a frozenset of player numbers.
    num_players
        Number of players n.
    num_permutations
        Orders to walk through; with ``first="each"`` it is rounded up to whole sweeps.
    first
        ``any``: orders are uniform. ``each``: every player begins one order of every sweep of n.
    rng
        Seed, SeedSequence or Generator.

    Returns
    -------
    Estimate
        The standard errors are those of means of independent orders, or of independent sweeps.

    Raises
    ------
    ValueError, TypeError
        If a count is not positive, ``first`` is unknown, or a utility is not a finite real number.

    Examples
    --------
    In an additive game every order shows the values themselves.

    >>> worth = (5.0, 3.0, 2.0)
    >>> found = permutation_shapley(lambda players: sum(worth[k] for k in players), 3, num_permutations=4)
    >>> found.values, found.standard_errors, found.num_permutations
    (array([5., 3., 2.]), array([0., 0., 0.]), 4)
    """
    n = validate.size("num_players", num_players)
    wanted = validate.size("num_permutations", num_permutations)
    each = validate.choice("first", first, ("any", "each")) == "each"
    generator, game = validate.generator(rng), Game(utility)
    samples = []
    for _ in range(-(-wanted // n) if each else wanted):
        orders = list(sweep(n, generator)) if each else [generator.permutation(n).tolist()]
        samples.append(np.mean([marginals(game, order) for order in orders], axis=0))
    seen = len(samples) * (n if each else 1)
    return Estimate(*mean_and_error(np.array(samples)), game.num_evaluations, seen, "all permutations")


def mean_and_error(samples: Array) -> tuple[Array, Array]:
    """Mean of independent samples, shape (samples, n), and its standard error, which is infinite for a lone one.

    Parameters
    ----------
    samples
        Shape (samples, n).

    Examples
    --------
    >>> mean_and_error(np.array([[1.0], [3.0]]))
    (array([2.]), array([1.]))
    """
    count = len(samples)
    if count == 1:
        return samples[0], np.full(samples.shape[1], np.inf)
    return samples.mean(axis=0), samples.std(axis=0, ddof=1) / np.sqrt(count)


_WINDOW, _FEWEST, _CLOSE = 10, 20, 0.01
_MOST_PER_PLAYER = 50


def gtg_shapley(utility: Utility, num_players: int, tolerance: float = 1e-4, rng: RNGLike = 0) -> Estimate:
    """GTG-Shapley: truncated estimates of the Shapley values of a round, stopped when they change little.

    Read as Algorithm 2 of GreedyFed must be: as printed its mean divides by a counter that begins at 0 and that all
    orders of a sweep share; here the mean runs over orders seen. Where it allows 50 n sweeps of n
    orders, these are 50 sweeps.

    Parameters
    ----------
    utility
        Function of a coalition, a frozenset of player numbers. In a round of federated learning it is minus the
        validation loss of the coalition's weighted mean model, for the empty coalition that of the model before the
        round.
    num_players
        Number of players n.
    tolerance
        eps. If the utility of all players is less than eps away from that of the empty coalition, all values are 0.
        Within an order, once the utility is less than eps away from that of all players, the others are taken to add
        nothing. The omitted gains sum to less than eps, but a single one can be of any size.
    rng
        Seed, SeedSequence or Generator.

    Returns
    -------
    Estimate
        It stops after whole sweeps (every player begins one order of each): once, for every player, the last 10 running
        means lie on average within 1 % of the latest, in absolute value, and 20 orders have been seen; or after 50 n
        orders. Standard errors are those of independent sweeps.

    Raises
    ------
    ValueError, TypeError
        If the number of players is not positive, the tolerance is negative, or a utility is not a finite real number.

    Examples
    --------
    An additive game: each order shows the values, so that it stops as soon as it may, after 7 sweeps of 3 orders.

    >>> worth = (5.0, -3.0, 2.0)
    >>> found = gtg_shapley(lambda players: sum(worth[k] for k in players), 3)
    >>> found.values, found.num_permutations, found.stopped
    (array([ 5., -3.,  2.]), 21, 'converged')
    """
    n = validate.size("num_players", num_players)
    eps = validate.double("tolerance", validate.nonnegative("tolerance", tolerance))
    generator, game = validate.generator(rng), Game(utility)
    if abs(game(range(n)) - game(())) < eps:
        return Estimate(np.zeros(n), np.zeros(n), game.num_evaluations, 0, "between-round truncation")
    added: list[Array] = []
    while len(added) < _MOST_PER_PLAYER * n:
        added += [marginals(game, order, eps) for order in sweep(n, generator)]
        if _converged(np.array(added)):
            return _estimate(game, np.array(added), "converged")
    return _estimate(game, np.array(added), "all permutations")


def _converged(added: Array) -> bool:
    count = len(added)
    if count < _FEWEST:
        return False
    means = np.cumsum(added, axis=0) / np.arange(1, count + 1)[:, None]
    latest = means[-1]
    return bool((np.abs(means[-_WINDOW:] - latest).mean(axis=0) <= _CLOSE * np.abs(latest)).all())


def _estimate(game: Game, added: Array, stopped: str) -> Estimate:
    n = added.shape[1]
    sweeps = added.reshape(-1, n, n).mean(axis=1)
    return Estimate(*mean_and_error(sweeps), game.num_evaluations, len(added), stopped)
