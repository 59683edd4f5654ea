"""Kernels of federations with user-defined losses, compiled from two functions."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (argument order: engine/contract.py)

from functools import lru_cache
from typing import Any, NamedTuple

import numba
from numba import types

from fedtheory._support.jit import is_compiled
from fedtheory._support.progress import announced
from fedtheory._support.validate import Array
from fedtheory.engine.contract import Family, LocalWork, refuse_batches
from fedtheory.engine.faults import reason
from fedtheory.engine.local_steps import train_clients
from fedtheory.federation.own_losses import LossFederation


class OwnArrays(NamedTuple):
    """Arrays of a federation with user-defined losses: the data of the losses, and the weights of the clients."""

    data: Any
    weights: Array


def own_family(fed: LossFederation, work: LocalWork) -> Family:
    """Lay out a federation for the round loop.

    A TypeError or ValueError is raised if a function cannot be compiled, draws random numbers, or is not the gradient
    of the other.
    """
    refuse_batches(work)
    named, data = zip(("client_loss", "client_gradient"), fed.checked_functions, strict=True), numba.typeof(fed.data)
    kernels = _kernels(*(_own(name, function, data) for name, function in named))
    return Family(OwnArrays(fed.data, fed.weights), *kernels, reference=0.0)


@lru_cache(maxsize=64)
def _own(name: str, function: Any, data: Any) -> Any:
    """Compile a user's function for data of this type; raise an error in one sentence if that is impossible."""
    known = getattr(function, "__name__", repr(function))
    source = function.py_func if is_compiled(function) else function
    try:
        with announced(f"compiling {name}"):
            # An index out of bounds raises an error.
            model = types.Array(types.float64, 1, "C", readonly=True)
            return numba.njit((data, types.int64, model), nogil=True, boundscheck=True)(source)
    except numba.NumbaError as error:
        hint = " (NumPy's functions can be compiled, SciPy's cannot)" if "scipy" in str(error) else ""
        message = f"{name} must be a function that numba compiles{hint}, got {known}: {reason(error)}"
        raise TypeError(message) from error


@lru_cache(maxsize=64)
def _kernels(loss: Any, gradient: Any) -> tuple[Any, Any, Any]:
    """Compile the kernels of two functions; the result is cached for all federations with these functions."""

    @_compiled
    def losses_of(problem, model, candidates, batch_size, rng, losses):
        for j in range(candidates.size):
            losses[j] = loss(problem.data, candidates[j], model)

    @_compiled
    def loss_of(problem, k, model):
        return loss(problem.data, k, model)

    @_compiled
    def write_gradient(problem, k, model, slope):
        slope[:] = gradient(problem.data, k, model)

    @_compiled
    def train(problem, chosen, server_model, step_sizes, work, rng, velocity, slope, updates, mean_losses):
        train_clients(
            loss_of, write_gradient, problem, chosen, server_model, step_sizes, work, rng, velocity, slope, updates,
            mean_losses,
        )  # fmt: skip

    @_compiled
    def objective(problem, model):
        value = 0.0
        for k in range(problem.weights.size):
            value += problem.weights[k] * loss(problem.data, k, model)
        return value

    return losses_of, train, objective


def _compiled(function: Any) -> Any:
    # Numba's file cache cannot be used for functions that are made at run time.
    return numba.njit(nogil=True)(function)
