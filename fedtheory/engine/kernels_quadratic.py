"""Kernels of quadratic federations: losses of some clients, local steps of one client, objective gap of a model."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (slots take what engine/rounds.py says)

from typing import Any, NamedTuple

import numpy as np

from fedtheory._compile import compiled
from fedtheory._validate import Array
from fedtheory.engine.rounds import Family, LocalWork
from fedtheory.federation.quadratic import QuadraticFederation

__all__ = ["QuadraticArrays", "family"]


class QuadraticArrays(NamedTuple):
    """What the kernels read.

    ``clients`` has a row per client: curvature (1 number if isotropic, v if diagonal, v*v if full), then center (v).
    ``minima`` holds the F_k*. ``objective`` is the curvature of F in the same layout, then the minimizer of F.
    """

    clients: Array
    minima: Array
    objective: Array


def family(fed: QuadraticFederation, work: LocalWork) -> Family:
    """Lay out a federation for the round loop, with the leanest kernels for the local work asked for."""
    if work.batch_size:
        message = f"batch_size must be None for a federation without samples, got {work.batch_size}"
        raise ValueError(message)
    plain = work == LocalWork(0.0, 0.0, 0.0, 0.0, 0, by_epoch=False, track_losses=False)
    slots: tuple[Any, Any, Any]
    if fed.curvatures.ndim == 1 and plain:
        curvatures, slots = fed.curvatures[:, None], (_isotropic_losses, _isotropic_descend, _diagonal_excess)
    elif fed.is_diagonal:
        curvatures, slots = fed.diagonals, (_diagonal_losses, _diagonal_train, _diagonal_excess)
    else:
        curvatures, slots = fed.matrices.reshape(fed.num_clients, -1), (_full_losses, _full_train, _full_excess)
    mean = fed.weights @ fed.diagonals if fed.is_diagonal else fed.mean_curvature.ravel()
    arrays = QuadraticArrays(
        clients=np.ascontiguousarray(np.hstack([curvatures, fed.centers])),
        minima=np.array(fed.minima),
        objective=np.concatenate([mean, fed.minimizer]),
    )
    # The excess is measured from the exact minimum, which spares the cancellation in F(w) - F*.
    return Family(arrays, *slots, reference=fed.minimum)


@compiled
def _isotropic_losses(problem, model, candidates, batch_size, rng, losses):
    clients = problem.clients
    for j in range(candidates.size):
        k = np.uint64(candidates[j])
        square = 0.0
        for i in range(model.size):
            offset = model[i] - clients[k, i + 1]
            square += offset * offset
        losses[j] = 0.5 * clients[k, 0] * square + problem.minima[k]


@compiled
def _isotropic_descend(problem, chosen, server_model, step_sizes, work, rng, velocity, updates, mean_losses):
    # Plain gradient descent moves every coordinate the same share of the way to the center.
    clients = problem.clients
    for j in range(chosen.size):
        k = np.uint64(chosen[j])
        share = 0.0
        for s in range(step_sizes.size):
            share += step_sizes[s] * clients[k, 0] * (1.0 - share)
        for i in range(server_model.size):
            updates[j, i] = share * (clients[k, i + 1] - server_model[i])


@compiled
def _diagonal_losses(problem, model, candidates, batch_size, rng, losses):
    dim = model.size
    clients = problem.clients
    for j in range(candidates.size):
        k = np.uint64(candidates[j])
        value = 0.0
        for i in range(dim):
            offset = model[i] - clients[k, dim + i]
            value += clients[k, i] * offset * offset
        losses[j] = 0.5 * value + problem.minima[k]


@compiled
def _diagonal_train(problem, chosen, server_model, step_sizes, work, rng, velocity, updates, mean_losses):
    for i in range(chosen.size):
        mean_losses[i] = _diagonal_train_one(
            problem, chosen[i], server_model, step_sizes, work, rng, velocity, updates[i]
        )


@compiled
def _diagonal_train_one(problem, client, server_model, step_sizes, work, rng, velocity, update):
    dim = server_model.size
    clients = problem.clients
    noise = np.sqrt(work.gradient_noise / dim)
    total_loss = 0.0
    for i in range(dim):
        update[i] = server_model[i]
        velocity[i] = 0.0
    for s in range(step_sizes.size):
        if work.track_losses:
            total_loss += _diagonal_loss(clients, client, dim, update) + problem.minima[client]
        if work.relative_noise > 0.0:
            square = _diagonal_gradient2(clients, client, dim, update)
            noise = np.sqrt((work.gradient_noise + work.relative_noise * square) / dim)
        for i in range(dim):
            gradient = clients[client, i] * (update[i] - clients[client, dim + i])
            gradient += work.proximal_weight * (update[i] - server_model[i])
            if noise > 0.0:
                gradient += noise * rng.standard_normal()
            velocity[i] = work.momentum * velocity[i] + gradient
            update[i] -= step_sizes[s] * velocity[i]
    for i in range(dim):
        update[i] -= server_model[i]
    return total_loss / step_sizes.size


@compiled
def _diagonal_loss(clients, client, dim, model):
    value = 0.0
    for i in range(dim):
        offset = model[i] - clients[client, dim + i]
        value += clients[client, i] * offset * offset
    return 0.5 * value


@compiled
def _diagonal_gradient2(clients, client, dim, model):
    value = 0.0
    for i in range(dim):
        gradient = clients[client, i] * (model[i] - clients[client, dim + i])
        value += gradient * gradient
    return value


@compiled
def _diagonal_excess(problem, model):
    dim = model.size
    value = 0.0
    for i in range(dim):
        offset = model[i] - problem.objective[dim + i]
        value += problem.objective[i] * offset * offset
    return 0.5 * value


@compiled
def _half_square(curvature, center, start, model):
    # 1/2 (w - c)' H (w - c) with H flattened in curvature[start:] and c in center
    dim = model.size
    value = 0.0
    for i in range(dim):
        row = 0.0
        for j in range(dim):
            row += curvature[start + i * dim + j] * (model[j] - center[j])
        value += row * (model[i] - center[i])
    return 0.5 * value


@compiled
def _full_losses(problem, model, candidates, batch_size, rng, losses):
    square = model.size * model.size
    for j in range(candidates.size):
        row = problem.clients[candidates[j]]
        losses[j] = _half_square(row, row[square:], 0, model) + problem.minima[candidates[j]]


@compiled
def _full_train(problem, chosen, server_model, step_sizes, work, rng, velocity, updates, mean_losses):
    for i in range(chosen.size):
        mean_losses[i] = _full_train_one(problem, chosen[i], server_model, step_sizes, work, rng, velocity, updates[i])


@compiled
def _full_train_one(problem, client, server_model, step_sizes, work, rng, velocity, update):
    dim = server_model.size
    row = problem.clients[client]
    center = row[dim * dim :]
    noise = np.sqrt(work.gradient_noise / dim)
    gradient = np.empty(dim)
    total_loss = 0.0
    for i in range(dim):
        update[i] = server_model[i]
        velocity[i] = 0.0
    for s in range(step_sizes.size):
        if work.track_losses:
            total_loss += _half_square(row, center, 0, update) + problem.minima[client]
        square = 0.0
        for i in range(dim):
            gradient[i] = 0.0
            for j in range(dim):
                gradient[i] += row[i * dim + j] * (update[j] - center[j])
            square += gradient[i] * gradient[i]
        if work.relative_noise > 0.0:
            noise = np.sqrt((work.gradient_noise + work.relative_noise * square) / dim)
        for i in range(dim):
            gradient[i] += work.proximal_weight * (update[i] - server_model[i])
            if noise > 0.0:
                gradient[i] += noise * rng.standard_normal()
            velocity[i] = work.momentum * velocity[i] + gradient[i]
            update[i] -= step_sizes[s] * velocity[i]
    for i in range(dim):
        update[i] -= server_model[i]
    return total_loss / step_sizes.size


@compiled
def _full_excess(problem, model):
    square = model.size * model.size
    return _half_square(problem.objective, problem.objective[square:], 0, model)
