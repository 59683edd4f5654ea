"""A partition by Dirichlet shares of each class that leaves out clients which have their share of the samples."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array, RNGLike
from fedtheory.datasets._underflow import checked_concentration
from fedtheory.datasets.partition import _pooled
from fedtheory.federation.client_data import Labels

__all__ = ["capped_dirichlet_partition"]

# A smallest client that most draws do not have is a wrong argument, and no reason to go on for ever.
_MOST_DRAWS = 1000


def capped_dirichlet_partition(
    labels: npt.ArrayLike, num_clients: int, concentration: float, *, min_samples: int = 10, rng: RNGLike = 0
) -> list[Labels]:
    """Split one class after the other in Dirichlet shares among the clients that have fewer than N/K samples so far.

    The shares are drawn from ``Dir_K(concentration)``; those of clients that already have N/K samples are left out and
    the others lengthened to sum 1. All is drawn again until every client has ``min_samples``. Clients are less unequal
    than those of ``dirichlet_partition``, which leaves nobody out, and fills up small clients.

    Parameters
    ----------
    labels
        Classes of the pooled samples, whole numbers, shape (N,).
    num_clients, min_samples
        K, and the fewest samples of a client; ``num_clients * min_samples`` may not exceed N.
    concentration
        Positive.
    rng
        Seed, SeedSequence or Generator.

    Returns
    -------
    list
        K arrays of row numbers, increasing, disjoint, covering 0..N-1.

    Raises
    ------
    ValueError
        If the concentration is not positive, there are too few samples for all clients, or a thousand draws leave some
        client with fewer than ``min_samples``.

    Notes
    -----
    The partition of the experiments of Cho, Wang, Joshi (2020) on FMNIST, after Yurochkin et al. (2019).

    Examples
    --------
    Whoever gets both samples of class 0 is left out of class 1.

    >>> [len(part) for part in capped_dirichlet_partition([0, 0, 1, 1], 2, concentration=1.0, min_samples=2)]
    [2, 2]
    """
    y, num_clients, min_samples = _pooled(labels, num_clients, min_samples)
    concentration = checked_concentration(concentration)
    draw = validate.generator(rng)
    for _ in range(_MOST_DRAWS):
        owners = np.empty(y.size, dtype=np.int64)
        sizes = np.zeros(num_clients, dtype=np.int64)
        for label in np.unique(y):
            rows = draw.permutation(np.flatnonzero(y == label))
            shares = _open_shares(sizes * num_clients < y.size, concentration, draw)
            reached = np.cumsum(shares)
            # Over the last one, so that what is left out at the end gets nothing by a rounding.
            cuts = (reached[:-1] / reached[-1] * rows.size).astype(np.int64)
            counts = np.diff(cuts, prepend=0, append=rows.size)
            owners[rows] = np.repeat(np.arange(num_clients), counts)
            sizes += counts
        if sizes.min() >= min_samples:
            return [np.flatnonzero(owners == k) for k in range(num_clients)]
    message = f"min_samples must be the size of the smallest client in one of {_MOST_DRAWS} draws, got {min_samples}"
    raise ValueError(message)


def _open_shares(is_open: npt.NDArray[np.bool_], concentration: float, draw: np.random.Generator) -> Array:
    """Draw Dirichlet shares up to a factor, 0 for clients left out; in logarithms, since small shares underflow."""
    size = is_open.size
    logs = np.log(draw.standard_gamma(1.0 + concentration, size)) + np.log1p(-draw.random(size)) / concentration
    return np.exp(np.where(is_open, logs - logs[is_open].max(), -np.inf))
