"""Partition with given class shares for each client, as in GreedyFed's public code."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array, RNGLike
from fedtheory.federation.client_data import Labels, without_words

__all__ = ["class_shares_partition", "underflow_probability"]

LARGEST = 1e100
"""Largest concentration; sums of gamma variables with much larger shapes overflow."""

SMALLEST = float(np.finfo(np.float64).tiny)
"""2^-1022, the smallest normal number, to which libraries raise gamma variables so that a sum is not 0."""


def checked_concentration(concentration: float) -> float:
    """Return the concentration of a symmetric Dirichlet law."""
    number = validate.double("concentration", validate.positive("concentration", concentration))
    if number > LARGEST:
        message = f"concentration must be at most {LARGEST:g}, got {number:g}"
        raise ValueError(message)
    return number


def underflowing_shares(draw: np.random.Generator, concentration: float, num_draws: int, num_shares: int) -> Array:
    """Draw normalized gamma variables that are at least 2^-1022, shape (num_draws, num_shares).

    A gamma variable of shape a is one of shape 1 + a times ``u^(1/a)`` with u uniform on (0, 1). For a = 1e-4 this
    power is below 2^-1022 unless u exceeds exp(-1022 log(2) a) = 0.932. If all variables of a draw are, all shares are
    equal.
    """
    shape = (num_draws, num_shares)
    with np.errstate(under="ignore"):
        powers = (1.0 - draw.random(shape)) ** (1.0 / concentration)
        gammas = np.maximum(draw.standard_gamma(1.0 + concentration, shape) * powers, SMALLEST)
        shares: Array = gammas / gammas.sum(axis=1, keepdims=True)
    return shares


def pooled(labels: Any, num_clients: Any, per_client: Any, name: str = "min_samples") -> tuple[Labels, int, int]:
    """Return the classes of pooled samples, and the numbers of clients and of what each of them needs."""
    y = np.asarray(validate.counts("labels", without_words("labels", labels), low=0))
    if y.ndim != 1:
        message = f"labels must have 1 dimension, got shape {y.shape}"
        raise ValueError(message)
    num_clients, per_client = validate.count("num_clients", num_clients), validate.count(name, per_client)
    if num_clients * per_client > y.size:
        message = f"num_clients * {name} must be at most the {y.size} samples, got {num_clients} * {per_client}"
        raise ValueError(message)
    return y, num_clients, per_client


_MOST_DRAWS, _TINY = 10_000, 2.0**-64


def class_shares_partition(
    labels: npt.ArrayLike,
    num_clients: int,
    concentration: float,
    *,
    min_samples: int = 31,
    underflow: bool = False,
    rng: RNGLike = 0,
) -> list[Labels]:
    """Assign ``floor(D q_i p_ij)`` samples of class j to client i, with the largest possible D.

    The sizes q are drawn from the density ``3 x^2``, and the class shares p_i of each client from the symmetric
    Dirichlet law over the classes; ``D = min_j count_j / sum_i q_i p_ij``. Sizes and shares are drawn again, at most
    10,000 times, until every client has ``min_samples``. Unlike in ``power_law_partition``, some samples are not
    assigned, and every client keeps its shares. The result is K arrays of row numbers, increasing and disjoint.
    Source: GreedyFed (Singhal, Pandey, Popovski 2024), Section IV and the authors' public code, with the concentrations
    1e-4, 0.1 and 100.

    Parameters
    ----------
    labels
        Classes of the pooled samples, integers, shape (N,).
    num_clients, min_samples
        Number K of clients, and the smallest number of samples of a client.
    underflow
        Whether to draw the shares like libraries that normalize gamma variables of at least 2^-1022. This is an error
        that published tables contain: at the concentration 1e-4 about half of the clients get *equal shares of all
        classes* instead of one class. It is negligible for concentrations from 0.1.

    Examples
    --------
    With two classes of 500 samples each, four clients get one class each:

    >>> y = np.repeat([0, 1], 500)
    >>> parts = class_shares_partition(y, 4, 1e-4, rng=3)
    >>> [np.unique(y[part]).size for part in parts]
    [1, 1, 1, 1]
    """
    y, num_clients, min_samples = pooled(labels, num_clients, min_samples)
    concentration = checked_concentration(concentration)
    underflow, draw = validate.boolean("underflow", underflow), validate.generator(rng)
    classes, counts = np.unique(y, return_counts=True)
    for _ in range(_MOST_DRAWS):
        sizes = (1.0 - draw.random(num_clients)) ** (1 / 3)
        if underflow:
            shares = underflowing_shares(draw, concentration, num_clients, classes.size)
        else:
            shares = draw.dirichlet(np.full(classes.size, concentration), num_clients)
        dealt = _dealt(counts, sizes / sizes.sum(), shares)
        if dealt.sum(axis=1).min() >= min_samples:
            break
    else:
        message = (
            f"min_samples must be small enough for one of {_MOST_DRAWS} draws, got {min_samples} for {num_clients} "
            f"clients of {y.size} samples"
        )
        raise ValueError(message)
    parts: list[list[Labels]] = [[] for _ in range(num_clients)]
    for j, label in enumerate(classes):
        rows = draw.permutation(np.flatnonzero(y == label))
        for part, piece in zip(parts, np.split(rows, np.cumsum(dealt[:, j])), strict=False):
            part.append(piece)
    return [np.sort(np.concatenate(part)) for part in parts]


def underflow_probability(concentration: float, num_shares: int, smallest: float = SMALLEST) -> float:
    """Probability ``(x^a / Gamma(1 + a))^C`` that C gamma variables of shape a are all at most x.

    The law of one variable is ``P(G <= x) = x^a/Gamma(1 + a) (1 - r)`` with ``0 < r < a x``. The threshold x is by
    default 2^-1022, the smallest normal double; in single precision it is 2^-126.

    >>> round(underflow_probability(1e-4, 10), 4), round(underflow_probability(1e-4, 10, 2.0**-126), 4)
    (0.4927, 0.9169)
    """
    shape = checked_concentration(concentration)
    num_shares = validate.size("num_shares", num_shares)
    x = validate.double("smallest", validate.positive("smallest", smallest))
    if x > _TINY:
        message = f"smallest must be at most 2^-64, where the law is a power, got {x}"
        raise ValueError(message)
    return math.exp(num_shares * (shape * math.log(x) - math.lgamma(1 + shape)))


def _dealt(counts: Labels, sizes: Array, shares: Array) -> Labels:
    """Return the number of samples of each client and class, shape (K, C)."""
    wanted = sizes[:, None] * shares
    asked = wanted.sum(axis=0)
    total = (counts[asked > 0] / asked[asked > 0]).min()
    # A single client with a class is due all of it, which rounding could reduce by one sample.
    dealt: Labels = np.minimum(np.floor(total * wanted * (1 + 1e-12)), counts).astype(np.int64)
    return dealt
