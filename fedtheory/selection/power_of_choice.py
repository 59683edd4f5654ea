"""Power-of-Choice: among d candidates drawn by weight, the m with the largest losses."""

# mypy: allow-untyped-defs, allow-untyped-calls
# (compiled rules take what selection/_rules.py says)

from dataclasses import dataclass
from typing import final

import numpy as np

from fedtheory import _validate
from fedtheory._compile import compiled
from fedtheory._validate import Array
from fedtheory.paper import Scheme
from fedtheory.selection._draw import alias_table, draw_without_replacement, keep_largest
from fedtheory.selection._rules import Rules
from fedtheory.selection.candidate_schedules import CandidateSchedule

__all__ = ["HighestLoss", "PowerOfChoice"]


@final
@dataclass(frozen=True)
class PowerOfChoice:
    """Draw d candidates without replacement, proportional to weight, and select the m with the largest local losses.

    Parameters
    ----------
    num_selected
        Clients per round m; ties for the last places are broken at random.
    num_candidates
        Candidates per round d (m <= d <= K): a number, or a schedule (adapow-d).

    Notes
    -----
    pow-d of Cho, Wang, Joshi (2020), section 4, with exact losses F_k at the server's model; the models are averaged.
    d = K selects the m highest losses of all; d = m is sampling without replacement, which is not exactly unbiased.
    """

    num_selected: int
    num_candidates: int | CandidateSchedule

    def __post_init__(self) -> None:
        _validate.count("num_selected", self.num_selected)
        if isinstance(self.num_candidates, int | float | np.number):
            _validate.count("num_candidates", self.num_candidates, self.num_selected)

    @property
    def scheme(self) -> Scheme:
        """Power of choice, plain mean."""
        return Scheme("power of choice", "mean")

    def candidate_counts(self, num_clients: int, num_rounds: int) -> Array:
        """Numbers of candidates, shape (num_rounds,), or (1,) when it never changes."""
        if isinstance(self.num_candidates, int | np.integer):
            return np.array([float(_validate.count("num_candidates", self.num_candidates, 1, num_clients))])
        return self.num_candidates.counts(num_rounds, self.num_selected, num_clients).astype(np.float64)

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Return the compiled rules."""
        num_clients = weights.size
        m = _validate.count("num_selected", self.num_selected, 1, num_clients)
        counts = self.candidate_counts(num_clients, num_rounds)
        most = int(counts.max(initial=m))
        _enough_positive(weights, most)
        return Rules(
            propose=_propose_by_weight,
            select=_select_largest,
            max_selected=m,
            max_candidates=most,
            table=np.concatenate([[float(m)], alias_table(weights), counts]),
            memory=np.full(num_clients, -1.0),
        )

    def inclusion_probabilities(self, weights: Array, losses: Array) -> Array:
        """Exact probability that each client is selected when the losses are ``losses``, shape (K,)."""
        from fedtheory.sampling.inclusion import power_of_choice_inclusion

        if not isinstance(self.num_candidates, int | np.integer):
            message = "num_candidates must be a number for inclusion probabilities, got a schedule: ask round by round"
            raise TypeError(message)
        return power_of_choice_inclusion(weights, losses, self.num_selected, int(self.num_candidates))


def _enough_positive(weights: Array, num_candidates: int) -> None:
    positive = int(np.count_nonzero(weights))
    if positive < num_candidates:
        message = f"num_candidates must be at most {positive}, the clients with positive weight, got {num_candidates}"
        raise ValueError(message)


@final
@dataclass(frozen=True)
class HighestLoss:
    """Select the m clients with the largest local losses of all: Power-of-Choice with d = K."""

    num_selected: int

    @property
    def scheme(self) -> Scheme:
        """Power of choice, plain mean."""
        return Scheme("power of choice", "mean")

    def rules(self, weights: Array, num_rounds: int) -> Rules:
        """Return the compiled rules."""
        return PowerOfChoice(self.num_selected, max(weights.size, self.num_selected)).rules(weights, num_rounds)

    def inclusion_probabilities(self, weights: Array, losses: Array) -> Array:
        """Exact probability that each client is selected, shape (K,): 0 or 1, except for ties."""
        return PowerOfChoice(self.num_selected, len(weights)).inclusion_probabilities(weights, losses)


@compiled
def _propose_by_weight(round_index, table, memory, weights, rng, candidates):
    num_clients = weights.size
    first_count = 1 + 2 * num_clients
    size = int(table[first_count + min(round_index, table.size - first_count - 1)])
    if size == num_clients:
        for k in range(num_clients):
            candidates[k] = k
    else:
        draw_without_replacement(table, 1, weights, size, float(round_index), memory, rng, candidates)
    return size


@compiled
def _select_largest(round_index, table, memory, weights, candidates, losses, rng, chosen):
    num_selected = int(table[0])
    keep_largest(candidates, losses, num_selected, rng, chosen)
    return num_selected
