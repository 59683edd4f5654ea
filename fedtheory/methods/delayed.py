"""Delayed updates: clients start from models that are some rounds old."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (methods/rules.py states the arguments of compiled rules)

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.jit import compiled
from fedtheory._support.validate import Array
from fedtheory.methods.rules import MethodRules

__all__ = ["Delayed"]


@final
@dataclass(frozen=True)
class Delayed:
    r"""Federated averaging whose updates are some rounds old.

    In round t client k starts its local steps at the server's model ``x_(t-d)`` and the server adds the weighted sum of
    the differences to x_t. Models before round 0 are x_0. The delays d are independent, for every client and round,
    with the given law. With one local step these are gradients that are d rounds old.

    Parameters
    ----------
    law
        Probabilities of the delays 0, 1, ..., D, with the sum 1. ``(0, 0, 1)`` delays every update by two rounds.

    Examples
    --------
    On ``w^2 / 2`` from 1 with step size 1/2 and gradients that are one round old, the model moves by ``-1/2`` twice,
    and then by ``-1/2`` times the model 1/2.

    >>> import fedtheory as ft
    >>> fed = ft.QuadraticFederation([1.0], [[0.0]], [1.0])
    >>> run = {"num_rounds": 3, "step_size": 0.5, "initial": [1.0], "record": ("models",)}
    >>> ft.fedavg(fed, ft.selection.Full(), method=Delayed((0, 1)), **run).models[0, :, 0]
    array([ 1.  ,  0.5 ,  0.  , -0.25])
    """

    law: Sequence[float]

    def __post_init__(self) -> None:
        law = validate.probability_vector("law", self.law)
        object.__setattr__(self, "law", tuple(law.tolist()))

    @property
    def largest_delay(self) -> int:
        """Largest delay of positive probability."""
        return max(d for d, probability in enumerate(self.law) if probability > 0)

    @property
    def is_constant(self) -> bool:
        """Whether all updates have the same delay."""
        return max(self.law) == 1.0

    def method_rules(self, weights: Array, initial: Array) -> MethodRules:
        """Return the compiled rules."""
        models = np.tile(initial, len(self.law))
        return MethodRules(
            correct=_correct, combine=_combine, table=np.cumsum(self.law),
            memory=np.concatenate([models, np.zeros(weights.size)]),
        )  # fmt: skip


# The memory holds the last D + 1 models, that of round t in row t mod (D + 1), and then the delay of each client.
@compiled
def _correct(round_index, table, memory, states, all_weights, chosen, step_sizes, starts, corrections):
    size, dim = table.size, starts.shape[1]
    for i in range(chosen.size):
        delay = int(memory[size * dim + chosen[i]])
        row = (round_index + size - delay) % size
        for j in range(dim):
            starts[i, j] = memory[row * dim + j]


@compiled
def _combine(
    round_index, table, memory, states, all_weights, chosen, coefficients, step_sizes, num_steps, starts, updates,
    messages, rng, model,
):  # fmt: skip
    size, dim = table.size, model.size
    for i in range(chosen.size):
        if coefficients[i] != 0.0:
            for j in range(dim):
                model[j] += coefficients[i] * messages[i, j]
    row = (round_index + 1) % size
    for j in range(dim):
        memory[row * dim + j] = model[j]
    for k in range(all_weights.size):
        delay, place = 0, rng.random()
        while delay < size - 1 and place >= table[delay]:
            delay += 1
        memory[size * dim + k] = delay
    return 1.0
