"""FedDyn: local losses with a dynamic regularizer."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (methods/rules.py states the arguments of compiled rules)

from dataclasses import dataclass
from typing import final

import numpy as np

from fedtheory._support import validate
from fedtheory._support.jit import compiled
from fedtheory._support.validate import Array
from fedtheory.methods.rules import MethodRules

__all__ = ["FedDyn"]


@final
@dataclass(frozen=True)
class FedDyn:
    """Dynamic regularization: local losses gain a linear and a quadratic term, so that their minimizers agree.

    Client k keeps an estimate l_k of its gradient at the end of its last round. From the server's model x it takes
    local steps on ``F_k(y) - <l_k, y> + alpha/2 |y - x|^2`` to y_k, and sets ``l_k <- l_k - alpha (y_k - x)``. The
    server sets ``h <- h - alpha sum_k p_k (y_k - x)``, the sum being over the clients of the round, and moves x to the
    mean of the y_k minus ``h / alpha``. All l_k and h are 0 before round 0. The ``proximal_weight`` alpha is positive;
    that of ``fedavg`` must be 0.

    The p_k are the objective weights; the mean of the y_k is x plus the differences with the strategy's coefficients.
    The paper minimizes the local loss exactly, which many local steps approximate. In the paper's pseudocode the sum of
    h can also be read as ``(sum_k y_k) - x``, with which the minimizer is no fixed point.

    Source: Acar, Zhao, Matas Navarro, Mattina, Whatmough and Saligrama (2021), Algorithm 1.
    """

    proximal_weight: float

    def __post_init__(self) -> None:
        validate.double("proximal_weight", validate.positive("proximal_weight", self.proximal_weight))

    def method_rules(self, weights: Array, initial: Array) -> MethodRules:
        """Return the compiled rules."""
        return MethodRules(
            correct=_correct, combine=_combine, table=np.array([self.proximal_weight], dtype=np.float64),
            memory=np.zeros(initial.size), state_size=initial.size, proximal_weight=self.proximal_weight,
        )  # fmt: skip


@compiled
def _correct(round_index, table, memory, states, all_weights, chosen, step_sizes, starts, corrections):
    for i in range(chosen.size):
        for j in range(starts.shape[1]):
            corrections[i, j] = -states[chosen[i], j]


@compiled
def _combine(
    round_index, table, memory, states, all_weights, chosen, coefficients, step_sizes, num_steps, starts, updates,
    messages, rng, model,
):  # fmt: skip
    alpha = table[0]
    for i in range(chosen.size):
        if coefficients[i] == 0.0:
            continue
        k = chosen[i]
        for j in range(model.size):
            states[k, j] -= alpha * updates[i, j]
            memory[j] -= alpha * all_weights[k] * updates[i, j]
            model[j] += coefficients[i] * updates[i, j]
    for j in range(model.size):
        model[j] -= memory[j] / alpha
    return 1.0
