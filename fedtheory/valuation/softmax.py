"""Utilities of all coalitions in a round of softmax regression."""

from __future__ import annotations

# mypy: allow-untyped-calls
import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.exponential import power
from fedtheory._support.jit import compiled_with_reordering
from fedtheory._support.validate import Array
from fedtheory.valuation.games import check_num_players

__all__ = ["softmax_utilities"]

_LARGEST_LOGIT, _WIDEST_RATIO = 1e100, 1e100


def softmax_utilities(
    before: npt.ArrayLike,
    models: npt.ArrayLike,
    weights: npt.ArrayLike,
    features: npt.ArrayLike,
    labels: npt.ArrayLike,
) -> Array:
    r"""Table of the utilities ``U(A) = -loss(w_A)`` of all coalitions, ``w_A = sum_A n_k w_k / sum_A n_k``.

    The loss is the mean cross-entropy on the server's validation samples. The model of the empty coalition is the one
    before the round. Logits are linear in the model, so each client's logits are computed once, and a coalition takes
    one addition and one exponential per sample and class. The table, shape (2^M,), is in bit order, as for ``shapley``;
    its error is a few roundings of the largest logit. Logits must be at most 1e100 in absolute value.

    Parameters
    ----------
    before
        Model before the round, shape (v,), ``v = C (f + 1)``, flattened as in ``SoftmaxFederation``.
    models
        Models of the M <= 20 clients, shape (M, v).
    weights
        Positive n_k, shape (M,); only their ratios matter.
    features, labels
        Validation samples, shape (S, f), and their classes in ``0..C-1``, shape (S,).

    Examples
    --------
    For two classes and one sample x = 0 of class 1, only biases matter. They are 0 before the round, and log 3 and -log
    3 after it. With weights 1 and 3 the mean bias is -log(3) / 2, and its loss is log(1 + sqrt 3).

    >>> after = np.log(3) * np.array([[0, 0, 0, 1], [0, 0, 0, -1]])
    >>> np.exp(-softmax_utilities(np.zeros(4), after, [1, 3], [[0.0]], [1]))
    array([2.        , 1.33333333, 4.        , 2.73205081])
    """
    x, returned = validate.array("features", features, ndim=2), validate.array("models", models, ndim=2)
    num_players, dim = returned.shape
    check_num_players(num_players)
    start = validate.array("before", before, shape=(dim,))
    n = validate.positive("weights", validate.array("weights", weights, shape=(num_players,)))
    if n.max() > _WIDEST_RATIO * n.min():
        message = f"weights must be within a factor of {_WIDEST_RATIO:g}, got {n.min():g} and {n.max():g}"
        raise ValueError(message)
    if len(x) == 0:
        message = f"features must have at least one validation sample, got shape {x.shape}"
        raise ValueError(message)
    num_classes, rest = divmod(dim, x.shape[1] + 1)
    if rest or num_classes < 2:
        message = f"models must have C (f + 1) columns with f = {x.shape[1]} features and C >= 2, got {dim}"
        raise ValueError(message)
    y = np.asarray(validate.counts("labels", validate.unmasked("labels", labels), 0, num_classes - 1))
    if y.shape != (len(x),):
        message = f"labels must have shape ({len(x)},) as there are samples, got {y.shape}"
        raise ValueError(message)
    empty = _losses(start[None], np.ones(1), x, y)[1]
    return -np.concatenate([[empty], _losses(returned, n / n.max(), x, y)[1:]])


def _losses(models: Array, shares: Array, x: Array, y: npt.NDArray[np.int64]) -> Array:
    """Return the mean loss of every coalition's model, shape (2^M,), 0 for the empty coalition."""
    weights = models.reshape(-1, x.shape[1] + 1)
    logits = (x @ weights[:, :-1].T + weights[:, -1]).reshape(len(x), len(models), -1)
    if not np.abs(logits).max() <= _LARGEST_LOGIT:
        message = f"logits of models must be at most {_LARGEST_LOGIT:g} in absolute value, got {np.abs(logits).max():g}"
        raise ValueError(message)
    margins = np.zeros((-(-len(x) // BLOCK), len(models), logits.shape[2] - 1, BLOCK))
    totals = np.zeros(2 ** len(models))
    to_margins(logits, y, margins)
    add_losses(margins, shares, len(x), totals)
    return totals / len(x)


# mypy: allow-untyped-defs, allow-untyped-calls


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
    # A coalition is one without its lowest player, plus that player; place l stores the latest with lowest player l.
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
    """Return the sum of the logarithms, with one logarithm per group of factors whose product does not overflow."""
    total = 0.0
    for first in range(0, size, group):
        product = 1.0
        for s in range(first, min(first + group, size)):
            product *= powers[s]
        total += np.log(product)
    return total


@compiled_with_reordering
def _shifted_losses(margins, scale, size):
    """Return the sum of the losses if an exponential of a margin could overflow."""
    # Scaled after the shift, since a fused ``scale * margin - top`` is a rounding error whose power may overflow.
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
