"""A solver's answer on its way to proofs, in floating point: by Newton's method, then by a grain of a roomy answer."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fedtheory._validate import Array
from fedtheory.worst_case.solver import Assembled, Solution, triangle

__all__ = ["best_multipliers", "best_point", "mixed"]

# Errors fall by 4 in each step where a Gram matrix is at its boundary, by their square elsewhere.
_NUM_STEPS = 10
# So much of all products' sum is added to each, since inequalities that say the same have products without an inverse.
_DAMPING = 1e-13
# What rounding to rationals may cost a constraint, and an eigenvalue of what multipliers leave.
_GRAIN, _COARSE_GRAIN = 1e-12, 3e-10
# Where so much is broken, in units, the method leads nowhere.
_FAR = 1.0


def best_point(assembled: Assembled, close: Solution, roomy: Sequence[Solution]) -> Solution:
    """Return a point near a close one that breaks nothing, thanks to a grain of one of those with room.

    Its objective is the largest that they allow; what nothing helps is returned as it is.
    """
    point = _restored(assembled, close)
    shares = [_share_for_point(assembled, point, other) for other in roomy]
    found = [mixed(point, other, share) for other, share in zip(roomy, shares, strict=True) if share <= 1]
    return max(found, key=lambda one: (assembled.rows[[0]] @ _columns(one.grams, one.values)).item(), default=close)


def best_multipliers(assembled: Assembled, close: Solution, roomy: Sequence[Solution]) -> Solution:
    """Return multipliers near close ones that leave semidefinite matrices, thanks to a grain of some with room.

    They promise the least that these allow; what nothing helps is returned as it is.
    """
    shares = [_share_for_multipliers(assembled, close, other) for other in roomy]
    found = [mixed(close, other, share) for other, share in zip(roomy, shares, strict=True) if share <= 1]
    return min(found, key=lambda one: float(_dual(one) @ assembled.bounds), default=close)


def mixed(one: Solution, other: Solution, share: float) -> Solution:
    """Mix two solutions: feasible points are a convex set, and so are multipliers that prove something."""

    def mix(a: Array, b: Array) -> Array:
        return (1 - share) * a + share * b

    return Solution(
        tuple(map(mix, one.grams, other.grams)),
        mix(one.values, other.values),
        mix(one.multipliers, other.multipliers),
        mix(one.equality_multipliers, other.equality_multipliers),
    )


def _restored(assembled: Assembled, solution: Solution) -> Solution:
    """Return a point near a solution that breaks no inequality by more than a trifle: its slack is not given away.

    Gram matrices ``V'V`` are moved through their factors V, which keeps them positive semidefinite, by the shortest
    step that mends to first order what is broken.
    """
    factors, values = [_factor(gram) for gram in solution.grams], solution.values
    for _ in range(_NUM_STEPS):
        excess = _excess(assembled, factors, values)
        broken = np.flatnonzero(excess > 0)
        if not _GRAIN < excess.max(initial=0.0) < _FAR:
            break
        slopes = _slopes(assembled, factors, broken)
        products = slopes @ slopes.T
        products[np.diag_indices_from(products)] += _DAMPING * np.trace(products)
        step = slopes.T @ np.linalg.solve(products, -excess[broken])
        *moves, last = np.split(step, np.cumsum([factor.size for factor in factors]))
        factors = [factor + move.reshape(factor.shape) for factor, move in zip(factors, moves, strict=True)]
        values = values + last
    return solution._replace(grams=tuple(factor.T @ factor for factor in factors), values=values)


def _share_for_point(assembled: Assembled, close: Solution, roomy: Solution) -> float:
    """Return how much of a point with room must be mixed in to mend what a close one breaks."""
    here, there = (_excess(assembled, list(map(_factor, s.grams)), s.values) + _GRAIN for s in (close, roomy))
    broken = here > 0
    if (there[broken] >= 0).any():
        return np.inf
    # A little more than it takes: what is left is rounded, too.
    return 1.01 * float(np.max(here[broken] / (here - there)[broken], initial=0.0))


def _share_for_multipliers(assembled: Assembled, close: Solution, roomy: Solution) -> float:
    """Return a share, at most twice the least, that makes what multipliers leave of blocks semidefinite."""
    here, there = _leftovers(assembled, close), _leftovers(assembled, roomy)
    for share in 0.5 ** np.arange(14, -1, -1):
        blocks = ((1 - share) * one + share * other for one, other in zip(here, there, strict=True))
        if all(np.linalg.eigvalsh(block).min(initial=1.0) >= _COARSE_GRAIN for block in blocks):
            return float(share)
    return np.inf


def _leftovers(assembled: Assembled, solution: Solution) -> list[Array]:
    """Return of each block the matrix that multipliers leave between the objective and the constraints."""
    return [matrices[0] for matrices in _matrices(assembled, (_dual(solution) @ assembled.rows)[None])]


def _dual(solution: Solution) -> Array:
    return np.concatenate([[-1.0], solution.equality_multipliers, solution.multipliers])


def _matrices(assembled: Assembled, rows: Array) -> list[Array]:
    """Return the symmetric matrices of rows, block by block, shapes (rows, n, n)."""
    found, start = [], 0
    for size in assembled.sizes:
        i, j = triangle(size)
        matrices = np.zeros((len(rows), size, size))
        entries = rows[:, start : start + i.size] * np.where(i == j, 1.0, np.sqrt(0.5))
        matrices[:, i, j] = matrices[:, j, i] = entries
        found.append(matrices)
        start += i.size
    return found


def _factor(gram: Array) -> Array:
    lengths, vectors = np.linalg.eigh(gram)
    found: Array = np.sqrt(np.maximum(lengths, 0.0))[:, None] * vectors.T
    return found


def _excess(assembled: Assembled, factors: Sequence[Array], values: Array) -> Array:
    """By how much inequalities are broken."""
    grams = [factor.T @ factor for factor in factors]
    excess: Array = assembled.rows @ _columns(grams, values) - assembled.bounds
    return excess[1 + assembled.num_equalities :]


def _columns(grams: Sequence[Array], values: Array) -> Array:
    """Return what rows are multiplied by."""
    parts = []
    for gram in grams:
        i, j = triangle(len(gram))
        parts.append(gram[i, j] * np.where(i == j, 1.0, np.sqrt(2)))
    return np.concatenate([*parts, values])


def _slopes(assembled: Assembled, factors: Sequence[Array], chosen: Any) -> Array:
    """Return derivatives of some inequalities with respect to the factors, row by row, and the function values."""
    rows = assembled.rows[1 + assembled.num_equalities + chosen].toarray()
    # d <A, V'V> = <2 V A, dV> for a symmetric A.
    parts = [
        (2 * factor @ matrices).reshape(chosen.size, -1)
        for factor, matrices in zip(factors, _matrices(assembled, rows), strict=True)
    ]
    return np.concatenate([*parts, rows[:, assembled.num_entries :]], axis=1)
