"""Participation that repeats with a fixed period, such as cyclic participation."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (selection/rules.py states the arguments of compiled rules)

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.jit import compiled
from fedtheory._support.validate import Array
from fedtheory._support.values import to_tuples
from fedtheory.selection.laws import Fixed, Scheduled
from fedtheory.selection.rules import Rules, pack
from fedtheory.theorem.scheme import Scheme

__all__ = ["Periodic"]


@final
@dataclass(frozen=True)
class Periodic:
    """Participation of given clients with given aggregation weights in each round of a period.

    Cyclic participation of P groups has one row per group, such as ``Periodic(np.eye(3))``. Participation is fair if
    the mean of the rows is p, so that groups of equal total weight take turns.

    Parameters
    ----------
    shares
        Aggregation weights q_rk, shape (P, K): nonnegative, with sum 1 in each row. Round r uses row ``r mod P``, and
        clients of share 0 do not take part. If clients are absent, the others' shares are divided by their sum.
    """

    shares: npt.ArrayLike

    def __post_init__(self) -> None:
        rows = validate.array("shares", validate.unmasked("shares", self.shares), ndim=2)
        if not rows.size:
            message = f"shares must have at least one row and one column, got shape {rows.shape}"
            raise ValueError(message)
        for row in rows:
            validate.probability_vector("each row of shares", row)
        object.__setattr__(self, "shares", to_tuples(rows))

    @property
    def scheme(self) -> Scheme:
        """Given clients with given weights."""
        return Scheme("periodic", "shares")

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Return the compiled rules."""
        rows = self._rows(weights.size)
        most = int(np.count_nonzero(rows, axis=1).max())
        return Rules(select=_select_round, weigh=_weigh_by_round, max_selected=most, table=pack(len(rows), rows))

    def law(self, weights: Array) -> Scheduled:
        """Return the shares of each round."""
        laws = [Fixed(row) for row in self._rows(len(weights))]
        return Scheduled(lambda num_rounds: [laws[r % len(laws)] for r in range(num_rounds)])

    def _rows(self, num_clients: int) -> Array:
        return validate.array("shares", self.shares, shape=(None, num_clients))


@compiled
def _select_round(round_index, table, memory, weights, candidates, losses, rng, chosen):
    period, shares = int(table[0]), table[1:]
    first, size = (round_index % period) * weights.size, 0
    for k in range(weights.size):
        if shares[first + k] > 0.0:
            chosen[size] = k
            size += 1
    return size


@compiled
def _weigh_by_round(round_index, table, memory, weights, chosen, updates, rng, coefficients):
    period, shares = int(table[0]), table[1:]
    first, total = (round_index % period) * weights.size, 0.0
    for i in range(chosen.size):
        coefficients[i] = shares[first + chosen[i]]
        total += coefficients[i]
    for i in range(chosen.size):
        coefficients[i] /= total
    return 0.0
