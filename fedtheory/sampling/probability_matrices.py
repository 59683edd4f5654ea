"""Variance of a sampling's estimator from its probability matrix (Lemma 1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array

__all__ = ["estimator_variance", "smallest_uniform_v", "variance_bound"]


def probability_matrix(matrix: npt.ArrayLike) -> Array:
    """Return a probability matrix, shape (n, n), after checking necessary conditions.

    Entry (i, j) is the probability that i and j are both drawn; the diagonal is p. The matrix must be symmetric with
    ``max(0, p_i + p_j - 1) <= P_ij <= min(p_i, p_j)``, and ``P - p p'`` positive semidefinite, all up to 1e-12. For
    more than two clients these conditions are not sufficient.
    """
    together = validate.array("matrix", matrix, ndim=2)
    n = together.shape[0]
    if together.shape != (n, n) or n == 0:
        message = f"matrix must be square, got shape {together.shape}"
        raise ValueError(message)
    p = np.diagonal(together)
    conditions = {
        "be symmetric": together - together.T,
        "have entries of at most the smaller marginal": together - np.minimum.outer(p, p),
        "have entries of at least p_i + p_j - 1": np.add.outer(p, p) - 1 - together,
        "have entries of at least 0": -together,
    }
    for wanted, excess in conditions.items():
        bad = np.argwhere(excess > 1e-12)
        if bad.size:
            i, j = bad[0].tolist()
            message = f"matrix must {wanted}, got {together[i, j]} for clients {i} and {j}"
            raise ValueError(message)
    smallest = np.linalg.eigvalsh(together - np.outer(p, p))[0]
    if smallest < -1e-12 * n:
        message = f"matrix must make P - p p' positive semidefinite, got the eigenvalue {smallest:.3g}"
        raise ValueError(message)
    return together


def estimator_variance(matrix: npt.ArrayLike, vectors: npt.ArrayLike) -> Any:
    """Variance ``E |sum_{i in S} a_i / p_i - sum_i a_i|^2`` of a sampling with the given probability matrix.

    It is ``sum_ij (P_ij / (p_i p_j) - 1) <a_i, a_j>``, the left-hand side of (5), a squared norm; exact for
    ``fractions.Fraction``. The matrix, shape (n, n), has a positive diagonal. The vectors are the weighted updates
    ``a_i = w_i U_i``, shape (n, d). Source: Chen, Horvath and Richtarik (2022), Lemma 1.

    One of two equal vectors is drawn and doubled, so the variance is 0.

    >>> estimator_variance([[0.5, 0.0], [0.0, 0.5]], [[0.5], [0.5]])
    0.0
    """
    together, a = validate.exact("matrix", matrix, 2), validate.exact("vectors", vectors, 2)
    if together.shape != (len(a), len(a)):
        message = f"vectors must have shape (n, d) for a matrix (n, n), got {a.shape} and {together.shape}"
        raise ValueError(message)
    p = np.diagonal(together)
    if (p <= 0).any():
        message = f"matrix must have a positive diagonal, got {p[p <= 0][0]}"
        raise ValueError(message)
    _at_most_one("matrix", together)
    value = ((together / (p[:, None] * p[None, :]) - 1) * (a @ a.T)).sum()
    return value if together.dtype == object else float(value)


def variance_bound(norms: npt.ArrayLike, probabilities: npt.ArrayLike, v: npt.ArrayLike) -> float:
    """Right-hand side ``sum_i t_i^2 v_i / p_i`` of (5), a squared norm, for norms ``t_i = w_i |zeta_i|``.

    Norms, probabilities in (0, 1] and the nonnegative vector v of the condition (4) have the shape (n,). Source: Chen,
    Horvath and Richtarik (2022), Lemma 1.

    >>> variance_bound([1.0, 2.0], [0.5, 0.25], [0.5, 0.75])  # 1 * 0.5 / 0.5 + 4 * 0.75 / 0.25
    13.0
    """
    t = validate.nonnegative("norms", validate.array("norms", norms, ndim=1))
    p = validate.positive("probabilities", validate.array("probabilities", probabilities, shape=t.shape))
    _at_most_one("probabilities", p)
    return float((t * t * validate.nonnegative("v", validate.array("v", v, shape=t.shape)) / p).sum())


def admissibility_margin(matrix: npt.ArrayLike, v: npt.ArrayLike) -> float:
    """Smallest eigenvalue of ``Diag(p_i v_i) - (P - p p')``: condition (4) holds if and only if it is at least 0.

    The probability matrix P has shape (n, n) and v has shape (n,). Source: Chen, Horvath and Richtarik (2022), Lemma 1.
    """
    together = probability_matrix(matrix)
    p = np.diagonal(together)
    scaled = np.diag(p * validate.array("v", v, shape=p.shape))
    return float(np.linalg.eigvalsh(scaled - (together - np.outer(p, p)))[0])


def smallest_uniform_v(matrix: npt.ArrayLike) -> float:
    """Smallest c such that ``v = (c, ..., c)`` is admissible in (4); it is at least ``1 - min_i p_i``.

    It is the largest eigenvalue of ``D^(-1/2) (P - p p') D^(-1/2)`` with ``D = Diag(p)``, in [0, n). The matrix, shape
    (n, n), has a positive diagonal. Source: Chen, Horvath and Richtarik (2022), Lemma 1, eq. (4).

    For two of three clients, with equally likely pairs, c is 1/2. For independent sampling it is 1/3.

    >>> round(smallest_uniform_v([[2/3, 1/3, 1/3], [1/3, 2/3, 1/3], [1/3, 1/3, 2/3]]), 12)
    0.5
    """
    together = probability_matrix(matrix)
    p = np.diagonal(together)
    validate.positive("matrix diagonal", p)
    root = np.sqrt(p)
    return float(np.linalg.eigvalsh((together - np.outer(p, p)) / np.outer(root, root))[-1])


def _at_most_one(name: str, probabilities: Any) -> None:
    # Probabilities have rounding errors, which ``probability_matrix`` tolerates.
    bad = (probabilities > 1 + 1e-12) | (probabilities < -1e-12)
    if bad.any():
        message = f"{name} must be in [0, 1], got {probabilities[bad][0]}"
        raise ValueError(message)
