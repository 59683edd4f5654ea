r"""Selection skew of quadratic federations at a model, and its extremes over all models.

Source: Cho, Wang, Joshi (2020), Definition 3.2, with ``sum_k p_k (F_k(w) - F_k*)`` in the denominator.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.threads import pinned
from fedtheory._support.validate import Array
from fedtheory.errors import AssumptionViolated
from fedtheory.exact._arguments import quadratic
from fedtheory.exact._extremes import homogeneous_extremes, isotropic_extremes
from fedtheory.exact._forms import forms, optimum
from fedtheory.federation.quadratic import QuadraticFederation

__all__ = ["skew", "skew_extremes"]


def skew(fed: QuadraticFederation, frequencies: npt.ArrayLike, w: npt.ArrayLike) -> Array:
    r"""Return the selection skew ``rho(q, w) = sum_k q_k (F_k(w) - F_k*) / sum_k p_k (F_k(w) - F_k*)``.

    Parameters
    ----------
    fed
        The clients, with weights p.
    frequencies
        Selection frequencies q, shape (K,), of sum 1.
    w
        Models, shape (..., v); the skews have the shape (...).

    Raises
    ------
    AssumptionViolated
        If the denominator is zero at a model: it minimizes all clients of positive weight, and the skew is 0/0.

    Examples
    --------
    Clients at +1 and -1. At w = 1/2 their losses are 1/8 and 9/8, and the skew of the worse one is 9/8 / (5/8) = 9/5.

    >>> fed = QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])
    >>> float(skew(fed, [0.0, 1.0], [0.5]))
    1.8
    """
    fed = quadratic(fed)
    q = validate.probability_vector("frequencies", frequencies, size=fed.num_clients)
    excess = fed.excesses(w)
    total = excess @ fed.weights
    if np.any(total <= 0):
        message = "the skew needs a positive sum_k p_k (F_k(w) - F_k*), got 0/0 at a common minimizer of the clients"
        raise AssumptionViolated(message)
    result: Array = np.asarray(excess @ q / total)[()]
    return result


@pinned
def skew_extremes(fed: QuadraticFederation, frequencies: npt.ArrayLike) -> tuple[float, float]:
    r"""Infimum and supremum of the skew ``rho(q, w)`` over all models w, for fixed frequencies q.

    Each is attained at some model or approached at infinity. The supremum is infinite if all clients of positive weight
    share a minimizer and a selected client of weight zero has another one.

    Parameters
    ----------
    fed
        The clients, with weights p.
    frequencies
        As in ``skew``.

    Notes
    -----
    Numerator and denominator are quadratic forms in (x, tau), w = w* + x/tau, so that the extremes are those of a
    generalized eigenproblem of size v + 1, which has a closed form for isotropic curvatures.

    Examples
    --------
    Clients at +1 and -1: ``(w+1)^2 / (w^2+1)`` is between 0, at w = -1, and 2, at w = 1.

    >>> fed = QuadraticFederation([1.0, 1.0], [[1.0], [-1.0]], [0.5, 0.5])
    >>> skew_extremes(fed, [0.0, 1.0])
    (0.0, 2.0)
    """
    fed = quadratic(fed)
    q = validate.probability_vector("frequencies", frequencies, size=fed.num_clients)
    at = optimum(fed)
    if at.objective_gap == 0:
        return homogeneous_extremes(fed, forms(fed), q)
    if fed.curvatures.ndim == 1:
        return isotropic_extremes(fed, at, q)
    eigenvalues = np.linalg.eigvalsh(forms(fed).mixture(q))
    return max(float(eigenvalues[0]), 0.0), float(eigenvalues[-1])
