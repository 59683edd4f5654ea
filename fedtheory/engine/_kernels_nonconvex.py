"""Kernels of federations of tilted wells: losses and local steps of clients, objective gap of a model."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (argument order: engine/contract.py)

from typing import NamedTuple

import numpy as np

from fedtheory._support.jit import compiled
from fedtheory._support.validate import Array
from fedtheory.engine.contract import Family, LocalWork, refuse_batches
from fedtheory.engine.local_steps import train_clients
from fedtheory.federation.nonconvex import NonconvexFederation


class NonconvexArrays(NamedTuple):
    """Arrays of a federation of tilted wells: amplitudes (v,) and tilts (K, v)."""

    amplitudes: Array
    tilts: Array


def nonconvex_family(fed: NonconvexFederation, work: LocalWork) -> Family:
    """Lay out a federation for the round loop."""
    refuse_batches(work)
    arrays = NonconvexArrays(np.array(fed.amplitudes), np.array(fed.tilts))
    return Family(arrays, _losses, _train, _excess, reference=0.0)


@compiled
def _phi(t):
    square = t * t
    return square / (1.0 + square) if square < 1e200 else 1.0


@compiled
def _loss(problem, k, model):
    value = 0.0
    for i in range(model.size):
        value += problem.amplitudes[i] * _phi(model[i]) + problem.tilts[k, i] * model[i]
    return value


@compiled
def _losses(problem, model, candidates, batch_size, rng, losses):
    for j in range(candidates.size):
        losses[j] = _loss(problem, candidates[j], model)


@compiled
def _write_gradient(problem, k, model, slope):
    for j in range(model.size):
        root = 1.0 + model[j] * model[j]
        slope[j] = problem.amplitudes[j] * 2.0 * model[j] / (root * root) + problem.tilts[k, j]


@compiled
def _train(problem, chosen, server_model, step_sizes, work, rng, velocity, slope, updates, mean_losses):
    train_clients(
        _loss, _write_gradient, problem, chosen, server_model, step_sizes, work, rng, velocity, slope, updates,
        mean_losses,
    )  # fmt: skip


@compiled
def _excess(problem, model):
    value = 0.0
    for i in range(model.size):
        value += problem.amplitudes[i] * _phi(model[i])
    return value
