"""Which clients' losses are close to the objective: what FedALIGN compares."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Mask

__all__ = ["matches"]


class Matches(NamedTuple):
    """Clients that would send, and clients that the server would use; booleans of shape (..., T, K)."""

    willing: Mask
    matched: Mask


def matches(losses: npt.ArrayLike, weights: npt.ArrayLike, eps: npt.ArrayLike, comparison: str = "<") -> Matches:
    """Compare every client's loss with the objective: willing if ``F_k - F < eps``, matched if ``|F_k - F| < eps``.

    Parameters
    ----------
    losses
        All F_k at the round starts, shape (..., T, K).
    weights
        Objective weights, shape (K,).
    eps
        Thresholds, shape (T,).
    comparison
        ``<`` or ``<=``, for both sides.

    Returns
    -------
    Matches
        Two masks of the shape of the losses: ``willing``, who would send, and ``matched``, whom the server would use.

    Raises
    ------
    ValueError
        If the shapes do not fit, or the comparison is neither ``<`` nor ``<=``.

    Examples
    --------
    F = 2; the second client's loss is much smaller, it is willing but not matched; the third one's is too large.

    >>> willing, matched = matches([[2.0, 0.5, 4.0]], [1.0, 0.0, 0.0], [1.0])
    >>> willing.tolist(), matched.tolist()
    ([[True, True, False]], [[True, False, False]])
    """
    values = validate.array("losses", losses)
    objective = values @ validate.array("weights", weights, shape=values.shape[-1:])
    gaps = values - objective[..., None]
    limit = validate.extended("eps", eps)[..., None]
    if validate.choice("comparison", comparison, ("<", "<=")) == "<":
        return Matches(gaps < limit, np.abs(gaps) < limit)
    return Matches(gaps <= limit, np.abs(gaps) <= limit)
