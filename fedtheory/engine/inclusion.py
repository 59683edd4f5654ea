"""Who was included in a run of FedALIGN: the selections of every round, replayed from the recorded models."""

import json
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from fedtheory._validate import Array
from fedtheory.engine.trajectory import Trajectory
from fedtheory.federation.prioritized import Prioritized
from fedtheory.selection.loss_matching import LossMatching, matches
from fedtheory.selection.rules import Rules

__all__ = ["Inclusions", "inclusions"]

Mask = npt.NDArray[np.bool_]


@final
@dataclass(frozen=True, eq=False)
class Inclusions:
    """What the rounds of R replicates did with the K clients.

    Attributes
    ----------
    weights
        Aggregation weights of the clients' updates, copies added up, shape (R, num_rounds, K), sum 1.
    willing, matched
        Clients that would send (``F_k < F + eps``) and those that the server would use (``|F_k - F| < eps``) if they
        attended, booleans of shape (R, num_rounds, K); nobody in warm-up rounds.
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
        """Clients whose update entered the model, booleans of shape (R, num_rounds, K)."""
        return self.weights > 0


def inclusions(aligned: Prioritized, strategy: LossMatching, run: Trajectory, *, with_gaps: bool = True) -> Inclusions:
    """Replay the selections of a run at its recorded models.

    Parameters
    ----------
    aligned, strategy
        What was run: ``run = fedavg(aligned.federation, strategy, ..., record=("models", ...))``.
    run
        Models of every round. The seed was an integer, or a SeedSequence that nothing had been spawned from.
    with_gaps
        Whether to evaluate ``included_gaps``, which needs the minimizers of F and of all clients.

    Raises
    ------
    ValueError
        If models of some round are missing, a replicate diverged, or the replayed selections do not give the counts of
        the run (another seed, strategy or federation).

    Examples
    --------
    The second client is included while the model is far from both; the threshold 1 is met first in round 1.

    >>> from fedtheory.engine.simulation import fedavg
    >>> from fedtheory.federation.prioritized import prioritize
    >>> from fedtheory.federation.quadratic import QuadraticFederation
    >>> aligned = prioritize(QuadraticFederation([1.0, 1.0], [[0.0], [1.0]], [0.5, 0.5]), [True, False])
    >>> strategy = LossMatching(aligned.priority, aligned.shares, threshold=1.0)
    >>> run = fedavg(aligned.federation, strategy, num_rounds=2, step_size=0.75, initial=[4.0], record=["models"])
    >>> run.models[0].ravel(), inclusions(aligned, strategy, run).priority_weights
    (array([4.   , 1.   , 0.625]), array([[1. , 0.5]]))
    """
    rounds = run.rounds
    if rounds.size < 2 or not np.array_equal(rounds, np.arange(rounds.size)):
        message = f"models of every round must be recorded, at least one round, got rounds {rounds[:4].tolist()}..."
        raise ValueError(message)
    if (run.diverged_at >= 0).any():
        message = f"run must not have diverged, got replicate {int(np.argmax(run.diverged_at >= 0))}"
        raise ValueError(message)
    fed = aligned.federation
    objective_weights = np.array(fed.weights)
    losses = np.stack([fed.losses(models) for models in run.models[:, :-1]])  # one by one, to save memory
    num_rounds = losses.shape[1]
    rules = strategy.rules(objective_weights, num_rounds)
    seeds = _seeds(run.config).spawn(losses.shape[0])
    replayed = [_replay(rules, objective_weights, rows, seed) for rows, seed in zip(losses, seeds, strict=True)]
    weights, counts = (np.stack(parts) for parts in zip(*replayed, strict=True))
    if not np.array_equal(counts, run.counts):
        message = "the run must come from this federation, strategy and seed, got other selection counts in the replay"
        raise ValueError(message)
    willing, matched = matches(losses, objective_weights, strategy.thresholds(num_rounds), strategy.comparison)
    later = np.arange(num_rounds)[:, None] >= strategy.warmup_rounds
    first = np.array(strategy.priority)
    gaps = weights @ np.where(first, 0.0, aligned.client_gaps) if with_gaps else None
    return Inclusions(weights, willing & later, matched & later, weights @ first.astype(np.float64), gaps)


def _seeds(config: Any) -> np.random.SeedSequence:
    return np.random.SeedSequence(json.loads(config["entropy"]), spawn_key=tuple(config["spawn_key"]))


def _replay(
    rules: Rules, objective_weights: Array, losses: Array, seed: np.random.SeedSequence
) -> tuple[Array, npt.NDArray[np.int64]]:
    # As the round loop does it, with the selection stream of the replicate.
    rng = np.random.default_rng(seed.spawn(2)[0])
    memory = rules.memory.copy()
    candidates = np.zeros(rules.max_candidates, dtype=np.int64)
    chosen = np.zeros(rules.max_selected, dtype=np.int64)
    coefficients, updates = np.zeros(rules.max_selected), np.zeros((rules.max_selected, 0))
    weights, counts = np.zeros(losses.shape), np.zeros(losses.shape[1], dtype=np.int64)
    known = (rules.table, memory, objective_weights)
    for t, row in enumerate(losses):
        asked = rules.propose(t, *known, rng, candidates) if rules.propose else 0
        size = rules.select(t, *known, candidates[:asked], row[candidates[:asked]], rng, chosen)
        if rules.weigh:
            rules.weigh(t, *known, chosen[:size], updates[:size], rng, coefficients)
        np.add.at(weights[t], chosen[:size], coefficients[:size])
        np.add.at(counts, chosen[:size], coefficients[:size] != 0.0)
    return weights, counts
