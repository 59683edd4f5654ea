"""Kernels of federations of wells: losses of some clients, local steps of one client, objective gap of a model."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (slots take what engine/contract.py says)

from typing import NamedTuple

import numpy as np

from fedtheory._compile import compiled
from fedtheory._validate import Array
from fedtheory.engine.contract import Family, LocalWork
from fedtheory.federation.nonconvex import NonconvexFederation

__all__ = ["NonconvexArrays", "nonconvex_family"]


class NonconvexArrays(NamedTuple):
    """What the kernels read.

    ``clients`` has a row per client: amplitudes (v numbers), centers (v), tilts (v). ``objective`` has the wells that F
    is the sum of, one row each: weighted amplitudes (v), centers (v); one row is enough when all clients share theirs.
    ``minimum`` holds F*.
    """

    clients: Array
    objective: Array
    minimum: Array


def nonconvex_family(fed: NonconvexFederation, work: LocalWork) -> Family:
    """Lay out a federation for the round loop."""
    if work.batch_size:
        message = f"batch_size must be None for a federation without samples, got {work.batch_size}"
        raise ValueError(message)
    if fed.has_common_wells:
        objective = np.hstack([fed.amplitudes[:1], fed.centers[:1]])
    else:
        objective = np.hstack([fed.weights[:, None] * fed.amplitudes, fed.centers])
    arrays = NonconvexArrays(
        clients=np.ascontiguousarray(np.hstack([fed.amplitudes, fed.centers, fed.tilts])),
        objective=np.ascontiguousarray(objective),
        minimum=np.array([fed.minimum]),
    )
    return Family(arrays, _losses, _train, _excess, reference=fed.minimum)


@compiled
def _phi(t):
    square = t * t
    return square / (1.0 + square) if square < 1e200 else 1.0


@compiled
def _slope(client, i, dim, coordinate):
    offset = coordinate - client[dim + i]
    root = 1.0 + offset * offset
    return client[i] * 2.0 * offset / (root * root) + client[2 * dim + i]


@compiled
def _loss(client, model):
    dim = model.size
    value = 0.0
    for i in range(dim):
        value += client[i] * _phi(model[i] - client[dim + i]) + client[2 * dim + i] * model[i]
    return value


@compiled
def _losses(problem, model, candidates, batch_size, rng, losses):
    for j in range(candidates.size):
        losses[j] = _loss(problem.clients[candidates[j]], model)


@compiled
def _train(problem, chosen, server_model, step_sizes, work, rng, velocity, slope, updates, mean_losses):
    for i in range(chosen.size):
        mean_losses[i] = _train_one(problem, chosen[i], server_model, step_sizes, work, rng, velocity, updates[i])


@compiled
def _train_one(problem, client, server_model, step_sizes, work, rng, velocity, update):
    dim = server_model.size
    row = problem.clients[client]
    noise = np.sqrt(work.gradient_noise / dim)
    total_loss = 0.0
    for i in range(dim):
        update[i] = server_model[i]
        velocity[i] = 0.0
    for s in range(step_sizes.size):
        if work.track_losses:
            total_loss += _loss(row, update)
        if work.relative_noise > 0.0:
            square = _gradient2(row, update)
            noise = np.sqrt((work.gradient_noise + work.relative_noise * square) / dim)
        for i in range(dim):
            gradient = _slope(row, i, dim, update[i])
            gradient += work.proximal_weight * (update[i] - server_model[i])
            if noise > 0.0:
                gradient += noise * rng.standard_normal()
            velocity[i] = work.momentum * velocity[i] + gradient
            update[i] -= step_sizes[s] * velocity[i]
    for i in range(dim):
        update[i] -= server_model[i]
    return total_loss / step_sizes.size


@compiled
def _gradient2(client, model):
    value = 0.0
    for i in range(model.size):
        gradient = _slope(client, i, model.size, model[i])
        value += gradient * gradient
    return value


@compiled
def _excess(problem, model):
    dim = model.size
    value = 0.0
    for k in range(problem.objective.shape[0]):
        for i in range(dim):
            value += problem.objective[k, i] * _phi(model[i] - problem.objective[k, dim + i])
    # A model can lie below the computed minimum by rounding only.
    return max(value - problem.minimum[0], 0.0)
