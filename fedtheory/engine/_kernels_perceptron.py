"""Kernels of perceptrons: losses of some clients, mini-batch steps of one client, loss of a model.

Softmax regression is the perceptron without a hidden layer. A mini-batch is drawn without replacement, from all samples
of the client or from those that were not used in the current epoch. The absolute error of a loss is a few rounding
errors of the largest logit, so much smaller losses may be returned as 0.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
# (argument order: engine/contract.py)

from collections.abc import Sequence
from typing import Any

import numpy as np

from fedtheory._support.jit import compiled, compiled_with_reordering, inlined
from fedtheory.engine import _perceptron_passes as passes
from fedtheory.engine._perceptron_passes import BLOCK
from fedtheory.engine.contract import Family, LocalWork
from fedtheory.federation.perceptron import PerceptronFederation
from fedtheory.federation.softmax import SoftmaxFederation


def perceptron_family(
    fed: SoftmaxFederation | PerceptronFederation, shapes: Sequence[tuple[int, int]], work: LocalWork
) -> Family:
    """Lay out a federation whose layers have matrices of these shapes for the round loop."""
    _check_batches(work)
    slots: tuple[Any, Any, Any] = (_losses, _train, _excess)
    private = ("order", "known_losses", "known_model", "padded", "blocks", "hidden", "batch")
    return Family(passes.laid_out(fed, shapes), *slots, 0.0, private, tuple(shapes), _mistakes, compilation=40)


def _check_batches(work: LocalWork) -> None:
    """Raise a ValueError for options of mini-batches that exclude each other."""
    if work.batch_size and work.num_batches:
        message = f"batch_size must be None with num_batches, got {work.batch_size} and {work.num_batches}"
        raise ValueError(message)
    if (work.batch_size or work.num_batches) and work.relative_noise:
        message = f"relative_noise must be 0 with mini-batches, whose gradients are noisy, got {work.relative_noise}"
        raise ValueError(message)


@compiled
def _losses(problem, model, candidates, batch_size, rng, losses):
    known = batch_size == 0
    for i in range(model.size):
        known = known and model[i] == problem.known_model[i]
    if known:
        for j in range(candidates.size):
            losses[j] = problem.known_losses[candidates[j]]
        return
    passes.pad(model, problem.places, problem.padded[0])
    ridge = _ridge_term(problem, model)
    for j in range(candidates.size):
        losses[j] = _mean_of_client(problem, candidates[j], batch_size, rng, False) + ridge


@compiled
def _mistakes(problem, model, candidates, batch_size, rng, losses):
    passes.pad(model, problem.places, problem.padded[0])
    for j in range(candidates.size):
        losses[j] = _mean_of_client(problem, candidates[j], batch_size, rng, True)


@compiled
def _excess(problem, model):
    # All losses are kept: evaluating some of them again at the same model is free.
    passes.pad(model, problem.places, problem.padded[0])
    ridge = _ridge_term(problem, model)
    total = 0.0
    for k in range(problem.weights.size):
        first, count = problem.offsets[k], problem.offsets[k + 1] - problem.offsets[k]
        problem.known_losses[k] = _mean(problem, problem.rows, first, count, False) + ridge
        total += problem.weights[k] * problem.known_losses[k]
    for i in range(model.size):
        problem.known_model[i] = model[i]
    return total


@compiled
def _mean_of_client(problem, k, batch_size, rng, of_mistakes):
    """Return the mean loss, or the share of mistakes, on all samples of a client or on a mini-batch."""
    first, count = problem.offsets[k], problem.offsets[k + 1] - problem.offsets[k]
    if batch_size == 0:
        return _mean(problem, problem.rows, first, count, of_mistakes)
    size = min(batch_size, count)
    _draw_batch(problem.order, first, count, size, rng)
    return _mean(problem, problem.order, first, size, of_mistakes)


@compiled_with_reordering
def _mean(problem, rows, first, count, of_mistakes):
    """Return the mean cross-entropy, or the share of mistakes, of rows from ``first`` on at the padded weights."""
    last = problem.layers[-1]
    num_classes, logits = last[0], problem.blocks[last[5] :]
    total = 0.0
    for start in range(0, count, BLOCK):
        size = min(BLOCK, count - start)
        passes.forward(problem, rows, first + start, size, None)
        if of_mistakes:
            total += passes.count_mistakes(logits, problem.labels, problem.batch, num_classes, size)
        else:
            total += passes.to_powers(logits, problem.labels, problem.batch, num_classes, size, True)
    return total / count


@compiled
def _train(problem, chosen, server_model, step_sizes, work, rng, velocity, slope, updates, mean_losses):
    for i in range(chosen.size):
        mean_losses[i] = _train_one(problem, chosen[i], server_model, step_sizes, work, rng, updates[i])


@inlined
def _train_one(problem, client, server_model, step_sizes, work, rng, update):
    """Run one client's local steps, write the change of its model to ``update``, and return its mean loss."""
    first, count = problem.offsets[client], problem.offsets[client + 1] - problem.offsets[client]
    weights, speed, start = problem.padded[0], problem.padded[2], problem.padded[3]
    passes.pad(server_model, problem.places, weights)
    passes.pad(server_model, problem.places, start)
    speed.fill(0.0)
    size = min(work.batch_size, count) if work.batch_size > 0 else count
    if work.num_batches > 0:
        size = max(1, count // work.num_batches)
    draws = work.batch_size + work.num_batches > 0
    rows = problem.order if draws else problem.rows
    total_loss, begin = 0.0, 0
    for s in range(step_sizes.size):
        if draws:
            # Samples before ``begin`` were used in this epoch, which ends when fewer samples than a batch are left.
            goes_on = s % work.num_batches > 0 if work.num_batches > 0 else work.by_epoch and s > 0
            begin = begin + size if goes_on and begin + 2 * size <= count else 0
            _draw_batch(problem.order, first + begin, count - begin, size, rng)
        total_loss += _descend(problem, rows, first + begin, size, step_sizes[s], work, rng)
    for i in range(update.size):
        update[i] = weights[problem.places[i]] - start[problem.places[i]]
    return total_loss / step_sizes.size


@compiled_with_reordering
def _ridge_term(problem, model):
    """Return ``l2/2 |w|^2``."""
    square = 0.0
    if problem.l2 > 0.0:
        for i in range(model.size):
            square += model[i] * model[i]
    return 0.5 * problem.l2 * square


@compiled
def _draw_batch(order, first, count, size, rng):
    """Move a uniform random subset of a client's rows to the front by a partial shuffle."""
    for i in range(size):
        j = i + int(rng.random() * (count - i))
        order[first + i], order[first + j] = order[first + j], order[first + i]


@compiled
def _add_noise(gradient, places, work, rng):
    variance = work.gradient_noise
    if work.relative_noise > 0.0:
        square = 0.0
        for value in gradient:  # padding is 0
            square += value * value
        variance += work.relative_noise * square
    deviation = np.sqrt(variance / places.size)
    for place in places:
        gradient[place] += deviation * rng.standard_normal()


@compiled_with_reordering
def _step(w, gradient, v, start, step_size, momentum, proximal_weight):
    if momentum == 0.0 and proximal_weight == 0.0:
        for j in range(w.size):
            w[j] -= step_size * gradient[j]
        return
    for j in range(w.size):
        v[j] = momentum * v[j] + gradient[j] + proximal_weight * (w[j] - start[j])
        w[j] -= step_size * v[j]


@inlined
def _descend(problem, rows, first, count, step_size, work, rng):
    """Take a step on ``rows[first:first + count]``; return the mean loss before it, or 0 if it is not recorded."""
    weights, gradient, speed, start = problem.padded[0], problem.padded[1], problem.padded[2], problem.padded[3]
    noisy = work.gradient_noise > 0.0 or work.relative_noise > 0.0
    plain = not noisy and work.momentum == 0.0 and work.proximal_weight == 0.0 and work.correction.size == 0
    # A plain step updates the weights directly: a separate gradient of many layers would be evicted from the cache and
    # read again.
    direct = plain and problem.l2 == 0.0 and count <= BLOCK
    total, scale = 0.0, -step_size / count if direct else 1.0 / count
    for place in range(0, count, BLOCK):
        size = min(BLOCK, count - place)
        total += _to_slopes(problem, rows, first + place, size, scale, work.track_losses, rng)
        passes.backward(problem, size, weights if direct else gradient, place == 0 and not direct)
    if direct:
        return total / count
    ridge = _add_ridge(problem.l2, weights, gradient)
    if noisy:
        _add_noise(gradient, problem.places, work, rng)
    for i in range(work.correction.size):
        gradient[problem.places[i]] += work.correction[i]
    _step(weights, gradient, speed, start, step_size, work.momentum, work.proximal_weight)
    return total / count + ridge if work.track_losses else 0.0


@compiled_with_reordering
def _add_ridge(l2, weights, gradient):
    """Add the gradient of the ridge term; return the term."""
    square = 0.0
    if l2 > 0.0:
        for j in range(weights.size):
            gradient[j] += l2 * weights[j]
            square += weights[j] * weights[j]
    return 0.5 * l2 * square


@compiled_with_reordering
def _to_slopes(problem, rows, first, size, scale, with_loss, rng):
    """Write the derivatives of the losses by the logits, times a factor; return the sum of the losses if requested."""
    last = problem.layers[-1]
    num_classes, logits = last[0], problem.blocks[last[5] :]
    passes.forward(problem, rows, first, size, rng)
    total = passes.to_powers(logits, problem.labels, problem.batch, num_classes, size, with_loss)
    passes.to_residuals(logits, problem.labels, problem.batch, num_classes, size, scale)
    return total
