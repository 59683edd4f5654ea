"""Kernels of double-well federations: losses of some clients, local steps of one client, objective gap of a model."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (argument order: engine/contract.py)

from typing import NamedTuple

import numpy as np

from fedtheory._support.jit import compiled
from fedtheory._support.validate import Array
from fedtheory.engine.contract import Family, LocalWork
from fedtheory.engine.local_steps import begin, descend, finish
from fedtheory.federation.nonconvex import NonconvexFederation

__all__ = ["NonconvexArrays", "nonconvex_family"]


class NonconvexArrays(NamedTuple):
    """Arrays of a double-well federation.

    ``clients`` has a row per client: amplitudes (v numbers), centers (v), tilts (v). ``objective`` has one row per well
    of F: weighted amplitudes (v), centers (v). One row is enough if all clients have the same wells. ``minimum`` holds
    F*.
    """

    clients: Array
    objective: Array
    minimum: Array


def nonconvex_family(fed: NonconvexFederation, work: LocalWork) -> Family:
    """Lay out a federation for the round loop."""
    if work.batch_size or work.num_batches:
        name = "batch_size" if work.batch_size else "num_batches"
        message = f"{name} must be None for a federation without samples, got {getattr(work, name)}"
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
        client, model, total = problem.clients[chosen[i]], updates[i], 0.0
        begin(server_model, velocity, model)
        for s in range(step_sizes.size):
            total += _loss(client, model) if work.track_losses else 0.0
            for j in range(model.size):
                slope[j] = _slope(client, j, model.size, model[j])
            descend(slope, step_sizes[s], work, rng, server_model, velocity, model)
        finish(server_model, model)
        mean_losses[i] = total / step_sizes.size


@compiled
def _excess(problem, model):
    dim = model.size
    value = 0.0
    for k in range(problem.objective.shape[0]):
        for i in range(dim):
            value += problem.objective[k, i] * _phi(model[i] - problem.objective[k, dim + i])
    # Only rounding can make the loss of a model smaller than the computed minimum.
    return max(value - problem.minimum[0], 0.0)
