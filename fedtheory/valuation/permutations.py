"""Shapley values estimated from random orders of the players."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array, RNGLike
from fedtheory.valuation.games import Game, Utility

__all__ = ["Estimate", "permutation_shapley"]


class Estimate(NamedTuple):
    """Estimated values, and what they cost.

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

    Once the utility of those who have arrived is within ``tolerance`` of everybody's, the others are taken to add
    nothing (strictly within: a tolerance of 0 truncates nothing).

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
    """Estimate Shapley values as means of what players add over random orders; unbiased.

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

    Returns
    -------
    tuple[Array, Array]
        Two arrays of shape (n,).

    Examples
    --------
    >>> mean_and_error(np.array([[1.0], [3.0]]))
    (array([2.]), array([1.]))
    """
    count = len(samples)
    if count == 1:
        return samples[0], np.full(samples.shape[1], np.inf)
    return samples.mean(axis=0), samples.std(axis=0, ddof=1) / np.sqrt(count)
