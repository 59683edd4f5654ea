r"""Smallest ratio of the mean excess loss of n clients to that of all clients.

``l_n = min over |U| = n, inf over w of (1/n) sum_{k in U} (F_k(w) - F_k*) / sum_k p_k (F_k(w) - F_k*)``.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
# (the docstrings of compiled kernels state the types)

from itertools import combinations

import numpy as np
import numpy.typing as npt

from fedtheory._support.jit import compiled
from fedtheory._support.progress import announced
from fedtheory._support.threads import pinned
from fedtheory._support.validate import Array
from fedtheory.exact._arguments import quadratic
from fedtheory.exact._forms import Forms, smallest_of_sums
from fedtheory.exact._problem import problem_of
from fedtheory.federation.quadratic import QuadraticFederation

__all__ = ["subset_minima"]

_LARGEST_ISOTROPIC, _LARGEST = 30, 16
_BLOCK = 8


@announced("fedtheory minimizes over all sets of clients")
@pinned
def subset_minima(fed: QuadraticFederation) -> Array:
    r"""Smallest mean excess ratios ``l_n``, n = 1, ..., K, shape (K,): exact for few clients, lower bounds for many.

    Parameters
    ----------
    fed
        The clients. All 2^K subsets are enumerated for up to 30 clients with isotropic curvatures, or 16 with others.
        More clients are split into groups. For each n the sums of the groups' minima, minimized over the splits of n
        among the groups, are lower bounds.

    Examples
    --------
    Clients at +1 and -1: each loss is 0 at its center; the mean over both is the objective.

    >>> subset_minima(QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5]))
    array([0., 1.])
    """
    problem = problem_of(quadratic(fed))
    return least_ratios_of(problem.fed, problem.forms)


def least_ratios_of(fed: QuadraticFederation, ready: Forms) -> Array:
    """Return ``subset_minima`` for existing forms."""
    isotropic = fed.curvatures.ndim == 1 and ready.optimum.objective_gap > 0
    limit = _LARGEST_ISOTROPIC if isotropic else _LARGEST
    num_groups = -(-fed.num_clients // limit)
    groups = [np.arange(fed.num_clients)[first::num_groups] for first in range(num_groups)]
    sums = np.zeros(1)
    for group in groups:
        smallest = _isotropic_sums(fed, ready, group) if isotropic else _general_sums(ready, group)
        sums = _best_splits(sums, np.append(0.0, np.maximum(smallest, 0.0)))
    result: Array = sums[1:] / np.arange(1, fed.num_clients + 1)
    return result


def _best_splits(left: Array, right: Array) -> Array:
    """Return the smallest ``left[i] + right[n - i]`` for each n."""
    best = np.full(left.size + right.size - 1, np.inf)
    for i, value in enumerate(left):
        best[i : i + right.size] = np.minimum(best[i : i + right.size], value + right)
    return best


def _general_sums(ready: Forms, group: npt.NDArray[np.int64]) -> Array:
    matrices = ready.matrices[group]
    sizes = range(1, group.size + 1)
    return np.array([smallest_of_sums(matrices, np.array([*combinations(range(group.size), n)])).min() for n in sizes])


def _isotropic_sums(fed: QuadraticFederation, ready: Forms, group: npt.NDArray[np.int64]) -> Array:
    H, gap = float(fed.weights @ fed.curvatures), ready.optimum.objective_gap
    h, offsets = fed.curvatures[group], ready.optimum.offsets[group]
    at_infinity = h / H
    at_minimizer = 0.5 * h * (offsets**2).sum(axis=1) / gap
    between = h[:, None] * offsets / np.sqrt(2 * H * gap)
    smallest = np.full(group.size, np.inf)
    _enumerate(at_infinity, at_minimizer, np.ascontiguousarray(between), _BLOCK, smallest)
    return smallest


@compiled
def _enumerate(at_infinity, at_minimizer, between, block, smallest):
    """Fill ``smallest[n-1]`` with the smallest root of ``(a - t)(e - t) = |b|^2`` for sums a, e, b over n clients.

    A Gray code changes one client at a time; the sums are recomputed every 2^8 subsets, so that rounding errors stay
    small.
    """
    num_clients, dim = between.shape
    low = min(block, num_clients)
    b = np.zeros(dim)
    for high in range(1 << (num_clients - low)):
        a, e, n = 0.0, 0.0, 0
        b[:] = 0.0
        for k in range(low, num_clients):
            if (high >> (k - low)) & 1:
                a, e, n = a + at_infinity[k], e + at_minimizer[k], n + 1
                for i in range(dim):
                    b[i] += between[k, i]
        code = 0
        for step in range(1 << low):
            if step:
                k = _lowest_bit(step)
                sign = -1.0 if (code >> k) & 1 else 1.0
                code ^= 1 << k
                a, e, n = a + sign * at_infinity[k], e + sign * at_minimizer[k], n + int(sign)
                for i in range(dim):
                    b[i] += sign * between[k, i]
            if n:
                square = 0.0
                for i in range(dim):
                    square += b[i] * b[i]
                record = smallest[n - 1]
                if a <= record or e <= record or (a - record) * (e - record) < square:
                    smallest[n - 1] = min(record, _least_root(a, e, square))


@compiled
def _lowest_bit(number):
    position = 0
    while not number & 1:
        number >>= 1
        position += 1
    return position


@compiled
def _least_root(a, e, square):
    return (a * e - square) / (0.5 * (a + e + np.sqrt((a - e) ** 2 + 4.0 * square)))
