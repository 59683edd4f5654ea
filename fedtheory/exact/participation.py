"""Imbalance of participation at the minimizer."""

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.threads import pinned
from fedtheory._support.validate import Array
from fedtheory.exact._arguments import quadratic
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.selection.periodic import Periodic

__all__ = ["participation_imbalance"]

_MOST = 2**53  # larger integers are not exact as floats


@pinned
def participation_imbalance(
    fed: QuadraticFederation, shares: npt.ArrayLike, local_steps: int, num_rounds: int
) -> float:
    r"""Squared imbalance of periodic participation at the minimizer w*, the constant of its bound.

    It is the largest ``sum_k q_rk |tau S_r + s h_k|^2`` over the rounds r < R and the local steps s < tau, and ``|tau
    S_R|^2`` if this is larger. Here ``h_k = grad F_k(w*)``, and S_r is the sum of the ``q_lk h_k`` over k and the
    rounds l < r.

    Parameters
    ----------
    fed
        Quadratic clients with any curvatures.
    shares
        Aggregation weights q_rk, shape (P, K), nonnegative with sum 1 in each row. Round r uses row ``r mod P``.
    local_steps, num_rounds
        Number tau of local steps per round, and number R of rounds.

    Examples
    --------
    Two parabolas with the gradients -2 and 2 at w* take turns. After the first round S_1 is -2.

    >>> fed = QuadraticFederation([1.0, 1.0], [[2.0], [-2.0]], [0.5, 0.5])
    >>> participation_imbalance(fed, [[1.0, 0.0], [0.0, 1.0]], local_steps=1, num_rounds=10)
    4.0
    """
    fed = quadratic(fed)
    rows = validate.array("shares", Periodic(shares).shares, shape=(None, fed.num_clients))
    tau = validate.count("local_steps", local_steps, high=_MOST)
    num_rounds = validate.count("num_rounds", num_rounds, high=_MOST)
    with np.errstate(over="ignore", invalid="ignore"):
        largest = _largest(rows, fed.gradients(fed.minimizer), tau, num_rounds)
    if not np.isfinite(largest):
        message = "fed must have gradients at w* with a finite imbalance, got one above 1.8e308"
        raise ValueError(message)
    return largest


def _largest(rows: Array, gradients: Array, tau: int, num_rounds: int) -> float:
    means, squares = rows @ gradients, rows @ np.sum(gradients**2, axis=1)
    before = np.concatenate([np.zeros((1, gradients.shape[1])), np.cumsum(means, axis=0)])
    # S_(mP + s) = m S_P + S_s, and the imbalance is convex in m and in the local step: the ends suffice.
    periods, rest = divmod(num_rounds, len(rows))
    first = min(num_rounds, len(rows))
    found = []
    for m, reached in {(0, first), (max(periods - 1, 0), first), (periods, rest)}:
        sums = tau * (m * before[-1] + before[: reached + 1])
        at_start = np.sum(sums**2, axis=1)
        across = np.sum(sums[:reached] * means[:reached], axis=1)
        found += [at_start, at_start[:reached] + 2 * (tau - 1) * across + (tau - 1) ** 2 * squares[:reached]]
    return float(np.max(np.concatenate(found)))
