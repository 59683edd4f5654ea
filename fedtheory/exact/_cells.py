"""Selection skews in one dimension, exactly: between two points where losses cross, the ranking does not change."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._validate import Array
from fedtheory.exact._forms import Forms
from fedtheory.exact._ranking import RankingLaw
from fedtheory.federation.quadratic import QuadraticFederation

__all__ = ["ExactSkews", "skews_in_one_dimension"]

_SAME = 1e-11


class ExactSkews(NamedTuple):
    """rho_bar, rho_tilde times the objective gap, and the diagonal skew."""

    rho_bar: float
    excess_at_minimizer: float
    rho_diagonal: float


class _Cell(NamedTuple):
    """Interval of models with one ranking, closed; a single point where several losses tie."""

    left: float
    right: float
    frequencies: Array


def skews_in_one_dimension(fed: QuadraticFederation, forms: Forms, law: RankingLaw) -> ExactSkews:
    """Go through all rankings that occur.

    Where just two losses tie, the frequencies are the mean of those on both sides and cannot be extreme; where more
    tie, they are looked at as well. Crossings closer than 1e-11 of the range of models count as one.
    """
    excess = fed.excesses(fed.minimizer)
    rho_bar, at_minimizer, rho_diagonal = np.inf, -np.inf, np.inf
    for cell in _all_cells(fed, law):
        rho_bar = min(rho_bar, float(np.linalg.eigvalsh(forms.mixture(cell.frequencies))[0]))
        at_minimizer = max(at_minimizer, float(cell.frequencies @ excess))
        rho_diagonal = min(rho_diagonal, _least_ratio(fed, cell))
    return ExactSkews(max(rho_bar, 0.0), at_minimizer, rho_diagonal)


def _all_cells(fed: QuadraticFederation, law: RankingLaw) -> Iterator[_Cell]:
    crossings, pairs = _crossings(fed)
    scale = max(1.0, float(np.abs(fed.centers - fed.minimizer).max()), float(np.abs(crossings).max(initial=0.0)))
    starts = np.flatnonzero(np.diff(crossings, prepend=-np.inf) > _SAME * scale)
    clusters = np.split(np.arange(crossings.size), starts[1:]) if crossings.size else []
    walls = [float(crossings[cluster].mean()) for cluster in clusters]
    for left, right in zip([-np.inf, *walls], [*walls, np.inf], strict=True):
        yield _Cell(left, right, law.frequencies(fed.losses([_inside(left, right, scale)])))
    for wall, cluster in zip(walls, clusters, strict=True):
        if cluster.size > 1:
            yield _Cell(wall, wall, law.frequencies(_tied(fed.losses([wall]), pairs[cluster])))


def _inside(left: float, right: float, scale: float) -> float:
    if np.isinf(left) and np.isinf(right):
        return 0.0
    if np.isinf(left):
        return right - scale
    return left + scale if np.isinf(right) else 0.5 * (left + right)


def _crossings(fed: QuadraticFederation) -> tuple[Array, npt.NDArray[np.int64]]:
    """Sorted models where two losses are equal, with the pairs (n, 2) of clients."""
    h, c, minima = fed.diagonals[:, 0], fed.centers[:, 0] - fed.minimizer[0], fed.minima
    roots, pairs = [], []
    for i in range(fed.num_clients):
        for j in range(i + 1, fed.num_clients):
            difference = (
                0.5 * (h[i] - h[j]),
                h[j] * c[j] - h[i] * c[i],
                0.5 * (h[i] * c[i] ** 2 - h[j] * c[j] ** 2) + (minima[i] - minima[j]),
            )
            for root in _real_roots(*difference):
                roots.append(root + fed.minimizer[0])
                pairs.append((i, j))
    order = np.argsort(roots)
    return np.array(roots)[order], np.array(pairs, dtype=np.int64).reshape(-1, 2)[order]


def _real_roots(a: float, b: float, c: float) -> list[float]:
    """Return the real roots of ``a x^2 + b x + c``, without cancellation."""
    if a == 0:
        return [-c / b] if b else []
    discriminant = b * b - 4 * a * c
    if discriminant < 0:
        return []
    q = -0.5 * (b + np.copysign(np.sqrt(discriminant), b))
    return [q / a, c / q] if q else [0.0]


def _tied(losses: Array, pairs: npt.NDArray[np.int64]) -> Array:
    """Give the clients that a chain of crossings connects the same loss."""
    equal = losses.copy()
    for _ in range(len(pairs)):
        for i, j in pairs:
            equal[i] = equal[j] = max(equal[i], equal[j])
    return equal


def _least_ratio(fed: QuadraticFederation, cell: _Cell) -> float:
    """Infimum of ``sum q_k (F_k - F_k*) / sum p_k (F_k - F_k*)`` over the cell."""
    numerator, denominator = _parabola(fed, cell.frequencies), _parabola(fed, fed.weights)
    (n2, n1, n0), (d2, d1, d0) = numerator, denominator
    # the numerator of the derivative of the quotient, N'D - ND'
    stationary = _real_roots(n2 * d1 - n1 * d2, 2 * (n2 * d0 - n0 * d2), n1 * d0 - n0 * d1)
    left, right = cell.left - fed.minimizer[0], cell.right - fed.minimizer[0]
    inside = [x for x in stationary if left <= x <= right]
    ends = [x for x in (left, right) if np.isfinite(x)]
    ratios = [_quotient(numerator, denominator, x) for x in [*inside, *ends]]
    at_infinity = [] if np.isfinite([left, right]).all() else [numerator[0] / denominator[0]]
    return float(min([*ratios, *at_infinity]))


def _quotient(numerator: Array, denominator: Array, x: float) -> float:
    value = float(np.polyval(denominator, x))
    return float(np.polyval(numerator, x)) / value if value > 0 else np.inf


def _parabola(fed: QuadraticFederation, factors: Array) -> Array:
    """Coefficients, in the offset from w*, of the weighted sum of excess losses."""
    h, c = fed.diagonals[:, 0], fed.centers[:, 0] - fed.minimizer[0]
    return 0.5 * np.array([factors @ h, -2 * factors @ (h * c), factors @ (h * c**2)])
