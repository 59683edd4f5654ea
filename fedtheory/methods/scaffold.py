"""SCAFFOLD: control variates that correct the drift of local steps."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (methods/rules.py states the arguments of compiled rules)

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.jit import compiled
from fedtheory._support.validate import Array
from fedtheory.methods.rules import MethodRules

__all__ = ["Scaffold"]


@final
@dataclass(frozen=True)
class Scaffold:
    """Control variates: every local gradient of client k is corrected by ``c - c_k``.

    From ``y = x`` client k takes local steps ``y <- y - eta (g_k(y) - c_k + c)`` and sets ``c_k+ = c_k - c + (x - y) /
    (tau eta)`` (Option II), where ``tau eta`` is the sum of its step sizes. The server moves x by the sum of the model
    differences with the strategy's coefficients, and c by the sum of the changes of the c_k with the objective weights,
    so that c is always the weighted mean of all c_k.

    A client sends and receives two vectors. Clients that send nothing keep their control variates. The paper has equal
    weights, so that c moves by m/K times the mean change of the m clients of a round.

    Source: Karimireddy, Kale, Mohri, Reddi, Stich and Suresh (2020), Algorithm 1.

    Parameters
    ----------
    control_variates
        The c_k before round 0, shape (K, v); zeros by default. The initial c of the server is their weighted mean.
    """

    control_variates: npt.ArrayLike | None = None

    def __post_init__(self) -> None:
        if self.control_variates is not None:
            validate.array("control_variates", self.control_variates, ndim=2)

    def method_rules(self, weights: Array, initial: Array) -> MethodRules:
        """Return the compiled rules; ValueError if the control variates have another shape than (K, v)."""
        shape = (weights.size, initial.size)
        states, server = None, np.zeros(initial.size)
        if self.control_variates is not None:
            states = validate.array("control_variates", self.control_variates, shape=shape)
            server = weights @ states
        return MethodRules(
            correct=_correct, combine=_combine, state_size=initial.size, states=states, memory=server
        )  # fmt: skip


@compiled
def _correct(round_index, table, memory, states, all_weights, chosen, step_sizes, starts, corrections):
    for i in range(chosen.size):
        for j in range(memory.size):
            corrections[i, j] = memory[j] - states[chosen[i], j]


@compiled
def _combine(
    round_index, table, memory, states, all_weights, chosen, coefficients, step_sizes, num_steps, starts, updates,
    messages, rng, model,
):  # fmt: skip
    # All changes are relative to the previous c, which is moved last.
    dim = model.size
    change = np.zeros(dim)
    for i in range(chosen.size):
        if coefficients[i] == 0.0:
            continue
        elapsed, k = step_sizes[: num_steps[i]].sum(), chosen[i]
        for j in range(dim):
            increment = -memory[j] - updates[i, j] / elapsed
            states[k, j] += increment
            change[j] += all_weights[k] * increment
            model[j] += coefficients[i] * updates[i, j]
    for j in range(dim):
        memory[j] += change[j]
    return 2.0
