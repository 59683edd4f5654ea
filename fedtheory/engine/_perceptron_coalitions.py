"""Losses of the coalitions of a round in which clients return perceptrons or softmax regressions.

Most of the work is in the first layer, whose outputs are linear in the weights. The outputs of the server's model and
of each update are computed once and combined for each of the 2^M coalitions. The other layers are evaluated at the mean
of the weights.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from dataclasses import replace

import numpy as np

from fedtheory._support.jit import compiled, compiled_with_reordering
from fedtheory.engine._perceptron_passes import layer, onward, pad
from fedtheory.engine._products import write_inner_products
from fedtheory.engine._softmax_blocks import BLOCK, take, to_powers
from fedtheory.engine.contract import Family

__all__ = ["with_products"]

# Largest number of floats that are kept: 256 MB.
_MOST = 2**25


def with_products(family: Family, num_selected: int) -> Family:
    """Return a family with arrays for the first layer's outputs, unless these save too little or are too large."""
    arrays = family.arrays
    blocks, rows = int((-(-np.diff(arrays.offsets) // BLOCK)).sum()), int(arrays.layers[0, 2])
    shape = num_selected + 1, blocks, rows, BLOCK
    if num_selected < 2 or np.prod(shape, dtype=np.float64) > _MOST:
        return family
    room = arrays._replace(products=np.zeros(shape))
    return replace(family, arrays=room, private=(*family.private, "products"), coalition=_coalition)


@compiled
def _coalition(problem, server_model, updates, coefficients, coalition):
    if coalition < 0:
        _multiply(problem, server_model, problem.products[0])
        for k in range(coefficients.size):
            # The buffer of an update that is not sent may hold any values.
            if coefficients[k] != 0.0:
                _multiply(problem, updates[k], problem.products[k + 1])
        return 0.0
    mix = np.zeros(coefficients.size + 1)
    mix[0], total = 1.0, 0.0
    for k in range(coefficients.size):
        total += coefficients[k] if coalition >> k & 1 else 0.0
    pad(server_model, problem.layers, problem.padded[0])
    for k in range(coefficients.size):
        if coalition >> k & 1 and coefficients[k] > 0.0:
            mix[k + 1] = coefficients[k] / total
            pad(updates[k], problem.layers, problem.padded[1])
            _add(problem.padded[0], problem.padded[1], mix[k + 1])
    return _mean_loss(problem, mix)


@compiled
def _multiply(problem, model, products):
    """Write the first layer's outputs of a model, block by block."""
    pad(model, problem.layers, problem.padded[0])
    place, first_layer = 0, layer(problem.padded[0], problem.layers, 0)
    for k in range(problem.weights.size):
        for start in range(problem.offsets[k], problem.offsets[k + 1], BLOCK):
            size = min(BLOCK, problem.offsets[k + 1] - start)
            take(problem.rows, start, size, problem.batch)
            write_inner_products(products[place], first_layer, problem.features, problem.batch, size)
            place += 1


@compiled_with_reordering
def _add(weights, update, share):
    for j in range(weights.size):
        weights[j] += share * update[j]


@compiled_with_reordering
def _mean_loss(problem, mix):
    """Return the objective at the padded weights from combined outputs of the first layer."""
    last, place, whole, square = problem.layers[-1], 0, 0.0, 0.0
    num_classes, logits = last[0], problem.blocks[last[5] :]
    for k in range(problem.weights.size):
        begin, end, total = problem.offsets[k], problem.offsets[k + 1], 0.0
        for start in range(begin, end, BLOCK):
            size = min(BLOCK, end - start)
            take(problem.rows, start, size, problem.batch)
            _mix(problem.blocks, problem.products, place, mix)
            onward(problem, size)
            total += to_powers(logits, problem.labels, problem.batch, num_classes, size, True)
            place += 1
        whole += problem.weights[k] * total / (end - begin)
    if problem.l2 > 0.0:
        for weight in problem.padded[0]:  # padding is 0
            square += weight * weight
    return whole + 0.5 * problem.l2 * square


@compiled_with_reordering
def _mix(blocks, products, place, mix):
    for unit in range(products.shape[2]):
        for s in range(BLOCK):
            blocks[unit, s] = products[0, place, unit, s]
        for c in range(1, mix.size):
            if mix[c] != 0.0:
                for s in range(BLOCK):
                    blocks[unit, s] += mix[c] * products[c, place, unit, s]
