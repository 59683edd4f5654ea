"""Estimates of Shapley values from truncated random orders of the players (GTG-Shapley)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array, RNGLike
from fedtheory.valuation.games import Game, Utility

__all__ = ["Estimate", "gtg_shapley"]


class Estimate(NamedTuple):
    """Estimated values, standard errors (infinite for one sample), evaluated coalitions, orders, and why it stopped.

    ``stopped`` is ``all permutations``, ``converged`` or ``between-round truncation``.
    """

    values: Array
    standard_errors: Array
    num_evaluations: int
    num_permutations: int
    stopped: str


def marginals(game: Game, order: list[int], tolerance: float = 0.0) -> Array:
    """Marginal contribution of each player when the players arrive in an order, shape (n,).

    Once the utility differs from that of all players by less than ``tolerance``, the contributions of the remaining
    players are set to 0 (with tolerance 0 nothing is truncated).

    >>> marginals(Game(lambda players: len(players) ** 2), [2, 0, 1], tolerance=6.0)
    array([3., 0., 1.])
    """
    added = np.zeros(len(order))
    grand, before = game(order), game(())
    for place, player in enumerate(order):
        if abs(grand - before) < tolerance:
            break
        after = game(order[: place + 1])
        added[player] = after - before
        before = after
    return added


def sweep(num_players: int, rng: np.random.Generator) -> Iterator[list[int]]:
    """Yield one random order for each first player, so that every player is first exactly once."""
    for first in range(num_players):
        others = [player for player in range(num_players) if player != first]
        yield [first, *(others[place] for place in rng.permutation(num_players - 1))]


WINDOW, FEWEST, CLOSE = 10, 20, 0.01
MOST_PER_PLAYER = 50


def gtg_shapley(utility: Utility, num_players: int, tolerance: float = 1e-4, rng: RNGLike = 0) -> Estimate:
    """GTG-Shapley: truncated estimates of the Shapley values of a round, stopped when they change little.

    Algorithm 2 of GreedyFed, with two corrections: the printed mean divides by a counter that begins at 0 and is shared
    by all orders of a sweep, whereas here it is the mean over the orders. Its limit of 50 n sweeps of n orders is read
    as 50 sweeps.

    The values are those after whole sweeps, in which every player is first in one order. The estimation stops when, for
    every player, the last 10 running means are on average within 1% of the last one, in absolute value, after at least
    20 orders; or after 50 n orders. Standard errors are those of independent sweeps.

    Parameters
    ----------
    utility, num_players
        Function of a coalition, a frozenset of player numbers, and number n of players.
    tolerance
        Tolerance eps. If the utility of all players differs from that of the empty coalition by less than eps, all
        values are 0. Within an order, once the utility differs from that of all players by less than eps, the remaining
        contributions are set to 0. The omitted contributions sum to less than eps, but each may be of any size.

    Examples
    --------
    In an additive game each order yields the exact values, so the estimation stops as early as possible, after 7 sweeps
    of 3 orders.

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
    while len(added) < MOST_PER_PLAYER * n:
        added += [marginals(game, order, eps) for order in sweep(n, generator)]
        if _converged(np.array(added)):
            return _estimate(game, np.array(added), "converged")
    return _estimate(game, np.array(added), "all permutations")


def _converged(added: Array) -> bool:
    count = len(added)
    if count < FEWEST:
        return False
    means = np.cumsum(added, axis=0) / np.arange(1, count + 1)[:, None]
    latest = means[-1]
    return bool((np.abs(means[-WINDOW:] - latest).mean(axis=0) <= CLOSE * np.abs(latest)).all())


def _estimate(game: Game, added: Array, stopped: str) -> Estimate:
    n = added.shape[1]
    sweeps = added.reshape(-1, n, n).mean(axis=1)
    count = len(sweeps)
    errors = sweeps.std(axis=0, ddof=1) / np.sqrt(count) if count > 1 else np.full(n, np.inf)
    return Estimate(sweeps.mean(axis=0), errors, game.num_evaluations, len(added), stopped)
