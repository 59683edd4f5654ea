"""Random quadratic federations of Power-of-Choice."""

import numpy as np

from fedtheory._support import validate
from fedtheory.federation.quadratic import QuadraticFederation

__all__ = ["power_of_choice_quadratics"]


def power_of_choice_quadratics(num_clients: int = 30, dim: int = 5, rng: validate.RNGLike = 0) -> QuadraticFederation:
    """Draw the federation of Power-of-Choice, Appendix F.

    ``H_k = h_k I`` with h_k uniform on [1, 20]; linear parts ``e_k ~ N(0, 100 I)``, where the paper does not state the
    scale (errors are proportional to its square); weights proportional to draws from the density ``3 x^2`` on (0, 1).

    >>> fed = power_of_choice_quadratics(num_clients=4, dim=2, rng=1)
    >>> fed.centers.shape, fed.smoothness <= 20
    ((4, 2), True)
    """
    num_clients, dim = validate.size("num_clients", num_clients), validate.size("dim", dim)
    streams = [np.random.default_rng(child) for child in validate.seed_sequence(rng).spawn(3)]
    curvatures = 1.0 + 19.0 * streams[0].random(num_clients)
    linear = 10.0 * streams[1].standard_normal((num_clients, dim))
    weights = power_law_weights(num_clients, streams[2])
    return QuadraticFederation.from_linear(curvatures, linear, weights)


def power_law_weights(num_clients: int, rng: validate.RNGLike = 0) -> validate.Array:
    """Weights proportional to draws from the density ``3 x^2`` on (0, 1), shape (num_clients,)."""
    # 1 - U is in (0, 1], so that no client has weight zero.
    sizes = (1.0 - validate.generator(rng).random(validate.size("num_clients", num_clients))) ** (1.0 / 3.0)
    result: validate.Array = sizes / sizes.sum()
    return result
