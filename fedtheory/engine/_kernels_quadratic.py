"""Kernels of quadratic federations: losses of some clients, local steps of one client, objective gap of a model."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (argument order: engine/contract.py)

from typing import NamedTuple

import numpy as np

from fedtheory._support.jit import compiled, inlined
from fedtheory._support.validate import Array
from fedtheory.engine.contract import Family, LocalWork, refuse_batches
from fedtheory.engine.local_steps import train_clients
from fedtheory.federation.quadratic import QuadraticFederation


class QuadraticArrays(NamedTuple):
    """Arrays of a quadratic federation: one row per client, and one for the objective F.

    A row is curvature (1 number if isotropic, v if diagonal, v*v if full), minimum (0 for F), minimizer (v).
    """

    rows: Array
    objective: Array


def quadratic_family(fed: QuadraticFederation, work: LocalWork) -> Family:
    """Lay out a federation for the round loop, with kernels of their own for plain steps of isotropic clients."""
    refuse_batches(work)
    nothing_else = LocalWork(0.0, 0.0, 0.0, 0.0, 0, by_epoch=False, track_losses=work.track_losses)
    is_plain = work.correction.size == 0 and work[:-1] == nothing_else[:-1]
    rows, kernels = fed.rows, (_losses, _train, _excess)
    if fed.curvatures.ndim == 1 and is_plain:
        kernels = (_isotropic_losses, _isotropic_train, _isotropic_excess)
    elif fed.curvatures.ndim == 1:
        rows = np.hstack([fed.diagonals, fed.minima[:, None], fed.centers])
    # The excess is computed from the exact minimizer, which avoids the cancellation in F(w) - F*.
    curvature = fed.weights @ np.ascontiguousarray(rows[:, : -1 - fed.dim])
    objective = np.concatenate([curvature, [0.0], fed.minimizer])[None]
    rows.setflags(write=False)
    return Family(QuadraticArrays(rows, objective), *kernels, reference=fed.minimum)


@compiled
def _isotropic_losses(problem, model, candidates, batch_size, rng, losses):
    for j in range(candidates.size):
        losses[j] = _isotropic_loss(problem.rows, candidates[j], model)


@inlined
def _isotropic_loss(rows, client, model):
    k = np.uint64(client)
    square = 0.0
    for i in range(model.size):
        offset = model[i] - rows[k, i + 2]
        square += offset * offset
    return 0.5 * rows[k, 0] * square + rows[k, 1]


@compiled
def _isotropic_excess(problem, model):
    return _isotropic_loss(problem.objective, 0, model)


@compiled
def _isotropic_train(problem, chosen, server_model, step_sizes, work, rng, velocity, slope, updates, mean_losses):
    # A step of gradient descent moves every coordinate by the same share of its distance to the center.
    rows = problem.rows
    for j in range(chosen.size):
        k = np.uint64(chosen[j])
        share = 0.0
        for s in range(step_sizes.size):
            share += step_sizes[s] * rows[k, 0] * (1.0 - share)
        for i in range(server_model.size):
            updates[j, i] = share * (rows[k, i + 2] - server_model[i])
        if work.track_losses:
            # All distances to the center shrink by the same factor, so the first loss determines all others.
            left, squares = 1.0, 0.0
            for s in range(step_sizes.size):
                squares += left * left
                left -= step_sizes[s] * rows[k, 0] * left
            first = _isotropic_loss(rows, k, server_model) - rows[k, 1]
            mean_losses[j] = first * (squares / step_sizes.size) + rows[k, 1]


@compiled
def _losses(problem, model, candidates, batch_size, rng, losses):
    for j in range(candidates.size):
        losses[j] = _loss(problem.rows, candidates[j], model)


@compiled
def _excess(problem, model):
    return _loss(problem.objective, 0, model)


@compiled
def _train(problem, chosen, server_model, step_sizes, work, rng, velocity, slope, updates, mean_losses):
    train_clients(
        _loss, _write_gradient, problem.rows, chosen, server_model, step_sizes, work, rng, velocity, slope, updates,
        mean_losses,
    )  # fmt: skip


@compiled
def _loss(rows, client, model):
    """Return ``1/2 (w - c)' H (w - c)`` plus the minimum of a client, or of F."""
    k, dim = np.uint64(client), model.size
    center = rows.shape[1] - dim
    value = 0.0
    for i in range(dim):
        value += _derivative(rows, k, model, i) * (model[i] - rows[k, center + i])
    return 0.5 * value + rows[k, center - 1]


@compiled
def _write_gradient(rows, client, model, slope):
    k = np.uint64(client)
    for i in range(model.size):
        slope[i] = _derivative(rows, k, model, i)


@inlined
def _derivative(rows, k, model, i):
    """Return entry i of ``H (w - c)`` for a diagonal or a full H."""
    dim = model.size
    center = rows.shape[1] - dim
    if center == dim + 1:
        return rows[k, i] * (model[i] - rows[k, center + i])
    value = 0.0
    for j in range(dim):
        value += rows[k, i * dim + j] * (model[j] - rows[k, center + j])
    return value
