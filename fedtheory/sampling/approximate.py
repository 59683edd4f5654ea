"""Approximate optimal probabilities from sums (AOCS), computed by Newton's method."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.sampling import newton
from fedtheory.sampling.arguments import Numbers, checked_budget, checked_norms, is_plain, numbers
from fedtheory.sampling.optimal import SATURATED, near_top

__all__ = ["approximate_probabilities", "approximation_path"]

_MOST_RESCALINGS = 10**5


class Approximation(NamedTuple):
    """Probabilities (n,), number of rescalings that changed one, and whether another would change nothing."""

    probabilities: Array
    num_rescalings: int
    converged: bool


def approximate_probabilities(norms: npt.ArrayLike, expected_size: float, max_iterations: int = 4) -> Array:
    """Probabilities ``min(1, c_j t_i)`` after j = max_iterations rescalings of ``c_0 = m / sum_i t_i``.

    A rescaling multiplies c by ``(m - n + I) / P``, where I is the number of clients below 1 and P is the sum of their
    probabilities. The server needs only these sums and not the norms. Each rescaling is a Newton step for ``sum_i
    min(1, c t_i) = m``, so ``ceil(m) - 1`` rescalings always suffice (Theorem A of the documentation).

    Source: Chen, Horvath and Richtarik (2022), Algorithm 2.

    Parameters
    ----------
    norms
        Norms of the weighted updates, ``t_i = w_i |U_i|``, shape (n,), finite and at least 0; norm 0 gets the
        probability 0.
    expected_size
        Budget m, any real number in (0, n].
    max_iterations
        Largest number of rescalings, at least 1.

    Examples
    --------
    The first probabilities are ``2 t / 6 = (1/3, 1/3, 4/3)``, clipped to 1. The factor of the rescaling is (2 - 3 + 2)
    / (2/3) = 3/2.

    >>> approximate_probabilities([1.0, 1.0, 4.0], 2, max_iterations=1)
    array([0.5, 0.5, 1. ])
    """
    return approximation(norms, expected_size, max_iterations).probabilities


def approximation(norms: npt.ArrayLike, expected_size: float, max_iterations: int = 4) -> Approximation:
    """Return the probabilities of ``approximate_probabilities`` with the number of rescalings."""
    t: Any = norms if is_plain(norms) else checked_norms(norms)
    budget = checked_budget(expected_size, t.size)
    limit = max_iterations
    if type(limit) is not int or limit < 1:
        limit = validate.count("max_iterations", max_iterations)
    limit = min(limit, t.size)  # never more than this are needed
    probabilities = np.empty(t.size)
    few = t.size < newton.FEW
    write = newton.write_approximate if few else newton.compiled_write_approximate
    with np.errstate(all="ignore"):
        rest, made, moves, near, num_legal = write(t, budget, limit, probabilities)
    if num_legal < t.size:
        checked_norms(t)  # raises the error
    if near or (not newton.SMALLEST_SUM < rest < newton.LARGEST_SUM and t.any()):
        made, moves = write_decided(t, budget, limit, probabilities)
    return Approximation(probabilities, int(made), not moves)


def approximation_path(norms: Numbers, expected_size: float | Fraction, num_rescalings: int) -> Sequence[Any]:
    """Return the steps of Algorithm 2: the probabilities after 0, 1, ... rescalings, each of shape (n,).

    This is a literal implementation of the paper's algorithm in plain Python. Norms, shape (n,), given as
    ``fractions.Fraction`` are computed exactly; the budget is in (0, n]. If all norms of the clients below 1 are 0, the
    formula is 0/0 and the rescaling changes nothing.

    >>> from fractions import Fraction
    >>> print(*approximation_path([Fraction(1), Fraction(1), Fraction(4)], 2, 1)[1])
    1/2 1/2 1
    """
    t = numbers("norms", norms)
    validate.count("num_rescalings", num_rescalings, 0, _MOST_RESCALINGS)
    exact = t.dtype == object
    checked_budget(expected_size, len(t))
    m = Fraction(expected_size) if exact else float(expected_size)
    total = t.sum()
    p = np.minimum(1, m / total * t) if total else 0 * t
    path = [p]
    for _ in range(num_rescalings):
        below = p < 1
        reachable = p[below].sum()
        if reachable > 0:
            p = np.where(below, np.minimum(1, (m - len(t) + int(below.sum())) / reachable * p), p)
        path.append(p)
    return path


_SMALLEST_EXPONENT = 1074


class _Decided(NamedTuple):
    """End of the iteration: numbers of the largest norms that are fixed at 1, and at 1; steps; whether one is left."""

    taken: int
    at_one: int
    num_rescalings: int
    moves: bool


def write_decided(norms: Array, budget: float, max_rescalings: int, probabilities: Array) -> tuple[int, bool]:
    """Write the probabilities after some rescalings; return the number that changed one, and whether another would."""
    largest = np.sort(norms)[::-1]
    end = _decide([_whole(t) for t in largest.tolist()], budget, max_rescalings)
    saturated = norms >= (largest[end.taken - 1] if end.taken else np.inf)
    scaled = near_top(norms, saturated)
    rest, _ = newton.compiled_below(scaled, SATURATED, probabilities)
    newton.compiled_write(scaled, rest, budget - end.taken, probabilities)
    if end.at_one:
        probabilities[norms >= largest[end.at_one - 1]] = 1.0
    return end.num_rescalings, end.moves


def _whole(t: float) -> int:
    # In units of the smallest positive double.
    numerator, denominator = t.as_integer_ratio()
    return numerator << (_SMALLEST_EXPONENT + 1 - denominator.bit_length())


def _decide(largest: list[int], budget: float, max_rescalings: int) -> _Decided:
    # Rescale c = room / rest, in units of 1 / whole, while one client is strictly above 1 and another one is below 1.
    spent, whole = budget.as_integer_ratio()
    rest, taken, made = sum(largest), 0, 0
    while True:
        room, at_one = spent - taken * whole, taken
        while at_one < len(largest) and largest[at_one] * room >= rest * whole:
            at_one += 1
        remaining = rest - sum(largest[taken:at_one])
        moves = remaining > 0 and largest[taken] * room > rest * whole
        if not moves or made == max_rescalings:
            return _Decided(taken, at_one, made, moves)
        rest, taken, made = remaining, at_one, made + 1
