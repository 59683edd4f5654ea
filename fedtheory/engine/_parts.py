"""Optional parts of the round. Each is compiled only for runs that need it, and is called by its address.

A part takes the address of the ``State``, the round, and two whole numbers whose meaning depends on the part.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from numba import types

from fedtheory._support.compiling import compiled
from fedtheory._support.views import part
from fedtheory.engine._blocks import Block, reader
from fedtheory.engine._round_game import value_cohort
from fedtheory.engine._slots import KINDS, caller
from fedtheory.engine.contract import RECORDS, SLOTS, STATE_FIELDS, Slots, Totals

# How a replicate ends, unless it diverges.
FINISHED, SHORTFALL, FAULT, STOPPED = -1, -2, -3, -4
PLACE, TOTAL = Slots(*range(len(SLOTS))), Totals(*range(len(RECORDS)))

STATE = Block(
    (name, KINDS[kind] if ndim is None else types.Array(KINDS[kind], ndim, "C"))
    for name, (kind, ndim) in STATE_FIELDS.items()
)
state_at = reader(STATE)

_attend, _train, _mistakes = caller("attend"), caller("train"), caller("mistakes")
_correct, _message, _compress, _combine = caller("correct"), caller("message"), caller("compress"), caller("combine")


@compiled
def keep_present(clients, size, present):
    """Remove absent clients from the first ``size`` entries; return how many are left."""
    kept = 0
    for i in range(size):
        clients[kept] = clients[i]
        kept += present[clients[i]]
    return kept


@compiled
def attendance(place, t, _, __):
    """Determine the available clients and their weights; return their number, or how the run ends."""
    s = state_at(place)
    s.report[0] = PLACE.attend
    said = _attend(s.attend_at, (t, s.attend_table, s.attend_memory, s.attendance_rng, s.present))
    s.report[2] = said
    here = _update_weights(s.present, s.objective, s.weights)
    if said != here:
        return float(FAULT)
    return float(here if here >= s.min_present else SHORTFALL)


@compiled
def _update_weights(present, objective, weights):
    """Write the weights of the round, -1 for absent clients; return the number of available clients."""
    total, here = 0.0, 0
    for k in range(weights.size):
        total += objective[k] if present[k] else 0.0
        here += present[k]
    # With all clients present the sum is 1 up to rounding errors.
    scale = 1.0 if here == weights.size or total == 0.0 else 1.0 / total
    for k in range(weights.size):
        weights[k] = scale * objective[k] if present[k] else -1.0
    return here


@compiled
def training(place, t, size, _):
    """Train the cohort client by client, with individual numbers of steps, starts, corrections and noise."""
    s = state_at(place)
    chosen, updates, step_sizes = s.chosen, s.updates, part(s.step_sizes, t * s.local_steps, s.local_steps)
    own_steps, num_rows, corrects = s.own_steps, s.own_steps.shape[0], s.starts.shape[0] > 0
    for i in range(size):
        number = own_steps[t % num_rows, chosen[i]] if num_rows > 0 else step_sizes.size
        start = s.model
        if corrects:
            s.num_steps[i] = number
            start = s.starts[i]
            for j in range(s.correction.size):
                s.correction[j] = s.corrections[i, j]
        _train(
            s.train_at,
            (s.problem, part(chosen, i, 1), start, part(step_sizes, 0, number), s.work, s.training_rng, s.velocity,
             s.slope, part(updates, i, 1), part(s.mean_losses, i, 1)),
        )  # fmt: skip
    if s.returned_noise.size > 0:
        _blur(chosen, updates, size, s.returned_noise, s.training_rng)
    return 0.0


@compiled
def _blur(chosen, updates, size, variances, rng):
    for i in range(size):
        deviation = np.sqrt(variances[chosen[i]])
        if deviation > 0.0:
            for j in range(updates.shape[1]):
                updates[i, j] += deviation * rng.standard_normal()


@compiled
def prepare(place, t, size, _):
    """Write the starting models and gradient corrections of the cohort, by default the server's model and zero."""
    s = state_at(place)
    model, starts, corrections = s.model, s.starts, s.corrections
    for i in range(size):
        for j in range(model.size):
            starts[i, j] = model[j]
            corrections[i, j] = 0.0
    if s.correct_at != 0:
        s.report[0] = PLACE.correct
        step_sizes = part(s.step_sizes, t * s.local_steps, s.local_steps)
        _correct(
            s.correct_at,
            (t, s.method_table, s.method_memory, s.states, s.objective, part(s.chosen, 0, size), step_sizes,
             part(starts, 0, size), part(corrections, 0, size)),
        )  # fmt: skip
    return 0.0


@compiled
def receive(place, t, size, _):
    """Compress the messages and update the model; return how often each was sent, and write the floats sent."""
    s = state_at(place)
    model, report, coefficients = s.model, s.report, s.coefficients
    chosen, num_steps = part(s.chosen, 0, size), part(s.num_steps, 0, size)
    updates, messages = part(s.updates, 0, size), part(s.messages, 0, size)
    step_sizes = part(s.step_sizes, t * s.local_steps, s.local_steps)
    for i in range(size):
        for j in range(model.size):
            messages[i, j] = updates[i, j]
    if s.message_at != 0:
        report[0] = PLACE.message
        _message(
            s.message_at,
            (t, s.method_table, s.method_memory, s.states, s.objective, chosen, step_sizes, num_steps, updates,
             messages),
        )  # fmt: skip
    sent, how_often = 0.0, 1.0
    for i in range(size):
        floats = float(model.size)
        if coefficients[i] != 0.0 and s.compress_at != 0:
            report[0] = PLACE.compress
            floats = _compress(s.compress_at, (s.compress_table, s.method_rng, messages[i]))
        if coefficients[i] != 0.0:
            sent += floats
    if s.combine_at != 0:
        report[0] = PLACE.combine
        how_often = _combine(
            s.combine_at,
            (t, s.method_table, s.method_memory, s.states, s.objective, chosen, part(coefficients, 0, size), step_sizes,
             num_steps, part(s.starts, 0, size), updates, messages, s.method_rng, model),
        )  # fmt: skip
    else:
        _add(s, messages, size)
    if how_often > 0.0:
        for i in range(size):
            s.counts[chosen[i]] += coefficients[i] != 0.0
    report[4] = sent
    return how_often


@compiled
def _add(s, messages, size):
    """Add the weighted sum of the messages to the model."""
    model, change, coefficients = s.model, s.change, s.coefficients
    for j in range(model.size):
        change[j] = 0.0
    for i in range(size):
        share = coefficients[i]
        if share != 0.0:
            for j in range(model.size):
                change[j] += share * messages[i, j]
    step_size = s.server_step_size
    for j in range(model.size):
        model[j] += step_size * change[j]


@compiled
def accuracy(place, t, row, _):
    """Record the accuracy on the test samples."""
    s = state_at(place)
    no_client, shares = np.zeros(1, dtype=np.int64), np.empty(1)
    _mistakes(s.mistakes_at, (s.test, s.model, no_client, 0, s.training_rng, shares))  # all samples: nothing is drawn
    s.recorded_accuracy[row] = 1.0 - shares[0]
    return 0.0


@compiled
def record(place, t, row, _):
    """Record the model, the totals, and the states of the clients."""
    s = state_at(place)
    model, totals, states = s.model, s.totals, s.states
    if s.recorded_models.size > 0:
        for j in range(model.size):
            s.recorded_models[row, j] = model[j]
    if s.recorded_uplink.size > 0:
        s.recorded_uplink[row] = totals[TOTAL.uplink]
    if s.recorded_broadcasts.size > 0:
        s.recorded_broadcasts[row] = totals[TOTAL.broadcasts]
    if s.recorded_evaluations.size > 0:
        s.recorded_evaluations[row] = totals[TOTAL.evaluations]
    if s.recorded_coalitions.size > 0:
        s.recorded_coalitions[row] = totals[TOTAL.coalitions]
    for k in range(states.shape[0] if s.recorded_states.size > 0 else 0):
        for j in range(states.shape[1]):
            s.recorded_states[row, k, j] = states[k, j]
    return 0.0


@compiled
def record_cohort(place, t, row, size):
    """Record the cohort and the coefficients of its updates."""
    s = state_at(place)
    for i in range(size if s.recorded_selected.size > 0 else 0):
        s.recorded_selected[row, i] = s.chosen[i]
    for i in range(size if s.recorded_coefficients.size > 0 else 0):
        s.recorded_coefficients[row, i] = s.coefficients[i]
    return 0.0


@compiled
def valuation(place, t, row, size):
    """Compute the Shapley values of the cohort; return the coalitions evaluated, -1 if a loss is not finite."""
    s = state_at(place)
    if size == 0:
        return 0.0
    s.report[0] = PLACE.excess
    values, recorded = s.values, s.recorded_values
    asked = value_cohort(
        s.excess_at, s.coalition_at, s.validation, s.server_model, part(s.updates, 0, size),
        part(s.coefficients, 0, size), s.method, s.tolerance, s.num_orders, s.selection_rng, s.known, s.change, values,
    )  # fmt: skip
    if row >= 0 and recorded.size > 0:
        for i in range(size):
            recorded[row, i] = values[i]
    for i in range(size):
        if not np.isfinite(values[i]):
            return -1.0
    return float(asked)
