"""Random quadratic federations."""

import numpy as np

from fedtheory._support import validate
from fedtheory.federation.quadratic import QuadraticFederation

__all__ = ["power_of_choice_quadratics"]


def power_of_choice_quadratics(
    num_clients: int = 30,
    dim: int = 5,
    rng: validate.RNGLike = 0,
    *,
    curvature_range: tuple[float, float] = (1.0, 20.0),
    scale: float = 10.0,
    power: float = 3.0,
) -> QuadraticFederation:
    """Draw the federation of Power-of-Choice, Appendix F.

    ``H_k = h_k I`` with h_k uniform on ``curvature_range``; linear parts ``e_k ~ N(0, scale^2 I)``, which the paper
    leaves open (errors scale with ``scale**2``); weights proportional to draws from the density ``power x^(power-1)``
    on (0, 1).

    Parameters
    ----------
    num_clients, dim
        K and v.
    rng
        Seed, SeedSequence or Generator.
    curvature_range
        The smallest and the largest h_k that can be drawn, positive.
    scale
        Standard deviation of the entries of e_k, at least 0.
    power
        Of the density of the weights, positive.

    Returns
    -------
    QuadraticFederation
        Curvatures of shape (K,), centers of shape (K, v).

    Raises
    ------
    ValueError
        If the range is not positive and increasing, the scale is negative, or the power is not positive.

    Examples
    --------
    >>> fed = power_of_choice_quadratics(num_clients=4, dim=2, rng=1)
    >>> fed.centers.shape, fed.smoothness <= 20
    ((4, 2), True)
    """
    num_clients, dim = validate.size("num_clients", num_clients), validate.size("dim", dim)
    ends = validate.array("curvature_range", curvature_range, shape=(2,))
    low, high = validate.positive("curvature_range", ends).tolist()
    if low > high:
        message = f"curvature_range must be increasing, got ({low}, {high})"
        raise ValueError(message)
    scale = validate.double("scale", validate.nonnegative("scale", scale))
    validate.moderate("scale", scale, 1e50)
    streams = [np.random.default_rng(child) for child in validate.seed_sequence(rng).spawn(3)]
    curvatures = low + (high - low) * streams[0].random(num_clients)
    linear = scale * streams[1].standard_normal((num_clients, dim))
    weights = power_law_weights(num_clients, streams[2], power=power)
    return QuadraticFederation.from_linear(curvatures, linear, weights)


def power_law_weights(num_clients: int, rng: validate.RNGLike = 0, *, power: float = 3.0) -> validate.Array:
    """Weights proportional to draws from the density ``power x^(power-1)`` on (0, 1), shape (num_clients,).

    Returns
    -------
    Array
        Shape (K,), positive, sum 1.

    Examples
    --------
    >>> power_law_weights(4, rng=0).round(2)
    array([0.2 , 0.25, 0.27, 0.28])
    """
    power = validate.double("power", validate.positive("power", power))
    # 1 - U is in (0, 1], so that no client has weight zero.
    sizes = (1.0 - validate.generator(rng).random(validate.size("num_clients", num_clients))) ** (1.0 / power)
    result: validate.Array = sizes / sizes.sum()
    return result
