"""Kernels of softmax regression: losses of some clients, mini-batch steps of one client, loss of a model.

A mini-batch is drawn without replacement, from all samples of the client or from those its epoch has not seen. Losses
have an absolute error of a few roundings of the largest logit: what is far below that is 0 here.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
# (slots take what engine/contract.py says)

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._compile import compiled, compiled_with_reordering
from fedtheory._validate import Array
from fedtheory.engine._softmax_blocks import (
    BLOCK,
    GROUP,
    LANES,
    add_gradient,
    take,
    to_logits,
    to_powers,
    to_residuals,
)
from fedtheory.engine.contract import Family, LocalWork
from fedtheory.federation.softmax import SoftmaxFederation

__all__ = ["SoftmaxArrays", "softmax_family"]

Whole = npt.NDArray[np.int64]


class SoftmaxArrays(NamedTuple):
    """What the kernels read and, from ``order`` on, what each replicate writes.

    ``features`` (N, P) have ``width`` true columns, the last one constant; ``labels`` and ``rows`` (0..N-1) are (N,).
    ``order`` holds the rows of each client in an order that mini-batches shuffle. ``known_losses`` (K,) are the losses
    at ``known_model`` (v,). ``padded`` holds weights, gradient, velocity and the server's weights, each of the padded
    shape; ``block`` the logits of a block, and below them two rows of numbers per sample; ``batch`` its row numbers.
    """

    features: Array
    labels: Whole
    offsets: Whole
    weights: Array
    rows: Whole
    width: int
    l2: float
    order: Whole
    known_losses: Array
    known_model: Array
    padded: Array
    block: Array
    batch: Whole


def softmax_family(fed: SoftmaxFederation, work: LocalWork) -> Family:
    """Lay out a federation for the round loop."""
    smallest = int(fed.sample_counts.min())
    if work.batch_size > smallest:
        message = f"batch_size must be at most {smallest}, the samples of the smallest client, got {work.batch_size}"
        raise ValueError(message)
    if work.batch_size and work.relative_noise:
        message = f"relative_noise must be 0 with mini-batches, whose gradients are noisy, got {work.relative_noise}"
        raise ValueError(message)
    num_samples, width = fed.inputs.shape
    features = np.zeros((num_samples, -(-width // LANES) * LANES))
    features[:, :width] = fed.inputs
    classes = -(-fed.data.num_classes // GROUP) * GROUP
    arrays = SoftmaxArrays(
        features=features,
        labels=np.array(fed.data.labels),
        offsets=np.array(fed.data.offsets),
        weights=np.array(fed.weights),
        rows=np.arange(num_samples),
        width=width,
        l2=fed.l2,
        order=np.arange(num_samples),
        known_losses=np.zeros(fed.num_clients),
        known_model=np.full(fed.dim, np.nan),
        padded=np.zeros((4, classes, features.shape[1])),
        block=np.zeros((classes + 2, BLOCK)),
        batch=np.zeros(BLOCK, dtype=np.int64),
    )
    private = ("order", "known_losses", "known_model", "padded", "block", "batch")
    slots: tuple[Any, Any, Any] = (_losses, _train, _excess)
    return Family(arrays, *slots, reference=0.0, private=private)


@compiled
def _losses(problem, model, candidates, batch_size, rng, losses):
    known = batch_size == 0
    for i in range(model.size):
        known = known and model[i] == problem.known_model[i]
    if not known:
        _pad(model, problem.width, problem.padded[0])
    ridge = _ridge(problem, model)
    for j in range(candidates.size):
        k = candidates[j]
        first, count = problem.offsets[k], problem.offsets[k + 1] - problem.offsets[k]
        if known:
            losses[j] = problem.known_losses[k]
        elif batch_size > 0:
            _draw_batch(problem.order, first, count, batch_size, rng)
            losses[j] = _mean_loss(problem, problem.order, first, batch_size, model.size) + ridge
        else:
            losses[j] = _mean_loss(problem, problem.rows, first, count, model.size) + ridge


@compiled
def _excess(problem, model):
    # All losses are kept: asking for some of them at the same model is free.
    _pad(model, problem.width, problem.padded[0])
    ridge = _ridge(problem, model)
    total = 0.0
    for k in range(problem.weights.size):
        first, count = problem.offsets[k], problem.offsets[k + 1] - problem.offsets[k]
        problem.known_losses[k] = _mean_loss(problem, problem.rows, first, count, model.size) + ridge
        total += problem.weights[k] * problem.known_losses[k]
    for i in range(model.size):
        problem.known_model[i] = model[i]
    return total


@compiled
def _train(problem, chosen, server_model, step_sizes, work, rng, velocity, slope, updates, mean_losses):
    for i in range(chosen.size):
        mean_losses[i] = _train_one(problem, chosen[i], server_model, step_sizes, work, rng, velocity, updates[i])


@compiled
def _train_one(problem, client, server_model, step_sizes, work, rng, velocity, update):
    first, count = problem.offsets[client], problem.offsets[client + 1] - problem.offsets[client]
    num_classes, width = server_model.size // problem.width, problem.width
    weights, gradient, speed, start = problem.padded
    _pad(server_model, width, weights)
    _pad(server_model, width, start)
    speed.fill(0.0)
    rows, size = (problem.order, work.batch_size) if work.batch_size > 0 else (problem.rows, count)
    total_loss, begin = 0.0, 0
    for s in range(step_sizes.size):
        if work.batch_size > 0:
            # Samples before ``begin`` have been seen in this epoch, which ends when fewer than a batch are left.
            begin = begin + size if work.by_epoch and s > 0 and begin + 2 * size <= count else 0
            _draw_batch(problem.order, first + begin, count - begin, size, rng)
        loss = _mean_gradient(problem, rows, first + begin, size, num_classes, work.track_losses)
        total_loss += loss
        if work.gradient_noise > 0.0 or work.relative_noise > 0.0:
            _add_noise(gradient, num_classes, width, work, rng)
        _step(weights, gradient, speed, start, step_sizes[s], work.momentum, work.proximal_weight)
    for c in range(num_classes):
        for j in range(width):
            update[c * width + j] = weights[c, j] - start[c, j]
    return total_loss / step_sizes.size


@compiled
def _pad(model, width, weights):
    for c in range(model.size // width):
        for j in range(width):
            weights[c, j] = model[c * width + j]


@compiled_with_reordering
def _ridge(problem, model):
    square = 0.0
    if problem.l2 > 0.0:
        for i in range(model.size):
            square += model[i] * model[i]
    return 0.5 * problem.l2 * square


@compiled
def _draw_batch(order, first, count, size, rng):
    # A partial shuffle of any order of the client's rows puts a uniform subset in front.
    for i in range(size):
        j = i + int(rng.random() * (count - i))
        order[first + i], order[first + j] = order[first + j], order[first + i]


@compiled
def _add_noise(gradient, num_classes, width, work, rng):
    variance = work.gradient_noise
    if work.relative_noise > 0.0:
        square = 0.0
        for c in range(num_classes):
            for j in range(width):
                square += gradient[c, j] * gradient[c, j]
        variance += work.relative_noise * square
    deviation = np.sqrt(variance / (num_classes * width))
    for c in range(num_classes):
        for j in range(width):
            gradient[c, j] += deviation * rng.standard_normal()


@compiled_with_reordering
def _step(weights, gradient, speed, start, step_size, momentum, proximal_weight):
    for c in range(weights.shape[0]):
        w, v, g, w0 = weights[c], speed[c], gradient[c], start[c]
        for j in range(w.size):
            v[j] = momentum * v[j] + g[j] + proximal_weight * (w[j] - w0[j])
            w[j] -= step_size * v[j]


@compiled_with_reordering
def _mean_loss(problem, rows, first, count, dim):
    """Mean cross-entropy of ``rows[first:first + count]`` at the padded weights."""
    num_classes = dim // problem.width
    total = 0.0
    for start in range(0, count, BLOCK):
        size = min(BLOCK, count - start)
        take(rows, first + start, size, problem.batch)
        to_logits(problem.features, problem.batch, size, problem.padded[0], problem.block)
        total += to_powers(problem.block, problem.labels, problem.batch, num_classes, size, True)
    return total / count


@compiled_with_reordering
def _mean_gradient(problem, rows, first, count, num_classes, with_loss):
    """Write the gradient of the mean loss with its ridge term; return the mean loss, or 0 if nobody asks for it."""
    weights, gradient = problem.padded[0], problem.padded[1]
    gradient.fill(0.0)
    total, square = 0.0, 0.0
    for start in range(0, count, BLOCK):
        size = min(BLOCK, count - start)
        take(rows, first + start, size, problem.batch)
        to_logits(problem.features, problem.batch, size, weights, problem.block)
        total += to_powers(problem.block, problem.labels, problem.batch, num_classes, size, with_loss)
        to_residuals(problem.block, problem.labels, problem.batch, num_classes, size)
        add_gradient(problem.features, problem.batch, size, problem.block, num_classes, gradient)
    for c in range(num_classes):
        w, g = weights[c], gradient[c]
        for j in range(w.size):
            g[j] = g[j] / count + problem.l2 * w[j]
            square += w[j] * w[j]
    return total / count + 0.5 * problem.l2 * square if with_loss else 0.0
