"""Estimates of Shapley values from random orders of the players, complete or truncated (GTG-Shapley)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

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
        Estimated values, shape (n,).
    standard_errors
        Standard errors, shape (n,); infinite for a single sample.
    num_evaluations
        Number of evaluated coalitions.
    num_permutations
        Number of evaluated orders.
    stopped
        Reason for stopping: ``all permutations``, ``converged`` or ``between-round truncation``.
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

    Examples
    --------
    >>> game = Game(lambda players: len(players) ** 2)
    >>> marginals(game, [2, 0, 1])
    array([3., 5., 1.])
    >>> marginals(game, [2, 0, 1], tolerance=6.0)
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
    """Yield one random order for each first player, so that every player is first exactly once.

    >>> [order[0] for order in sweep(3, np.random.default_rng(0))]
    [0, 1, 2]
    """
    for first in range(num_players):
        others = [player for player in range(num_players) if player != first]
        yield [first, *(others[place] for place in rng.permutation(num_players - 1))]


def permutation_shapley(
    utility: Utility,
    num_players: int,
    *,
    num_permutations: int = 1000,
    first: Literal["any", "each"] = "any",
    rng: RNGLike = 0,
) -> Estimate:
    """Unbiased estimates of Shapley values: mean contributions over random orders of the players.

    Standard errors are those of means of independent orders, or of independent sweeps.

    Parameters
    ----------
    utility
        Function of a coalition, a frozenset of player numbers.
    num_players
        Number of players n.
    num_permutations
        Number of orders; with ``first="each"`` it is rounded up to whole sweeps.
    first
        ``any``: orders are uniform. ``each``: every player is first in one order of every sweep of n orders.
    rng
        Seed, SeedSequence or Generator.

    Examples
    --------
    In an additive game every order yields the exact values.

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
    """Return the mean of independent samples and its standard error, which is infinite for a single sample.

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

    Algorithm 2 of GreedyFed, with two corrections: the printed mean divides by a counter that begins at 0 and is shared
    by all orders of a sweep, whereas here it is the mean over the orders. Its limit of 50 n sweeps of n orders is read
    as 50 sweeps.

    The values are those after whole sweeps, in which every player is first in one order. The estimation stops when, for
    every player, the last 10 running means are on average within 1% of the last one, in absolute value, after at least
    20 orders; or after 50 n orders. Standard errors are those of independent sweeps.

    Parameters
    ----------
    utility
        Function of a coalition, a frozenset of player numbers. In a round of federated learning it is minus the
        validation loss of the coalition's weighted mean model, or of the model before the round for the empty
        coalition.
    num_players
        Number of players n.
    tolerance
        Tolerance eps. If the utility of all players differs from that of the empty coalition by less than eps, all
        values are 0. Within an order, once the utility differs from that of all players by less than eps, the remaining
        contributions are set to 0. The omitted contributions sum to less than eps, but each may be of any size.
    rng
        Seed, SeedSequence or Generator.

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
