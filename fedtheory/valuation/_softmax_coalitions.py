"""Validation losses of all weighted means of softmax models, block by block of samples.

What the kernels read are margins: for each client, sample and class but the sample's own, the logit of the class less
that of the sample's own class. They are linear in the model, so that a coalition's are the weighted mean of its
members', and the loss of a sample is ``log(1 + sum over the classes of exp(margin))``.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from fedtheory._support.compiling import compiled_with_reordering
from fedtheory._support.exponential import power

__all__ = ["BLOCK", "add_losses", "to_margins"]

BLOCK = 64
_WIDEST = 700.0


@compiled_with_reordering
def to_margins(logits, labels, margins):
    """Fill ``margins`` (blocks, M, C - 1, BLOCK) from ``logits`` (samples, M, C)."""
    for s in range(labels.size):
        block, lane = s // BLOCK, s % BLOCK
        for k in range(logits.shape[1]):
            own = logits[s, k, labels[s]]
            for c in range(logits.shape[2] - 1):
                other = c if c < labels[s] else c + 1
                margins[block, k, c, lane] = logits[s, k, other] - own


@compiled_with_reordering
def add_losses(margins, shares, num_samples, totals):
    """Add to ``totals`` (2^M,), in bit order, the loss of every nonempty coalition summed over the samples.

    ``margins`` (blocks, M, C - 1, BLOCK) are multiplied in place with the clients' ``shares`` (M,).
    """
    num_players = shares.size
    # A coalition is one without its lowest player, plus that player: place l keeps the latest whose lowest is l.
    sums = np.zeros((num_players + 1, *margins.shape[2:]))
    weights, powers = np.zeros(num_players + 1), np.empty(BLOCK)
    for b in range(margins.shape[0]):
        size = min(BLOCK, num_samples - b * BLOCK)
        group = min(BLOCK, int(_WIDEST / (np.log(1.0 + margins.shape[2]) + np.abs(margins[b]).max())))
        for k in range(num_players):
            _scale(margins[b, k], shares[k])
        for number in range(1, totals.size):
            lowest, above = _lowest(number), number & (number - 1)
            parent = _lowest(above) if above > 0 else num_players
            weights[lowest] = weights[parent] + shares[lowest]
            _join(sums[parent], margins[b, lowest], sums[lowest])
            if group > 0:
                _sum_powers(sums[lowest], 1.0 / weights[lowest], powers)
                totals[number] += _log_of_product(powers, size, group)
            else:
                totals[number] += _shifted_losses(sums[lowest], 1.0 / weights[lowest], size)


@compiled_with_reordering
def _scale(margins, share):
    for c in range(margins.shape[0]):
        for lane in range(BLOCK):
            margins[c, lane] *= share


@compiled_with_reordering
def _lowest(number):
    place = 0
    while number & 1 == 0:
        number >>= 1
        place += 1
    return place


@compiled_with_reordering
def _join(parent, player, child):
    for c in range(parent.shape[0]):
        u, v, w = parent[c], player[c], child[c]
        for s in range(BLOCK):
            w[s] = u[s] + v[s]


@compiled_with_reordering
def _sum_powers(margins, scale, powers):
    for s in range(BLOCK):
        powers[s] = 1.0
    for c in range(margins.shape[0]):
        w = margins[c]
        for s in range(BLOCK):
            powers[s] += power(scale * w[s])


@compiled_with_reordering
def _log_of_product(powers, size, group):
    """Sum of the logarithms: one for as many numbers as cannot overflow together."""
    total = 0.0
    for first in range(0, size, group):
        product = 1.0
        for s in range(first, min(first + group, size)):
            product *= powers[s]
        total += np.log(product)
    return total


@compiled_with_reordering
def _shifted_losses(margins, scale, size):
    """Sum of the losses where an exponential of a margin could overflow."""
    # Scaled after the shift: a fused ``scale * margin - top`` is a rounding of the product, whose power may overflow.
    total = 0.0
    for s in range(size):
        top = 0.0
        for c in range(margins.shape[0]):
            top = max(top, margins[c, s])
        powers = power(-scale * top)
        for c in range(margins.shape[0]):
            powers += power(scale * (margins[c, s] - top))
        total += scale * top + np.log(powers)
    return total
