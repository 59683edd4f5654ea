r"""Sets of m clients that can have the m largest losses: the relevant rankings if all clients are candidates.

For isotropic curvatures every loss is affine in (w, s) at ``s = |w|^2``. If no point with ``s >= |w|^2`` ranks the set
U first, multipliers prove it: nonnegative numbers on U and outside, each of sum 1, for which ``sum_U lambda_i F_i -
sum_outside nu_j F_j`` is a concave quadratic with a negative maximum. The multipliers come from a cone program; the
maximum is computed here without rounding and is the proof.
"""

import warnings
from collections.abc import Callable
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np

from fedtheory._support.validate import Array, Mask
from fedtheory.arithmetic.matrices import is_semidefinite, over_common, solved
from fedtheory.exact._forms import smallest_of_sums
from fedtheory.exact._integer_forms import IntegerForms, Integers, integers
from fedtheory.exact._problem import Problem

_MOST_SETS, _MOST_PROGRAMS = 200_000, 400


class TopSets(NamedTuple):
    """Lower bound of the skew over the sets that may rank first, and the models that the programs returned."""

    lower: float
    models: list[Array]


class _Losses(NamedTuple):
    """Losses ``bend_k s + pull_k.x + level_k`` in scaled offsets x from w*, with s for ``|x|^2``."""

    bend: Array
    pull: Array
    level: Array


def is_tractable(problem: Problem, m: int) -> bool:
    """Whether the curvatures are isotropic, the sets few enough for enumeration, and the centers not all equal."""
    fed = problem.fed
    few = m < fed.num_clients and comb(fed.num_clients, m) <= _MOST_SETS
    return fed.curvatures.ndim == 1 and few and problem.objective_gap > 0


def least_over_top_sets(problem: Problem, m: int, upper: float) -> TopSets:
    """Check the sets with an infimum below ``upper`` in increasing order, until one cannot be excluded."""
    fed, exact = problem.fed, problem.exact
    sets = np.array(list(combinations(range(fed.num_clients), m)))
    infima = (smallest_of_sums(problem.forms.matrices, sets) - problem.forms.rounding) / m
    candidates = np.flatnonzero(infima < upper)
    scale = float(np.linalg.norm(problem.forms.optimum.offsets, axis=1).max())
    solve = _program(_scaled_losses(problem, scale))
    models: list[Array] = []
    increasing = candidates[np.argsort(infima[candidates])]
    later = np.append(infima[increasing[1:]], upper)
    for index, next_infimum in zip(increasing[:_MOST_PROGRAMS], later, strict=False):
        is_top = np.isin(np.arange(fed.num_clients), sets[index])
        multipliers, x = solve(is_top)
        if x is not None:
            models.append(fed.minimizer + scale * x)
        if multipliers is None or not _excludes(exact, is_top, multipliers):
            infimum = problem.proved(is_top / m, float(infima[index]) + problem.forms.rounding / m)
            return TopSets(max(min(infimum, float(next_infimum)), 0.0), models)
    lower = upper if increasing.size <= _MOST_PROGRAMS else infima[increasing[_MOST_PROGRAMS]]
    return TopSets(max(float(lower), 0.0), models)


def _scaled_losses(problem: Problem, scale: float) -> _Losses:
    h, offsets, minima = problem.fed.curvatures, problem.forms.optimum.offsets / scale, problem.fed.minima
    level = 0.5 * h * (offsets**2).sum(axis=1) + (minima - minima.mean()) / scale**2
    unit = float(h.mean())
    return _Losses(0.5 * h / unit, -h[:, None] * offsets / unit, level / unit)


def _program(losses: _Losses) -> Callable[[Mask], tuple[Array | None, Array | None]]:
    """Compile the program once: minimize the violation of "all losses in U are above a level and all others below"."""
    import cvxpy as cp

    num_clients, dim = losses.pull.shape
    sign = cp.Parameter(num_clients)
    x, s, level, violation = cp.Variable(dim), cp.Variable(), cp.Variable(), cp.Variable()
    values = losses.bend * s + losses.pull @ x + losses.level
    ranked = cp.multiply(sign, values - level) + violation >= 0
    problem = cp.Problem(cp.Minimize(violation), [ranked, cp.sum_squares(x) <= s, violation >= -1])

    def solve(is_top: Mask) -> tuple[Array | None, Array | None]:
        sign.value = np.where(is_top, 1.0, -1.0)
        try:
            with warnings.catch_warnings():
                # Inaccurate multipliers are harmless: they prove the exclusion or they do not.
                warnings.simplefilter("ignore")
                problem.solve(solver=cp.CLARABEL)
        except cp.SolverError:
            return None, None
        return _value(ranked.dual_value), _value(x.value)

    return solve


def _value(found: Any) -> Array | None:
    return None if found is None or not np.isfinite(found).all() else np.asarray(found, dtype=np.float64)


def _excludes(exact: IntegerForms, is_top: Mask, multipliers: Array) -> bool:
    """Whether ``max_w sum_U lambda F - sum_outside nu F`` is negative, in integers, so that no model ranks U first."""
    masses, _ = integers(np.maximum(multipliers, 0.0))
    sides = np.where(is_top, -1, 1).astype(object)
    curvatures = exact.forms[:, 0, 0]
    if (curvatures == curvatures[0]).all():
        masses = _balanced(exact, sides, masses)
    if (masses < 0).any():
        return False
    factors = sides * masses
    factors[is_top] *= masses[~is_top].sum()
    factors[~is_top] *= masses[is_top].sum()
    form = np.tensordot(factors, exact.forms, 1)
    form[-1, -1] += factors @ exact.minima - 1
    return is_semidefinite(form)


def _balanced(exact: IntegerForms, sides: Integers, masses: Integers) -> Integers:
    """Change masses slightly so that the slope vanishes in directions without curvature; else return them unchanged.

    With C the rows (1, c_k) times the side, the masses ``x (1 - C y)``, ``(C' diag(x) C) y = C' x``, have ``C' x = 0``.
    Some of them may be negative.
    """
    rows = sides[:, None] * np.column_stack([np.full(len(sides), 1, dtype=object), exact.centers])
    try:
        whole, common = over_common(solved(rows.T @ (masses[:, None] * rows), rows.T @ masses))
    except ValueError:
        return masses
    result: Integers = masses * (common - rows @ whole)
    return result
