"""How clients differ: who is there, how many local steps each takes, how noisy a model each returns."""

# mypy: allow-untyped-defs, allow-untyped-calls

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.compiling import compiled, inlined
from fedtheory._support.validate import Array
from fedtheory._support.views import IN_CACHE, part, prefetch
from fedtheory.engine.heterogeneity import Stragglers

__all__ = ["Fleet", "keep_present", "noise_variances", "own_steps", "train_cohort", "update_presence"]

Whole = npt.NDArray[np.int64]


class Fleet(NamedTuple):
    """One number per client where clients differ; an empty array where they do not.

    Where anybody can be absent, ``present`` is overwritten in every round, by a rule with a table and a memory of its
    own, and a round with fewer than ``min_present`` clients ends the run. ``objective`` holds the objective weights.
    Of the round's steps a client takes the first ``local_steps``, which have a row for each round, or one for all;
    ``returned_noise`` is the variance of Gaussian noise on each parameter of a returned model.
    """

    table: Array
    memory: Array
    present: Any
    objective: Array
    min_present: int
    local_steps: Whole
    returned_noise: Array


def own_steps(local_steps: Any, num_clients: int, num_rounds: int) -> tuple[int, Whole]:
    """Local steps tau of a round, and those of each client, a row for each round, or for all, or none if all take tau.

    >>> own_steps([3, 5], num_clients=2, num_rounds=7)
    (5, array([[3, 5]]))
    """
    if isinstance(local_steps, Stragglers):
        all_epochs = local_steps.num_epochs * local_steps.num_batches
        return all_epochs, np.atleast_2d(local_steps.local_steps(num_clients, num_rounds))
    given = validate.unmasked("local_steps", local_steps)
    if given.ndim == 0:
        return validate.count("local_steps", local_steps), np.empty((0, num_clients), dtype=np.int64)
    counts: Whole = validate.counts("local_steps", given)
    validate.array("local_steps", counts, shape=(num_clients,) if counts.ndim == 1 else (num_rounds, num_clients))
    # the loop is compiled for arrays that can be written, though it does not write into this one
    return int(counts.max(initial=1)), np.array(np.atleast_2d(counts), order="C")


def noise_variances(variance: Any, num_clients: int) -> Array:
    """Variance of the noise on each client's returned parameters, shape (K,), or an empty array without any noise."""
    variances = validate.array("returned_noise", validate.nonnegative("returned_noise", variance))
    if not variances.any():
        return np.empty(0)
    if variances.ndim == 0:
        return np.full(num_clients, float(variances))
    return validate.array("returned_noise", variances, shape=(num_clients,))


@compiled
def update_presence(fleet, weights):
    """Write the weights of the round, -1 for the absent, and count who is there."""
    total, here = 0.0, 0
    for k in range(weights.size):
        total += fleet.objective[k] if fleet.present[k] else 0.0
        here += fleet.present[k]
    # With all present the sum is 1, or would be without rounding.
    scale = 1.0 if here == weights.size or total == 0.0 else 1.0 / total
    for k in range(weights.size):
        weights[k] = scale * fleet.objective[k] if fleet.present[k] else -1.0
    return here


@compiled
def keep_present(clients, size, fleet):
    """Drop the absent from the first ``size`` clients; return how many are left."""
    kept = 0
    for i in range(size):
        clients[kept] = clients[i]
        kept += fleet.present[clients[i]]
    return kept


@compiled
def _ask_for(counts, chosen):
    """Have the counts at hand when the updates are added up."""
    for i in range(chosen.size):
        prefetch(counts, chosen[i], 0)


@inlined
def train_cohort(problem, train, space, size, t, step_sizes, work, fleet, rng):
    """Let the chosen clients train, each its own number of steps, and blur what they return."""
    num_rows = fleet.local_steps.shape[0]
    if space.counts.size > IN_CACHE:
        _ask_for(space.counts, part(space.chosen, 0, size))
    if space.starts.shape[0] > 0:
        _train_corrected(problem, train, space, size, t, step_sizes, work, fleet, rng)
    elif num_rows == 0:
        train(
            problem, part(space.chosen, 0, size), space.model, step_sizes, work, rng, space.velocity, space.slope,
            space.updates, space.mean_losses,
        )  # fmt: skip
    else:
        for i in range(size):
            own = part(step_sizes, 0, fleet.local_steps[t % num_rows, space.chosen[i]])
            train(
                problem, part(space.chosen, i, 1), space.model, own, work, rng, space.velocity, space.slope,
                part(space.updates, i, 1), part(space.mean_losses, i, 1),
            )  # fmt: skip
    if fleet.returned_noise.size > 0:
        _blur(space, size, fleet.returned_noise, rng)


@compiled
def _train_corrected(problem, train, space, size, t, step_sizes, work, fleet, rng):
    """Let the chosen train from starts of their own, one by one, each with its correction of gradients."""
    num_rows = fleet.local_steps.shape[0]
    for i in range(size):
        number = step_sizes.size if num_rows == 0 else fleet.local_steps[t % num_rows, space.chosen[i]]
        space.num_steps[i] = number
        for j in range(space.correction.size):
            space.correction[j] = space.corrections[i, j]
        train(
            problem, part(space.chosen, i, 1), space.starts[i], part(step_sizes, 0, number), work, rng, space.velocity,
            space.slope, part(space.updates, i, 1), part(space.mean_losses, i, 1),
        )  # fmt: skip


@compiled
def _blur(space, size, variances, rng):
    for i in range(size):
        deviation = np.sqrt(variances[space.chosen[i]])
        if deviation > 0.0:
            for j in range(space.model.size):
                space.updates[i, j] += deviation * rng.standard_normal()
