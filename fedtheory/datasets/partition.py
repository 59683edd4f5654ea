"""Partitions of pooled samples among clients, and the heterogeneity of their labels.

A partition is a list of index arrays, one per client, disjoint and covering every sample;
``FederatedData.from_partition`` makes clients from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array, RNGLike
from fedtheory.datasets.class_shares import checked_concentration, pooled
from fedtheory.federation.client_data import FederatedData, Labels
from fedtheory.federation.sampled import checked_data

__all__ = [
    "capped_dirichlet_partition", "dirichlet_partition", "heterogeneity", "partition_from_counts",
    "power_law_partition", "shard_partition",
]  # fmt: skip


def dirichlet_partition(
    labels: npt.ArrayLike,
    num_clients: int,
    concentration: float,
    *,
    min_samples: int = 1,
    rng: RNGLike = 0,
) -> list[Labels]:
    """Split each class among the clients, with shares from the symmetric Dirichlet law ``Dir_K(concentration)``.

    A small concentration gives clients of unequal sizes with few classes each. Clients with fewer than ``min_samples``
    are filled up with random samples of the currently largest client. The result is K arrays of row numbers,
    increasing, disjoint, covering 0..N-1.

    Parameters
    ----------
    labels
        Classes of the pooled samples, integers, shape (N,).
    num_clients, min_samples
        Number K of clients, and the smallest number of samples of a client; ``num_clients * min_samples`` may not
        exceed N.
    concentration
        Concentration, positive; the coefficient of variation of a share is ``sqrt((K - 1) / (K concentration + 1))``.

    Notes
    -----
    Cho, Wang, Joshi (2020), Appendix F (FMNIST), after Hsu, Qi, Brown (2019).

    Examples
    --------
    >>> parts = dirichlet_partition([0, 0, 0, 1, 1, 1], num_clients=2, concentration=0.1, min_samples=2)
    >>> sorted(len(part) for part in parts), sorted(np.concatenate(parts).tolist())
    ([2, 4], [0, 1, 2, 3, 4, 5])
    """
    y, num_clients, min_samples = pooled(labels, num_clients, min_samples)
    concentration = checked_concentration(concentration)
    draw = validate.generator(rng)
    parts: list[list[int]] = [[] for _ in range(num_clients)]
    for label in np.unique(y):
        rows = draw.permutation(np.flatnonzero(y == label))
        shares = draw.dirichlet(np.full(num_clients, concentration))
        cuts = np.floor(np.cumsum(shares)[:-1] * rows.size + 0.5).astype(np.int64)
        for part, piece in zip(parts, np.split(rows, np.minimum(cuts, rows.size)), strict=True):
            part.extend(piece.tolist())
    _fill_up(parts, min_samples, draw)
    return [np.sort(np.array(part, dtype=np.int64)) for part in parts]


def partition_from_counts(labels: npt.ArrayLike, table: npt.ArrayLike, *, rng: RNGLike = 0) -> list[Labels]:
    """Assign ``table[k, c]`` random samples of class c to client k, as in a published table of a split.

    The result is K arrays of row numbers, increasing and disjoint. Samples that the table does not need are in no part;
    ``FederatedData.from_partition`` then needs ``complete=False``.

    Parameters
    ----------
    labels
        Classes of the pooled samples, integers, shape (N,).
    table
        Numbers of samples, shape (K, C): a row per client, a column per class 0..C-1.

    Raises
    ------
    ValueError
        If a class has fewer samples than its column of the table.

    Examples
    --------
    >>> [part.tolist() for part in partition_from_counts([1, 0, 1, 0], [[2, 0], [0, 2]])]
    [[1, 3], [0, 2]]
    """
    y = pooled(labels, 1, 1)[0]
    counts = np.asarray(validate.counts("table", validate.unmasked("table", table), low=0))
    if counts.ndim != 2 or not counts.size:
        message = f"table must have a row per client and a column per class, got shape {counts.shape}"
        raise ValueError(message)
    draw, num_classes = validate.generator(rng), counts.shape[1]
    missing = counts.sum(axis=0) - np.bincount(y, minlength=num_classes)[:num_classes]
    if missing.max() > 0:
        c = int(missing.argmax())
        wanted = counts[:, c].sum()
        message = f"table must have at most {wanted - missing[c]} samples of class {c}, as labels has, got {wanted}"
        raise ValueError(message)
    pieces = [
        np.split(draw.permutation(np.flatnonzero(y == c)), np.cumsum(counts[:, c]))[:-1] for c in range(num_classes)
    ]
    return [np.sort(np.concatenate(parts)) for parts in zip(*pieces, strict=True)]


def shard_partition(
    labels: npt.ArrayLike, num_clients: int, shards_per_client: int = 2, *, rng: RNGLike = 0
) -> list[Labels]:
    """Cut the samples, sorted by class, into ``num_clients * shards_per_client`` shards and assign them at random.

    Every shard has a single class. A class gets a number of shards proportional to its number of samples, at least one,
    with sizes that differ by at most 1. ``labels`` and the result are those of ``dirichlet_partition``.

    FedALIGN, Appendix B.1 (uni-class shards), after McMahan et al. (2017), section 3, whose shards may mix classes.

    >>> sorted(part.tolist() for part in shard_partition([1, 0, 1, 0], num_clients=2, shards_per_client=1))
    [[0, 2], [1, 3]]
    """
    y, num_clients, shards_per_client = pooled(labels, num_clients, shards_per_client, name="shards_per_client")
    draw = validate.generator(rng)
    num_shards = num_clients * shards_per_client
    # Ties in random order, so that the samples of a class are assigned to its shards at random.
    order = draw.permutation(y.size)
    order = order[np.argsort(y[order], kind="stable")]
    classes, counts = np.unique(y, return_counts=True)
    if num_shards < classes.size:
        message = f"num_clients * shards_per_client must be at least the {classes.size} classes, got {num_shards}"
        raise ValueError(message)
    blocks = np.split(order, np.cumsum(counts)[:-1])
    numbers = _shards_per_class(counts, num_shards)
    shards = [shard for block, n in zip(blocks, numbers, strict=True) for shard in np.array_split(block, n)]
    hands = draw.permutation(num_shards).reshape(num_clients, shards_per_client)
    return [np.sort(np.concatenate([shards[i] for i in hand])) for hand in hands]


def power_law_partition(
    labels: npt.ArrayLike,
    num_clients: int,
    *,
    power: float = 3.0,
    concentration: float | None = None,
    min_samples: int = 1,
    rng: RNGLike = 0,
) -> list[Labels]:
    """Split the samples into parts with sizes proportional to draws from the density ``power x^(power-1)``.

    Each client first gets ``min_samples``; the rest of the N samples is shared in proportion to the draws, rounded by
    the largest remainders. ``labels`` and the result are those of ``dirichlet_partition``.

    If ``concentration`` is None, samples are assigned at random. Otherwise the class shares of a client are drawn from
    the symmetric Dirichlet law over the classes. The clients get their samples one after the other, in random order;
    samples of an exhausted class are replaced by samples of the client's other classes, or of any class.

    Cho, Wang, Joshi (2020), Appendix F: density 3x^2 on (0, 1). GreedyFed (2024), Section IV: with label skew of
    concentration 1e-4, 0.1 or 100.

    >>> [len(part) for part in power_law_partition([0] * 10, num_clients=3, min_samples=2)]
    [3, 3, 4]
    """
    y, num_clients, min_samples = pooled(labels, num_clients, min_samples)
    power = validate.double("power", validate.positive("power", power))
    draw = validate.generator(rng)
    uniform = 1.0 - draw.random(num_clients)
    shares = (uniform / uniform.max()) ** (1 / power)  # the largest is 1, so that not all underflow for a small power
    sizes = min_samples + _apportioned(y.size - num_clients * min_samples, shares)
    if concentration is None:
        return [np.sort(part) for part in np.split(draw.permutation(y.size), np.cumsum(sizes)[:-1])]
    skew = checked_concentration(concentration)
    pools = [draw.permutation(np.flatnonzero(y == label)) for label in np.unique(y)]
    parts = [np.empty(0, dtype=np.int64)] * num_clients
    for k in draw.permutation(num_clients):
        taken = _counts_by_class(np.array([pool.size for pool in pools]), int(sizes[k]), skew, draw)
        parts[k] = np.sort(np.concatenate([pool[:n] for pool, n in zip(pools, taken, strict=True)]))
        pools = [pool[n:] for pool, n in zip(pools, taken, strict=True)]
    return parts


def _counts_by_class(left: Labels, size: int, concentration: float, draw: np.random.Generator) -> Labels:
    """Draw a client's number of samples of each class from Dirichlet shares, again for exhausted classes."""
    shares = draw.dirichlet(np.full(left.size, concentration))
    taken = np.zeros_like(left)
    while taken.sum() < size:
        open_shares = np.where(taken < left, shares, 0.0)
        if open_shares.sum() == 0:
            open_shares = (left - taken).astype(np.float64)
        more = draw.multinomial(size - taken.sum(), open_shares / open_shares.sum())
        taken = np.minimum(taken + more, left)
    return taken


class Heterogeneity(NamedTuple):
    """Label distributions of the clients (K, C), the pooled one (C,), and their total variation distances (K,).

    ``total_variation`` is ``1/2 sum_c |share_kc - pooled share_c|``: 0 for equal laws, below 1. Its mean is weighted by
    the sizes. ``num_classes_present`` are the numbers of classes that each client has samples of, shape (K,).
    """

    sizes: Labels
    label_distributions: Array
    pooled_distribution: Array
    total_variation: Array
    mean_total_variation: float
    num_classes_present: Labels


def heterogeneity(data: FederatedData) -> Heterogeneity:
    """Label distributions of the clients' training samples, and their total variation distance to the pooled one.

    Two clients with one class each: the pooled law is (1/2, 1/2), at distance 1/2 from both.

    >>> data = FederatedData.from_clients([([[0.0]], [0]), ([[1.0]], [1])])
    >>> heterogeneity(data).total_variation
    array([0.5, 0.5])
    """
    clients = np.repeat(np.arange(checked_data(data).num_clients), data.sample_counts)
    counts = np.zeros((data.num_clients, data.num_classes))
    np.add.at(counts, (clients, data.labels), 1)
    distributions = counts / data.sample_counts[:, None]
    pooled = counts.sum(axis=0) / data.num_samples
    distances = 0.5 * np.abs(distributions - pooled).sum(axis=1)
    present = np.count_nonzero(counts, axis=1)
    return Heterogeneity(data.sample_counts, distributions, pooled, distances, float(data.weights @ distances), present)


def _fill_up(parts: list[list[int]], min_samples: int, draw: np.random.Generator) -> None:
    for part in parts:
        while len(part) < min_samples:
            # Since N >= K min_samples, the largest part has more than min_samples while one has fewer.
            donor = max(parts, key=len)
            part.append(donor.pop(int(draw.integers(len(donor)))))


def _apportioned(total: int, shares: Sequence[float] | Array) -> Labels:
    exact = total * np.asarray(shares, dtype=np.float64) / np.sum(shares)
    sizes: Labels = np.floor(exact).astype(np.int64)
    rest = total - int(sizes.sum())
    sizes[np.argsort(sizes - exact, kind="stable")[:rest]] += 1
    return sizes


def _shards_per_class(counts: Labels, num_shards: int) -> Labels:
    # A class never gets more shards than samples, since the next shard goes to the class with the largest shards.
    numbers = np.ones_like(counts)
    for _ in range(num_shards - counts.size):
        numbers[np.argmax(counts / numbers)] += 1
    return numbers


# If most draws have a smaller client, the argument is wrong, and further draws are useless.
_MOST_DRAWS = 1000


def capped_dirichlet_partition(
    labels: npt.ArrayLike, num_clients: int, concentration: float, *, min_samples: int = 10, rng: RNGLike = 0
) -> list[Labels]:
    """Split each class in turn, with Dirichlet shares, among the clients that still have fewer than N/K samples.

    The shares are drawn from ``Dir_K(concentration)``; those of clients that already have N/K samples are removed, and
    the others rescaled to sum 1. Everything is drawn again, at most a thousand times, until every client has
    ``min_samples``. The sizes differ less than those of ``dirichlet_partition``, whose arguments and result these are.

    The partition in the FMNIST experiments of Cho, Wang, Joshi (2020), after Yurochkin et al. (2019).

    >>> [len(part) for part in capped_dirichlet_partition([0, 0, 1, 1], 2, concentration=1.0, min_samples=2)]
    [2, 2]
    """
    y, num_clients, min_samples = pooled(labels, num_clients, min_samples)
    concentration = checked_concentration(concentration)
    draw = validate.generator(rng)
    for _ in range(_MOST_DRAWS):
        owners = np.empty(y.size, dtype=np.int64)
        sizes = np.zeros(num_clients, dtype=np.int64)
        for label in np.unique(y):
            rows = draw.permutation(np.flatnonzero(y == label))
            shares = _open_shares(sizes * num_clients < y.size, concentration, draw)
            reached = np.cumsum(shares)
            # Divided by the last one, so that clients excluded at the end get nothing by rounding.
            cuts = (reached[:-1] / reached[-1] * rows.size).astype(np.int64)
            counts = np.diff(cuts, prepend=0, append=rows.size)
            owners[rows] = np.repeat(np.arange(num_clients), counts)
            sizes += counts
        if sizes.min() >= min_samples:
            return [np.flatnonzero(owners == k) for k in range(num_clients)]
    message = f"min_samples must be small enough for one of {_MOST_DRAWS} draws, got {min_samples}"
    raise ValueError(message)


def _open_shares(is_open: npt.NDArray[np.bool_], concentration: float, draw: np.random.Generator) -> Array:
    """Draw Dirichlet shares up to a factor, 0 for excluded clients; in logarithms, since small shares underflow."""
    size = is_open.size
    logs = np.log(draw.standard_gamma(1.0 + concentration, size)) + np.log1p(-draw.random(size)) / concentration
    return np.exp(np.where(is_open, logs - logs[is_open].max(), -np.inf))
