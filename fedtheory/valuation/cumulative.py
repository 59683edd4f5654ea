"""Values of clients over the rounds in which they were selected."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array

__all__ = ["accumulate"]


def accumulate(
    values: npt.ArrayLike, counts: npt.ArrayLike, of_round: npt.ArrayLike, averaging: str | float = "mean"
) -> Array:
    """Cumulative values of clients after one more round in which they were selected (GreedyFed, Section III).

    Clients that were not selected keep theirs: pass the selected ones only.

    Parameters
    ----------
    values
        Cumulative values of the selected clients before the round, shape (m,).
    counts
        How often each was selected, this round included, shape (m,).
    of_round
        Their values in this round, shape (m,).
    averaging
        ``mean``: the running mean ``((N - 1) v + v_round) / N``. A number a in [0, 1): ``a v + (1 - a) v_round``.

    Returns
    -------
    array
        Shape (m,).

    Raises
    ------
    ValueError
        If shapes disagree, a count is below 1 or the number is outside [0, 1).

    Examples
    --------
    >>> accumulate([3.0, 3.0], [4, 1], [7.0, 7.0])
    array([4., 7.])
    >>> accumulate([3.0, 3.0], [4, 1], [7.0, 7.0], averaging=0.75)
    array([4., 4.])
    """
    before = validate.array("values", values, ndim=1)
    new = validate.array("of_round", of_round, shape=before.shape)
    times = validate.array("counts", counts, shape=before.shape)
    if np.any(times < 1):
        message = f"counts must be at least 1, this round included, got {times.min():g}"
        raise ValueError(message)
    kept: Array
    if isinstance(averaging, str) and averaging == "mean":
        kept = (times - 1) / times
    elif isinstance(averaging, str) or (share := validate.fraction("averaging", averaging)) == 1:
        message = f"averaging must be 'mean' or a number in [0, 1), got {averaging!r}"
        raise ValueError(message)
    else:
        kept = np.full(before.shape, share)
    return kept * before + (1 - kept) * new
