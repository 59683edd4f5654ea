"""The round loop: attend, propose, select, correct, train, weigh, record, aggregate, value, observe.

It calls the rules of the strategy and method and the kernels of the problem family through slots, which ``contract``
declares and ``_binding`` fills. A slot is called once per round, never per step or per sample, since a call costs a few
nanoseconds. Work that many runs do not need is in ``_parts``.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from fedtheory._support.compiling import compiled
from fedtheory._support.views import IN_CACHE, part, prefetch
from fedtheory.engine._parts import FAULT, FINISHED, PLACE, STOPPED, TOTAL, keep_present, state_at
from fedtheory.engine._slots import caller

__all__: list[str] = []

_propose, _losses, _select, _train = caller("propose"), caller("losses"), caller("select"), caller("train")
_excess, _weigh, _value, _observe = caller("excess"), caller("weigh"), caller("value"), caller("observe")
_record, _record_cohort, _accuracy = caller("record"), caller("record_cohort"), caller("accuracy")
_attendance, _training, _valuation = caller("attendance"), caller("training"), caller("valuation")
_prepare, _receive = caller("prepare"), caller("receive")


@compiled
def run_rounds(place):  # noqa: PLR0911
    """Run the rounds of one replicate, given the address of its ``State``.

    Returns the round t in which the model stopped being finite, or how else it ended; ``report`` tells where.
    """
    s = state_at(place)
    report, totals, until, row = s.report, s.totals, 0, 0
    for t in range(s.num_rounds + 1):
        records = until == 0
        if records and not _record_model(s, place, t, row):
            return t
        report[1] = t
        if t == s.num_rounds:
            break
        if s.stop[0]:
            return STOPPED
        if s.attendance_part != 0:
            here = int(_attendance(s.attendance_part, (place, t, 0, 0)))
            if here < 0:
                return here
        asked = _ask(s, t) if s.propose_at != 0 else 0
        size = _choose(s, t, asked) if asked >= 0 else -1
        if size < 0:
            return FAULT
        _train_cohort(s, place, t, size)
        extra = _find_coefficients(s, t, size)
        if not 0.0 <= extra < np.inf:
            return FAULT
        if records and s.record_cohort_part != 0:
            _record_cohort(s.record_cohort_part, (place, t, row, size))
        broadcasts, uplink = float(size), 0.0
        if s.receive_part != 0:
            how_often = _receive(s.receive_part, (place, t, size, 0))
            broadcasts, uplink = how_often * size, how_often * report[4]
        else:
            uplink = float(_aggregate(s, size) * s.model.size)
        if not _is_finite(s.model):
            return FAULT if s.weigh_at != 0 and _only_coefficients_fail(s, size) else t + 1
        if s.valuation_part != 0:
            num_coalitions = _valuation(s.valuation_part, (place, t, row if records else -1, size))
            if num_coalitions < 0:
                return t + 1
            totals[TOTAL.coalitions] += num_coalitions
        _learn(s, t, size)
        totals[TOTAL.uplink] += uplink + asked + extra
        totals[TOTAL.broadcasts] += max(float(asked), broadcasts)
        totals[TOTAL.evaluations] += asked
        if records:
            row, until = row + 1, s.every
        until -= 1
    return FINISHED


@compiled
def _record_model(s, place, t, row):
    """Record the model at the beginning of the round; return whether its loss is finite."""
    s.report[0] = PLACE.excess
    if s.recorded_excess.size > 0:
        excess = _excess(s.excess_at, (s.problem, s.model))
        if not np.isfinite(excess):
            return False
        s.recorded_excess[row] = excess
    if s.accuracy_part != 0:
        _accuracy(s.accuracy_part, (place, t, row, 0))
    if s.record_part != 0:
        _record(s.record_part, (place, t, row, 0))
    return True


@compiled
def _ask(s, t):
    """Evaluate the losses of the candidates; return their number, or -1 if the rule returned an invalid client."""
    report, candidates = s.report, s.candidates
    report[0] = PLACE.propose
    if s.checks:
        _fill(candidates, candidates.size, -1)
    asked = _propose(s.propose_at, (t, s.table, s.memory, s.weights, s.selection_rng, candidates))
    report[2] = asked
    if s.checks and _misnames(candidates, asked, s.weights.size):
        return -1
    if s.attendance_part != 0:
        asked = keep_present(candidates, asked, s.present)
    report[0] = PLACE.losses
    _losses(
        s.losses_at,
        (s.problem, s.model, part(candidates, 0, asked), s.candidate_batch, s.training_rng, s.losses),
    )
    return asked


@compiled
def _choose(s, t, asked):
    """Select the cohort; return its size, or -1 if the rule returned an invalid client."""
    report, chosen = s.report, s.chosen
    report[0] = PLACE.select
    if s.checks:
        _fill(chosen, chosen.size, -1)
    candidates, losses = part(s.candidates, 0, asked), part(s.losses, 0, asked)
    size = _select(s.select_at, (t, s.table, s.memory, s.weights, candidates, losses, s.selection_rng, chosen))
    report[2] = size
    if s.checks and _misnames(chosen, size, s.weights.size):
        return -1
    if s.attendance_part != 0:
        size = keep_present(chosen, size, s.present)
    return -1 if s.one_of_each and _repeats(part(chosen, 0, size)) else size


@compiled
def _train_cohort(s, place, t, size):
    """Run the local steps of the cohort."""
    cohort = part(s.chosen, 0, size)
    if s.weights.size > IN_CACHE:
        _ask_for(s.counts, cohort)
    if s.prepare_part != 0:
        _prepare(s.prepare_part, (place, t, size, 0))
    s.report[0] = PLACE.train
    if s.training_part != 0:
        _training(s.training_part, (place, t, size, 0))
    else:
        step_sizes = part(s.step_sizes, t * s.local_steps, s.local_steps)
        _train(
            s.train_at,
            (s.problem, cohort, s.model, step_sizes, s.work, s.training_rng, s.velocity, s.slope, s.updates,
             s.mean_losses),
        )  # fmt: skip


@compiled
def _find_coefficients(s, t, size):
    """Write the coefficients of the updates; return how many additional floats the clients send."""
    report, coefficients = s.report, s.coefficients
    if s.weigh_at == 0:
        _fill(coefficients, size, 1.0 / max(size, 1))
        return 0.0
    report[0] = PLACE.weigh
    if s.checks:
        _fill(coefficients, size, np.nan)
    cohort, updates = part(s.chosen, 0, size), part(s.updates, 0, size)
    extra = _weigh(s.weigh_at, (t, s.table, s.memory, s.weights, cohort, updates, s.selection_rng, coefficients))
    report[2], report[3] = extra, size
    return extra


@compiled
def _learn(s, t, size):
    """Call the rules that update the memory of the strategy."""
    cohort, coefficients = part(s.chosen, 0, size), part(s.coefficients, 0, size)
    if s.value_at != 0:
        s.report[0] = PLACE.value
        _value(
            s.value_at,
            (t, s.table, s.memory, s.weights, cohort, coefficients, part(s.values, 0, size), part(s.updates, 0, size),
             s.server_model, s.model, s.selection_rng),
        )  # fmt: skip
    if s.observe_at != 0:
        s.report[0] = PLACE.observe
        mean_losses = part(s.mean_losses, 0, size)
        _observe(s.observe_at, (t, s.table, s.memory, s.weights, cohort, coefficients, mean_losses))


@compiled
def _ask_for(counts, chosen):
    """Prefetch the selection counts of the cohort."""
    for i in range(chosen.size):
        prefetch(counts, chosen[i], 0)


@compiled
def _fill(array, size, value):
    for i in range(size):
        array[i] = value


@compiled
def _misnames(clients, size, num_clients):
    """Whether a rule returned an impossible number of clients, or a client that does not exist."""
    if size < 0 or size > clients.size:
        return True
    wrong = False
    for i in range(size):
        wrong |= (clients[i] < 0) | (clients[i] >= num_clients)
    return wrong


@compiled
def _repeats(chosen):
    """Whether a client was selected twice."""
    for i in range(chosen.size):
        for j in range(i):
            if chosen[i] == chosen[j]:
                return True
    return False


@compiled
def _aggregate(s, size):
    """Add the weighted updates to the model; return the number of updates sent."""
    model, change, updates, coefficients, sent = s.model, s.change, s.updates, s.coefficients, 0
    chosen, counts = s.chosen, s.counts
    if s.value_at != 0:
        server_model = s.server_model
        for j in range(model.size):
            server_model[j] = model[j]
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
    step_size = s.server_step_size
    for j in range(model.size):
        model[j] += step_size * change[j]
    return sent


@compiled
def _is_finite(model):
    total = 0.0
    for j in range(model.size):
        total += model[j] * 0.0
    return total == 0.0


@compiled
def _only_coefficients_fail(s, size):
    """Whether a coefficient is not finite although all updates are, so that the rule is at fault."""
    for i in range(size):
        if not _is_finite(s.updates[i]):
            return False
    return not _is_finite(part(s.coefficients, 0, size))
