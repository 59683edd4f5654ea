"""The round loop, written once: attend, ask, choose, correct, train, weigh, record, aggregate, value, observe.

It calls the rules of strategy and method and the family's kernels through slots, which ``contract`` declares and
``_binding`` fills. Such a call costs a few nanoseconds: a slot is called per round, never per step or per sample.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from fedtheory._support.compiling import compiled, inlined
from fedtheory._support.views import part
from fedtheory.engine._fleet import keep_present, train_cohort, update_presence
from fedtheory.engine._round_game import value_cohort
from fedtheory.engine._slots import functions_at, lent, placed
from fedtheory.engine.contract import RECORDS, SLOTS, Slots, Totals

__all__: list[str] = []

# How a replicate ends, unless it diverges.
FINISHED, SHORTFALL, FAULT, STOPPED = -1, -2, -3, -4
_PLACE, _TOTAL = Slots(*range(len(SLOTS))), Totals(*range(len(RECORDS)))


@compiled
def run_rounds(addresses, problem, validation, test, server, space, recording, work, fleet, method, plan, streams):  # noqa: PLR0911
    """Run the rounds of one replicate in place; the loss of ``validation`` values the chosen, unless it is None.

    ``test`` is the problem whose only client has the test samples, or 0. All three are places in memory.

    Returns the round t in which the model stopped being finite, or how else it ended; ``space.report`` tells where.

    Two rounds of everybody, with a step half way to 2 and to 7: from 0 half way to their mean 4, and half way again.

    >>> import fedtheory as ft
    >>> from fedtheory.engine import _binding, _fleet, contract
    >>> fed, rng = ft.QuadraticFederation([1.0, 1.0], [[2.0], [7.0]], [0.6, 0.4]), np.random.default_rng(0)
    >>> work = contract.LocalWork(0.0, 0.0, 0.0, 0.0, batch_size=0, by_epoch=False, track_losses=False)
    >>> family, rules = ft.engine.layout(fed, work), ft.selection.Full().rules(fed.weights, num_rounds=2)
    >>> sizes = {"K": 2, "d": rules.max_candidates, "m": rules.max_selected, "v": 1, "coalitions": 0, "r": 0, "s": 0}
    >>> space, recorded = contract.workspace(np.zeros(1), sizes), contract.recording(("gap",), 1, 3, sizes)
    >>> plan = contract.Plan(np.zeros(1, np.bool_), False, 0, np.full(2, 0.5), 1, 1.0, -1, 0.0, 0)
    >>> streams = contract.Streams(rng, rng, rng, rng)
    >>> method = contract.MethodState(np.empty(0), np.empty(0), np.empty((0, 0)), np.empty(0))
    >>> server = contract.Server(np.array(rules.table), np.array(rules.memory), np.array(fed.weights))
    >>> nobody_differs = np.ones(2, np.bool_), server.weights, 0, _fleet.own_steps(1, 2, 2)[1], np.empty(0)
    >>> fleet = _fleet.Fleet(np.array(rules.attend_table), np.array(rules.attend_memory), *nobody_differs)
    >>> run = _binding.bound_loop(family, rules)  # run_rounds with its addresses
    >>> run(family.own_arrays(), None, None, server, space, recorded, work, fleet, method, plan, streams) == FINISHED
    True
    >>> space.model
    array([3.])
    """
    slots, problem = functions_at(addresses), placed(problem)
    server, space, recording, fleet = lent(server), lent(space), lent(recording), lent(fleet)
    plan, selection_rng, training_rng = lent(plan), lent(streams.selection), lent(streams.training)
    method, method_rng = lent(method), lent(streams.method)
    attendance_rng, model, totals = lent(streams.attendance), space.model, space.totals
    num_rounds = plan.step_sizes.size // plan.local_steps
    # Asked once: the usual fleet is present, and handing its arrays around costs a tenth of a round.
    attends, corrects = addresses.attend != 0, space.starts.shape[0] > 0
    for t in range(num_rounds + 1):
        row = t // recording.every if t % recording.every == 0 else -1
        space.report[0] = _PLACE.excess
        if row >= 0 and not _measure(slots, problem, test, recording, row, model, method.states, totals, training_rng):
            return t
        space.report[1] = t
        if t == num_rounds:
            break
        if plan.stop[0]:
            return STOPPED
        here = _attend(slots, server, space, fleet, t, attends, attendance_rng)
        if here < 0:
            return here
        asked = 0
        if addresses.propose != 0:
            asked = _ask(slots, problem, server, space, fleet, plan, t, attends, selection_rng, training_rng)
        size = _choose(slots, server, space, fleet, plan, asked, t, attends, selection_rng)
        if size < 0 or (method.states.shape[1] > 0 and _repeats(part(space.chosen, 0, size), server.weights.size)):
            return FAULT
        steps = part(plan.step_sizes, t * plan.local_steps, plan.local_steps)
        if corrects:
            prepare(slots, addresses, _PLACE, method, server, space, size, t, steps)
        space.report[0] = _PLACE.train
        train_cohort(problem, slots.train, space, size, t, steps, work, fleet, training_rng)
        extra = _weigh(slots, server, space, plan, size, t, addresses.weigh != 0, selection_rng)
        if extra < 0.0:
            return FAULT
        if row >= 0 and recording.selected.size + recording.coefficients.size > 0:
            _record_cohort(recording, row, space, size)
        down, sent = size, 0.0
        if corrects:
            how_often, sent = receive(
                slots, addresses, _PLACE, method, server, space, size, t, steps, plan.server_step_size, method_rng
            )
            down = how_often * size
        else:
            sent = float(_aggregate(space, size, plan.server_step_size, addresses.value != 0) * model.size)
        if not _is_finite(model):
            return FAULT if addresses.weigh != 0 and _only_coefficients_fail(space, size) else t + 1
        if validation is not None:  # decided at compilation: a strategy that values nobody runs a loop without this
            num_coalitions = _value_chosen(
                slots.excess, slots.coalition, addresses.coalition != 0, placed(validation), space, recording.values,
                row, plan, size, selection_rng,
            )  # fmt: skip
            if num_coalitions < 0:
                return t + 1
            totals[_TOTAL.coalitions] += num_coalitions
        _look_back(slots, server, space, size, t, addresses.value != 0, addresses.observe != 0, selection_rng)
        totals[_TOTAL.uplink] += sent + asked + extra
        totals[_TOTAL.broadcasts] += max(asked, down)
        totals[_TOTAL.evaluations] += asked
    return FINISHED


@inlined
def _attend(slots, server, space, fleet, t, attends, rng):
    """Ask who is there; return their number, or how the run ends."""
    if not attends:
        return 0
    space.report[0] = _PLACE.attend
    said = slots.attend(t, fleet.table, fleet.memory, rng, fleet.present)
    space.report[2] = said
    here = update_presence(fleet, server.weights)
    if said != here:
        return FAULT
    return here if here >= fleet.min_present else SHORTFALL


@inlined
def _ask(slots, problem, server, space, fleet, plan, t, attends, selection_rng, training_rng):
    """Ask candidates for their losses; return how many they are, -1 if the rule is at fault."""
    table, memory, weights = server
    candidates = space.candidates
    space.report[0] = _PLACE.propose
    if plan.checks:
        _fill(candidates, candidates.size, -1)
    asked = slots.propose(t, table, memory, weights, selection_rng, candidates)
    space.report[2] = asked
    if plan.checks and _misnames(candidates, asked, weights.size):
        return -1
    if attends:
        asked = keep_present(candidates, asked, fleet)
    space.report[0] = _PLACE.losses
    slots.losses(problem, space.model, part(candidates, 0, asked), plan.candidate_batch, training_rng, space.losses)
    return asked


@inlined
def _choose(slots, server, space, fleet, plan, asked, t, attends, rng):
    """Choose who trains; return how many they are, -1 if this rule is at fault, or was the one before."""
    table, memory, weights = server
    chosen = space.chosen
    if asked < 0:
        return -1
    space.report[0] = _PLACE.select
    if plan.checks:
        _fill(chosen, chosen.size, -1)
    size = slots.select(
        t, table, memory, weights, part(space.candidates, 0, asked), part(space.losses, 0, asked), rng, chosen
    )
    space.report[2] = size
    if plan.checks and _misnames(chosen, size, weights.size):
        return -1
    if attends:
        size = keep_present(chosen, size, fleet)
    return size


@inlined
def _weigh(slots, server, space, plan, size, t, weighs, rng):
    """Give each update its coefficient; return how many floats go up besides, -1 if the rule is at fault."""
    table, memory, weights = server
    coefficients = space.coefficients
    if not weighs:
        _fill(coefficients, size, 1.0 / max(size, 1))
        return 0.0
    space.report[0] = _PLACE.weigh
    if plan.checks:
        _fill(coefficients, size, np.nan)
    extra = slots.weigh(
        t, table, memory, weights, part(space.chosen, 0, size), part(space.updates, 0, size), rng, coefficients
    )
    space.report[2], space.report[3] = extra, size
    return extra if 0.0 <= extra < np.inf else -1.0


@compiled
def _value_chosen(excess_of, coalition_of, shares_work, validation, space, recorded, row, plan, size, rng):
    """Value the chosen; return the coalitions evaluated, -1 if a loss is not finite."""
    if size == 0:
        return 0
    space.report[0] = _PLACE.excess
    asked = value_cohort(
        excess_of, coalition_of, shares_work, validation, space.server_model, space.updates[:size],
        space.coefficients[:size], plan.method, plan.tolerance, plan.num_orders, rng, space.known, space.change,
        space.values,
    )  # fmt: skip
    if row >= 0 and recorded.size > 0:
        for i in range(size):
            recorded[row, i] = space.values[i]
    return asked if _is_finite(space.values[:size]) else -1


@inlined
def _look_back(slots, server, space, size, t, values, observes, rng):
    """Let the strategy value and observe what the round came to."""
    table, memory, weights = server
    chosen, coefficients = part(space.chosen, 0, size), part(space.coefficients, 0, size)
    if values:
        space.report[0] = _PLACE.value
        worth, updates, before, after = space.values[:size], space.updates[:size], space.server_model, space.model
        slots.value(t, table, memory, weights, chosen, coefficients, worth, updates, before, after, rng)
    if observes:
        space.report[0] = _PLACE.observe
        slots.observe(t, table, memory, weights, chosen, coefficients, part(space.mean_losses, 0, size))


@inlined
def _fill(array, size, value):
    for i in range(size):
        array[i] = value


@inlined
def _misnames(clients, size, num_clients):
    """Whether a rule returned a number beyond its room, or left a client that does not exist."""
    if size < 0 or size > clients.size:
        return True
    wrong = False
    for i in range(size):
        wrong |= (clients[i] < 0) | (clients[i] >= num_clients)
    return wrong


@compiled
def _repeats(clients, num_clients):
    """Whether a client is named twice: a state of each client has no second copy."""
    seen = np.zeros(num_clients, dtype=np.bool_)
    for k in clients:
        if seen[k]:
            return True
        seen[k] = True
    return False


@inlined
def _aggregate(space, size, server_step_size, keeps):
    """Move the model, and keep what it was before if asked; return the number of updates sent."""
    model, change, updates, coefficients = space.model, space.change, space.updates, space.coefficients
    chosen, counts, sent = space.chosen, space.counts, 0
    if keeps:
        for j in range(model.size):
            space.server_model[j] = model[j]
    for j in range(model.size):
        change[j] = 0.0
    for i in range(size):
        share = coefficients[i]
        # An update that is not sent may hold anything, so that 0 times it is not added.
        if share != 0.0:
            for j in range(model.size):
                change[j] += share * updates[i, j]
            counts[chosen[i]] += 1
            sent += 1
    for j in range(model.size):
        model[j] += server_step_size * change[j]
    return sent


@compiled
def _count_mistakes(mistakes_of, test, model, accuracies, row, rng):
    everybody, shares = np.zeros(1, dtype=np.int64), np.empty(1)
    mistakes_of(test, model, everybody, 0, rng, shares)  # nothing is drawn where the batch is all samples
    accuracies[row] = 1.0 - shares[0]


@compiled
def _measure(slots, problem, test, recording, row, model, states, totals, rng):
    """Record the model and what it is worth; return whether its objective is finite."""
    if recording.excess.size > 0:  # a pass over all samples, where nobody asks for it
        excess = slots.excess(problem, model)
        if not np.isfinite(excess):
            return False
        recording.excess[row] = excess
    if test != 0:
        _count_mistakes(slots.mistakes, placed(test), model, recording.accuracy, row, rng)
    _record(recording, row, model, states, totals)
    return True


@inlined
def _record(recording, row, model, states, totals):
    if recording.models.size > 0:
        for j in range(model.size):  # an assignment of the whole row takes two seconds to compile
            recording.models[row, j] = model[j]
    if recording.uplink.size > 0:
        recording.uplink[row] = totals[_TOTAL.uplink]
    if recording.broadcasts.size > 0:
        recording.broadcasts[row] = totals[_TOTAL.broadcasts]
    if recording.evaluations.size > 0:
        recording.evaluations[row] = totals[_TOTAL.evaluations]
    if recording.coalitions.size > 0:
        recording.coalitions[row] = totals[_TOTAL.coalitions]
    for k in range(states.shape[0] if recording.states.size > 0 else 0):
        for j in range(states.shape[1]):
            recording.states[row, k, j] = states[k, j]


@compiled
def _record_cohort(recording, row, space, size):
    for i in range(size if recording.selected.size > 0 else 0):
        recording.selected[row, i] = space.chosen[i]
    for i in range(size if recording.coefficients.size > 0 else 0):
        recording.coefficients[row, i] = space.coefficients[i]


@inlined
def _is_finite(model):
    total = 0.0
    for j in range(model.size):
        total += model[j] * 0.0
    return total == 0.0


@compiled
def _only_coefficients_fail(space, size):
    """Whether some coefficient is not finite although all updates are: then it is the rule that diverged."""
    finite = 0
    for i in range(size):
        finite += _is_finite(space.updates[i])
    return finite == size and not _is_finite(space.coefficients[:size])


# mypy: allow-untyped-defs, allow-untyped-calls


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
