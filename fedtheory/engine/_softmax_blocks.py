"""Softmax regression on a block of samples: logits, powers, residuals, gradient, each a pass the processor can widen.

The logits of a block are stored (classes, samples), so that the work per class is one pass over neighboring numbers.
Weights and features are padded with zeros to a multiple of ``LANES`` features, weights also to a multiple of ``GROUP``
classes: two samples times five classes are summed at once. Below the classes a block has two rows of numbers per
sample: largest logits, and sums.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from fedtheory._compile import compiled, compiled_with_reordering
from fedtheory._exponential import power

__all__ = ["BLOCK", "GROUP", "LANES", "add_gradient", "take", "to_logits", "to_powers", "to_residuals"]

BLOCK, LANES, GROUP = 64, 8, 5


@compiled
def take(rows, first, size, batch):
    """Copy row numbers; the last one again fills up to a multiple of eight."""
    for s in range(-(-size // LANES) * LANES):
        batch[s] = rows[first + min(s, size - 1)]


@compiled_with_reordering
def to_logits(features, batch, size, weights, block):
    """Write the logits of the first ``size`` rows named by ``batch``."""
    for s in range(0, size, 2):
        x, y = features[np.uint64(batch[s])], features[np.uint64(batch[s + 1])]
        for c in range(0, weights.shape[0], GROUP):
            w = weights[c : c + GROUP]
            w0, w1, w2, w3, w4 = w[0], w[1], w[2], w[3], w[4]
            x0 = x1 = x2 = x3 = x4 = y0 = y1 = y2 = y3 = y4 = 0.0
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
            z = block[c : c + GROUP]
            z[0, s], z[1, s], z[2, s], z[3, s], z[4, s] = x0, x1, x2, x3, x4
            z[0, s + 1], z[1, s + 1], z[2, s + 1], z[3, s + 1], z[4, s + 1] = y0, y1, y2, y3, y4


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


@compiled_with_reordering
def add_gradient(features, batch, size, block, num_classes, gradient):
    """Add the sum over the samples of residual times features."""
    whole = size // 8 * 8
    for s in range(0, whole, 8):
        x0, x1, x2, x3 = features[batch[s]], features[batch[s + 1]], features[batch[s + 2]], features[batch[s + 3]]
        x4, x5, x6, x7 = features[batch[s + 4]], features[batch[s + 5]], features[batch[s + 6]], features[batch[s + 7]]
        for c in range(num_classes):
            g, r = gradient[c], block[c]
            r0, r1, r2, r3, r4, r5, r6, r7 = r[s], r[s + 1], r[s + 2], r[s + 3], r[s + 4], r[s + 5], r[s + 6], r[s + 7]
            for j in range(g.size):
                four = r0 * x0[j] + r1 * x1[j] + r2 * x2[j] + r3 * x3[j]
                g[j] += four + r4 * x4[j] + r5 * x5[j] + r6 * x6[j] + r7 * x7[j]
    for s in range(whole, size):
        x0 = features[batch[s]]
        for c in range(num_classes):
            g, r0 = gradient[c], block[c, s]
            for j in range(g.size):
                g[j] += r0 * x0[j]
