"""Utilities of all coalitions in a round of softmax regression."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.valuation.games import check_num_players

__all__ = ["softmax_utilities"]

_LARGEST_LOGIT = 1e100


def softmax_utilities(
    before: npt.ArrayLike,
    models: npt.ArrayLike,
    weights: npt.ArrayLike,
    features: npt.ArrayLike,
    labels: npt.ArrayLike,
) -> Array:
    """Table of the utilities ``U(A) = -loss(w_A)`` of all coalitions, ``w_A = sum_A n_k w_k / sum_A n_k``.

    The loss is the mean cross-entropy on the server's validation samples. The model of the empty coalition is the one
    before the round. Logits are linear in the model, so each client's logits are computed once. The table, shape
    (2^M,), is in bit order, as for ``shapley``. Logits must be at most 1e100 in absolute value.

    Parameters
    ----------
    before, models
        Model before the round, shape (v,), ``v = C (f + 1)``, flattened as in ``SoftmaxFederation``, and models of the
        M <= 20 clients, shape (M, v).
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
    known = np.stack([_logits(model, x, num_classes) for model in [start, *returned]])
    utilities = [-_mean_loss(known[0], y)]
    for number in range(1, 2**num_players):
        members = number >> np.arange(num_players) & 1 == 1
        utilities.append(-_mean_loss(np.tensordot(n[members] / n[members].sum(), known[1:][members], 1), y))
    return np.array(utilities)


def _logits(model: Array, x: Array, num_classes: int) -> Array:
    weights = model.reshape(num_classes, -1)
    logits: Array = x @ weights[:, :-1].T + weights[:, -1]
    if not np.abs(logits).max() <= _LARGEST_LOGIT:
        message = f"logits of models must be at most {_LARGEST_LOGIT:g} in absolute value, got {np.abs(logits).max():g}"
        raise ValueError(message)
    return logits


def _mean_loss(logits: Array, labels: npt.NDArray[np.int64]) -> float:
    """Mean cross-entropy of samples with the given logits, shape (S, C)."""
    margins = logits - logits[np.arange(labels.size), labels][:, None]
    top = margins.max(axis=1, keepdims=True)
    return float(np.mean(top[:, 0] + np.log(np.exp(margins - top).sum(axis=1))))
