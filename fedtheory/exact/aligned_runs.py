"""Clients that are included in each round of a FedALIGN run."""

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from fedtheory._support import validate
from fedtheory._support.validate import Array
from fedtheory.engine.trajectory import Trajectory
from fedtheory.federation.prioritized import Prioritized
from fedtheory.selection.loss_matching import LossMatching, matches

__all__ = ["inclusions"]

Mask = npt.NDArray[np.bool_]


@final
@dataclass(frozen=True, eq=False)
class Inclusions:
    """Availability, matching and inclusion of the K clients in the rounds of R replicates.

    Attributes
    ----------
    weights
        Aggregation weights of the clients' updates, with repeated selections added up, shape (R, num_rounds, K), sum 1.
    willing, matched
        Clients that would send (``F_k < F + eps``) and those that the server would use (``|F_k - F| < eps``) if they
        attended, shape (R, num_rounds, K); False in warm-up rounds.
    priority_weights
        ``1/(1 + s)`` of every round, shape (R, num_rounds): what ``fedalign.theta`` averages.
    included_gaps
        ``sum_{k not in P} p_k I_k Gamma_k/(1 + s)`` of every round, shape (R, num_rounds): what ``fedalign.rho``
        averages; None if the family has no minimizers.
    """

    weights: Array
    willing: Mask
    matched: Mask
    priority_weights: Array
    included_gaps: Array | None

    @property
    def included(self) -> Mask:
        """Whether each client's update entered the model, booleans of shape (R, num_rounds, K)."""
        return self.weights > 0


def inclusions(aligned: Prioritized, strategy: LossMatching, run: Trajectory, *, with_gaps: bool = True) -> Inclusions:
    """Return the included clients of each round of a run.

    The run is ``fedavg(aligned.federation, strategy, ...)`` with ``record=("models", "selected", "coefficients")`` in
    every round. ``with_gaps`` determines whether ``included_gaps`` are evaluated, which needs the minimizers of F and
    of all clients. In this run the second client is included while the model is far from both minimizers.

    >>> import fedtheory as ft
    >>> fed = ft.QuadraticFederation([1.0, 1.0], [[0.0], [1.0]], [0.5, 0.5])
    >>> aligned = ft.federation.prioritize(fed, [True, False])
    >>> strategy = LossMatching(aligned.priority, aligned.shares, threshold=1.0)
    >>> record = ("models", "selected", "coefficients")
    >>> run = ft.fedavg(aligned.federation, strategy, num_rounds=2, step_size=0.75, initial=[4.0], record=record)
    >>> inclusions(aligned, strategy, run).priority_weights
    array([[1. , 0.5]])
    """
    validate.instance("aligned", aligned, Prioritized, "a Prioritized federation")
    validate.instance("strategy", strategy, LossMatching, "a LossMatching")
    validate.instance("run", run, Trajectory, "a Trajectory")
    validate.boolean("with_gaps", with_gaps)
    if strategy.match != "loss":
        message = f"the strategy must match losses, which the models tell, got match={strategy.match!r}"
        raise ValueError(message)
    rounds = run.rounds
    if rounds.size < 2 or not np.array_equal(rounds, np.arange(rounds.size)):
        message = f"models of every round must be recorded, at least one round, got rounds {rounds[:4].tolist()}..."
        raise ValueError(message)
    if (run.diverged_at >= 0).any():
        message = f"run must not have diverged, got replicate {int(np.argmax(run.diverged_at >= 0))}"
        raise ValueError(message)
    if run.config["strategy"] != repr(strategy):
        message = f"the run must be one of this strategy, {strategy}, got {run.config['strategy']}"
        raise ValueError(message)
    fed = aligned.federation
    losses = np.stack([fed.losses(models) for models in run.models[:, :-1]])  # one at a time, to save memory
    willing, matched = matches(losses, fed.weights, strategy.thresholds(losses.shape[1]))
    later = np.arange(losses.shape[1])[:, None] >= strategy.warmup_rounds
    weights, first = _weights(run, fed.num_clients), np.array(strategy.priority)
    gaps = weights @ np.where(first, 0.0, aligned.client_gaps) if with_gaps else None
    return Inclusions(weights, willing & later, matched & later, weights @ first.astype(np.float64), gaps)


def _weights(run: Trajectory, num_clients: int) -> Array:
    selected, coefficients = (run.recorded(name)[:, :-1] for name in ("selected", "coefficients"))
    weights = np.zeros((*selected.shape[:2], num_clients))
    replicate, round_index, place = np.nonzero(selected >= 0)
    clients = selected[replicate, round_index, place].astype(np.int64)
    np.add.at(weights, (replicate, round_index, clients), coefficients[replicate, round_index, place])
    return weights
