"""theta_T and rho_T of FedALIGN from the replicates of a run, with confidence limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fedtheory._support.validate import Array
from fedtheory.bounds import fedalign
from fedtheory.statistics import student_mean
from fedtheory.statistics.interval import Interval

if TYPE_CHECKING:
    from fedtheory.engine.inclusion import Inclusions

__all__ = ["alignment_terms"]


class AlignmentTerms(NamedTuple):
    """Confidence limits at the end of every round, arrays of shape (num_rounds,) each."""

    theta: Interval[Array]
    rho: Interval[Array]


def alignment_terms(
    found: Inclusions,
    *,
    mu: float,
    L: float,
    gamma: float,
    local_steps: int,
    first_step: int = 0,
    confidence: float = 0.95,
) -> AlignmentTerms:
    """Student intervals of the expectations in eqs. (7) and (8), which the bounds rise with: take the upper ends.

    Parameters
    ----------
    found
        Who was included, of at least two replicates (with one the limits are infinite, except that theta is at most 1
        and neither is negative).
    mu, L, gamma, local_steps, first_step
        As of ``bounds.fedalign.rho``.
    confidence
        Of each interval, pointwise.

    Returns
    -------
    AlignmentTerms
        theta, in [0, 1], and rho, in units of the loss: limits of shape (num_rounds,).

    Raises
    ------
    ValueError
        If the inclusions have no gaps, or as ``theta`` and ``rho``.

    Examples
    --------
    Two replicates in which the same happened have no spread.

    >>> import numpy as np
    >>> from fedtheory.engine.inclusion import Inclusions
    >>> nobody = np.zeros((2, 3, 1), dtype=bool)
    >>> found = Inclusions(nobody * 1.0, nobody, nobody, np.full((2, 3), 0.5), np.full((2, 3), 2.0))
    >>> terms = alignment_terms(found, mu=1.0, L=1.0, gamma=8.0, local_steps=2)
    >>> terms.theta.upper, terms.rho.lower
    (array([0.125, 0.2  , 0.25 ]), array([1. , 1.6, 2. ]))
    """
    if found.included_gaps is None:
        message = "the included gaps are needed for rho, got inclusions without them (with_gaps=True)"
        raise ValueError(message)
    sums: dict[str, Any] = {"gamma": gamma, "local_steps": local_steps, "first_step": first_step}
    theta = student_mean(fedalign.theta(found.priority_weights, **sums), confidence)
    rho = student_mean(fedalign.rho(found.included_gaps, mu=mu, L=L, **sums), confidence)
    return AlignmentTerms(
        Interval(theta.lower.clip(0.0, 1.0), theta.upper.clip(0.0, 1.0)),
        Interval(rho.lower.clip(0.0), rho.upper),
    )
