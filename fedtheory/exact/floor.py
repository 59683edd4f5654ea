r"""Error floor of biased selection: the limit of federated averaging with small steps.

Ranking by the losses maximizes ``sum_k q_k F_k(w)`` over the polytope B of selection frequencies. Therefore pow-d
follows subgradients of the convex function ``N(w) = max_{q in B} sum_k q_k F_k(w)``; with small or decaying steps it
converges to the minimizer of N. The dual, ``max_{q in B} min_w sum_k q_k F_k(w)``, certifies the accuracy of a point.
"""

from typing import NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory._support.threads import pinned
from fedtheory._support.validate import Array
from fedtheory._support.wording import truncate
from fedtheory.exact._arguments import frequency_law, quadratic
from fedtheory.exact._problem import busy_clients
from fedtheory.exact._ranking import among
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.selection.laws import Fixed, KnowsItsLaw, Ranked

__all__ = ["ErrorFloor", "error_floor"]

# Relative to the objective gap. They only affect how soon the outer loop may stop.
_PRECISION, _MOST_STEPS = 1e-15, 200

_MOST_VERTICES = 300
"""Largest number of vertices of the polytope; a few dozen were enough in all cases tried."""


class ErrorFloor(NamedTuple):
    """Limit of federated averaging for small steps: error, minimizer and duality gap.

    Attributes
    ----------
    value, minimizer
        ``F(w) - F*`` at the minimizer w of N, shape (v,), found up to ``distance``.
    gap, distance
        Duality gap, and the bound ``sqrt(2 gap / mu)`` on the distance to the exact minimizer.
    frequencies
        Selection frequencies at the limit, shape (K,), for which the mean gradient is zero.
    """

    value: float
    minimizer: Array
    gap: float
    distance: float
    frequencies: Array


@pinned
def error_floor(fed: QuadraticFederation, strategy: KnowsItsLaw, *, tolerance: float = 1e-12) -> ErrorFloor:
    r"""Limit of the error of federated averaging with vanishing steps.

    Parameters
    ----------
    fed
        Quadratic clients.
    strategy
        A strategy with a known law: fixed frequencies, or a ranking that prefers large losses, such as Power-of-Choice
        with a fixed number of candidates.
    tolerance
        Requested duality gap, relative to the objective gap.

    Examples
    --------
    One of two clients with unequal curvatures at +-1, always the worse one: the limit is w = -1/3, where both losses
    are equal, ``(w - 1)^2 = 4 (w + 1)^2``. F has its minimum at w = -3/5 and F'' = 5/2, and 1/2 5/2 (4/15)^2 = 4/45.

    >>> fed = QuadraticFederation([1.0, 4.0], [[1.0], [-1.0]], [0.5, 0.5])
    >>> from fedtheory.selection.power_of_choice import PowerOfChoice
    >>> round(error_floor(fed, PowerOfChoice(1, 2)).value * 45, 9)
    4.0
    """
    fed = quadratic(fed)
    tolerance = validate.double("tolerance", validate.nonnegative("tolerance", tolerance))
    law = frequency_law(strategy, fed.weights)
    if isinstance(law, Fixed):
        w = _minimizer(fed, law.mean)
        return ErrorFloor(float(fed.excess(w)), w, 0.0, 0.0, law.mean)
    if not law.prefers_large:
        message = (
            f"strategy must prefer the clients with the largest losses for an error floor, got {truncate(strategy)}"
        )
        raise TypeError(message)
    is_busy, busy = fed.weights > 0, busy_clients(fed)
    q, gap = _best_frequencies(busy, among(law, is_busy), tolerance)
    w = _minimizer(busy, q)
    everyone = np.zeros(fed.num_clients)
    everyone[is_busy] = q
    return ErrorFloor(float(fed.excess(w)), w, gap, float(np.sqrt(2 * gap / fed.strong_convexity)), everyone)


def _minimizer(fed: QuadraticFederation, q: Array) -> Array:
    """Return the minimizer of ``sum_k q_k F_k``."""
    if fed.is_diagonal:
        lowest: Array = (q @ (fed.diagonals * fed.centers)) / (q @ fed.diagonals)
        return lowest
    mean = np.einsum("k,kij->ij", q, fed.matrices)
    return np.linalg.solve(mean, np.einsum("k,kij,kj->i", q, fed.matrices, fed.centers))


def _best_frequencies(fed: QuadraticFederation, law: Ranked, tolerance: float) -> tuple[Array, float]:
    """Maximize ``min_w sum_k q_k F_k(w)`` over B; return the frequencies and the duality gap.

    Each round minimizes the largest of the mean losses over the vertices found so far, takes its multipliers as masses
    of the vertices, and adds the vertex that ranks by the losses at the minimizer of their mean.
    """
    q = _vertex(law, fed.losses(fed.minimizer))
    vertices, best, best_gap = [q], q, np.inf
    for _ in range(_MOST_VERTICES):
        w = _minimizer(fed, q)
        losses = fed.losses(w)
        vertices.append(_vertex(law, losses))
        gap = max(float((vertices[-1] - q) @ losses), 0.0)
        if gap < best_gap:
            best, best_gap = q, gap
        if gap <= tolerance * fed.objective_gap:
            break
        corners = np.unique(vertices, axis=0)
        q = _multipliers(fed, corners, _smallest_maximum(fed, corners, w)) @ corners
    return best, best_gap


def _vertex(law: Ranked, losses: Array) -> Array:
    """Return the vertex of B that maximizes the mean loss; ties are broken by index, since means are not vertices."""
    ranks = np.empty(losses.size)
    ranks[np.argsort(-losses, kind="stable")] = -np.arange(float(losses.size))
    return law.frequencies(ranks)


def _smallest_maximum(fed: QuadraticFederation, corners: Array, w: Array) -> Array:
    """Minimize ``max_i sum_k corners[i, k] F_k(w)`` from a starting model: a small convex program in (w, t)."""
    from scipy.optimize import minimize

    gap = fed.objective_gap
    length = np.sqrt(gap / fed.smoothness)  # unit of w and of gap / gradient, which makes the program dimensionless
    upward = np.append(np.zeros(fed.dim), 1.0)
    above_all = {
        "type": "ineq",
        "fun": lambda x: x[-1] - corners @ (fed.losses(length * x[:-1]) - fed.minimum) / gap,
        "jac": lambda x: np.column_stack(
            [-corners @ fed.gradients(length * x[:-1]) * length / gap, np.ones(len(corners))]
        ),
    }
    solved = minimize(
        lambda x: x[-1], np.append(w / length, 0.0), jac=lambda _: upward, constraints=[above_all], method="SLSQP",
        options={"ftol": _PRECISION, "maxiter": _MOST_STEPS},
    )  # fmt: skip
    result: Array = length * solved.x[:-1]
    return result


def _multipliers(fed: QuadraticFederation, corners: Array, w: Array) -> Array:
    """Return masses of the corners with the largest mean loss at w that minimize the mean gradient."""
    from scipy.optimize import nnls

    means = corners @ fed.losses(w)
    active = np.flatnonzero(means >= means.max() - 1e-7 * fed.objective_gap)
    gradients = corners[active] @ fed.gradients(w)
    scale = np.abs(gradients).max() or 1.0
    system = np.vstack([gradients.T / scale, np.ones(active.size)])
    masses = np.zeros(len(corners))
    masses[active] = nnls(system, np.append(np.zeros(fed.dim), 1.0))[0]
    result: Array = masses / masses.sum()
    return result
