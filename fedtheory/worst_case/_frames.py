"""A program and a state of the interior-point method in coordinates in which nothing tiny drowns."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fedtheory._validate import Array
from fedtheory.worst_case._packing import packed, unpacked
from fedtheory.worst_case.solver import Assembled

__all__ = ["Data", "Frame", "State", "data_of", "frame_of", "normal_solve"]

# Combinations of function values that matter so little do not.
_SINGULAR = 1e-10


class Data(NamedTuple):
    """A program: rows of Gram entries and of combinations of function values, the objective's first."""

    sizes: tuple[int, ...]
    grams: Array
    levels: Array
    combinations: Array
    bounds: Array
    loose: Any

    @property
    def degree(self) -> int:
        """How many products of a positive number and its multiplier there are."""
        return sum(self.sizes) + int(self.loose.sum())

    def slacks(self, factors: Sequence[Array], values: Array) -> Array:
        """Return what a point leaves of the bounds."""
        columns = packed([V @ V.T for V in factors])
        found: Array = self.bounds - self.grams[1:] @ columns - self.levels[1:] @ values
        return found

    def leftovers(self, multipliers: Array) -> list[Array]:
        """Return what multipliers leave of each block."""
        return unpacked(self.sizes, multipliers @ self.grams[1:] - self.grams[0])


class State(NamedTuple):
    """Where the method is; slacks and leftovers are positive, and need not be true yet."""

    factors: list[Array]
    values: Array
    slacks: Array
    multipliers: Array
    leftovers: list[Array]


def data_of(assembled: Assembled) -> Data:
    rows, entries = assembled.rows.toarray(), assembled.num_entries
    loose = np.arange(len(rows) - 1) >= assembled.num_equalities
    # Values that no constraint tells apart from others move with them.
    _, sizes, turns = np.linalg.svd(rows[1:, entries:], full_matrices=False)
    combinations = turns[sizes > _SINGULAR * sizes.max(initial=0.0)].T
    num_values, num_seen = combinations.shape
    if num_values == num_seen:
        combinations = np.eye(num_values)
    levels = rows[:, entries:] @ combinations
    return Data(assembled.sizes, rows[:, :entries], levels, combinations, assembled.bounds[1:], loose)


class Frame(NamedTuple):
    """Coordinates ``G = R diag(l) R'``, ``R' S R = diag(l)``, and the equations of a step in them.

    Attributes
    ----------
    turns, lengths
        R and l of each block.
    mean
        The mean of all products of a positive number and its multiplier.
    rows
        The constraints' rows of Gram entries in these coordinates.
    triangle, level_triangle
        Of the equations' matrix, its rows scaled by ``scales``, and of what it leaves for function values.
    weights
        Slacks over multipliers.
    """

    turns: list[Array]
    lengths: list[Array]
    mean: float
    rows: Array
    scales: Array
    triangle: Array
    level_triangle: Array
    weights: Array

    def solve(self, right: Array) -> Array:
        """Solve the equations of a step for its multipliers, function values fixed."""
        found: Array = self.scales * normal_solve(self.triangle, self.scales * right)
        return found


def frame_of(data: Data, state: State) -> Frame | None:
    """Return the coordinates of a state; None where rounding has made something singular."""
    try:
        return _coordinates(data, state)
    except (np.linalg.LinAlgError, ValueError):
        return None


def _coordinates(data: Data, state: State) -> Frame:
    from scipy.linalg import solve_triangular

    turns, lengths = [], []
    for V, S in zip(state.factors, state.leftovers, strict=True):
        _, length, turn = np.linalg.svd(np.linalg.cholesky(S).T @ V)
        turns.append(V @ turn.T / np.sqrt(length))
        lengths.append(length)
    total = sum(float(length @ length) for length in lengths) + float(state.slacks @ state.multipliers)
    blocks = unpacked(data.sizes, data.grams[1:])
    rows = packed([R.T @ block @ R for R, block in zip(turns, blocks, strict=True)])
    weights = np.divide(state.slacks, state.multipliers, out=np.zeros_like(state.slacks), where=data.loose)
    system = np.concatenate([rows, np.diag(np.sqrt(weights))[:, data.loose]], axis=1)
    scales = 1 / np.sqrt((system**2).sum(axis=1))
    triangle: Any = np.linalg.qr((system * scales[:, None]).T, mode="r")
    level_triangle: Any = np.linalg.qr(
        solve_triangular(triangle, scales[:, None] * data.levels[1:], trans="T"), mode="r"
    )
    return Frame(turns, lengths, total / data.degree, rows, scales, triangle, level_triangle, weights)


def normal_solve(triangle: Array, right: Array) -> Array:
    """Solve ``T' T x = right``."""
    from scipy.linalg import solve_triangular

    found: Array = solve_triangular(triangle, solve_triangular(triangle, right, trans="T")) if triangle.size else right
    return found
