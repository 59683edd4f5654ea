r"""Exact expected error of federated averaging on quadratics.

A round is ``w+ = w + sum_k omega_k (D_k (c_k - w) + noise_k)`` with random coefficients omega. If these do not depend
on w, the first two moments of w obey a closed recursion, and for quadratics the expected objective gap is a linear
function of them. Moments are taken about the minimizer w*, so that small errors are not differences of large numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.threads import pinned
from fedtheory._support.validate import Array
from fedtheory._support.wording import truncate
from fedtheory.engine.schedule import Schedule, step_sizes
from fedtheory.exact._arguments import known_law, quadratic
from fedtheory.exact._local_moments import LocalMoments, Spectra, applied, rotated, spectra, works
from fedtheory.exact._method_moments import image, method_gaps
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.methods.rules import Method
from fedtheory.selection.laws import KnowsItsLaw, Moments

__all__ = ["expected_gap"]


class RoundNoise(NamedTuple):
    """Covariance of ``sum_k omega_k noise_k``: a constant and, for relative noise, a linear function of the moments.

    ``constant`` has shape (v,) for diagonal curvatures and (v, v) for full ones. ``response`` is the variance along the
    eigenvectors of H_k for the squared coordinates of ``x - centers_k``, shape (K, v, v), or None.
    """

    constant: Array
    response: Array | None
    centers: Array
    vectors: Array | None

    def covariance(self, mean: Array, second: Array) -> Array:
        """Average over a model x with these moments; shape (v,) or (v, v), like ``constant``."""
        if self.response is None:
            return self.constant
        if self.vectors is None:
            squares = second - 2 * self.centers * mean + self.centers**2
            diagonal: Array = self.constant + np.einsum("kij,kj->i", self.response, squares)
            return diagonal
        means, centers = mean @ self.vectors, np.einsum("ki,kij->kj", self.centers, self.vectors)
        seconds = np.einsum("kij,kij->kj", self.vectors, second @ self.vectors)
        variances = np.einsum("kij,kj->ki", self.response, seconds - 2 * centers * means + centers**2)
        full: Array = self.constant + rotated(variances, self.vectors).sum(axis=0)
        return full


def round_noise(eigen: Spectra, work: LocalMoments, factors: Array, sigma2: float, centers: Array) -> RoundNoise:
    """Weight the noise of each client by its factor, ``E omega_k^2`` for copies that share it; shape (K,)."""
    variances = sigma2 * factors[:, None] * work.variance
    by_client = variances if eigen.vectors is None else rotated(variances, eigen.vectors)
    response = None if work.response is None else factors[:, None, None] * work.response
    return RoundNoise(by_client.sum(axis=0), response, centers, eigen.vectors)


_ROUNDING = 1e-12


@pinned
def expected_gap(
    fed: QuadraticFederation,
    strategy: KnowsItsLaw,
    num_rounds: int,
    local_steps: int,
    step_size: float | npt.ArrayLike | Schedule,
    initial: npt.ArrayLike,
    gradient_noise: float = 0.0,
    *,
    relative_noise: float = 0.0,
    server_step_size: float = 1.0,
    method: Method | None = None,
) -> Array:
    r"""Return the expected gap ``E F(w_t) - F*`` after 0, 1, ..., num_rounds rounds, exact up to rounding.

    The gaps are in units of the loss, shape (num_rounds + 1,), and infinite after an overflow. Those of ``FedDyn`` and
    ``Scaffold`` have rounding errors relative to the squared gradients of the clients at w*.

    Parameters
    ----------
    fed
        Quadratic clients with any curvatures.
    strategy
        A state-independent strategy: one whose ``law`` is ``Moments``.
    num_rounds, local_steps
        Number of communication rounds, and number tau of local steps in each.
    step_size
        A number, one number per local step, shape (num_rounds * local_steps,), or a schedule.
    initial
        Initial model, shape (v,).
    gradient_noise, relative_noise
        The noise in each local gradient has the total variance ``sigma^2 + M |grad F_k|^2`` at the client's own model,
        equally in all directions; ``gradient_noise`` is sigma^2 and ``relative_noise`` is M.
    server_step_size
        Factor of the aggregated difference ``sum_k omega_k (w_k - w)``.
    method
        ``FedAvgM``, ``FedDyn``, ``Scaffold`` or a linear ``FedOpt`` (``second_momentum=1``) of ``fedtheory.methods``,
        or None for federated averaging. With a method ``relative_noise`` and ``server_step_size`` must have their
        default values. With ``FedDyn`` and ``Scaffold`` the strategy must be ``Full``, ``Uniform``, ``Proportional`` or
        ``Independent``.

    Notes
    -----
    A round costs O(K v^3) for full curvatures, and O(K v tau) for diagonal ones or O(v) while the step size does not
    change. With a method whose state has V vectors it costs O(V^3 v^3), or O(V^3 v) for diagonal curvatures.

    Examples
    --------
    One client, ``w^2/2`` from 1, step 1/2, noise of variance 1: the gap is 1/2, then 1/2 (1/4 + 1/4).

    >>> from fedtheory.selection.full import Full
    >>> fed = QuadraticFederation([1.0], [[0.0]], [1.0])
    >>> expected_gap(fed, Full(), num_rounds=1, local_steps=1, step_size=0.5, initial=[1.0], gradient_noise=1.0)
    array([0.5 , 0.25])
    """
    fed = quadratic(fed)
    moments = _moments(strategy, fed.weights)
    num_rounds, local_steps = validate.horizon("num_rounds", num_rounds), validate.count("local_steps", local_steps)
    etas = step_sizes(step_size, num_rounds, local_steps).reshape(num_rounds, local_steps)
    start = validate.array("initial", initial, shape=(fed.dim,)) - fed.minimizer
    sigma2 = validate.double("gradient_noise", validate.nonnegative("gradient_noise", gradient_noise))
    relative = validate.double("relative_noise", validate.nonnegative("relative_noise", relative_noise))
    scale = validate.double("server_step_size", validate.positive("server_step_size", server_step_size))
    validate.moderate("server_step_size", scale, 1e100)
    if method is not None:
        for name, value, default in (("relative_noise", relative, 0.0), ("server_step_size", scale, 1.0)):
            if value != default:
                message = f"{name} must be {default} with {truncate(method)}, got {value}"
                raise ValueError(message)
    rounds = _rounds(fed, _scaled(moments, scale), etas, sigma2, relative)
    with np.errstate(over="ignore", invalid="ignore"):
        if method is not None:
            gaps = method_gaps(fed, method, strategy, moments, etas, sigma2, start)
        else:
            gaps = _diagonal_gaps(fed, start, rounds) if fed.is_diagonal else _full_gaps(fed, start, rounds)
    return np.where(np.isfinite(gaps), gaps, np.inf)


def _moments(strategy: object, weights: Array) -> Moments:
    law = known_law(strategy, weights)
    if not isinstance(law, Moments):
        message = (
            "strategy must be state-independent (with known moments of its coefficients) for an exact expectation, "
            f"got {truncate(strategy)}; mean_field_gap approximates strategies that depend on the losses"
        )
        raise TypeError(message)
    mean, delta, noise = (
        validate.array(name, value, shape=weights.shape)
        for name, value in (("mean", law.mean), ("delta", law.delta), ("noise", law.noise))
    )
    alpha = float(validate.finite("alpha", law.alpha))
    # Variances of known coefficients are zero up to rounding.
    variance = (alpha - 1) * mean**2 + delta
    for client in np.flatnonzero(variance < -_ROUNDING * mean**2):
        message = f"law must have E omega_k^2 >= (E omega_k)^2, got variance {variance[client]:.3g} for client {client}"
        raise ValueError(message)
    return Moments(mean, alpha, delta, validate.nonnegative("noise", noise))


def _scaled(moments: Moments, scale: float) -> Moments:
    return Moments(scale * moments.mean, moments.alpha, scale**2 * moments.delta, scale**2 * np.asarray(moments.noise))


class _Round(NamedTuple):
    """``x+ = x + sum_k omega_k (G_k x + g_k)`` + noise, where x is the model minus w*; see Moments.

    ``slopes`` contains the G_k, (K, v) if diagonal, else (K, v, v); ``offsets`` the g_k, (K, v).
    """

    slopes: Array
    offsets: Array
    moments: Moments
    noise: RoundNoise


def _rounds(
    fed: QuadraticFederation, moments: Moments, etas: Array, sigma2: float, relative: float
) -> Iterator[_Round]:
    eigen, centers = spectra(fed), fed.centers - fed.minimizer
    known: LocalMoments | None = None
    for work in works(eigen, etas, relative):
        if work is not known:
            known = work
            of_noise = round_noise(eigen, work, moments.noise, sigma2, centers)
            current = _Round(-work.pull, applied(work.pull, centers), moments, of_noise)
        yield current


def _diagonal_gaps(fed: QuadraticFederation, start: Array, rounds: Iterator[_Round]) -> Array:
    """Propagate the moments of each coordinate, shape (v,); only relative noise couples coordinates."""
    curvature = fed.weights @ fed.diagonals
    mean, second = start, start**2
    gaps = [0.5 * curvature @ second]
    known: _Round | None = None
    for step in rounds:
        if step is not known:
            known, (total, offset, by_second, by_mean, constant) = step, _diagonal_map(step)
        noise = step.noise.covariance(mean, second)
        mean, second = total * mean + offset, by_second * second + by_mean * mean + constant + noise
        gaps.append(0.5 * curvature @ second)
    return np.array(gaps)


def _diagonal_map(step: _Round) -> tuple[Array, Array, Array, Array, Array]:
    """Return factor and offset of the mean, and the coefficients of second, mean and 1 in ``second+`` without noise."""
    u, alpha, delta, _ = step.moments
    slope, offset = u @ step.slopes, u @ step.offsets
    total = 1 + slope
    return (
        total,
        offset,
        total**2 + (alpha - 1) * slope**2 + delta @ step.slopes**2,
        2 * (total * offset + (alpha - 1) * slope * offset + delta @ (step.slopes * step.offsets)),
        offset**2 + (alpha - 1) * offset**2 + delta @ step.offsets**2,
    )


def _full_gaps(fed: QuadraticFederation, start: Array, rounds: Iterator[_Round]) -> Array:
    """Propagate first moments (v,) and second moments (v, v)."""
    mean, second = start, np.outer(start, start)
    gaps = [0.5 * np.vdot(fed.mean_curvature, second)]
    for step in rounds:
        mean, second = _full_round(step, mean, second)
        gaps.append(0.5 * np.vdot(fed.mean_curvature, second))
    return np.array(gaps)


def _full_round(step: _Round, mean: Array, second: Array) -> tuple[Array, Array]:
    u, alpha, delta, _ = step.moments
    slope, offset = np.tensordot(u, step.slopes, 1), u @ step.offsets
    total = slope + np.eye(mean.size)
    after = (
        image(total, offset, mean, second)
        + (alpha - 1) * image(slope, offset, mean, second)
        + _weighted_images(delta, step.slopes, step.offsets, mean, second)
        + step.noise.covariance(mean, second)
    )
    return total @ mean + offset, 0.5 * (after + after.T)


def _weighted_images(factors: Array, slopes: Array, offsets: Array, mean: Array, second: Array) -> Array:
    """Return the weighted sum of the second moments of ``G_k x + g_k``, as one matrix product over (k, j)."""
    left = (factors[:, None, None] * slopes) @ second
    cross = (factors[:, None] * (slopes @ mean)).T @ offsets
    result: Array = np.tensordot(left, slopes, ((0, 2), (0, 2))) + cross + cross.T
    return result + (factors[:, None] * offsets).T @ offsets
