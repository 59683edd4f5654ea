"""Forward and backward pass of a perceptron for a block of samples, in vectorizable passes.

The outputs of a layer for a block are stored (units, samples), so that the work per class is one pass over neighboring
numbers. Below its units a block has two rows of numbers per sample: largest logits, and sums.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._support.exponential import power
from fedtheory._support.jit import compiled, compiled_with_reordering, inlined
from fedtheory._support.validate import Array
from fedtheory.engine._products import LANES, ROWS, add_products, write_inner_products
from fedtheory.federation.perceptron import PerceptronFederation
from fedtheory.federation.softmax import SoftmaxFederation

BLOCK = 64


@inlined
def layer(flat, layers, index):
    """Matrix of a layer, a view of the padded parameters of all layers, shape (rows, columns)."""
    begin, rows, columns = layers[index, 4], layers[index, 2], layers[index, 3]
    return flat[begin : begin + rows * columns].reshape((rows, columns))


@compiled
def pad(model, places, padded):
    """Copy a model into matrices whose rows are padded to the width of vector instructions."""
    for i in range(model.size):
        padded[places[i]] = model[i]


@compiled
def forward(problem, rows, first, size, rng):
    """Copy rows into the batch and write the outputs of every layer; those of the last layer are the logits.

    With a generator this is a step of training, with dropout.
    """
    layers, weights = problem.layers, problem.padded[0]
    # The last row number is repeated up to a multiple of the width of vector instructions.
    for s in range(-(-size // LANES) * LANES):
        problem.batch[s] = rows[first + min(s, size - 1)]
    write_inner_products(problem.blocks, layer(weights, layers, 0), problem.features, problem.batch, size)
    for index in range(1, layers.shape[0]):
        num_units, inputs = layers[index - 1, 0], problem.hidden[index][:, : layers[index, 3]]
        _rectify(problem.blocks[layers[index - 1, 5] :], num_units, size, inputs)
        if rng is not None:
            _drop(inputs, num_units, size, problem.dropout[index - 1], rng)
        outputs = problem.blocks[layers[index, 5] :]
        write_inner_products(outputs, layer(weights, layers, index), inputs, problem.counting, size)


@compiled
def _drop(inputs, num_units, size, rate, rng):
    """Set hidden values to 0 and scale the others up; one random number is drawn for each if the rate is positive."""
    if rate > 0.0:
        scale = 1.0 / (1.0 - rate)
        for s in range(size):
            for unit in range(num_units):
                inputs[s, unit] = inputs[s, unit] * scale if rng.random() >= rate else 0.0


@compiled_with_reordering
def to_powers(block, labels, batch, num_classes, size, with_loss):
    """Turn logits into exp(logit - maximum) and sum them per sample; return the sum of the losses if requested."""
    top, sums = block[-2], block[-1]
    filled = -(-size // LANES) * LANES
    for s in range(filled):
        top[s], sums[s] = block[0, s], 0.0
    for c in range(1, num_classes):
        z = block[c]
        for s in range(filled):
            top[s] = max(top[s], z[s])
    total = 0.0
    if with_loss:
        for s in range(size):
            total += top[s] - block[labels[batch[s]], s]
    for c in range(num_classes):
        z = block[c]
        for s in range(filled):
            z[s] = power(z[s] - top[s])
            sums[s] += z[s]
    if with_loss:
        # One logarithm for the block: each sum is in [1, C], so the product of 64 of them cannot overflow.
        product = 1.0
        for s in range(size):
            product *= sums[s]
        total += np.log(product)
    return total


@compiled_with_reordering
def to_residuals(block, labels, batch, num_classes, size, scale):
    """Turn powers into the residuals q - e_y, times a factor."""
    sums = block[-1]
    filled = -(-size // LANES) * LANES
    for s in range(filled):
        sums[s] = 1.0 / sums[s]
    for c in range(num_classes):
        q = block[c]
        for s in range(filled):
            q[s] *= sums[s]
    for s in range(size):
        block[labels[batch[s]], s] -= 1.0
    for c in range(num_classes):
        q = block[c]
        for s in range(size):
            q[s] *= scale


@compiled
def count_mistakes(block, labels, batch, num_classes, size):
    """Return the number of samples whose label is not the first class with the largest logit."""
    wrong = 0
    for s in range(size):
        best = 0
        for c in range(1, num_classes):
            if block[c, s] > block[best, s]:
                best = c
        wrong += best != labels[batch[s]]
    return wrong


@compiled
def backward(problem, size, total, fresh):
    """Backpropagate the derivatives by the logits, shape (classes, samples); add the gradient to ``total``.

    ``total`` is the gradient or the weights. If fresh, it starts from zero. The derivatives pass through the weights of
    a layer before these are changed.
    """
    layers, weights = problem.layers, problem.padded[0]
    for index in range(layers.shape[0] - 1, 0, -1):
        slopes, num_units = problem.blocks[layers[index, 5] :], layers[index, 0]
        inputs = problem.hidden[index][:, : layers[index, 3]]
        back = problem.hidden[0][:, : layers[index, 3]]
        add_products(back, size, slopes.T, layer(weights, layers, index), problem.counting, num_units, True)
        add_products(layer(total, layers, index), num_units, slopes, inputs, problem.counting, size, fresh)
        below, scale = problem.blocks[layers[index - 1, 5] :], 1.0 / (1.0 - problem.dropout[index - 1])
        _pass_where_positive(back, inputs, layers[index - 1, 0], size, scale, below)
    first = layer(total, layers, 0)
    add_products(first, layers[0, 0], problem.blocks, problem.features, problem.batch, size, fresh)


@compiled_with_reordering
def _rectify(block, num_units, size, inputs):
    for s in range(size):
        for unit in range(num_units):
            # NaN stays NaN
            inputs[s, unit] = max(block[unit, s], 0.0)


@compiled_with_reordering
def _pass_where_positive(back, inputs, num_units, size, scale, block):
    # A dropped value is 0, like a value that the rectifier cuts off: the derivative is 0 in both cases.
    for s in range(size):
        for unit in range(num_units):
            block[unit, s] = back[s, unit] * scale if inputs[s, unit] > 0.0 else 0.0


Whole = npt.NDArray[np.int64]


class PerceptronArrays(NamedTuple):
    """Arrays of a perceptron federation; each replicate has its own copies from ``order`` on.

    ``features`` (N, P) end with the constant 1 and zeros. ``labels`` and ``rows`` (0..N-1) are (N,). ``layers`` (L, 6)
    holds for each layer the number of units, the number of inputs including the constant, the padded numbers of rows
    and columns, and the offsets of its matrix and its block. ``places`` (v,) are those of a model's parameters in the
    padded matrices. ``dropout`` (L,) is 0 for the last layer. ``order`` holds each client's rows in the order of the
    current shuffle. ``known_losses`` (K,) are the losses at ``known_model``
    (v,). ``padded`` (4, total) holds weights, gradient, velocity and the server's weights. ``blocks`` holds a layer's
    outputs (rows + 2, BLOCK); its last two rows are scratch. ``hidden`` (L, BLOCK, widest) holds the inputs of each
    layer after the first, sample by sample, and in place of the first layer their derivatives. ``batch`` holds the
    numbers of the samples in the block, and ``counting`` is 0, 1, 2, ...
    """

    features: Array
    labels: Whole
    offsets: Whole
    weights: Array
    rows: Whole
    layers: Whole
    places: Whole
    l2: float
    counting: Whole
    dropout: Array
    order: Whole
    known_losses: Array
    known_model: Array
    padded: Array
    blocks: Array
    hidden: Array
    batch: Whole


def laid_out(fed: SoftmaxFederation | PerceptronFederation, shapes: Sequence[tuple[int, int]]) -> PerceptronArrays:
    """Arrange the samples and allocate the buffers of all passes."""
    units, inputs = np.array(shapes, dtype=np.int64).T
    rows, columns = -(-units // ROWS) * ROWS, -(-inputs // LANES) * LANES
    matrices, blocks = np.cumsum([0, *(rows * columns)]), np.cumsum([0, *(rows + 2)])
    num_samples, num_inputs = fed.inputs.shape
    grids = zip(matrices[:-1], units, inputs, columns, strict=True)
    places = [(begin + np.arange(m)[:, None] * width + np.arange(n)).ravel() for begin, m, n, width in grids]
    features = np.zeros((num_samples, columns[0]))
    features[:, :num_inputs] = fed.inputs
    hidden = np.zeros((len(shapes), BLOCK, columns[1:].max(initial=0)))
    hidden[np.arange(1, len(shapes)), :, inputs[1:] - 1] = 1.0
    return PerceptronArrays(
        features=features,
        labels=np.array(fed.data.labels),
        offsets=np.array(fed.data.offsets),
        weights=np.array(fed.weights),
        rows=np.arange(num_samples),
        layers=np.column_stack([units, inputs, rows, columns, matrices[:-1], blocks[:-1]]),
        places=np.concatenate(places),
        l2=fed.l2,
        counting=np.arange(max(BLOCK, rows.max())),
        dropout=np.array([*(fed.dropout if isinstance(fed, PerceptronFederation) else ()), 0.0]),
        order=np.arange(num_samples),
        known_losses=np.zeros(fed.num_clients),
        known_model=np.full(fed.dim, np.nan),
        padded=np.zeros((4, matrices[-1])),
        blocks=np.zeros((blocks[-1], BLOCK)),
        hidden=hidden,
        batch=np.zeros(BLOCK, dtype=np.int64),
    )
