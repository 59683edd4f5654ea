"""The game of one round of softmax regression, all coalitions at once."""

from __future__ import annotations

# mypy: allow-untyped-calls
import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.valuation._softmax_coalitions import BLOCK, add_losses, to_margins
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

    The loss is the mean cross-entropy on the server's validation samples; w of the empty coalition is the model before
    the round. Logits are linear in the model, so that each client's are computed once, and a coalition costs one
    addition and one exponential per sample and class.

    Parameters
    ----------
    before
        Model before the round, shape (v,), ``v = C (f + 1)``, flat as those of ``SoftmaxFederation``.
    models
        Models that the M <= 20 clients return, shape (M, v).
    weights
        Positive n_k, shape (M,); only their ratios matter.
    features, labels
        Validation samples, shape (S, f), and their classes in ``0..C-1``, shape (S,).

    Returns
    -------
    array
        Shape (2^M,), in bit order, as ``shapley`` takes it. Errors are a few roundings of the largest logit.

    Raises
    ------
    ValueError
        If shapes disagree, there is no sample, more than 20 models, a weight that is not positive, a label of no class,
        or a logit above 1e100 in absolute value.

    Examples
    --------
    Two classes and one sample x = 0 of class 1, so that biases decide: 0 before, log 3 and -log 3 after. With weights
    1 and 3 both together have the bias -log(3) / 2, and the loss log(1 + sqrt 3).

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
    y = validate.counts("labels", validate.unmasked("labels", labels), 0, num_classes - 1)
    if y.shape != (len(x),):
        message = f"labels must have shape ({len(x)},) as there are samples, got {y.shape}"
        raise ValueError(message)
    nobody = _losses(start[None], np.ones(1), x, y)[1]
    return -np.concatenate([[nobody], _losses(returned, n / n.max(), x, y)[1:]])


def _losses(models: Array, shares: Array, x: Array, y: npt.NDArray[np.int64]) -> Array:
    """Mean loss of every coalition's model, shape (2^M,), 0 for the empty one."""
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
