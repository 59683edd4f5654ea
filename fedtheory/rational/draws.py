"""Random numbers, models, noises, federations, norms and samplings in rational arithmetic, small enough to be exact."""

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory._support import validate
from fedtheory.rational._noises import Noise, no_noise, two_point_noise
from fedtheory.rational._wells import PhiClients
from fedtheory.rational.quadratics import RationalQuadratics
from fedtheory.rational.vectors import Vector, inner, vector
from fedtheory.sampling.cohorts import Selection
from fedtheory.statistics.law import Law

__all__ = ["draw_federation", "draw_model"]

# Directions of rational length 1, so that norms of updates are rational too.
_DIRECTIONS = tuple(vector(x, y) for x, y in ((1, 0), (0, 1), ("3/5", "4/5"), ("-4/5", "3/5"), ("5/13", "-12/13")))


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


def draw_federation(
    rng: np.random.Generator,
    *,
    common_minimizer: bool = False,
    equal_weights: bool = False,
    equal_minima: bool = False,
    flat: bool = False,
) -> RationalQuadratics:
    """Draw two or three quadratics in one or two dimensions with condition number at most 16.

    In a quarter of the draws all clients have the same minimizer, so that the objective gap is 0. The options change a
    federation after it is drawn, so that they leave the stream as it is.

    Parameters
    ----------
    rng
        Stream, or a tape in its place.
    common_minimizer
        Whether all clients have the minimizer of the first.
    equal_weights
        Whether all clients have the same weight.
    equal_minima
        Whether the least loss of all clients is 0.
    flat
        Whether the first client has no curvature along the first coordinate.

    Returns
    -------
    RationalQuadratics
        With diagonal curvatures, powers of two from 1/4 to 4.

    Raises
    ------
    TypeError
        If an option is no boolean.

    Examples
    --------
    >>> draw_federation(np.random.default_rng(0)).num_clients in (2, 3)
    True
    >>> draw_federation(np.random.default_rng(2), common_minimizer=True).objective_gap
    Fraction(0, 1)
    """
    flags = {"common_minimizer": common_minimizer, "equal_weights": equal_weights, "equal_minima": equal_minima}
    for name, flag in {**flags, "flat": flat}.items():
        validate.boolean(name, flag)
    num_clients, dim = whole(rng, 2, 3), whole(rng, 1, 2)
    weights = draw_shares(rng, num_clients)
    centers = [_model(rng, dim) for _ in range(num_clients)]
    curvatures = tuple(tuple(Fraction(2) ** whole(rng, -2, 2) for _ in range(dim)) for _ in range(num_clients))
    together = whole(rng, 0, 3) == 0
    minima = tuple(Fraction(whole(rng, 0, 3)) for _ in range(num_clients))
    return RationalQuadratics(
        curvatures=((Fraction(0), *curvatures[0][1:]), *curvatures[1:]) if flat else curvatures,
        centers=tuple(centers[:1] * num_clients if together or common_minimizer else centers),
        weights=(Fraction(1, num_clients),) * num_clients if equal_weights else weights,
        minima=(Fraction(0),) * num_clients if equal_minima else minima,
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


def draw_norms(rng: np.random.Generator, largest: int = 9) -> Vector:
    """Draw 1 to 9 norms: whole numbers with ties, many zeros, equal ones, or up to 500 orders of magnitude apart.

    >>> norms = draw_norms(np.random.default_rng(0), largest=5)
    >>> 1 <= len(norms) <= 5, min(norms) >= 0
    (True, True)
    """
    num_clients = whole(rng, 1, largest)
    kind = whole(rng, 0, 3)
    if kind == 0:
        return tuple(Fraction(whole(rng, 0, 6)) for _ in range(num_clients))
    if kind == 1:
        return tuple(Fraction(whole(rng, 0, 3) * whole(rng, 0, 1), 7) for _ in range(num_clients))
    if kind == 2:
        return (Fraction(whole(rng, 1, 9), 4),) * num_clients
    widest = (3, 30, 250)[whole(rng, 0, 2)]
    return tuple(whole(rng, 1, 99) * Fraction(2) ** whole(rng, -widest, widest) for _ in range(num_clients))


def draw_budget(rng: np.random.Generator, num_clients: int) -> Fraction:
    """Draw a budget in (0, n]: in eighths, whole, or all clients.

    >>> all(0 < draw_budget(np.random.default_rng(seed), 4) <= 4 for seed in range(9))
    True
    """
    kind = whole(rng, 0, 3)
    if kind == 0:
        return Fraction(whole(rng, 1, num_clients))
    return Fraction(num_clients) if kind == 1 else Fraction(whole(rng, 1, 8 * num_clients), 8)


def draw_updates(rng: np.random.Generator, num_clients: int) -> tuple[Vector, tuple[Vector, ...]]:
    """Draw weighted updates in the plane whose norms are rational; returns (norms, updates).

    >>> norms, updates = draw_updates(np.random.default_rng(0), 3)
    >>> [x * x + y * y for x, y in updates] == [norm**2 for norm in norms]
    True
    """
    norms = tuple(Fraction(whole(rng, 0, 8), 4) for _ in range(num_clients))
    turned = (_DIRECTIONS[whole(rng, 0, len(_DIRECTIONS) - 1)] for _ in norms)
    signs = (1 - 2 * whole(rng, 0, 1) for _ in norms)
    return norms, tuple(
        tuple(sign * norm * x for x in along) for norm, along, sign in zip(norms, turned, signs, strict=True)
    )


def draw_law(rng: np.random.Generator, num_clients: int) -> Law[Selection]:
    """Draw a sampling, correlated in any way, in which every client has a positive probability.

    >>> law = draw_law(np.random.default_rng(0), 3)
    >>> sum(law.values()), set().union(*law)
    (Fraction(1, 1), {0, 1, 2})
    """
    everybody = tuple(range(num_clients))
    sets = [everybody, *(tuple(i for i in everybody if whole(rng, 0, 1)) for _ in range(whole(rng, 1, 4)))]
    shares = [whole(rng, 1, 6) for _ in sets]
    return Law((chosen, Fraction(share, sum(shares))) for share, chosen in zip(shares, sets, strict=True))


def matrix_of(law: Law[Selection], num_clients: int) -> Any:
    """Probability matrix of a law, an object array of rationals.

    One of three: client 0 alone, or clients 1 and 2 together, which always come together.

    >>> matrix_of(Law({(0,): Fraction(1, 3), (1, 2): Fraction(2, 3)}), 3).tolist() == [
    ...     [Fraction(1, 3), 0, 0], [0, Fraction(2, 3), Fraction(2, 3)], [0, Fraction(2, 3), Fraction(2, 3)]
    ... ]
    True
    """

    def together(chosen: Selection) -> Any:
        drawn = np.array([Fraction(i in chosen) for i in range(num_clients)], dtype=object)
        return np.outer(drawn, drawn)

    return law.mean(together)


def as_floats(numbers: Vector) -> list[float]:
    """Round a vector.

    >>> as_floats((Fraction(1, 2), Fraction(3)))
    [0.5, 3.0]
    """
    return [float(number) for number in numbers]


def norms_in_words(norms: Vector, budget: Fraction) -> dict[str, Any]:
    """Name the numbers that define an instance.

    >>> norms_in_words((Fraction(1, 2), Fraction(3)), Fraction(2))
    {'norms': '1/2, 3', 'expected_size': '2'}
    """
    return {"norms": ", ".join(map(str, norms)), "expected_size": str(budget)}
