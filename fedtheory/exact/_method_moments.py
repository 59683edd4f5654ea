r"""Exact moments of FedAvgM, FedDyn, SCAFFOLD and FedOpt with constant roots on quadratics, where rounds are affine.

The state z holds the model, the server's vector and the clients' vectors. A round is ``z+ = A z + sum_k omega_k (B_k z
+ b_k + noise_k)`` with the strategy's coefficients omega, so that the first two moments of z obey a closed recursion.
Client k reads and writes at most three vectors: the model, the server's vector and its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory._support.wording import truncate
from fedtheory.exact._local_moments import Spectra, rotated, spectra
from fedtheory.federation.quadratic import QuadraticFederation
from fedtheory.methods.fedavgm import FedAvgM
from fedtheory.methods.feddyn import FedDyn
from fedtheory.methods.fedopt import FedOpt
from fedtheory.methods.scaffold import Scaffold
from fedtheory.selection.full import Full
from fedtheory.selection.independent import Independent
from fedtheory.selection.laws import Moments
from fedtheory.selection.proportional import Proportional
from fedtheory.selection.uniform import Uniform

_ROUNDING = 1e-9


class _Method(NamedTuple):
    """A round as numbers that multiply vectors; rows and columns are the model, the server's vector, the client's own.

    The round adds ``keeps z`` for the server's rows and ``omega_k (writes_k update_k + moves_k z)`` for each client,
    whose gradients are corrected by ``corrects z`` and gain a proximal term. The shapes of keeps, corrects, writes and
    moves are (2, 2), (n,), (K, n) and (K, n, n).
    """

    keeps: Array
    corrects: Array
    writes: Array
    moves: Array
    proximal_weight: float = 0.0


class _Round(NamedTuple):
    """A round in g blocks of coordinates that do not interact: ``total z + offset`` on average, z of shape (g, D).

    ``drawn`` is the part of ``total`` that is multiplied by the omega_k. ``maps``, ``offsets`` and ``noise`` (a
    covariance) are those of one client, shapes (g, K, d, d) and (g, K, d), at the entries ``places`` of z, (K, d).
    """

    total: Array
    drawn: Array
    offset: Array
    maps: Array
    offsets: Array
    noise: Array
    places: Array


def method_gaps(
    fed: QuadraticFederation, method: object, strategy: object, moments: Moments, step_sizes: Array, sigma2: float,
    initial: Array,
) -> Array:  # fmt: skip
    """Return the expected gaps after 0, ..., T rounds with step sizes of shape (T, tau)."""
    shares = _shares(method, strategy, moments)
    eigen, mean = spectra(fed), _initial(fed, method, initial)
    second = mean[:, :, None] * mean[:, None, :]
    curvature = np.einsum("k,kgab->gab", fed.weights, _blocks(eigen, eigen.values))
    block = curvature.shape[-1]
    gaps = [0.5 * np.sum(curvature * second[:, :block, :block])]
    known: Array | None = None
    for etas in step_sizes:
        if known is None or (etas != known).any():
            known = etas
            round_ = _round(fed, eigen, _written(method, fed.weights, shares, etas), moments, etas, sigma2)
        mean, second = _after(round_, moments, mean, second)
        gaps.append(0.5 * np.sum(curvature * second[:, :block, :block]))
    # The clients' vectors converge to gradients at w*, so that small gaps are differences of large numbers.
    return np.maximum(gaps, 0.0)


def _shares(method: object, strategy: object, moments: Moments) -> Array:
    """Return the values that the coefficients have if they are not 0; refuse strategies for which there may be others.

    Moments do not determine whether a client takes part, and the clients' vectors depend on that.
    """
    mean, alpha, delta, noise = moments
    second = alpha * mean**2 + delta
    if not (isinstance(method, FedAvgM | FedDyn | Scaffold) or (isinstance(method, FedOpt) and method.is_linear)):
        message = (
            "method must be a FedAvgM, a FedDyn, a Scaffold, a FedOpt that is linear (second_momentum=1) or None, got "
            f"{truncate(method)}"
        )
        raise TypeError(message)
    if isinstance(method, FedAvgM | FedOpt):
        return np.ones_like(mean)
    if not isinstance(strategy, Full | Uniform | Proportional | Independent):
        message = f"strategy must be Full, Uniform, Proportional or Independent with {method}, got {truncate(strategy)}"
        raise TypeError(message)
    if not np.allclose(noise, second, rtol=_ROUNDING, atol=0.0):
        message = f"strategy must select different clients with {method}, got one with copies"
        raise ValueError(message)
    return np.divide(second, mean, out=np.ones_like(mean), where=mean > 0)


def _initial(fed: QuadraticFederation, method: Any, initial: Array) -> Array:
    """Return the state before round 0, shape (g, D)."""
    clients = np.zeros((0 if isinstance(method, FedAvgM | FedOpt) else fed.num_clients, fed.dim))
    server = np.zeros(fed.dim)
    if isinstance(method, Scaffold) and method.control_variates is not None:
        clients = validate.array("control_variates", method.control_variates, shape=clients.shape)
        server = fed.weights @ clients
    z = np.stack([initial, server, *clients])
    return z.T.copy() if fed.is_diagonal else z.reshape(1, -1)


def _written(method: Any, weights: Array, shares: Array, step_sizes: Array) -> _Method:
    """Write a round of the method in numbers; client k takes part if its coefficient is ``shares[k]``, else it is 0."""
    num_clients, taking_part = weights.size, 1 / shares
    if isinstance(method, FedAvgM | FedOpt):
        beta, s, added = method.momentum, method.server_step_size, 1.0
        if isinstance(method, FedOpt):
            s, added = s / method.first_root, 1 - beta
            moved, kept = s * added, s * beta
        else:
            moved, kept = (s * (1 + beta), s * beta**2) if method.nesterov else (s, s * beta)
        return _Method(
            np.array([[1.0, kept], [0.0, beta]]), np.zeros(2), np.tile([moved, added], (num_clients, 1)),
            np.zeros((num_clients, 2, 2)),
        )  # fmt: skip
    moves, own = np.zeros((num_clients, 3, 3)), weights * taking_part
    if isinstance(method, FedDyn):
        alpha = method.proximal_weight
        writes = np.stack([1 + own, -alpha * own, -alpha * taking_part], axis=1)
        keeps = np.array([[1.0, -1 / alpha], [0.0, 1.0]])
        return _Method(keeps, np.array([0.0, 0.0, -1.0]), writes, moves, alpha)
    elapsed = step_sizes.sum()
    writes = np.stack([np.ones(num_clients), -own / elapsed, -taking_part / elapsed], axis=1)
    moves[:, 1, 1], moves[:, 2, 1] = -own, -taking_part
    return _Method(np.eye(2), np.array([0.0, 1.0, -1.0]), writes, moves)


def _round(
    fed: QuadraticFederation, eigen: Spectra, written: _Method, moments: Moments, step_sizes: Array, sigma2: float
) -> _Round:
    """Take all local steps, ``update_k = -reach_k (H_k (x - a_k) + correction_k) + noise_k``.

    There are K clients and g groups of ``block`` coordinates. A client reads and writes n vectors, so that its entries
    of a group are ``d = n block``.
    """
    kept = written.proximal_weight + eigen.values  # (K, v), as are the next two
    reach, variance = np.zeros_like(kept), np.zeros_like(kept)
    for eta in step_sizes:
        variance = (1 - eta * kept) ** 2 * variance + sigma2 * eta**2 / fed.dim
        reach = (1 - eta * kept) * reach + eta
    pull, reach, covariance = (  # (g, K, block, block)
        _blocks(eigen, values).swapaxes(0, 1) for values in (reach * eigen.values, reach, variance)
    )
    groups, num_clients, block, _ = pull.shape
    writes, n = written.writes, written.corrects.size
    identity, model = np.eye(block), np.eye(n)[0]  # ``model`` reads the first of the n vectors

    # A client's vectors change by matrices of vectors (K, n, n) times matrices of coordinates, in total (g, K, d, d).
    maps = (
        _kronecker(written.moves, identity[None, None])
        - _kronecker(writes[:, :, None] * model, pull)
        - _kronecker(writes[:, :, None] * written.corrects, reach)
    )
    centers = (fed.centers - fed.minimizer).reshape(num_clients, groups, block).swapaxes(0, 1)
    pulled = (pull @ centers[..., None])[..., 0]  # (g, K, block)
    offsets = (writes[:, :, None] * pulled[:, :, None, :]).reshape(groups, num_clients, n * block)
    noise = _kronecker(moments.noise[:, None, None] * writes[:, :, None] * writes[:, None, :], covariance)

    # Client k has the model, the server's vector and, if n = 3, vector 2 + k of the state.
    vectors = np.tile(np.arange(n), (num_clients, 1))  # (K, n)
    vectors[:, 2:] += np.arange(num_clients)[:, None]
    places = (vectors[:, :, None] * block + np.arange(block)).reshape(num_clients, n * block)
    size = block * (2 if n == 2 else 2 + num_clients)
    drawn, offset = np.zeros((groups, size, size)), np.zeros((groups, size))
    np.add.at(drawn, _minors(places), moments.mean[:, None, None] * maps)
    entries: Any = slice(None), places
    np.add.at(offset, entries, moments.mean[:, None] * offsets)
    total = np.eye(size) + drawn
    total[:, : 2 * block, : 2 * block] += np.kron(written.keeps - np.eye(2), identity)
    return _Round(total, drawn, offset, maps, offsets, noise, places)


def _blocks(eigen: Spectra, values: Array) -> Array:
    """Return the matrices with these eigenvalues (K, v) as blocks, (K, v, 1, 1) if diagonal and (K, 1, v, v) if not."""
    return values[:, :, None, None] if eigen.vectors is None else rotated(values, eigen.vectors)[:, None]


def _kronecker(vectors: Array, coordinates: Array) -> Array:
    """Return the Kronecker products of matrices (K, n, n) and (g, K, block, block), shape (g, K, n block, n block)."""
    product = vectors[:, :, None, :, None] * coordinates[:, :, None, :, None, :]
    groups, num_clients, n, block, _, _ = product.shape
    return product.reshape(groups, num_clients, n * block, n * block)


def _minors(places: Array) -> Any:
    return slice(None), places[:, :, None], places[:, None, :]


def _after(round_: _Round, moments: Moments, mean: Array, second: Array) -> tuple[Array, Array]:
    """Return the moments after a round."""
    places, moved = round_.places, round_.offset
    after = image(round_.total, moved, mean, second)
    if moments.alpha != 1.0:
        after += (moments.alpha - 1) * image(round_.drawn, moved, mean, second)
    images = image(round_.maps, round_.offsets, mean[:, places], second[_minors(places)])
    np.add.at(after, _minors(places), moments.delta[:, None, None] * images + round_.noise)
    return (round_.total @ mean[..., None])[..., 0] + moved, after


def image(slope: Array, offset: Array, mean: Array, second: Array) -> Array:
    """Return the second moments of ``slope z + offset``, also of several z."""
    transposed = np.swapaxes(slope, -1, -2)
    cross = (slope @ mean[..., None]) * offset[..., None, :]
    result: Array = slope @ second @ transposed + cross + np.swapaxes(cross, -1, -2)
    return result + offset[..., :, None] * offset[..., None, :]
