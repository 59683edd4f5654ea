"""Softmax regression on a block of samples: logits, powers, residuals, each a pass the processor can widen.

The logits of a block are stored (classes, samples), so that the work per class is one pass over neighboring numbers.
Weights and features are padded with zeros to a multiple of ``LANES`` features, weights also to a multiple of ``GROUP``
classes: four samples times five classes are summed at once. Below the classes a block has two rows of numbers per
sample: largest logits, and sums.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from fedtheory._compile import compiled, compiled_with_reordering
from fedtheory._exponential import power

__all__ = ["BLOCK", "GROUP", "LANES", "take", "to_logits", "to_powers", "to_residuals"]

BLOCK, LANES, GROUP = 64, 8, 5


@compiled
def take(rows, first, size, batch):
    """Copy row numbers; the last one again fills up to a multiple of eight."""
    for s in range(-(-size // LANES) * LANES):
        batch[s] = rows[first + min(s, size - 1)]


@compiled_with_reordering
def to_logits(features, batch, size, weights, block):
    """Write the logits of the first ``size`` rows named by ``batch``, which names rows up to a multiple of four."""
    for c in range(0, weights.shape[0], GROUP):
        w0, w1, w2, w3, w4 = weights[c], weights[c + 1], weights[c + 2], weights[c + 3], weights[c + 4]
        p, q, r, t, u = block[c], block[c + 1], block[c + 2], block[c + 3], block[c + 4]
        for s in range(0, size, 4):
            x, y = features[np.uint64(batch[s])], features[np.uint64(batch[s + 1])]
            v, w = features[np.uint64(batch[s + 2])], features[np.uint64(batch[s + 3])]
            x0 = x1 = x2 = x3 = x4 = y0 = y1 = y2 = y3 = y4 = 0.0
            v0 = v1 = v2 = v3 = v4 = z0 = z1 = z2 = z3 = z4 = 0.0
            for j in range(x.size):
                x0 += w0[j] * x[j]
                x1 += w1[j] * x[j]
                x2 += w2[j] * x[j]
                x3 += w3[j] * x[j]
                x4 += w4[j] * x[j]
                y0 += w0[j] * y[j]
                y1 += w1[j] * y[j]
                y2 += w2[j] * y[j]
                y3 += w3[j] * y[j]
                y4 += w4[j] * y[j]
                v0 += w0[j] * v[j]
                v1 += w1[j] * v[j]
                v2 += w2[j] * v[j]
                v3 += w3[j] * v[j]
                v4 += w4[j] * v[j]
                z0 += w0[j] * w[j]
                z1 += w1[j] * w[j]
                z2 += w2[j] * w[j]
                z3 += w3[j] * w[j]
                z4 += w4[j] * w[j]
            p[s], q[s], r[s], t[s], u[s] = x0, x1, x2, x3, x4
            p[s + 1], q[s + 1], r[s + 1], t[s + 1], u[s + 1] = y0, y1, y2, y3, y4
            p[s + 2], q[s + 2], r[s + 2], t[s + 2], u[s + 2] = v0, v1, v2, v3, v4
            p[s + 3], q[s + 3], r[s + 3], t[s + 3], u[s + 3] = z0, z1, z2, z3, z4


@compiled_with_reordering
def to_powers(block, labels, batch, num_classes, size, with_loss):
    """Turn logits into exp(logit - largest logit), sum them per sample, return the sum of the losses if wanted."""
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
        # One logarithm for the block: each sum is in [1, C], so that 64 of them cannot overflow.
        product = 1.0
        for s in range(size):
            product *= sums[s]
        total += np.log(product)
    return total


@compiled_with_reordering
def to_residuals(block, labels, batch, num_classes, size):
    """Turn powers into q - e_y."""
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
