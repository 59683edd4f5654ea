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
    r"""Normalized averaging of unequal local steps, ``tau_eff sum_k p_k (y_k - x) / tau_k``.

    Client k takes tau_k steps to y_k, ``tau_eff = sum_k p_k tau_k``, and the p_k are the strategy's coefficients.

    Local momentum is not allowed, because the divisor would then be the sum of the weights of the gradients.

    Source: Wang, Liu, Liang, Joshi and Poor (2020).

    The minimizers of two parabolas are 0 and 1. The second client takes four steps, so the mean of the models is
    shifted towards 1:

    >>> import fedtheory as ft
    >>> fed = ft.QuadraticFederation([1.0, 1.0], [[0.0], [1.0]], [0.5, 0.5])
    >>> run = {"num_rounds": 400, "local_steps": [1, 4], "step_size": 0.1, "record": ("models",)}
    >>> ft.fedavg(fed, ft.selection.Full(), **run).models[0, -1].round(9)
    array([0.77472404])
    >>> ft.fedavg(fed, ft.selection.Full(), method=FedNova(), **run).models[0, -1].round(9)
    array([0.46229332])
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
