"""The round loop, written once: attend, select, local steps, weigh, aggregate, observe, record.

It calls the strategy's rules and the problem family's kernels through slots, which ``contract`` declares and
``_binding`` fills. Such a call costs a few nanoseconds, so that a slot is called per round, never per step or per sample.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from fedtheory._compile import compiled, inlined
from fedtheory.engine._fleet import keep_present, train_cohort, update_presence
from fedtheory.engine._slots import functions_at, lent
from fedtheory.engine.contract import SLOTS, Slots

__all__ = ["FAULT", "FINISHED", "SHORTFALL", "run_rounds"]

# How a replicate ends, unless it diverges.
FINISHED, SHORTFALL, FAULT = -1, -2, -3
_PLACE = Slots(*range(len(SLOTS)))


@compiled
def run_rounds(
    addresses, problem, server, space, recording, work, fleet, plan, selection_rng, training_rng, attendance_rng
):
    """Run all rounds of one replicate in place.

    Returns the round t in which the model stopped being finite, or how else it ended; ``space.report`` then tells where.
    """
    slots = functions_at(addresses, problem)
    problem, server, space, recording, fleet = lent(problem), lent(server), lent(space), lent(recording), lent(fleet)
    plan, selection_rng, training_rng = lent(plan), lent(selection_rng), lent(training_rng)
    attendance_rng = lent(attendance_rng)
    table, memory, weights, copies = server
    model, report, visits = space.model, space.report, space.visits
    candidates, losses, chosen, coefficients = space.candidates, space.losses, space.chosen, space.coefficients
    updates, mean_losses, velocity, slope = space.updates, space.mean_losses, space.velocity, space.slope
    uplink, broadcasts, evaluations = 0.0, 0.0, 0.0
    local_steps = plan.local_steps
    num_rounds = plan.step_sizes.size // local_steps
    # Asked once: the usual fleet is present and alike, and handing its arrays around costs a tenth of a round.
    attends, differs = addresses.attend != 0, fleet.local_steps.size + fleet.returned_noise.size > 0
    asks, weighs, observes = addresses.propose != 0, addresses.weigh != 0, addresses.observe != 0
    for t in range(num_rounds + 1):
        row = t // recording.every if t % recording.every == 0 else -1
        if row >= 0:
            excess = slots.excess(problem, model)
            if not np.isfinite(excess):
                return t
            _record(recording, row, excess, model, uplink, broadcasts, evaluations)
        if t == num_rounds:
            break
        report[1] = t
        if attends:
            report[0] = _PLACE.attend
            said = slots.attend(t, fleet.table, fleet.memory, attendance_rng, fleet.present)
            here = update_presence(fleet, weights)
            if said != here:
                report[2] = said
                return FAULT
            if here < fleet.min_present:
                return SHORTFALL
        asked = 0
        if asks:
            report[0] = _PLACE.propose
            _fill(candidates, candidates.size, -1)
            asked = slots.propose(t, table, memory, weights, selection_rng, candidates)
            if _misnames(candidates, asked, weights.size):
                report[2] = asked
                return FAULT
            if attends:
                asked = keep_present(candidates, asked, fleet)
            slots.losses(problem, model, candidates[:asked], plan.candidate_batch, training_rng, losses)
        report[0] = _PLACE.select
        _fill(chosen, chosen.size, -1)
        size = slots.select(t, table, memory, weights, candidates[:asked], losses[:asked], selection_rng, chosen)
        if _misnames(chosen, size, weights.size):
            report[2] = size
            return FAULT
        if attends:
            size = keep_present(chosen, size, fleet)
        steps = plan.step_sizes[t * local_steps : (t + 1) * local_steps]
        if differs:
            train_cohort(
                problem, slots.train, chosen[:size], model, steps, work, fleet, training_rng, velocity, slope, updates,
                mean_losses,
            )  # fmt: skip
        else:
            slots.train(
                problem, chosen[:size], model, steps, work, training_rng, velocity, slope, updates, mean_losses
            )
        extra = 0.0
        if weighs:
            report[0] = _PLACE.weigh
            _fill(coefficients, size, np.nan)
            extra = slots.weigh(t, table, memory, weights, chosen[:size], updates[:size], selection_rng, coefficients)
            report[2], report[3] = extra, size
            if not 0.0 <= extra < np.inf:
                return FAULT
        else:
            _fill(coefficients, size, 1.0 / max(size, 1))
        sent, again = _aggregate(space, size, t, plan.server_step_size)
        if again and not copies:
            report[0], report[2] = _PLACE.select, size
            return FAULT
        if not _is_finite(model):
            return FAULT if weighs and _only_coefficients_fail(coefficients[:size], updates[:size]) else t + 1
        if observes:
            report[0] = _PLACE.observe
            slots.observe(t, table, memory, weights, chosen[:size], coefficients[:size], mean_losses[:size])
        if row >= 0:
            _record_cohort(recording, row, chosen, coefficients, size)
        uplink += sent * model.size + asked + extra
        broadcasts += max(asked, size)
        evaluations += asked
    return FINISHED


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


@inlined
def _aggregate(space, size, t, server_step_size):
    """Move the model; count the updates sent, and say whether a client was chosen more than once."""
    model, change, visits, sent, again = space.model, space.change, space.visits, 0, False
    for j in range(model.size):
        change[j] = 0.0
    for i in range(size):
        share, k = space.coefficients[i], space.chosen[i]
        again |= visits[k, 1] == t + 1
        visits[k, 1] = t + 1
        # An update that is not sent may hold anything, so that 0 times it is not added.
        if share != 0.0:
            for j in range(model.size):
                change[j] += share * space.updates[i, j]
            visits[k, 0] += 1
            sent += 1
    for j in range(model.size):
        model[j] += server_step_size * change[j]
    return sent, again


@inlined
def _record(recording, row, excess, model, uplink, broadcasts, evaluations):
    if recording.excess.size > 0:
        recording.excess[row] = excess
    if recording.models.size > 0:
        for j in range(model.size):  # an assignment of the whole row takes two seconds to compile
            recording.models[row, j] = model[j]
    if recording.uplink.size > 0:
        recording.uplink[row] = uplink
    if recording.broadcasts.size > 0:
        recording.broadcasts[row] = broadcasts
    if recording.evaluations.size > 0:
        recording.evaluations[row] = evaluations


@inlined
def _record_cohort(recording, row, chosen, coefficients, size):
    if recording.selected.size > 0:
        for i in range(size):
            recording.selected[row, i] = chosen[i]
    if recording.coefficients.size > 0:
        for i in range(size):
            recording.coefficients[row, i] = coefficients[i]


@inlined
def _is_finite(model):
    total = 0.0
    for j in range(model.size):
        total += model[j] * 0.0
    return total == 0.0


@compiled
def _only_coefficients_fail(coefficients, updates):
    """Whether some coefficient is not finite although all updates are: then it is the rule that diverged."""
    finite = True
    for i in range(updates.shape[0]):
        for j in range(updates.shape[1]):
            finite &= np.isfinite(updates[i, j])
    for share in coefficients:
        if finite and not np.isfinite(share):
            return True
    return False
