"""Random numbers, models, noises and federations in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from fedtheory._support import validate
from fedtheory.instances.federations import RationalQuadratics
from fedtheory.instances.noise import Noise, no_noise, two_point_noise
from fedtheory.instances.vectors import Vector, vector
from fedtheory.theorem.draws import whole

if TYPE_CHECKING:
    import numpy as np

__all__ = ["draw_federation", "draw_model"]


def draw_shares(rng: np.random.Generator, count: int, largest: int = 5) -> Vector:
    """Draw positive shares of sum 1, with ratios up to ``largest``."""
    sizes = [whole(rng, 1, largest) for _ in range(count)]
    return Vector(Fraction(size, sum(sizes)) for size in sizes)


def draw_model(rng: np.random.Generator, dim: int) -> Vector:
    """Draw a model whose entries are multiples of 1/4 between -4 and 4.

    >>> import numpy as np
    >>> len(draw_model(np.random.default_rng(0), 3))
    3
    """
    return Vector(Fraction(whole(rng, -16, 16), 4) for _ in range(validate.size("dim", dim)))


def draw_noise(rng: np.random.Generator, dim: int) -> Noise:
    """Draw a noise of two values in the first coordinate, or none."""
    size = whole(rng, 0, 4)
    if not size:
        return no_noise(dim)
    return two_point_noise(vector(Fraction(size, 2), *[0] * (dim - 1)), whole(rng, 1, 3))


def draw_federation(
    rng: np.random.Generator,
    *,
    common_minimizer: bool = False,
    equal_weights: bool = False,
    equal_minima: bool = False,
    flat: bool = False,
) -> RationalQuadratics:
    """Draw two or three quadratics in one or two dimensions; curvatures are powers of two from 1/4 to 4.

    In a quarter of the draws all clients have the same minimizer, so that the objective gap is 0. Options are applied
    after the draw. With ``flat`` the first client has no curvature along the first coordinate; with ``equal_minima``
    the minimum of every client is 0.

    >>> import numpy as np
    >>> draw_federation(np.random.default_rng(2), common_minimizer=True).objective_gap
    Fraction(0, 1)
    """
    flags = {"common_minimizer": common_minimizer, "equal_weights": equal_weights, "equal_minima": equal_minima}
    for name, flag in {**flags, "flat": flat}.items():
        validate.boolean(name, flag)
    num_clients, dim = whole(rng, 2, 3), whole(rng, 1, 2)
    weights = draw_shares(rng, num_clients)
    centers = [draw_model(rng, dim) for _ in range(num_clients)]
    curvatures = [Vector(Fraction(2) ** whole(rng, -2, 2) for _ in range(dim)) for _ in range(num_clients)]
    together = whole(rng, 0, 3) == 0
    minima = Vector(Fraction(whole(rng, 0, 3)) for _ in range(num_clients))
    return RationalQuadratics(
        curvatures=(vector(0, *curvatures[0][1:]), *curvatures[1:]) if flat else tuple(curvatures),
        centers=tuple(centers[:1] * num_clients if together or common_minimizer else centers),
        weights=Vector([Fraction(1, num_clients)] * num_clients) if equal_weights else weights,
        minima=vector(*[0] * num_clients) if equal_minima else minima,
    )
