"""One local step of a client: noise, proximal term, momentum and descent.

A family's ``train`` kernel loops over the selected clients. For each client it calls ``begin``; in each local step it
writes a gradient to ``slope`` and calls ``descend``; then it calls ``finish``. ``train_clients`` is this loop, given
functions for the loss and the gradient of one client.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from fedtheory._support.jit import inlined

__all__ = ["begin", "descend", "finish", "train_clients"]


@inlined
def begin(server_model, velocity, model):
    """Initialize a client at the server's model with zero velocity: write ``velocity`` and ``model``, shape (v,) each.

    >>> model, velocity = np.zeros(2), np.ones(2)
    >>> begin(np.array([2.0, 3.0]), velocity, model)
    >>> model, velocity
    (array([2., 3.]), array([0., 0.]))
    """
    for i in range(model.size):
        model[i] = server_model[i]
        velocity[i] = 0.0


@inlined
def descend(slope, step_size, work, rng, server_model, velocity, model):
    """Take one step along the negative gradient ``slope`` of the client's loss, with the settings ``work``.

    The step changes ``velocity`` and ``model``, shape (v,) each. ``server_model`` is the model at which the client's
    round began, and ``rng`` the stream of the gradient noise. Here the proximal term adds 3 (2 - 1) to the slope 5:

    >>> from fedtheory.engine.contract import LocalWork
    >>> model, velocity = np.array([2.0]), np.array([7.0])
    >>> work = LocalWork(0.0, 0.0, proximal_weight=3.0, momentum=0.5, batch_size=0, by_epoch=False, track_losses=False)
    >>> descend(np.array([5.0]), 0.25, work, np.random.default_rng(0), np.array([1.0]), velocity, model)
    >>> model, velocity
    (array([-0.875]), array([11.5]))
    """
    noise = _deviation(slope, work)
    corrected = work.correction.size > 0
    if noise == 0.0 and work.momentum == 0.0 and work.proximal_weight == 0.0 and not corrected:
        for i in range(model.size):
            model[i] -= step_size * slope[i]
        return
    for i in range(model.size):
        gradient = slope[i] + work.proximal_weight * (model[i] - server_model[i])
        if noise > 0.0:
            gradient += noise * rng.standard_normal()
        if corrected:
            gradient += work.correction[i]
        velocity[i] = work.momentum * velocity[i] + gradient
        model[i] -= step_size * velocity[i]


@inlined
def finish(server_model, model):
    """Replace the client's model, shape (v,), by its update, the difference from the server's model.

    >>> model = np.array([7.0, 5.0])
    >>> finish(np.array([2.0, 3.0]), model)
    >>> model
    array([5., 2.])
    """
    for i in range(model.size):
        model[i] -= server_model[i]


@inlined
def train_clients(
    loss, write_gradient, problem, chosen, server_model, step_sizes, work, rng, velocity, slope, updates, mean_losses
):  # fmt: skip
    """Run the local steps of the chosen clients; ``problem`` is the first argument of the loss and the gradient."""
    for i in range(chosen.size):
        model, total = updates[i], 0.0
        begin(server_model, velocity, model)
        for s in range(step_sizes.size):
            total += loss(problem, chosen[i], model) if work.track_losses else 0.0
            write_gradient(problem, chosen[i], model, slope)
            descend(slope, step_sizes[s], work, rng, server_model, velocity, model)
        finish(server_model, model)
        mean_losses[i] = total / step_sizes.size


@inlined
def _deviation(slope, work):
    """Return the standard deviation of the noise on each coordinate of a gradient."""
    variance = work.gradient_noise
    if work.relative_noise > 0.0:
        square = 0.0
        for i in range(slope.size):
            square += slope[i] * slope[i]
        variance += work.relative_noise * square
    return np.sqrt(variance / slope.size) if variance > 0.0 else 0.0
