"""GTG-Shapley: random orders, truncated between rounds and within (Liu et al. 2022; GreedyFed, Algorithm 2)."""

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array, RNGLike
from fedtheory.valuation.games import Game, Utility
from fedtheory.valuation.permutations import Estimate, marginals, mean_and_error, sweep

__all__ = ["gtg_shapley"]

_WINDOW, _FEWEST, _CLOSE = 10, 20, 0.01
_MOST_PER_PLAYER = 50


def gtg_shapley(utility: Utility, num_players: int, tolerance: float = 1e-4, rng: RNGLike = 0) -> Estimate:
    """Estimate the Shapley values of a round of federated learning, and stop when they hardly change.

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
        eps. If everybody's utility is less than eps away from nobody's, all values are 0. Within an order, once the
        utility is less than eps away from everybody's, the others are taken to add nothing; what is cut off sums to
        less than eps, though a single cut can be of any size.
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
