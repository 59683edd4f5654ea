"""The linear equations of a step of the interior-point method, solved by one of two eliminations.

With ``M_ij = <A_i, (X A_j Z^-1 + Z^-1 A_j X)/2>``, plus the ratios of slacks to their multipliers on the diagonal, a
step solves ``M dy - a df = right`` and ``a' dy = level`` for the change dy of the multipliers and df of the function
values. M is nearly singular if more constraints are tight than there are unknowns. In this case the multipliers are
eliminated, and the equations are solved for the change of the matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from fedtheory._support.validate import Array
from fedtheory.worst_case._double_double import (
    DoubleDouble,
    Numbers,
    root_of,
    rounded,
    solve_lower,
    solve_upper,
    squares,
    triangle_of,
)

__all__: list[str] = []

# Number of solutions in iterative refinement, including the first. With two, thirty gradient steps are not proved.
_ROUNDS = 3


@final
class ForMultipliers:
    """The equations for the multipliers with the matrix M of products.

    Attributes
    ----------
    of_objective
        ``<A_i, X C Z^-1>`` of all rows, the objective C first, shape (1 + m,).
    """

    def __init__(
        self,
        grams: Sequence[Numbers],
        a: Numbers,
        triangles: Sequence[Numbers],
        roots: Sequence[Numbers],
        ratios: Numbers,
    ) -> None:
        # With X = U U' and Z = V V', the products are those of rows of entries of U' A_i V'^-1.
        factors = zip(grams, triangles, roots, strict=True)
        blocks = [((own @ U).swapaxes(1, 2) @ root.T).reshape(own.shape[0], -1) for own, U, root in factors]
        products = sum((squares(rows) for rows in blocks[1:]), start=squares(blocks[0]))
        self.of_objective = products[0]
        self.scales = power_of_two((rounded(products).diagonal()[1:] + rounded(ratios)) ** -0.5)
        wide = [rows[1:] * self.scales[:, None] for rows in blocks]
        self.triangle = triangle_of([*wide, _diagonal(root_of(ratios) * self.scales)])
        self.levels = solve_lower(self.triangle, a * self.scales[:, None])
        self.level_triangle = triangle_of([self.levels.T])

    def solve(self, right: Numbers, level: Numbers) -> tuple[Numbers, Numbers, None]:
        """Return dy and df."""
        u = solve_lower(self.triangle, right * self.scales)
        df = solve_upper(self.level_triangle, solve_lower(self.level_triangle, level - self.levels.T @ u))
        return solve_upper(self.triangle, u + self.levels @ df) * self.scales, df, None

    def owed(self, missing: Numbers) -> float:
        """Return the squared length of the smallest relative change of X that changes the forms as required."""
        owed = rounded(solve_lower(self.triangle, missing * self.scales))
        return float(owed @ owed)


@final
class ForMatrices:
    """The equations for the changes of X and of the function values, for a program of inequalities, in doubles.

    With ``X = T T'`` and ``Z^-1 = T W T'`` for a diagonal W, ``(X S Z^-1 + Z^-1 S X)/2 = T (T' S T * mean) T'``, where
    ``mean`` holds the means of two entries of W. So M is ``B diag(mean) B'`` plus the ratios D, where B has the entries
    of ``T' A_i T`` in its rows. Equivalently ``D dy + B v - a df = right``, ``B' dy = v / mean`` and
    ``a' dy = level``; eliminating dy leaves a least-squares problem in v and df with weights 1/D.

    Attributes
    ----------
    of_objective
        As of ``ForMultipliers``.
    """

    def __init__(
        self,
        grams: Sequence[Any],
        a: Array,
        triangles: Sequence[Array],
        dual_slacks: Sequence[Array],
        ratios: Array,
    ) -> None:
        self.ratios, self.a = ratios, a
        self.turns, columns, means = list[Array](), list[Array](), list[Array]()
        for own, U, Z in zip(grams, triangles, dual_slacks, strict=True):
            inverse, Q = np.linalg.eigh(U.T @ Z @ U)
            self.turns.append(U @ Q)
            i, j = _upper(len(Q))
            means.append((1 / inverse[i] + 1 / inverse[j]) / 2)
            columns.append(own.turned(self.turns[-1]) * np.where(i == j, 1.0, np.sqrt(2.0)))
        objective, constraints = np.split(np.concatenate(columns, axis=1), [1])
        self.means = np.concatenate(means)
        self.of_objective = np.concatenate([objective, constraints]) @ (objective[0] * self.means)
        self.columns = np.concatenate([constraints, -a], axis=1)
        self.bare = np.concatenate([1 / self.means, np.zeros(a.shape[1])])
        rows = self.columns / np.sqrt(ratios)[:, None]
        matrix = rows.T @ rows + np.diag(self.bare)
        self.scales = power_of_two(matrix.diagonal() ** -0.5)
        try:
            self.triangle = np.linalg.cholesky(matrix * np.outer(self.scales, self.scales))
        except np.linalg.LinAlgError:
            # The triangle is computed from the rows themselves; rows with the largest weights come first.
            bare = np.diag(np.sqrt(self.bare))[: len(self.means)]
            stacked = np.concatenate([rows, bare]) * self.scales
            order = np.argsort(-np.abs(stacked).max(axis=1), kind="stable")
            upper: Any = np.linalg.qr(stacked[order], mode="r")
            self.triangle = upper.T

    def solve(self, right: Array, level: Array) -> tuple[Array, Array, list[Array]]:
        """Return dy, df, and ``(X S Z^-1 + Z^-1 S X)/2`` for ``S = sum dy A``, block by block."""
        found, dy = np.zeros(len(self.bare)), right / self.ratios
        for _ in range(_ROUNDS):
            goal = self.columns.T @ dy - self.bare * found
            goal[len(self.means) :] += level
            half = solve_lower(self.triangle, goal * self.scales)
            change = solve_upper(self.triangle, half) * self.scales
            # dy is updated instead of computed as (right - B v + a df) / D, where cancellation would lose digits.
            found, dy = found + change, dy - self.columns @ change / self.ratios
        moved, start = [], 0
        for T in self.turns:
            i, j = _upper(len(T))
            entries = np.zeros(T.shape)
            entries[i, j] = found[start : start + len(i)] * np.where(i == j, 0.5, np.sqrt(0.5))
            moved.append(T @ (entries + entries.T) @ T.T)
            start += len(i)
        return dy, found[start:], moved

    def owed(self, _: Array) -> float:
        """Return 0, as there are no equalities."""
        return 0.0


def power_of_two(numbers: Array) -> Array:
    """Round to powers of two, by which multiplication is exact."""
    return np.exp2(np.round(np.log2(numbers)))


def _upper(size: int) -> tuple[Any, Any]:
    return np.triu_indices(size)


def _diagonal(numbers: Numbers) -> Numbers:
    if isinstance(numbers, DoubleDouble):
        return DoubleDouble(np.diag(numbers.high), np.diag(numbers.low))
    return np.diag(numbers)
