"""Workload D of the performance study: all coalitions of softmax models on a validation set, against NumPy."""

from functools import partial
from typing import Any

import numpy as np
from _timing import has_avx512, interleaved

from fedtheory import study

_LABEL = "Shapley"
_SHARE = 1.0 if has_avx512() else 0.7
GOALS = {
    (_LABEL, "NumPy, a matrix product per coalition"): 8.0 * _SHARE,
    (_LABEL, "NumPy, logits computed once"): 6.0 * _SHARE,
}


def records(config: Any, progress: study.Progress) -> list[dict[str, Any]]:
    """Time the utilities of all coalitions of one round: models of shape (10, 61), 5000 samples."""
    from fedtheory.valuation.softmax import softmax_utilities

    rng = np.random.default_rng(config.seed)
    before, models = 0.2 * rng.normal(size=610), 0.2 * rng.normal(size=(config.players, 610))
    weights = rng.integers(20, 500, size=config.players).astype(float)
    features = rng.normal(size=(config.validation_samples, 60))
    game = before, models, weights, features, rng.integers(10, size=config.validation_samples)
    peers = {"NumPy, a matrix product per coalition": by_products, "NumPy, logits computed once": by_logits}
    ours = softmax_utilities(*game)
    apart = {name: float(np.abs(peer(*game) - ours).max()) for name, peer in peers.items()}
    timed = {name: (partial(peer, *game), 1) for name, peer in peers.items()}
    repetitions = progress(range(config.repetitions), "Shapley")
    rows = interleaved(_LABEL, partial(softmax_utilities, *game), 1, timed, repetitions)
    return [row | {"agreement": apart[row["peer"]] / 1e-12} for row in rows]


def _mean_loss(logits: Any, labels: Any) -> float:
    """Mean cross-entropy; the logits, shape (samples, classes), are overwritten."""
    own = logits[np.arange(len(labels)), labels]
    top = logits.max(axis=1)
    logits -= top[:, None]
    np.exp(logits, out=logits)
    return float(np.mean(top + np.log(logits.sum(axis=1)) - own))


def _shares(weights: Any) -> Any:
    """Shares of the clients in each coalition, shape (2^M, M); nobody's are zero."""
    members = np.arange(2**weights.size)[:, None] >> np.arange(weights.size) & 1
    return members * weights / np.maximum(members @ weights, 1)[:, None]


def by_products(before: Any, models: Any, weights: Any, features: Any, labels: Any) -> Any:
    """Average the coalition's models, then multiply with the samples."""
    inputs = np.column_stack([features, np.ones(len(features))])
    means = _shares(weights) @ models
    means[0] = before
    return np.array([-_mean_loss(inputs @ mean.reshape(-1, inputs.shape[1]).T, labels) for mean in means])


def by_logits(before: Any, models: Any, weights: Any, features: Any, labels: Any) -> Any:
    """Average the logits of the clients."""
    inputs = np.column_stack([features, np.ones(len(features))])
    logits = np.array([inputs @ model.reshape(-1, inputs.shape[1]).T for model in (before, *models)])
    flat = logits[1:].reshape(weights.size, -1)
    found = [-_mean_loss((shares @ flat).reshape(logits[0].shape), labels) for shares in _shares(weights)[1:]]
    return np.array([-_mean_loss(logits[0], labels), *found])
