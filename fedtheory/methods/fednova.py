"""FedNova: normalized averaging for unequal numbers of local steps."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (methods/rules.py states the arguments of compiled rules)

from dataclasses import dataclass
from typing import final

from fedtheory._support.jit import compiled
from fedtheory._support.validate import Array
from fedtheory.methods.rules import MethodRules

__all__ = ["FedNova"]


@final
@dataclass(frozen=True)
class FedNova:
    """Normalized averaging of unequal local steps, ``tau_eff sum_k p_k (y_k - x) / tau_k``.

    Client k takes tau_k steps to y_k, ``tau_eff = sum_k p_k tau_k``, and the p_k are the strategy's coefficients. Local
    momentum is not allowed, because the divisor would then be the sum of the weights of the gradients.

    Source: Wang, Liu, Liang, Joshi and Poor (2020).
    """

    def method_rules(self, weights: Array, initial: Array) -> MethodRules:
        """Return the compiled rules."""
        return MethodRules(combine=_combine, options=("momentum",))


@compiled
def _combine(
    round_index, table, memory, states, all_weights, chosen, coefficients, step_sizes, num_steps, starts, updates,
    messages, rng, model,
):  # fmt: skip
    effective = 0.0
    for i in range(chosen.size):
        effective += coefficients[i] * num_steps[i]
    for i in range(chosen.size):
        if coefficients[i] != 0.0:
            for j in range(model.size):
                model[j] += effective * coefficients[i] / num_steps[i] * messages[i, j]
    return 1.0
