r"""A certified lower bound of the diagonal skew, by cutting planes.

Ranking by the losses maximizes ``sum_k q_k F_k(w)`` over the polytope B of frequencies. So for every fixed q in B
``sum_k q_k(w) (F_k(w) - F_k*) >= sum_k q_k (F_k(w) - F_k*) + sum_k q_k F_k* - max_B sum_k q_k F_k*``, and the diagonal
skew is at least the infimum over w of the right-hand side divided by D(w). This is an eigenvalue, concave in q, which
is maximized here.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fedtheory._support.validate import Array
from fedtheory.exact._forms import Forms
from fedtheory.exact._problem import Problem
from fedtheory.exact._ranking import largest_product
from fedtheory.selection.laws import Ranked

_MOST_CUTS, _MOST_IDLE_CUTS = 200, 20
_TOLERANCE = 1e-9
_FREQUENCIES = 4e-13


class DiagonalBound(NamedTuple):
    """Largest eigenvalue found, its optimality gap over B, its frequencies, and the points z of the cuts."""

    value: float
    gap: float
    frequencies: Array
    points: Array


def ranked_matrices(forms: Forms, minima: Array, law: Ranked) -> Array:
    """Forms of ``(F_k - max_B q.F*) / D``: the excess losses, corrected for rankings by losses with unequal minima."""
    relative = minima - minima.min()
    if np.ptp(minima) == 0:
        return forms.matrices
    corrected = forms.matrices.copy()
    corrected[:, -1, -1] += (relative - largest_product(law, relative)) / forms.optimum.objective_gap
    return corrected


def proved_bound(problem: Problem, law: Ranked, bound: DiagonalBound) -> float:
    """Return a lower bound of the diagonal skew that is proved in integers, at most the eigenvalue found."""
    relative = problem.fed.minima - problem.fed.minima.min()
    # Relative errors of the frequencies are accounted for in all terms that do not vanish with D.
    own = Fraction(float(bound.frequencies @ relative)) * Fraction(1 - _FREQUENCIES)
    largest = Fraction(largest_product(law, relative)) * Fraction(1 + _FREQUENCIES)
    return problem.proved(bound.frequencies, bound.value, own - largest)


def diagonal_bound(matrices: Array, law: Ranked, max_cuts: int = _MOST_CUTS) -> DiagonalBound:
    """Maximize the smallest eigenvalue of ``sum_k q_k matrices_k`` over B.

    Each round solves the matrix game between the vertices of B and the points z found so far. The smallest eigenvalue
    for its frequencies is a lower bound of the maximum and gives a new point. The best vertex for its mixture of points
    is an upper bound and gives a new vertex.
    """
    start = law.frequencies(np.zeros(len(matrices)))
    best, z = _smallest(matrices, start)
    best_frequencies = start
    ceiling, points, payoffs = np.inf, [z], [_payoff(matrices, z)]
    vertices, idle = [start, law.frequencies(payoffs[0])], 0
    for _ in range(max_cuts):
        mixture, blend = _matrix_game(np.array(vertices) @ np.array(payoffs).T)
        frequencies = mixture @ np.array(vertices)
        value, z = _smallest(matrices, frequencies)
        target = blend @ np.array(payoffs)
        answer = law.frequencies(target)
        idle = 0 if value > best or answer @ target < ceiling else idle + 1
        ceiling = min(ceiling, float(answer @ target))
        if value > best:
            best, best_frequencies = value, frequencies
        if ceiling - best <= _TOLERANCE * max(1.0, ceiling) or idle > _MOST_IDLE_CUTS:
            break
        points.append(z)
        payoffs.append(_payoff(matrices, z))
        vertices += [answer, law.frequencies(payoffs[-1])]
    return DiagonalBound(best, max(ceiling - best, 0.0), best_frequencies, np.array(points))


def _smallest(matrices: Array, q: Array) -> tuple[float, Array]:
    values, vectors = np.linalg.eigh(np.tensordot(q, matrices, 1))
    return float(values[0]), vectors[:, 0]


def _payoff(matrices: Array, z: Array) -> Array:
    result: Array = np.einsum("i,kij,j->k", z, matrices, z)
    return result


def _matrix_game(payoffs: Array) -> tuple[Array, Array]:
    """Return optimal mixtures of the row player, who maximizes, and of the column player."""
    from scipy.optimize import linprog

    rows, columns = payoffs.shape
    scale = np.abs(payoffs).max() or 1.0
    solved = linprog(
        np.append(np.zeros(rows), -1.0),
        A_ub=np.hstack([-payoffs.T / scale, np.ones((columns, 1))]),
        b_ub=np.zeros(columns),
        A_eq=np.append(np.ones(rows), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return _distribution(solved.x[:rows]), _distribution(-solved.ineqlin.marginals)


def _distribution(masses: Array) -> Array:
    positive = np.maximum(masses, 0.0)
    result: Array = positive / positive.sum()
    return result
