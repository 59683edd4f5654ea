"""Exponentials and residuals of the logits of a block of samples, in vectorizable passes.

The logits of a block are stored (classes, samples), so that the work per class is one pass over neighboring numbers.
Below the classes a block has two rows of numbers per sample: largest logits, and sums.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from fedtheory._support.exponential import power
from fedtheory._support.jit import compiled, compiled_with_reordering
from fedtheory.engine._products import LANES

__all__ = ["BLOCK", "take", "to_powers", "to_residuals"]

BLOCK = 64


@compiled
def take(rows, first, size, batch):
    """Copy row numbers; repeat the last one up to a multiple of eight."""
    for s in range(-(-size // LANES) * LANES):
        batch[s] = rows[first + min(s, size - 1)]


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
def to_residuals(block, labels, batch, num_classes, size):
    """Turn powers into the residuals q - e_y."""
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
