"""Forward and backward pass of a perceptron for a block of samples."""

# mypy: allow-untyped-defs, allow-untyped-calls

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fedtheory._support.jit import compiled, compiled_with_reordering, inlined
from fedtheory._support.validate import Array
from fedtheory.engine._products import LANES, ROWS, add_products, write_inner_products
from fedtheory.engine._softmax_blocks import BLOCK, take
from fedtheory.federation.perceptron import PerceptronFederation
from fedtheory.federation.softmax import SoftmaxFederation

__all__ = ["backward", "forward", "forward_dropping", "layer", "pad", "share_of_mistakes"]


@inlined
def layer(flat, layers, index):
    """Matrix of a layer, a view of the padded parameters of all layers, shape (rows, columns)."""
    begin, rows, columns = layers[index, 4], layers[index, 2], layers[index, 3]
    return flat[begin : begin + rows * columns].reshape((rows, columns))


@compiled
def pad(model, layers, padded):
    """Copy a model into matrices whose rows are padded to the width of vector instructions."""
    place = 0
    for index in range(layers.shape[0]):
        matrix = layer(padded, layers, index)
        for unit in range(layers[index, 0]):
            for j in range(layers[index, 1]):
                matrix[unit, j] = model[place]
                place += 1


@compiled
def forward(problem, rows, first, size):
    """Copy rows into the batch and write the outputs of every layer; those of the last layer are the logits."""
    _enter(problem, rows, first, size)
    for index in range(1, problem.layers.shape[0]):
        _rise(problem, index, _rectified(problem, index, size), size)


@compiled
def forward_dropping(problem, rows, first, size, rng):
    """Forward pass with dropout: some hidden values are set to 0, and the others are scaled up accordingly.

    One random number is drawn for each value, layer by layer and sample by sample, and none for layers without dropout.
    """
    _enter(problem, rows, first, size)
    for index in range(1, problem.layers.shape[0]):
        inputs, rate = _rectified(problem, index, size), problem.dropout[index - 1]
        if rate > 0.0:
            scale = 1.0 / (1.0 - rate)
            for s in range(size):
                for unit in range(problem.layers[index - 1, 0]):
                    inputs[s, unit] = inputs[s, unit] * scale if rng.random() >= rate else 0.0
        _rise(problem, index, inputs, size)


@compiled
def _enter(problem, rows, first, size):
    take(rows, first, size, problem.batch)
    first_layer = layer(problem.padded[0], problem.layers, 0)
    write_inner_products(problem.blocks, first_layer, problem.features, problem.batch, size)


@compiled
def _rectified(problem, index, size):
    layers = problem.layers
    inputs = problem.hidden[index][:, : layers[index, 3]]
    _rectify(problem.blocks[layers[index - 1, 5] :], layers[index - 1, 0], size, inputs)
    return inputs


@compiled
def _rise(problem, index, inputs, size):
    outputs = problem.blocks[problem.layers[index, 5] :]
    write_inner_products(outputs, layer(problem.padded[0], problem.layers, index), inputs, problem.counting, size)


@compiled
def share_of_mistakes(problem, rows, first, count):
    """Return the share of ``rows[first:first + count]`` that the padded weights misclassify."""
    last = problem.layers[-1]
    num_classes, logits = last[0], problem.blocks[last[5] :]
    wrong = 0
    for start in range(0, count, BLOCK):
        size = min(BLOCK, count - start)
        forward(problem, rows, first + start, size)
        for s in range(size):
            best = 0  # the first of equal logits, as in numpy.argmax
            for c in range(1, num_classes):
                if logits[c, s] > logits[best, s]:
                    best = c
            wrong += best != problem.labels[problem.batch[s]]
    return wrong / count


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
    and columns, and the offsets of its matrix and its block. ``dropout`` (L,) is 0 for the last layer. ``order`` holds
    each client's rows in the order of the current shuffle. ``known_losses`` (K,) are the losses at ``known_model``
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
    num_samples, width = fed.inputs.shape
    features = np.zeros((num_samples, columns[0]))
    features[:, :width] = fed.inputs
    hidden = np.zeros((len(shapes), BLOCK, columns[1:].max(initial=0)))
    hidden[np.arange(1, len(shapes)), :, inputs[1:] - 1] = 1.0
    return PerceptronArrays(
        features=features,
        labels=np.array(fed.data.labels),
        offsets=np.array(fed.data.offsets),
        weights=np.array(fed.weights),
        rows=np.arange(num_samples),
        layers=np.column_stack([units, inputs, rows, columns, matrices[:-1], blocks[:-1]]),
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
