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
(``fedtheory.engine.contract``). They are arguments of the loop, which numba compiles once for each layout of arrays,
with and without the steps in brackets. A rule in plain Python runs in the same loop, uncompiled.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._support.jit import compiled, jitable
from fedtheory._support.validate import Array
from fedtheory.engine.contract import SLOTS
from fedtheory.selection.availability import keep_present, update_weights
from fedtheory.valuation.rounds import TOLERANCE, value_cohort

__all__ = ["BATCH", "NUMBERS", "ROWS", "Extra", "Numbers", "State", "run_replicates"]

# How a replicate ends, unless it diverges.
FINISHED, SHORTFALL, FAULT, STOPPED = -1, -2, -3, -4
# Replicates of one call, which takes a millisecond for the functions that it is given.
BATCH = 4
(
    _LOSSES, _TRAIN, _EXCESS, _ATTEND, _PROPOSE, _SELECT, _WEIGH, _VALUE, _OBSERVE, _CORRECT, _MESSAGE, _COMPRESS,
    _COMBINE,
) = (
    tuple(SLOTS).index(name)
    for name in (
        "losses", "train", "excess", "attend", "propose", "select", "weigh", "value", "observe", "correct", "message",
        "compress", "combine",
    )
)  # fmt: skip
# Columns of ``recorded``: numbers first, then rows whose widths the run determines.
NUMBERS = ("uplink", "broadcasts", "evaluations", "coalitions", "excess", "accuracy")
ROWS = ("models", "selected", "coefficients", "values", "states")
_UPLINK, _BROADCASTS, _EVALUATIONS, _COALITIONS, _GAP, _ACCURACY = range(len(NUMBERS))
_MODELS, _SELECTED, _COEFFICIENTS, _VALUES, _STATES = range(len(ROWS))


class Numbers(NamedTuple):
    """Numbers of a run."""

    num_rounds: int
    local_steps: int
    every: int
    candidate_batch: int
    min_present: int
    records_excess: bool
    records_accuracy: bool
    has_method: bool
    needs_different_clients: bool
    combines: bool
    valuation: int
    server_step_size: float


class State(NamedTuple):
    """Arrays of a run, which its replicates use one after the other.

    ``ends`` has the last column of each row of numbers in ``recorded``, plus 1. ``report`` tells other threads, and
    messages about errors, which slot was called last, in which round, what it returned and for how many clients.
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
    ends: Array
    totals: Array
    report: Array


class Extra(NamedTuple):
    """Arrays of the steps in brackets, which the replicates of a call use one after the other."""

    own_steps: npt.NDArray[np.int64]
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
    first_attend_memory: Array
    first_method_memory: Array
    first_states: Array


@compiled
def run_replicates(  # noqa: PLR0915 # one loop, in the order of the list above
    problem, validation, test, losses, train, excess, propose, select, weigh, observe, mistakes, attend,
    correct, message, compress, combine, value, n, s, x, work, stop, rngs, recorded, counts, ended,
):  # fmt: skip
    """Run one replicate for each entry of ``ended``, in which it writes the round of divergence, or how else it ended.

    ``rngs`` are the generators of each replicate, for selection and training, and in a run with the steps in brackets
    also for attendance and the method. ``x`` and the functions from ``mistakes`` on are None in other runs. After a
    replicate that did not finish no other one starts.
    """
    # Names of their own compile faster than attributes.
    (
        all_step_sizes, table, first_memory, memory, objective, weights, initial, model, server_model, change,
        all_candidates, all_losses, all_chosen, all_updates, all_coefficients, mean_losses, velocity, slope, ends,
        totals, report,
    ) = s  # fmt: skip
    for r in range(ended.size):
        if r > 0 and ended[r - 1] < FINISHED:
            break
        streams = rngs[r]
        selection_rng, training_rng = streams[0], streams[1]
        ended[r], row, until = FINISHED, 0, 0
        copy(initial, 0, model.size, model)
        copy(first_memory, 0, memory.size, memory)
        if x is not None:
            attendance_rng, method_rng = streams[2], streams[3]
            if r > 0:  # the first replicate finds them so
                copy(x.first_attend_memory, 0, x.attend_memory.size, x.attend_memory)
                copy(x.first_method_memory, 0, x.method_memory.size, x.method_memory)
                copy(x.first_states.ravel(), 0, x.states.size, x.states.ravel())
                for k in range(x.present.size):
                    x.present[k] = True
        for i in range(totals.size):
            totals[i] = 0.0
        for t in range(n.num_rounds + 1):
            report[1] = t
            records = until == 0
            if records:
                report[0] = _EXCESS
                numbers = recorded[r, row]
                if n.records_excess:
                    gap = excess(problem, model)
                    if not np.isfinite(gap):
                        ended[r] = t
                        break
                    numbers[_GAP] = gap
                copy(totals, 0, totals.size, numbers)
                copy(model, len(NUMBERS), ends[_MODELS], numbers)
                if x is not None:
                    if n.records_accuracy:
                        # All samples are evaluated, so that nothing is drawn.
                        mistakes(test, model, x.no_client, 0, training_rng, x.accuracy)
                        numbers[_ACCURACY] = 1.0 - x.accuracy[0]
                    copy(x.states.ravel(), ends[_VALUES], ends[_STATES], numbers)
            if t == n.num_rounds:
                break
            if stop[0]:
                ended[r] = STOPPED
                break
            if x is not None:
                report[0] = _ATTEND
                here = attend(t, x.attend_table, x.attend_memory, attendance_rng, x.present)
                report[2] = here
                if here != update_weights(x.present, objective, weights):
                    ended[r] = FAULT
                    break
                if here < n.min_present:
                    ended[r] = SHORTFALL
                    break

            # Candidates and their losses
            report[0] = _PROPOSE
            for i in range(all_candidates.size):
                all_candidates[i] = -1
            asked = propose(t, table, memory, weights, selection_rng, all_candidates)
            report[2] = asked
            if is_impossible(all_candidates, asked, weights.size):
                ended[r] = FAULT
                break
            if x is not None:
                asked = keep_present(all_candidates, asked, x.present)
            candidates, candidate_losses = all_candidates[:asked], all_losses[:asked]
            if asked > 0:
                report[0] = _LOSSES
                losses(problem, model, candidates, n.candidate_batch, training_rng, candidate_losses)

            # The cohort
            report[0] = _SELECT
            for i in range(all_chosen.size):
                all_chosen[i] = -1
            size = select(t, table, memory, weights, candidates, candidate_losses, selection_rng, all_chosen)
            report[2] = size
            if is_impossible(all_chosen, size, weights.size):
                ended[r] = FAULT
                break
            if x is not None:
                size = keep_present(all_chosen, size, x.present)
                if n.needs_different_clients and repeats(all_chosen, size):
                    ended[r] = FAULT
                    break
            chosen, updates, coefficients = all_chosen[:size], all_updates[:size], all_coefficients[:size]
            step_sizes = all_step_sizes[t * n.local_steps : (t + 1) * n.local_steps]

            # Local steps
            if x is not None and n.has_method:
                report[0] = _CORRECT
                for i in range(size):
                    copy(model, 0, model.size, x.starts[i])
                    x.corrections[i, :] = 0.0
                correct(
                    t, x.method_table, x.method_memory, x.states, objective, chosen, step_sizes, x.starts[:size],
                    x.corrections[:size],
                )  # fmt: skip
            report[0] = _TRAIN
            if x is None:
                train(problem, chosen, model, step_sizes, work, training_rng, velocity, slope, updates, mean_losses)
            else:
                # One by one, with individual numbers of steps, starts, corrections and noise
                num_rows = x.own_steps.shape[0]
                for i in range(size):
                    number = x.own_steps[t % num_rows, chosen[i]] if num_rows > 0 else n.local_steps
                    start = model
                    if n.has_method:
                        x.num_steps[i] = number
                        start = x.starts[i]
                        copy(x.corrections[i], 0, model.size, work.correction)
                    train(
                        problem, chosen[i : i + 1], start, step_sizes[:number], work, training_rng, velocity, slope,
                        updates[i : i + 1], mean_losses[i : i + 1],
                    )  # fmt: skip
                if x.returned_noise.size > 0:
                    add_noise(x.returned_noise, chosen, training_rng, updates)

            # Coefficients
            report[0] = _WEIGH
            for i in range(size):
                coefficients[i] = np.nan
            extra = weigh(t, table, memory, weights, chosen, updates, selection_rng, coefficients)
            report[2], report[3] = extra, size
            if not 0.0 <= extra < np.inf:
                ended[r] = FAULT
                break
            if records:
                numbers = recorded[r, row]
                copy(chosen, ends[_MODELS], min(ends[_MODELS] + size, ends[_SELECTED]), numbers)
                copy(coefficients, ends[_SELECTED], min(ends[_SELECTED] + size, ends[_COEFFICIENTS]), numbers)

            # The server's step
            broadcasts, uplink = float(size), 0.0
            if x is not None:
                copy(model, 0, model.size, server_model)
            if x is not None and n.has_method:
                report[0] = _MESSAGE
                messages, num_steps = x.messages[:size], x.num_steps[:size]
                messages[:] = updates
                message(
                    t, x.method_table, x.method_memory, x.states, objective, chosen, step_sizes, num_steps, updates,
                    messages,
                )  # fmt: skip
                report[0] = _COMPRESS
                for i in range(size):
                    if coefficients[i] != 0.0:
                        uplink += compress(x.compress_table, method_rng, messages[i])
                how_often = 1.0
                if n.combines:
                    report[0] = _COMBINE
                    how_often = combine(
                        t, x.method_table, x.method_memory, x.states, objective, chosen, coefficients, step_sizes,
                        num_steps, x.starts[:size], updates, messages, method_rng, model,
                    )  # fmt: skip
                else:
                    add_updates(messages, coefficients, n.server_step_size, change, model)
                broadcasts, uplink = how_often * size, how_often * uplink
                if how_often > 0.0:
                    count_senders(chosen, coefficients, counts[r])
            else:
                add_updates(updates, coefficients, n.server_step_size, change, model)
                uplink = float(count_senders(chosen, coefficients, counts[r]) * model.size)
            if not is_finite(model):
                # Coefficients that are not finite are the fault of a rule, unless updates are not finite either.
                ended[r] = t + 1
                if not is_finite(coefficients):
                    finite_updates = True
                    for i in range(size):
                        finite_updates &= is_finite(updates[i])
                    if finite_updates:
                        report[0] = _WEIGH
                        ended[r] = FAULT
                break

            # What the strategy learns
            if x is not None:
                if n.valuation >= 0 and size > 0:
                    report[0] = _EXCESS
                    totals[_COALITIONS] += value_cohort(
                        excess, validation, server_model, updates, coefficients,
                        n.valuation, TOLERANCE, selection_rng, x.known, change, x.values[:size],
                    )  # fmt: skip
                    if not is_finite(x.values[:size]):
                        ended[r] = t + 1
                        break
                    if records:
                        last = min(ends[_COEFFICIENTS] + size, ends[_VALUES])
                        copy(x.values, ends[_COEFFICIENTS], last, recorded[r, row])
                report[0] = _VALUE
                value(
                    t, table, memory, weights, chosen, coefficients, x.values[:size], updates, server_model, model,
                    selection_rng,
                )  # fmt: skip
            report[0] = _OBSERVE
            observe(t, table, memory, weights, chosen, coefficients, mean_losses[:size])
            totals[_UPLINK] += uplink + asked + extra
            totals[_BROADCASTS] += max(float(asked), broadcasts)
            totals[_EVALUATIONS] += asked
            if records:
                row, until = row + 1, n.every
            until -= 1


@jitable
def copy(values, first, last, row):
    """Copy the beginning of a vector into a row, from a column to another."""
    for j in range(first, last):
        row[j] = values[j - first]


@jitable
def is_impossible(clients, size, num_clients):
    """Whether a rule returned an impossible number of clients, or a client that does not exist."""
    wrong = size < 0 or size > clients.size
    if not wrong:
        for i in range(size):
            wrong |= (clients[i] < 0) | (clients[i] >= num_clients)
    return wrong


@jitable
def repeats(chosen, size):
    """Whether a client was selected twice."""
    for i in range(size):
        for j in range(i):
            if chosen[i] == chosen[j]:
                return True
    return False


@jitable
def add_noise(variances, chosen, rng, updates):
    """Add noise with the variance of its client to each update."""
    for i in range(chosen.size):
        deviation = np.sqrt(variances[chosen[i]])
        if deviation > 0.0:
            for j in range(updates.shape[1]):
                updates[i, j] += deviation * rng.standard_normal()


@jitable
def add_updates(updates, coefficients, step_size, change, model):
    """Add the weighted sum of the updates to the model."""
    for j in range(change.size):
        change[j] = 0.0
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
        total += float(values[j]) * 0.0  # without the warning of NumPy where rules are plain Python
    return total == 0.0
