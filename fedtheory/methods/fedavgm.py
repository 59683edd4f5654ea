"""FedAvgM: federated averaging with server momentum."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (methods/rules.py states the arguments of compiled rules)

from dataclasses import dataclass
from typing import final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.jit import compiled
from fedtheory._support.validate import Array
from fedtheory.methods.rules import MethodRules

__all__ = ["FedAvgM"]


@final
@dataclass(frozen=True)
class FedAvgM:
    """Server momentum: the server moves along a decaying sum of the aggregated updates.

    With the weighted sum Delta of the model differences of a round, the server sets ``v <- beta v + Delta`` and ``x <-
    x + s v``, or ``x <- x + s (Delta + beta v)`` with Nesterov's momentum. The velocity v is 0 before round 0. The
    ``momentum`` beta is in [0, 1], and the ``server_step_size`` s is positive. With one local step and all clients this
    is the heavy ball method. Source: Hsu, Qi and Brown (2019).
    """

    momentum: float
    server_step_size: float = 1.0
    nesterov: bool = False

    def __post_init__(self) -> None:
        validate.fraction("momentum", self.momentum)
        validate.double("server_step_size", validate.positive("server_step_size", self.server_step_size))
        validate.boolean("nesterov", self.nesterov)

    def method_rules(self, weights: Array, initial: Array) -> MethodRules:
        """Return the compiled rules."""
        table = np.array([self.momentum, self.server_step_size, self.nesterov], dtype=np.float64)
        return MethodRules(combine=_combine, table=table, memory=np.zeros(initial.size))


@compiled
def _combine(
    round_index, table, memory, states, all_weights, chosen, coefficients, step_sizes, num_steps, starts, updates,
    messages, rng, model,
):  # fmt: skip
    beta, server_step_size, is_nesterov = table[0], table[1], table[2] != 0.0
    change = np.zeros(model.size)
    for i in range(chosen.size):
        if coefficients[i] != 0.0:
            for j in range(model.size):
                change[j] += coefficients[i] * messages[i, j]
    for j in range(model.size):
        memory[j] = beta * memory[j] + change[j]
        model[j] += server_step_size * (change[j] + beta * memory[j] if is_nesterov else memory[j])
    return 1.0
