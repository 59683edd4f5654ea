"""The round loop.

A round has these steps, in this order; a step in brackets belongs to runs that need it.

1. Record the model: its loss, totals, [accuracy, states].
2. [``attend``: determine the available clients and their weights.]
3. ``propose``: name candidates. ``losses``: evaluate their losses. ``select``: select the cohort.
4. [``correct``: set the initial models and the corrections of the cohort.] ``train``: run the local steps. [Add noise.]
5. ``weigh``: set the coefficients of the updates.
6. Add the weighted updates to the model. [``message``, ``compress``, ``combine``: let a method do this.]
7. [Value the cohort; ``value``: let the strategy know the values.] ``observe``: let the strategy know the losses.

``propose``, ``select``, ``weigh``, ``value``, ``observe`` and ``attend`` are rules of the strategy
(``fedtheory.selection.rules``), ``correct``, ``message``, ``compress`` and ``combine`` those of a method
(``fedtheory.methods.rules``), and ``losses``, ``train`` and ``excess`` are kernels of the federation
(``fedtheory.engine.contract``). They are arguments of the loop, which numba compiles once for each layout of arrays, with
and without the steps in brackets. A rule in plain Python runs in the same loop, uncompiled.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from typing import NamedTuple

import numpy as np

from fedtheory._support.jit import compiled, jitable
from fedtheory._support.validate import Array
from fedtheory.engine.contract import COLUMNS, SLOTS
from fedtheory.engine.game import value_cohort

__all__ = ["BATCH", "Extra", "Numbers", "State", "run_replicates"]

# How a replicate ends, unless it diverges.
FINISHED, SHORTFALL, FAULT, STOPPED = -1, -2, -3, -4
# Replicates of one call, which takes a millisecond for the functions that it is given.
BATCH = 8
_PLACE = {name: place for place, name in enumerate(SLOTS)}
_ATTEND, _PROPOSE, _LOSSES, _SELECT, _CORRECT, _TRAIN, _WEIGH, _MESSAGE, _COMPRESS, _COMBINE, _VALUE, _OBSERVE, _EXCESS = (
    _PLACE[name] for name in (
        "attend", "propose", "losses", "select", "correct", "train", "weigh", "message", "compress", "combine", "value",
        "observe", "excess",
    )
)  # fmt: skip
_COLUMN = {name: place for place, name in enumerate(COLUMNS)}
_GAP, _ACCURACY, _MODELS, _UPLINK, _BROADCASTS, _EVALUATIONS, _SELECTED, _COEFFICIENTS, _VALUES, _COALITIONS, _STATES = (
    _COLUMN[name] for name in COLUMNS
)
_NUM_UPLINK, _NUM_BROADCASTS, _NUM_EVALUATIONS, _NUM_COALITIONS = range(4)


class Numbers(NamedTuple):
    """Numbers of a run."""

    num_rounds: int
    local_steps: int
    every: int
    candidate_batch: int
    min_present: int
    needs_different_clients: bool
    combines: bool
    shares_products: bool
    valuation: int
    num_orders: int
    tolerance: float
    server_step_size: float


class State(NamedTuple):
    """Arrays of a run, which its replicates use one after the other.

    ``columns`` are the places of the records in a row of ``recorded``, -1 for what is not recorded. ``report`` tells
    other threads, and messages about errors, which slot was called last, in which round, what it returned and for how
    many clients.
    """

    step_sizes: Array
    table: Array
    first_memory: Array
    memory: Array
    objective: Array
    weights: Array
    initial: Array
    model: Array
    server_model: Array
    change: Array
    candidates: Array
    losses: Array
    chosen: Array
    updates: Array
    coefficients: Array
    mean_losses: Array
    velocity: Array
    slope: Array
    columns: Array
    totals: Array
    report: Array


class Extra(NamedTuple):
    """Arrays of the steps in brackets, for one replicate."""

    own_steps: Array
    returned_noise: Array
    attend_table: Array
    attend_memory: Array
    present: Array
    method_table: Array
    method_memory: Array
    compress_table: Array
    states: Array
    starts: Array
    corrections: Array
    num_steps: Array
    messages: Array
    values: Array
    known: Array
    no_client: Array
    accuracy: Array


@compiled
def run_replicates(
    problem, validation, test, losses, train, excess, propose, select, weigh, observe, mistakes, coalition, attend,
    correct, message, compress, combine, value, n, s, x, work, stop, rngs, attendance_rng, method_rng, recorded, counts,
    ended,
):  # fmt: skip
    """Run one replicate for each entry of ``ended``, in which it writes the round of divergence, or how else it ended.

    ``rngs`` are two generators for each replicate, for selection and training. After a replicate that did not finish no
    other one starts. ``x`` and the functions from ``mistakes`` on are None in a run without the steps in brackets.
    """
    for r in range(ended.size):
        if r > 0 and ended[r - 1] < FINISHED:
            break
        selection_rng, training_rng = rngs[r]
        ended[r], row, until = FINISHED, 0, 0
        start(s.initial, s.first_memory, s.model, s.memory, s.totals, s.report)
        start_buffers(s.losses, s.updates, s.coefficients, s.mean_losses, s.velocity, s.slope)
        for t in range(n.num_rounds + 1):
            s.report[1] = t
            records = until == 0
            if records:
                s.report[0] = _EXCESS
                if s.columns[_GAP] >= 0:
                    gap = excess(problem, s.model)
                    if not np.isfinite(gap):
                        ended[r] = t
                        break
                    recorded[r, row, s.columns[_GAP]] = gap
                record(s.columns, s.model, s.totals, recorded[r, row])
                if x is not None:
                    if s.columns[_ACCURACY] >= 0:
                        # All samples are evaluated, so that nothing is drawn.
                        mistakes(test, s.model, x.no_client, 0, training_rng, x.accuracy)
                        recorded[r, row, s.columns[_ACCURACY]] = 1.0 - x.accuracy[0]
                    if s.columns[_STATES] >= 0:
                        copy_matrix(x.states, recorded[r, row], s.columns[_STATES])
            if t == n.num_rounds:
                break
            if stop[0]:
                ended[r] = STOPPED
                break
            if x is not None:
                s.report[0] = _ATTEND
                here = attend(t, x.attend_table, x.attend_memory, attendance_rng, x.present)
                s.report[2] = here
                if here != update_weights(x.present, s.objective, s.weights):
                    ended[r] = FAULT
                    break
                if here < n.min_present:
                    ended[r] = SHORTFALL
                    break

            # Candidates and their losses
            s.report[0] = _PROPOSE
            fill(s.candidates, -1)
            asked = propose(t, s.table, s.memory, s.weights, selection_rng, s.candidates)
            s.report[2] = asked
            if is_impossible(s.candidates, asked, s.weights.size):
                ended[r] = FAULT
                break
            if x is not None:
                asked = keep_present(s.candidates, asked, x.present)
            candidates, candidate_losses = s.candidates[:asked], s.losses[:asked]
            if asked > 0:
                s.report[0] = _LOSSES
                losses(problem, s.model, candidates, n.candidate_batch, training_rng, candidate_losses)

            # The cohort
            s.report[0] = _SELECT
            fill(s.chosen, -1)
            size = select(t, s.table, s.memory, s.weights, candidates, candidate_losses, selection_rng, s.chosen)
            s.report[2] = size
            if is_impossible(s.chosen, size, s.weights.size):
                ended[r] = FAULT
                break
            if x is not None:
                size = keep_present(s.chosen, size, x.present)
                if n.needs_different_clients and repeats(s.chosen[:size]):
                    ended[r] = FAULT
                    break
            chosen, updates, coefficients = s.chosen[:size], s.updates[:size], s.coefficients[:size]
            step_sizes = s.step_sizes[t * n.local_steps : (t + 1) * n.local_steps]

            # Local steps
            if x is not None and x.starts.shape[0] > 0:
                s.report[0] = _CORRECT
                start_at_model(s.model, x.starts[:size], x.corrections[:size])
                correct(
                    t, x.method_table, x.method_memory, x.states, s.objective, chosen, step_sizes, x.starts[:size],
                    x.corrections[:size],
                )  # fmt: skip
            s.report[0] = _TRAIN
            if x is None:
                train(
                    problem, chosen, s.model, step_sizes, work, training_rng, s.velocity, s.slope, updates, s.mean_losses
                )
            else:
                train_one_by_one(problem, train, t, chosen, step_sizes, work, s, x, training_rng)

            # Coefficients
            s.report[0] = _WEIGH
            fill(coefficients, np.nan)
            extra = weigh(t, s.table, s.memory, s.weights, chosen, updates, selection_rng, coefficients)
            s.report[2], s.report[3] = extra, size
            if not 0.0 <= extra < np.inf:
                ended[r] = FAULT
                break
            if records:
                record_cohort(s.columns, chosen, coefficients, recorded[r, row])

            # The server's step
            broadcasts, uplink = float(size), 0.0
            if x is not None and x.starts.shape[0] > 0:
                s.report[0] = _MESSAGE
                messages, num_steps = x.messages[:size], x.num_steps[:size]
                copy_rows(updates, messages)
                message(
                    t, x.method_table, x.method_memory, x.states, s.objective, chosen, step_sizes, num_steps, updates,
                    messages,
                )  # fmt: skip
                s.report[0] = _COMPRESS
                for i in range(size):
                    if coefficients[i] != 0.0:
                        uplink += compress(x.compress_table, method_rng, messages[i])
                how_often = 1.0
                if n.combines:
                    s.report[0] = _COMBINE
                    how_often = combine(
                        t, x.method_table, x.method_memory, x.states, s.objective, chosen, coefficients, step_sizes,
                        num_steps, x.starts[:size], updates, messages, method_rng, s.model,
                    )  # fmt: skip
                else:
                    add_updates(messages, coefficients, n.server_step_size, s.change, s.model)
                broadcasts, uplink = how_often * size, how_often * uplink
                if how_often > 0.0:
                    count_senders(chosen, coefficients, counts[r])
            else:
                if x is not None:
                    copy(s.model, s.server_model, 0)
                add_updates(updates, coefficients, n.server_step_size, s.change, s.model)
                uplink = float(count_senders(chosen, coefficients, counts[r]) * s.model.size)
            if not is_finite(s.model):
                only_coefficients = not is_finite(coefficients)
                for i in range(size):
                    only_coefficients &= is_finite(updates[i])
                if only_coefficients:
                    s.report[0] = _WEIGH
                    ended[r] = FAULT
                    break
                ended[r] = t + 1
                break

            # What the strategy learns
            if x is not None:
                if n.valuation >= 0 and size > 0:
                    s.report[0] = _EXCESS
                    asked_coalitions = value_cohort(
                        excess, coalition, n.shares_products, validation, s.server_model, updates, coefficients, n.valuation,
                        n.tolerance, n.num_orders, selection_rng, x.known, s.change, x.values[:size],
                    )  # fmt: skip
                    if not is_finite(x.values[:size]):
                        ended[r] = t + 1
                        break
                    if records and s.columns[_VALUES] >= 0:
                        copy(x.values[:size], recorded[r, row], s.columns[_VALUES])
                    s.totals[_NUM_COALITIONS] += asked_coalitions
                s.report[0] = _VALUE
                value(
                    t, s.table, s.memory, s.weights, chosen, coefficients, x.values[:size], updates, s.server_model,
                    s.model, selection_rng,
                )  # fmt: skip
            s.report[0] = _OBSERVE
            observe(t, s.table, s.memory, s.weights, chosen, coefficients, s.mean_losses[:size])
            s.totals[_NUM_UPLINK] += uplink + asked + extra
            s.totals[_NUM_BROADCASTS] += max(float(asked), broadcasts)
            s.totals[_NUM_EVALUATIONS] += asked
            if records:
                row, until = row + 1, n.every
            until -= 1


@jitable
def start(initial, first_memory, model, memory, totals, report):
    """Reset what a replicate changes."""
    copy(initial, model, 0)
    copy(first_memory, memory, 0)
    fill(totals, 0.0)
    fill(report, 0.0)


@jitable
def start_buffers(losses, updates, coefficients, mean_losses, velocity, slope):
    """Reset the buffers, so that no rule can see what an earlier replicate left in them."""
    fill(losses, 0.0)
    fill(coefficients, 0.0)
    fill(mean_losses, 0.0)
    fill(velocity, 0.0)
    fill(slope, 0.0)
    for i in range(updates.shape[0]):
        fill(updates[i], 0.0)


@jitable
def record(columns, model, totals, row):
    """Record the model and the totals."""
    if columns[_MODELS] >= 0:
        copy(model, row, columns[_MODELS])
    if columns[_UPLINK] >= 0:
        row[columns[_UPLINK]] = totals[_NUM_UPLINK]
    if columns[_BROADCASTS] >= 0:
        row[columns[_BROADCASTS]] = totals[_NUM_BROADCASTS]
    if columns[_EVALUATIONS] >= 0:
        row[columns[_EVALUATIONS]] = totals[_NUM_EVALUATIONS]
    if columns[_COALITIONS] >= 0:
        row[columns[_COALITIONS]] = totals[_NUM_COALITIONS]


@jitable
def record_cohort(columns, chosen, coefficients, row):
    """Record the cohort and the coefficients of its updates."""
    if columns[_SELECTED] >= 0:
        copy(chosen, row, columns[_SELECTED])
    if columns[_COEFFICIENTS] >= 0:
        copy(coefficients, row, columns[_COEFFICIENTS])


@jitable
def update_weights(present, objective, weights):
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


@jitable
def is_impossible(clients, size, num_clients):
    """Whether a rule returned an impossible number of clients, or a client that does not exist."""
    wrong = size < 0 or size > clients.size
    if not wrong:
        for i in range(size):
            wrong |= (clients[i] < 0) | (clients[i] >= num_clients)
    return wrong


@jitable
def keep_present(clients, size, present):
    """Remove absent clients from the first ``size`` entries; return how many are left."""
    kept = 0
    for i in range(size):
        clients[kept] = clients[i]
        kept += present[clients[i]]
    return kept


@jitable
def repeats(chosen):
    """Whether a client was selected twice."""
    for i in range(chosen.size):
        for j in range(i):
            if chosen[i] == chosen[j]:
                return True
    return False


@jitable
def start_at_model(model, starts, corrections):
    """Let all clients start at the server's model without a correction."""
    for i in range(starts.shape[0]):
        copy(model, starts[i], 0)
        fill(corrections[i], 0.0)


@jitable
def train_one_by_one(problem, train, t, chosen, step_sizes, work, s, x, rng):
    """Train the cohort client by client, with individual numbers of steps, starts, corrections and noise."""
    has_starts, num_rows = x.starts.shape[0] > 0, x.own_steps.shape[0]
    for i in range(chosen.size):
        number = x.own_steps[t % num_rows, chosen[i]] if num_rows > 0 else step_sizes.size
        model = s.model
        if has_starts:
            x.num_steps[i] = number
            model = x.starts[i]
            copy(x.corrections[i], work.correction, 0)
        train(
            problem, chosen[i : i + 1], model, step_sizes[:number], work, rng, s.velocity, s.slope, s.updates[i : i + 1],
            s.mean_losses[i : i + 1],
        )  # fmt: skip
    if x.returned_noise.size > 0:
        for i in range(chosen.size):
            deviation = np.sqrt(x.returned_noise[chosen[i]])
            if deviation > 0.0:
                for j in range(s.updates.shape[1]):
                    s.updates[i, j] += deviation * rng.standard_normal()


@jitable
def add_updates(updates, coefficients, step_size, change, model):
    """Add the weighted sum of the updates to the model."""
    fill(change, 0.0)
    for i in range(coefficients.size):
        # An update that is not sent may hold anything, so that 0 times it is not added.
        if coefficients[i] != 0.0:
            for j in range(model.size):
                change[j] += coefficients[i] * updates[i, j]
    for j in range(model.size):
        model[j] += step_size * change[j]


@jitable
def count_senders(chosen, coefficients, counts):
    """Count the clients whose updates entered the model; return how many there were."""
    sent = 0
    for i in range(chosen.size):
        if coefficients[i] != 0.0:
            counts[chosen[i]] += 1
            sent += 1
    return sent


@jitable
def is_finite(values):
    """Whether all values are finite."""
    total = 0.0
    for j in range(values.size):
        total += values[j] * 0.0
    return total == 0.0


@jitable
def fill(values, value):
    """Set all entries to one value."""
    for i in range(values.size):
        values[i] = value


@jitable
def copy(values, row, first):
    """Copy a vector into a row from a column on."""
    for j in range(values.size):
        row[first + j] = values[j]


@jitable
def copy_rows(rows, copies):
    """Copy the rows of a matrix."""
    for i in range(rows.shape[0]):
        copy(rows[i], copies[i], 0)


@jitable
def copy_matrix(rows, row, first):
    """Copy a matrix into a row from a column on."""
    for k in range(rows.shape[0]):
        copy(rows[k], row, first + k * rows.shape[1])
