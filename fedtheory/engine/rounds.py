"""The round loop, written once: select, local steps, weigh, aggregate, observe, record.

It calls the strategy's rules (see ``fedtheory.selection.rules``) and the problem family's kernels through slots, which
``_slots`` fills. Such a call costs a few nanoseconds, so that a slot is called per round, never per step or per sample.

- ``losses(problem, model, candidates, batch_size, rng, losses)`` writes the candidates' losses;
- ``train(problem, chosen, server_model, step_sizes, work, rng, velocity, updates, mean_losses)`` lets the chosen take
  their local steps and writes a row of ``updates`` and a mean loss for each;
- ``excess(problem, model)`` returns F(w) minus the family's reference.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fedtheory._compile import compiled, inlined
from fedtheory._validate import Array
from fedtheory.engine._fleet import keep_present, train_cohort, update_presence

__all__ = ["Family", "LocalWork", "Recording", "Server", "Workspace", "run_rounds"]


class LocalWork(NamedTuple):
    """How a client trains: sigma^2 and M of its gradient noise, FedProx weight, momentum, batch (0 = all).

    ``by_epoch`` tells batches that go through the client's samples in turn from those drawn anew for every step.
    """

    gradient_noise: float
    relative_noise: float
    proximal_weight: float
    momentum: float
    batch_size: int
    by_epoch: bool
    track_losses: bool


class Recording(NamedTuple):
    """Where the loop writes, one entry per recorded round; an empty array is not recorded."""

    every: int
    excess: Array
    models: Array
    uplink: Array
    broadcasts: Array
    evaluations: Array


class Server(NamedTuple):
    """What the rules see in every round."""

    table: Array
    memory: Array
    weights: Array
    weighs: bool


class Workspace(NamedTuple):
    """Buffers of one replicate, overwritten in every round; ``model`` and ``counts`` carry over."""

    model: Array
    counts: Any
    candidates: Any
    losses: Array
    chosen: Any
    coefficients: Array
    updates: Array
    change: Array
    velocity: Array
    mean_losses: Array


@dataclass(frozen=True, eq=False)
class Family:
    """A problem laid out for the loop: a NamedTuple of arrays, three kernels, and the value excess is measured from.

    ``private`` names the arrays that the kernels write: each replicate gets its own copy.
    """

    arrays: Any
    losses: Callable[..., Any]
    train: Callable[..., Any]
    excess: Callable[..., Any]
    reference: float
    private: tuple[str, ...] = ()

    def own_arrays(self) -> Any:
        """Return the arrays for one replicate."""
        return self.arrays._replace(**{name: getattr(self.arrays, name).copy() for name in self.private})


@compiled
def run_rounds(
    problem, losses_of, train, excess_of, propose, select, weigh, observe, attend,
    server, space, recording, work, fleet, candidate_batch, step_sizes, local_steps, server_step_size,
    selection_rng, training_rng, attendance_rng,
):  # fmt: skip
    """Run all rounds of one replicate in place.

    Returns the round t in which the model stopped being finite, ``-2 - t`` if too few clients were there, or -1.
    """
    table, memory, weights, weighs = server
    model, counts, candidates, losses, chosen, coefficients, updates, change, velocity, mean_losses = space
    uplink, broadcasts, evaluations = 0.0, 0.0, 0.0
    num_rounds = step_sizes.size // local_steps
    # Asked once: the usual fleet is present and alike, and handing its arrays around costs a tenth of a round.
    attends, differs = fleet.attends, fleet.local_steps.size + fleet.returned_noise.size > 0
    for t in range(num_rounds + 1):
        if t % recording.every == 0:
            excess = excess_of(problem, model)
            if not np.isfinite(excess):
                return t
            _record(recording, t // recording.every, excess, model, uplink, broadcasts, evaluations)
        if t == num_rounds:
            break
        if attends and not update_presence(t, attend, fleet, weights, attendance_rng):
            return -2 - t
        asked = 0
        if candidates.size > 0:
            asked = propose(t, table, memory, weights, selection_rng, candidates)
            if attends:
                asked = keep_present(candidates, asked, fleet)
            losses_of(problem, model, candidates[:asked], candidate_batch, training_rng, losses)
        size = select(t, table, memory, weights, candidates[:asked], losses[:asked], selection_rng, chosen)
        if attends:
            size = keep_present(chosen, size, fleet)
        steps = step_sizes[t * local_steps : (t + 1) * local_steps]
        if differs:
            train_cohort(
                problem, train, chosen[:size], model, steps, work, fleet, training_rng, velocity, updates, mean_losses
            )
        else:
            train(problem, chosen[:size], model, steps, work, training_rng, velocity, updates, mean_losses)
        extra = 0.0
        if weighs:
            extra = weigh(t, table, memory, weights, chosen[:size], updates[:size], selection_rng, coefficients)
        else:
            coefficients[:size] = 1.0 / max(size, 1)
        sent = _aggregate(model, chosen, coefficients, updates, size, server_step_size, counts, change)
        if work.track_losses:
            observe(t, table, memory, weights, chosen[:size], coefficients[:size], mean_losses[:size])
        uplink += sent * model.size + asked + extra
        broadcasts += max(asked, size)
        evaluations += asked
        if not _is_finite(model):
            return t + 1
    return -1


@inlined
def _aggregate(model, chosen, coefficients, updates, size, server_step_size, counts, change):
    for j in range(model.size):
        change[j] = 0.0
    sent = 0
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
def _is_finite(model):
    total = 0.0
    for j in range(model.size):
        total += model[j] * 0.0
    return total == 0.0
