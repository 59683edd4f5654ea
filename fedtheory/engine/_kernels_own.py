"""Kernels of federations whose losses are somebody's own, made of two functions."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (slots take what engine/contract.py says)

from functools import lru_cache
from typing import Any, NamedTuple

import numba

from fedtheory._support.compiling import is_compiled
from fedtheory._support.validate import Array
from fedtheory.engine.contract import Family, LocalWork
from fedtheory.engine.local_steps import begin, descend, finish
from fedtheory.federation.own_losses import LossFederation

__all__ = ["OwnArrays", "own_family"]


class OwnArrays(NamedTuple):
    """What the kernels read: the data of the losses, and the weights of the clients."""

    data: Any
    weights: Array


def own_family(fed: LossFederation, work: LocalWork) -> Family:
    """Lay out a federation for the round loop."""
    if work.batch_size or work.num_batches:
        name = "batch_size" if work.batch_size else "num_batches"
        message = f"{name} must be None for a federation without samples, got {getattr(work, name)}"
        raise ValueError(message)
    return Family(OwnArrays(fed.data, fed.weights), *_kernels(fed.client_loss, fed.client_gradient), reference=0.0)


@lru_cache(maxsize=64)
def _kernels(client_loss: Any, client_gradient: Any) -> tuple[Any, Any, Any]:
    """Compile the kernels of two functions, once for all federations of theirs."""
    loss, gradient = (one if is_compiled(one) else _compiled(one) for one in (client_loss, client_gradient))

    @_compiled
    def losses_of(problem, model, candidates, batch_size, rng, losses):
        for j in range(candidates.size):
            losses[j] = loss(problem.data, candidates[j], model)

    @_compiled
    def train(problem, chosen, server_model, step_sizes, work, rng, velocity, slope, updates, mean_losses):
        for c in range(chosen.size):
            model, total = updates[c], 0.0
            begin(server_model, velocity, model)
            for s in range(step_sizes.size):
                total += loss(problem.data, chosen[c], model) if work.track_losses else 0.0
                slope[:] = gradient(problem.data, chosen[c], model)
                descend(slope, step_sizes[s], work, rng, server_model, velocity, model)
            finish(server_model, model)
            mean_losses[c] = total / step_sizes.size

    @_compiled
    def objective(problem, model):
        value = 0.0
        for k in range(problem.weights.size):
            value += problem.weights[k] * loss(problem.data, k, model)
        return value

    return losses_of, train, objective


def _compiled(function: Any) -> Any:
    # What is made of somebody's functions has no file to be cached by.
    return numba.njit(nogil=True)(function)
