"""What the round loop does for a method: prepares the local steps, sends messages, and moves model and states."""

# mypy: allow-untyped-defs, allow-untyped-calls

from fedtheory._support.compiling import compiled, inlined
from fedtheory._support.views import part

__all__ = ["prepare", "receive"]


@inlined
def prepare(slots, addresses, place, method, server, space, size, t, step_sizes):
    """Let the chosen start at the server's model with no correction, unless the method says otherwise."""
    _reset(space, size)
    if addresses.correct != 0:
        space.report[0] = place.correct
        slots.correct(
            t, method.table, method.memory, method.states, server.weights, part(space.chosen, 0, size), step_sizes,
            part(space.starts, 0, size), part(space.corrections, 0, size),
        )  # fmt: skip


@compiled
def _reset(space, size):
    for i in range(size):
        for j in range(space.model.size):
            space.starts[i, j] = space.model[j]
            space.corrections[i, j] = 0.0


@inlined
def receive(slots, addresses, place, method, server, space, size, t, step_sizes, server_step_size, rng):
    """Make messages, compress them and move the model; return how often each was sent, and floats sent altogether."""
    chosen, coefficients = part(space.chosen, 0, size), part(space.coefficients, 0, size)
    num_steps, updates = part(space.num_steps, 0, size), part(space.updates, 0, size)
    messages = part(space.messages, 0, size)
    _copy(updates, messages)
    if addresses.message != 0:
        space.report[0] = place.message
        slots.message(
            t, method.table, method.memory, method.states, server.weights, chosen, step_sizes, num_steps, updates,
            messages,
        )  # fmt: skip
    sent, how_often = 0.0, 1.0
    for i in range(size):
        floats = float(space.model.size)
        if coefficients[i] != 0.0 and addresses.compress != 0:
            space.report[0] = place.compress
            floats = slots.compress(method.compress_table, rng, messages[i])
        if coefficients[i] != 0.0:
            sent += floats
    if addresses.combine != 0:
        space.report[0] = place.combine
        how_often = slots.combine(
            t, method.table, method.memory, method.states, server.weights, chosen, coefficients, step_sizes, num_steps,
            part(space.starts, 0, size), updates, messages, rng, space.model,
        )  # fmt: skip
    else:
        _add(space, messages, size, server_step_size)
    if how_often > 0.0:
        for i in range(size):
            space.counts[chosen[i]] += coefficients[i] != 0.0
    return how_often, how_often * sent


@compiled
def _copy(updates, messages):
    for i in range(updates.shape[0]):
        for j in range(updates.shape[1]):
            messages[i, j] = updates[i, j]


@compiled
def _add(space, messages, size, server_step_size):
    """Move the model by the weighted sum of the messages, as federated averaging does by that of the updates."""
    for j in range(space.model.size):
        space.change[j] = 0.0
    for i in range(size):
        share = space.coefficients[i]
        if share != 0.0:
            for j in range(space.model.size):
                space.change[j] += share * messages[i, j]
    for j in range(space.model.size):
        space.model[j] += server_step_size * space.change[j]
