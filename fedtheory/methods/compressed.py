"""Compressed messages: compressed steps, error feedback, and EF21."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (methods/rules.py states the arguments of compiled rules)
from dataclasses import dataclass
from typing import final

import numpy as np

from fedtheory._support.jit import compiled
from fedtheory._support.validate import Array
from fedtheory.methods.compressors import Compress, Compressor, checked_compressor
from fedtheory.methods.rules import MethodRules

__all__ = ["EF21", "Compressed", "ErrorFeedback"]


@final
@dataclass(frozen=True)
class Compressed:
    """Send compressed updates; the server adds their weighted sum.

    With one local step and one client this is compressed gradient descent, ``x+ = x - C(eta grad f(x))``. The
    compressors of this package commute with multiplication by numbers.
    """

    compressor: Compressor

    def __post_init__(self) -> None:
        checked_compressor(self.compressor)

    def method_rules(self, weights: Array, initial: Array) -> MethodRules:
        """Return the compiled rules."""
        rule, table, _ = self.compressor.compress(initial.size)
        return MethodRules(compress=rule, compress_table=table)


@final
@dataclass(frozen=True)
class ErrorFeedback:
    """Error feedback: send the compressed sum of the update and the accumulated compression error.

    With one local step client k sends ``C(v_k)`` with ``v_k = e_k + eta g_k(x)`` and keeps ``e_k = v_k - C(v_k)``; the
    server subtracts the weighted sum from x. The compressor must be a contraction, such as ``TopK(3)``. If clients have
    different minimizers, the method only converges to a neighborhood of the minimizer. The state of a client is e_k,
    initially zero; it does not change in rounds in which the client sends nothing.

    Source: Seide, Fu, Droppo, Li and Yu (2014).
    """

    compressor: Compressor

    def __post_init__(self) -> None:
        checked_compressor(self.compressor)

    def method_rules(self, weights: Array, initial: Array) -> MethodRules:
        """Return the compiled rules; ValueError if the compressor is no contraction."""
        rule, table, _ = _contraction(self.compressor, initial.size)
        return MethodRules(
            message=_with_memory, compress=rule, combine=_keep, state_size=initial.size, compress_table=table
        )  # fmt: skip


@final
@dataclass(frozen=True)
class EF21:
    """EF21: send the compressed change of a gradient estimate, which client and server then update.

    Client k sends ``C(g_k(x) - d_k)``. Client and server both add it to d_k, and the server steps along the mean of all
    d_k, weighted by the objective weights. With several local steps g_k is the mean of the gradients along the path.
    The compressor must be a contraction, such as ``TopK(3)``. The state of a client is d_k, initially zero; for clients
    that send nothing the server uses the last one.

    Source: Richtarik, Sokolov and Fatkhullin (2021).
    """

    compressor: Compressor

    def __post_init__(self) -> None:
        checked_compressor(self.compressor)

    def method_rules(self, weights: Array, initial: Array) -> MethodRules:
        """Return the compiled rules; ValueError if the compressor is no contraction."""
        rule, table, _ = _contraction(self.compressor, initial.size)
        return MethodRules(
            message=_change, compress=rule, combine=_follow, state_size=initial.size, compress_table=table,
            memory=np.zeros(initial.size),
        )  # fmt: skip


def _contraction(compressor: Compressor, dim: int) -> Compress:
    found = compressor.compress(dim)
    if not found.epsilon < 1:
        message = (
            f"compressor must be a contraction, E|C(v) - v|^2 <= epsilon |v|^2 with epsilon < 1, got {compressor} with "
            f"epsilon = {found.epsilon:g} for {dim} parameters"
        )
        raise ValueError(message)
    return found


@compiled
def _with_memory(round_index, table, memory, states, all_weights, chosen, step_sizes, num_steps, updates, messages):
    for i in range(chosen.size):
        for j in range(updates.shape[1]):
            messages[i, j] = updates[i, j] - states[chosen[i], j]


@compiled
def _keep(
    round_index, table, memory, states, all_weights, chosen, coefficients, step_sizes, num_steps, starts, updates,
    messages, rng, model,
):  # fmt: skip
    for i in range(chosen.size):
        if coefficients[i] == 0.0:
            continue
        for j in range(model.size):
            states[chosen[i], j] += messages[i, j] - updates[i, j]
            model[j] += coefficients[i] * messages[i, j]
    return 1.0


@compiled
def _change(round_index, table, memory, states, all_weights, chosen, step_sizes, num_steps, updates, messages):
    for i in range(chosen.size):
        elapsed = step_sizes[: num_steps[i]].sum()
        for j in range(updates.shape[1]):
            messages[i, j] = -updates[i, j] / elapsed - states[chosen[i], j]


@compiled
def _follow(
    round_index, table, memory, states, all_weights, chosen, coefficients, step_sizes, num_steps, starts, updates,
    messages, rng, model,
):  # fmt: skip
    for i in range(chosen.size):
        if coefficients[i] == 0.0:
            continue
        for j in range(model.size):
            states[chosen[i], j] += messages[i, j]
            memory[j] += all_weights[chosen[i]] * messages[i, j]
    elapsed = step_sizes.sum()
    for j in range(model.size):
        model[j] -= elapsed * memory[j]
    return 1.0
