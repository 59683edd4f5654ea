"""Scaffnew: random communication with control variates."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (methods/rules.py states the arguments of compiled rules)

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.jit import compiled
from fedtheory._support.validate import Array
from fedtheory.methods.rules import MethodRules

__all__ = ["Scaffnew"]


@final
@dataclass(frozen=True)
class Scaffnew:
    """Corrected local steps, with averaging of the clients' models at random times (one common coin per step).

    Client k has a model x_k and a control variate h_k. A round is one local step ``x_k <- x_k - gamma (g_k(x_k) -
    h_k)``. With probability p the server then takes the weighted mean x of the models, and every client sets ``h_k <-
    h_k + (p / gamma) (x - x_k)`` and ``x_k = x``. Otherwise nothing is sent, and the server's model does not change.

    The probability p is in (0, 1]. The ``control_variates`` are the h_k before round 0, shape (K, v), whose mean with
    the objective weights is zero; by default they are zeros. The state of a client, 2 v numbers, is x_k, then h_k. All
    clients must take part in every round, with their objective weights.

    Source: Mishchenko, Malinovsky, Stich and Richtarik (2022), Algorithm 2.
    """

    probability: float
    control_variates: Any = None

    def __post_init__(self) -> None:
        if validate.double("probability", validate.positive("probability", self.probability)) > 1:
            message = f"probability must be in (0, 1], got {self.probability}"
            raise ValueError(message)
        if self.control_variates is not None:
            validate.array("control_variates", self.control_variates, ndim=2)

    def method_rules(self, weights: Array, initial: Array) -> MethodRules:
        """Return the compiled rules."""
        shape = (weights.size, initial.size)
        variates = np.zeros(shape)
        if self.control_variates is not None:
            variates = validate.array("control_variates", self.control_variates, shape=shape)
            off, size = np.abs(weights @ variates).max(initial=0), np.abs(variates).max(initial=0)
            # A sum of K products has an error of K roundings of the largest.
            if off > weights.size * np.finfo(np.float64).eps * size:
                message = f"control_variates must have the weighted mean 0, got one of size {off}"
                raise ValueError(message)
        return MethodRules(
            correct=_correct, combine=_combine, table=np.array([self.probability]), state_size=2 * initial.size,
            states=np.hstack([np.broadcast_to(initial, shape), variates]), max_local_steps=1, options=("momentum",),
            all_clients=True,
        )  # fmt: skip


@compiled
def _correct(round_index, table, memory, states, all_weights, chosen, step_sizes, starts, corrections):
    dim = starts.shape[1]
    for i in range(chosen.size):
        for j in range(dim):
            starts[i, j] = states[chosen[i], j]
            corrections[i, j] = -states[chosen[i], dim + j]


@compiled
def _combine(
    round_index, table, memory, states, all_weights, chosen, coefficients, step_sizes, num_steps, starts, updates,
    messages, rng, model,
):  # fmt: skip
    falls, rate, dim = rng.random() < table[0], table[0] / step_sizes[0], model.size
    for i in range(chosen.size):
        for j in range(dim):
            states[chosen[i], j] = starts[i, j] + updates[i, j]
    if not falls:
        return 0.0
    for j in range(dim):
        model[j] = 0.0
        for i in range(chosen.size):
            model[j] += coefficients[i] * states[chosen[i], j]
    for i in range(chosen.size):
        for j in range(dim):
            states[chosen[i], dim + j] += rate * (model[j] - states[chosen[i], j])
            states[chosen[i], j] = model[j]
    return 1.0
