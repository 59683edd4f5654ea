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

# Number of solutions in iterative refinement, including the first. With two, thirty gradient steps are not proved.
_ROUNDS = 3
# Rows are dependent if a new one adds less than this share of its size to the space of the others.
_DEPENDENT = 1e-15


@final
class ForMultipliers:
    """The equations for the multipliers with the matrix M of products.

    ``of_objective`` is ``<A_i, X C Z^-1>`` of all rows, the objective C first, shape (1 + m,).
    """

    def __init__(
        self, grams: Sequence[Array], a: Array, triangles: Sequence[Array], roots: Sequence[Array], ratios: Array
    ) -> None:
        # With X = U U' and Z = V V', the products are those of rows of entries of U' A_i V'^-1.
        factors = zip(grams, triangles, roots, strict=True)
        blocks = [((own @ U).swapaxes(1, 2) @ root.T).reshape(own.shape[0], -1) for own, U, root in factors]
        products: Array = sum((rows @ rows.T for rows in blocks), start=np.zeros(()))
        self.of_objective = products[0]
        self.scales = power_of_two((products.diagonal()[1:] + ratios) ** -0.5)
        wide = [rows[1:] * self.scales[:, None] for rows in blocks]
        self.triangle = _triangle_of(np.hstack([*wide, np.diag(np.sqrt(ratios) * self.scales)]))
        self.levels = solve_lower(self.triangle, a * self.scales[:, None])
        self.level_triangle = _triangle_of(self.levels.T)

    def solve(self, right: Array, level: Array) -> tuple[Array, Array, None]:
        """Return dy and df."""
        u = solve_lower(self.triangle, right * self.scales)
        df = solve_upper(self.level_triangle, solve_lower(self.level_triangle, level - self.levels.T @ u))
        return solve_upper(self.triangle, u + self.levels @ df) * self.scales, df, None

    def owed(self, missing: Array) -> float:
        """Return the squared length of the smallest relative change of X that changes the forms as required."""
        owed = solve_lower(self.triangle, missing * self.scales)
        return float(owed @ owed)


@final
class ForMatrices:
    """The equations for the changes of X and of the function values, for a program of inequalities.

    With ``X = T T'`` and ``Z^-1 = T W T'`` for a diagonal W, ``(X S Z^-1 + Z^-1 S X)/2 = T (T' S T * mean) T'``, where
    ``mean`` holds the means of two entries of W. So M is ``B diag(mean) B'`` plus the ratios D, where B has the entries
    of ``T' A_i T`` in its rows. Equivalently ``D dy + B v - a df = right``, ``B' dy = v / mean`` and
    ``a' dy = level``; eliminating dy leaves a least-squares problem in v and df with weights 1/D.
    """

    def __init__(
        self, grams: Sequence[Any], a: Array, triangles: Sequence[Array], dual_slacks: Sequence[Array], ratios: Array
    ) -> None:
        self.ratios, self.a = ratios, a
        self.turns, columns, means = list[Array](), list[Array](), list[Array]()
        for own, U, Z in zip(grams, triangles, dual_slacks, strict=True):
            inverse, Q = np.linalg.eigh(U.T @ Z @ U)
            self.turns.append(U @ Q)
            i, j = np.triu_indices(len(Q))
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
            self.triangle = cholesky(matrix * np.outer(self.scales, self.scales))
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
            i, j = np.triu_indices(len(T))
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


def cholesky(matrix: Array) -> Array:
    """Return the lower triangle L with ``L L' = matrix``."""
    return np.asarray(np.linalg.cholesky(matrix), dtype=np.float64)


def solve_lower(triangle: Array, right: Array) -> Array:
    """Solve ``L X = right`` for a lower triangle L, shapes (n, n), (n,) or (n, r)."""
    return _solved(triangle, right, transposed=False)


def solve_upper(triangle: Array, right: Array) -> Array:
    """Solve ``L' X = right`` for a lower triangle L, shapes (n, n), (n,) or (n, r)."""
    return _solved(triangle, right, transposed=True)


def _solved(triangle: Array, right: Array, *, transposed: bool) -> Array:
    from scipy.linalg.lapack import dtrtrs

    found: Array = dtrtrs(triangle, right, lower=True, trans=transposed)[0] if right.shape[0] else right
    return found


def _triangle_of(rows: Array) -> Array:
    """Return the lower triangle L with ``L L' = rows rows'``, from the rows if their products are too inaccurate."""
    try:
        return cholesky(rows @ rows.T)
    except np.linalg.LinAlgError:
        upper: Any = np.linalg.qr(rows.T, mode="r")
    if not (np.abs(upper.diagonal()) > _DEPENDENT * np.abs(upper).max(axis=0, initial=0.0)).all():
        message = "rows must be linearly independent"
        raise np.linalg.LinAlgError(message)
    return np.asarray(upper.T)
