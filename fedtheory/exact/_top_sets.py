r"""Which sets of m clients can have the m largest losses: the rankings that matter when everybody is a candidate.

For isotropic curvatures every loss is affine in (w, s) at ``s = |w|^2``. If already no point with ``s >= |w|^2`` ranks
the set U first, multipliers prove it: nonnegative numbers on U and outside, each of sum 1, for which
``sum_U lambda_i F_i - sum_outside nu_j F_j`` is a concave quadratic with a negative maximum. The multipliers come from
a cone program; the proof is that maximum, computed here.
"""

from collections.abc import Callable
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._validate import Array
from fedtheory.exact._forms import Forms, smallest_of_sums
from fedtheory.federation.quadratic import QuadraticFederation

__all__ = ["TopSets", "is_tractable", "least_over_top_sets"]

_MOST_SETS, _MOST_PROGRAMS = 200_000, 400
_MARGIN = 1e-9


class TopSets(NamedTuple):
    """Lower bound of the skew over the sets that may rank first, and models that the programs ended at."""

    lower: float
    models: list[Array]


class _Losses(NamedTuple):
    """Losses ``bend_k s + pull_k.x + level_k`` in scaled offsets x from w*, with s for ``|x|^2``."""

    bend: Array
    pull: Array
    level: Array


def is_tractable(fed: QuadraticFederation, m: int) -> bool:
    """Whether the curvatures are isotropic and the sets few enough to look at all."""
    return fed.curvatures.ndim == 1 and m < fed.num_clients and comb(fed.num_clients, m) <= _MOST_SETS


def least_over_top_sets(fed: QuadraticFederation, forms: Forms, m: int, upper: float) -> TopSets:
    """Go through the sets with a smaller infimum than ``upper``, in increasing order, until one cannot be excluded."""
    sets = np.array(list(combinations(range(fed.num_clients), m)))
    infima = smallest_of_sums(forms.matrices, sets) / m
    candidates = np.flatnonzero(infima < upper)
    scale = float(np.linalg.norm(fed.centers - fed.minimizer, axis=1).max())
    losses = _scaled_losses(fed, scale)
    solve = _program(losses)
    models = []
    for index in candidates[np.argsort(infima[candidates])][:_MOST_PROGRAMS]:
        is_top = np.isin(np.arange(fed.num_clients), sets[index])
        multipliers, x = solve(is_top)
        if x is not None:
            models.append(fed.minimizer + scale * x)
        if multipliers is None or not _excludes(losses, is_top, multipliers):
            return TopSets(max(float(infima[index]), 0.0), models)
    is_complete = candidates.size <= _MOST_PROGRAMS
    lower = upper if is_complete else float(np.sort(infima[candidates])[_MOST_PROGRAMS])
    return TopSets(max(lower, 0.0), models)


def _scaled_losses(fed: QuadraticFederation, scale: float) -> _Losses:
    h, offsets = fed.curvatures, (fed.centers - fed.minimizer) / scale
    level = 0.5 * h * (offsets**2).sum(axis=1) + (fed.minima - fed.minima.mean()) / scale**2
    unit = float(h.mean())
    return _Losses(0.5 * h / unit, -h[:, None] * offsets / unit, level / unit)


def _program(losses: _Losses) -> Callable[[npt.NDArray[np.bool_]], tuple[Array | None, Array | None]]:
    """Compile once: minimize the violation of "everybody in U is above a level and everybody else below"."""
    import cvxpy as cp

    num_clients, dim = losses.pull.shape
    sign = cp.Parameter(num_clients)
    x, s, level, violation = cp.Variable(dim), cp.Variable(), cp.Variable(), cp.Variable()
    values = losses.bend * s + losses.pull @ x + losses.level
    ranked = cp.multiply(sign, values - level) + violation >= 0
    problem = cp.Problem(cp.Minimize(violation), [ranked, cp.sum_squares(x) <= s, violation >= -1])

    def solve(is_top: npt.NDArray[np.bool_]) -> tuple[Array | None, Array | None]:
        sign.value = np.where(is_top, 1.0, -1.0)
        try:
            problem.solve(solver=cp.CLARABEL)
        except cp.SolverError:
            return None, None
        return _value(ranked.dual_value), _value(x.value)

    return solve


def _value(found: Any) -> Array | None:
    return None if found is None or not np.isfinite(found).all() else np.asarray(found, dtype=np.float64)


def _excludes(losses: _Losses, is_top: npt.NDArray[np.bool_], multipliers: Array) -> bool:
    """Whether ``max_x sum_U lambda F - sum_outside nu F`` is negative, so that no model ranks U first."""
    masses = np.maximum(multipliers, 0.0)
    inside, outside = masses * is_top, masses * ~is_top
    if inside.sum() == 0 or outside.sum() == 0:
        return False
    factors = inside / inside.sum() - outside / outside.sum()
    bend, pull, level = factors @ losses.bend, factors @ losses.pull, factors @ losses.level
    if bend >= 0:
        return False
    return bool(level - pull @ pull / (4 * bend) < -_MARGIN)
