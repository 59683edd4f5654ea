"""Kernels and rules for slots that a federation, a strategy or a method leaves empty."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (argument order: engine/contract.py)

from fedtheory._support.jit import compiled

__all__ = ["DEFAULTS"]


@compiled
def _everyone_attends(round_index, table, memory, rng, present):
    return present.size


@compiled
def _no_candidates(round_index, table, memory, weights, rng, candidates):
    return 0


@compiled
def _equal_shares(round_index, table, memory, weights, chosen, updates, rng, coefficients):
    for i in range(chosen.size):
        coefficients[i] = 1.0 / chosen.size
    return 0.0


@compiled
def _no_value(
    round_index, table, memory, weights, chosen, coefficients, values, updates, server_model, model, rng
):  # fmt: skip
    pass


@compiled
def _no_observation(round_index, table, memory, weights, chosen, coefficients, mean_losses):
    pass


@compiled
def _no_correction(round_index, table, memory, states, all_weights, chosen, step_sizes, starts, corrections):
    pass


@compiled
def _updates_as_messages(
    round_index, table, memory, states, all_weights, chosen, step_sizes, num_steps, updates, messages
):  # fmt: skip
    pass


@compiled
def _whole_message(table, rng, message):
    return float(message.size)


@compiled
def _no_combination(
    round_index, table, memory, states, all_weights, chosen, coefficients, step_sizes, num_steps, starts, updates,
    messages, rng, model,
):  # fmt: skip
    return 1.0


@compiled
def _no_mistakes(problem, model, candidates, batch_size, rng, losses):
    pass


DEFAULTS = {
    "attend": _everyone_attends,
    "propose": _no_candidates,
    "weigh": _equal_shares,
    "value": _no_value,
    "observe": _no_observation,
    "correct": _no_correction,
    "message": _updates_as_messages,
    "compress": _whole_message,
    "combine": _no_combination,
    "mistakes": _no_mistakes,
}
