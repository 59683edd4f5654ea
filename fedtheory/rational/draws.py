"""Random numbers, models, noises and federations in rational arithmetic, small enough to be followed exactly."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory._support import validate
from fedtheory.rational._noises import Noise, no_noise, two_point_noise
from fedtheory.rational._wells import PhiClients
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import Vector, inner

__all__ = ["draw_federation", "draw_model"]


def whole(rng: np.random.Generator, low: int, high: int) -> int:
    """Draw a whole number in low..high.

    >>> whole(np.random.default_rng(0), 2, 2)
    2
    """
    return int(rng.integers(low, high + 1))


def pick(rng: np.random.Generator, options: list[Any]) -> Any:
    """Draw one of the options.

    >>> pick(np.random.default_rng(0), ["only"])
    'only'
    """
    return options[whole(rng, 0, len(options) - 1)]


def draw_shares(rng: np.random.Generator, count: int, largest: int = 5) -> Vector:
    """Draw positive shares of sum 1, with ratios up to ``largest``.

    Returns
    -------
    Vector
        Shape (count,).

    Examples
    --------
    >>> sum(draw_shares(np.random.default_rng(0), 4))
    Fraction(1, 1)
    """
    sizes = [whole(rng, 1, largest) for _ in range(count)]
    return tuple(Fraction(size, sum(sizes)) for size in sizes)


def draw_model(rng: np.random.Generator, dim: int) -> Vector:
    """Draw a model with entries in quarters between -4 and 4.

    Parameters
    ----------
    rng
        Stream, or a tape in its place.
    dim
        v.

    Returns
    -------
    Vector
        Shape (v,).

    Raises
    ------
    TypeError, ValueError
        If v is no number of entries.

    Examples
    --------
    >>> len(draw_model(np.random.default_rng(0), 3))
    3
    """
    return _model(rng, validate.size("dim", dim))


def _model(rng: np.random.Generator, dim: int) -> Vector:
    return tuple(Fraction(whole(rng, -16, 16), 4) for _ in range(dim))


def draw_noise(rng: np.random.Generator, dim: int) -> Noise:
    """Draw a noise of two values in the first coordinate, or none.

    >>> draw_noise(np.random.default_rng(0), 2).mean(lambda noise: noise[0])
    Fraction(0, 1)
    """
    size = whole(rng, 0, 4)
    if not size:
        return no_noise(dim)
    return two_point_noise((Fraction(size, 2), *(Fraction(0),) * (dim - 1)), Fraction(whole(rng, 1, 3)))


def draw_federation(rng: np.random.Generator) -> RationalQuadratics:
    """Draw two or three quadratics in one or two dimensions with condition number at most 16.

    In a quarter of them all clients have the same minimizer, so that the objective gap is 0.

    Parameters
    ----------
    rng
        Stream, or a tape in its place.

    Returns
    -------
    RationalQuadratics
        With diagonal curvatures, powers of two from 1/4 to 4.

    Examples
    --------
    >>> draw_federation(np.random.default_rng(0)).num_clients in (2, 3)
    True
    """
    num_clients, dim = whole(rng, 2, 3), whole(rng, 1, 2)
    weights = draw_shares(rng, num_clients)
    centers = [_model(rng, dim) for _ in range(num_clients)]
    return RationalQuadratics(
        curvatures=tuple(tuple(Fraction(2) ** whole(rng, -2, 2) for _ in range(dim)) for _ in range(num_clients)),
        centers=tuple(centers[:1] * num_clients if whole(rng, 0, 3) == 0 else centers),
        weights=weights,
        minima=tuple(Fraction(whole(rng, 0, 3)) for _ in range(num_clients)),
    )


def draw_phi(rng: np.random.Generator, num_clients: int) -> PhiClients:
    """Draw non-convex clients that differ by a tilt (equal Hessians), or by amplitudes and centers.

    >>> clients = draw_phi(np.random.default_rng(0), 3)
    >>> len(clients.amplitudes), sum(clients.weights)
    (3, Fraction(1, 1))
    """
    weights = draw_shares(rng, num_clients)
    if whole(rng, 0, 1):
        amplitude = Fraction(whole(rng, 1, 4), 2)
        tilts = [Fraction(whole(rng, -6, 6), 4) for _ in weights]
        mean = inner(weights, tilts)
        slopes = tuple(b - mean for b in tilts)
        return PhiClients((amplitude,) * num_clients, (Fraction(0),) * num_clients, slopes, weights)
    amplitudes = tuple(Fraction(whole(rng, 1, 4), 2) for _ in weights)
    centers = tuple(Fraction(whole(rng, -6, 6), 2) for _ in weights)
    return PhiClients(amplitudes, centers, (Fraction(0),) * num_clients, weights)
